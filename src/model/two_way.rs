//! The two-way transformer (checkpoint: `sam_mask_decoder.transformer`): tokens look at the image, the image at tokens.

use super::{Net, attention};
use crate::ggml::Tensor;
use crate::kernels::Activation;

/// Tokens `[hidden, n]` and image tokens `[hidden, T]` with their position encoding `[hidden, T]`, to both, refined.
pub(super) fn two_way(net: &mut Net, tokens: Tensor, image: Tensor, positions: Tensor) -> (Tensor, Tensor) {
    let (mut queries, mut keys) = (tokens, image);
    for layer in 0..net.config().decoder_layers {
        let p = format!("mask_decoder.transformer.layers.{layer}");
        queries = self_attention(net, &p, layer == 0, queries, tokens);
        queries = net.layer_norm(&format!("{p}.norm1"), queries);

        let asking = net.graph().add(queries, tokens);
        let placed = net.graph().add(keys, positions);
        let seen = cross(net, &format!("{p}.cross_attn_token_to_image"), asking, placed, keys);
        queries = net.graph().add(queries, seen);
        queries = net.layer_norm(&format!("{p}.norm2"), queries);

        let hidden = net.linear_act(&format!("{p}.mlp.layers.0"), queries, Activation::Relu);
        queries = net.linear_add(&format!("{p}.mlp.layers.1"), hidden, queries);
        queries = net.layer_norm(&format!("{p}.norm3"), queries);

        let asked = net.graph().add(queries, tokens);
        let seen = cross(net, &format!("{p}.cross_attn_image_to_token"), placed, asked, queries);
        keys = net.graph().add(keys, seen);
        keys = net.layer_norm(&format!("{p}.norm4"), keys);
        if layer == 0 {
            net.probe("twoway0_keys", keys);
        }
    }
    let p = "mask_decoder.transformer";
    let asking = net.graph().add(queries, tokens);
    let placed = net.graph().add(keys, positions);
    let seen = cross(net, &format!("{p}.final_attn_token_to_image"), asking, placed, keys);
    queries = net.graph().add(queries, seen);
    queries = net.layer_norm(&format!("{p}.norm_final_attn"), queries);
    net.probe("twoway_hs", queries);
    (queries, keys)
}

/// The first layer replaces the queries and adds no position; later ones add to them.
fn self_attention(net: &mut Net, p: &str, first: bool, queries: Tensor, tokens: Tensor) -> Tensor {
    let asking = if first { queries } else { net.graph().add(queries, tokens) };
    let hidden = net.config().hidden;
    let both = net.linear(&format!("{p}.self_attn.qk_proj"), asking);
    let q = net.graph().slice(both, 0, 0, hidden);
    let k = net.graph().slice(both, 0, hidden, hidden);
    let v = net.linear(&format!("{p}.self_attn.v_proj"), queries);
    let heads = net.config().decoder_heads;
    let out = attention::multi_head(net, heads, q, k, v);
    let out = net.linear(&format!("{p}.self_attn.out_proj"), out);
    if first { out } else { net.graph().add(queries, out) }
}

fn cross(net: &mut Net, p: &str, q: Tensor, k: Tensor, v: Tensor) -> Tensor {
    let q = net.linear(&format!("{p}.q_proj"), q);
    let k = net.linear(&format!("{p}.k_proj"), k);
    let v = net.linear(&format!("{p}.v_proj"), v);
    let heads = net.config().decoder_heads;
    let out = attention::multi_head(net, heads, q, k, v);
    net.linear(&format!("{p}.out_proj"), out)
}
