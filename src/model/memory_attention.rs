//! Memory attention (checkpoint: `memory_attention`): the frame's features look at themselves and at the memories.

use super::{Net, attention};
use crate::ggml::{Kind, Tensor};
use crate::kernels::Activation;

/// Memories and pointers that the frame looks at, as graph inputs.
#[derive(Clone, Copy, Debug)]
pub struct MemoryTokens {
    /// `[memory, n]`.
    pub values: Tensor,
    /// Position encodings `[memory, n]`.
    pub positions: Tensor,
    /// Rotary positions, i32 `[2 n]`: x and y of each token; 0 leaves a token unrotated.
    pub rotary: Tensor,
}

impl MemoryTokens {
    /// Inputs for `count` tokens.
    pub fn inputs(net: &mut Net, count: i64) -> Self {
        let width = net.config().memory;
        Self {
            values: net.input([width, count, 1, 1]),
            positions: net.input([width, count, 1, 1]),
            rotary: net.graph().input(Kind::I32, [2 * count, 1, 1, 1]),
        }
    }
}

/// `embedding` `[hidden, T]` after the part of the first layer that knows no memory: the frame looks at itself. It is the
/// same for all objects. `sine` is the 2-D sine encoding and `grid` the rotary positions, i32 `[2 T]`.
pub fn look_at_itself(net: &mut Net, embedding: Tensor, sine: Tensor, grid: Tensor) -> Tensor {
    /// Weight of the position encoding at the input, a constant of the architecture.
    const INPUT_POSITIONS: f32 = 0.1;
    let sine = net.graph().scale(sine, INPUT_POSITIONS);
    let h = net.graph().add(embedding, sine);
    add_self_attention(net, 0, h, grid)
}

/// What [`look_at_itself`] gave, `[hidden, T]`, conditioned on `memory`. The result `[hidden, T]` is the decoder's image
/// embedding.
pub fn attend(net: &mut Net, seen: Tensor, grid: Tensor, memory: MemoryTokens) -> Tensor {
    let mut h = seen;
    let placed = net.graph().add(memory.values, memory.positions);
    for layer in 0..net.config().memory_attention_layers {
        if layer > 0 {
            h = add_self_attention(net, layer, h, grid);
        }
        let p = format!("memory_attention.layers.{layer}");
        let n = net.layer_norm(&format!("{p}.norm2"), h);
        let p_cross = format!("{p}.cross_attn_image");
        let q = net.linear(&format!("{p_cross}.q_proj"), n);
        let q = rotate(net, q, grid);
        let k = net.linear(&format!("{p_cross}.k_proj"), placed);
        let k = rotate(net, k, memory.rotary);
        let v = net.linear(&format!("{p_cross}.v_proj"), memory.values);
        let seen = attention::single_head(net, q, k, v);
        let seen = net.linear(&format!("{p_cross}.out_proj"), seen);
        if layer == 0 {
            net.probe("ma0_cross", seen);
        }
        h = net.graph().add(h, seen);

        let n = net.layer_norm(&format!("{p}.norm3"), h);
        let n = net.linear_act(&format!("{p}.linear1"), n, Activation::Relu);
        h = net.linear_add(&format!("{p}.linear2"), n, h);
    }
    let h = net.layer_norm("memory_attention.norm", h);
    net.probe("memattn", h);
    h
}

/// `h` plus what it sees of itself in `layer`.
fn add_self_attention(net: &mut Net, layer: u32, h: Tensor, grid: Tensor) -> Tensor {
    let p = format!("memory_attention.layers.{layer}");
    let n = net.layer_norm(&format!("{p}.norm1"), h);
    let seen = self_attention(net, &format!("{p}.self_attn"), n, grid);
    if layer == 0 {
        net.probe("ma0_self", seen);
    }
    net.graph().add(h, seen)
}

fn self_attention(net: &mut Net, p: &str, n: Tensor, grid: Tensor) -> Tensor {
    let hidden = net.config().hidden;
    let qkv = net.linear(&format!("{p}.qkv_proj"), n);
    let [q, k, v] = [0, 1, 2].map(|part| net.graph().slice(qkv, 0, part * hidden, hidden));
    let q = rotate(net, q, grid);
    let k = rotate(net, k, grid);
    let seen = attention::single_head(net, q, k, v);
    net.linear(&format!("{p}.out_proj"), seen)
}

/// Axial rotation of `[hidden, n]`: the first half of the channels by x, the second by y. Seen as `2 n` half tokens, it
/// is one plain rotation with positions x0, y0, x1, y1, ...
fn rotate(net: &mut Net, x: Tensor, positions: Tensor) -> Tensor {
    if net.own() {
        let angles = net.angles();
        return net.graph().own_rotate(&angles, x, positions);
    }
    let x = net.graph().cont(x);
    let [width, tokens, ..] = net.graph().shape(x);
    let theta = net.config().rope_theta;
    let half = i32::try_from(width / 2).expect("the configuration bounds the width");
    let x = net.graph().reshape(x, [width / 2, 1, 2 * tokens, 1]);
    let x = net.graph().rope(x, positions, half, theta);
    net.graph().reshape(x, [width, tokens, 1, 1])
}
