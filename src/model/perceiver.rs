//! The 2-D spatial perceiver (checkpoint: `spatial_perceiver`): a memory map to 256 global and 256 windowed latents.

use super::{Net, PerceiverPositions, attention};
use crate::ggml::Tensor;
use crate::kernels::Activation;

/// The memory map's tokens `x` `[width, T]`, `sine` their encoding, to latents `[width, latents + latents_2d]`:
/// the global ones first. Both paths share all weights.
pub(super) fn resample(net: &mut Net, x: Tensor, sine: Tensor) -> Tensor {
    let width = net.config().memory;
    let mut global = net.weight("spatial_perceiver.latents");
    let mut windowed = net.weight("spatial_perceiver.latents_2d");
    for layer in 0..net.config().perceiver_layers {
        let p = format!("spatial_perceiver.layers.{layer}");
        // Keys and values depend on the token alone: computed once for both paths.
        let n = net.layer_norm(&format!("{p}.attn.norm_x"), x);
        let kv = net.linear(&format!("{p}.attn.to_kv"), n);

        let k = net.graph().slice(kv, 0, 0, width);
        let v = net.graph().slice(kv, 0, width, width);
        let k = net.graph().add(k, sine);
        let v = match net.lowering().variant.perceiver_positions {
            PerceiverPositions::KeysAndValues => net.graph().add(v, sine),
            PerceiverPositions::KeysOnly => v,
        };
        let q = queries(net, &p, global);
        let seen = attention::single_head(net, q, k, v);
        global = add_projected(net, &format!("{p}.attn.to_out"), global, seen);
        global = feed_forward(net, &format!("{p}.ff"), global);
        let seen = global_self_attention(net, &format!("{p}.self_attn"), global);
        global = add_projected(net, &format!("{p}.self_attn.to_out"), global, seen);
        global = feed_forward(net, &format!("{p}.self_ff"), global);

        let seen = windowed_cross_attention(net, &p, windowed, kv);
        windowed = add_projected(net, &format!("{p}.attn.to_out"), windowed, seen);
        windowed = feed_forward(net, &format!("{p}.ff"), windowed);
        // Self-attention over one token: its softmax is 1, so only the values remain.
        let n = net.layer_norm(&format!("{p}.self_attn.norm"), windowed);
        let seen = net.linear_rows(&format!("{p}.self_attn.to_qkv"), 2 * width..3 * width, n);
        windowed = add_projected(net, &format!("{p}.self_attn.to_out"), windowed, seen);
        windowed = feed_forward(net, &format!("{p}.self_ff"), windowed);
    }
    let all = net.graph().concat(global, windowed, 1);
    net.layer_norm("spatial_perceiver.norm", all)
}

fn queries(net: &mut Net, p: &str, latents: Tensor) -> Tensor {
    let n = net.layer_norm(&format!("{p}.attn.norm_latents"), latents);
    net.linear(&format!("{p}.attn.to_q"), n)
}

fn add_projected(net: &mut Net, p: &str, latents: Tensor, seen: Tensor) -> Tensor {
    net.linear_add(p, seen, latents)
}

fn feed_forward(net: &mut Net, p: &str, latents: Tensor) -> Tensor {
    let n = net.layer_norm(&format!("{p}.0"), latents);
    let n = net.linear_act(&format!("{p}.1"), n, Activation::Gelu);
    add_projected(net, &format!("{p}.3"), latents, n)
}

fn global_self_attention(net: &mut Net, p: &str, latents: Tensor) -> Tensor {
    let width = net.config().memory;
    let n = net.layer_norm(&format!("{p}.norm"), latents);
    let qkv = net.linear(&format!("{p}.to_qkv"), n);
    let [q, k, v] = [0, 1, 2].map(|part| net.graph().slice(qkv, 0, part * width, width));
    let q = net.graph().cont(q);
    attention::single_head(net, q, k, v)
}

/// Each windowed latent looks at the tokens of its own window only, without positions.
fn windowed_cross_attention(net: &mut Net, p: &str, latents: Tensor, kv: Tensor) -> Tensor {
    let (width, grid) = (net.config().memory, net.config().window_grid());
    let [both, tokens, ..] = net.graph().shape(kv);
    let side = tokens.isqrt() / grid;
    let windows = net.graph().reshape(kv, [both * side, grid, side, grid]);
    let windows = net.graph().permute(windows, [0, 2, 1, 3]);
    let windows = net.graph().cont(windows);
    let windows = net.graph().reshape(windows, [both, side * side, grid * grid, 1]);
    let k = net.graph().slice(windows, 0, 0, width);
    let v = net.graph().slice(windows, 0, width, width);
    let q = queries(net, p, latents);
    let q = net.graph().reshape(q, [width, 1, grid * grid, 1]);
    let seen = attention::single_head(net, q, k, v);
    net.graph().reshape(seen, [width, grid * grid, 1, 1])
}
