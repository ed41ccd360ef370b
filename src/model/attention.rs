//! Attention written out: scores, softmax, weighted sum. On the CPU this is faster than ggml's fused form.

use super::Net;
use crate::ggml::Tensor;

/// Single-head attention of `q` `[d, n]` over `k` and `v` `[d, m]`, with any batch in dimension 2: `[d, n]`.
pub(super) fn single_head(net: &mut Net, q: Tensor, k: Tensor, v: Tensor) -> Tensor {
    let ([width, _, batch, _], [_, keys, ..]) = (net.graph().shape(q), net.graph().shape(k));
    // Ours pays from a block of keys; short ones and batches stay with ggml.
    if net.own() && batch == 1 && width % 32 == 0 && keys >= 64 {
        return net.graph().own_attention(q, k, v);
    }
    let width = width as f32;
    let scores = net.graph().mul_mat(k, q);
    let weights = net.graph().soft_max(scores, 1.0 / width.sqrt());
    let v = net.graph().transpose(v);
    let v = net.graph().cont(v);
    net.graph().mul_mat(v, weights)
}

/// Attention with `heads` heads of `q` `[c, n]` over `k` and `v` `[c, m]`: `[c, n]`.
pub(super) fn multi_head(net: &mut Net, heads: i64, q: Tensor, k: Tensor, v: Tensor) -> Tensor {
    let [width, queries, ..] = net.graph().shape(q);
    if net.own() && width % (16 * heads) == 0 {
        let heads = usize::try_from(heads).expect("the configuration has a positive number of heads");
        return net.graph().own_heads(heads, q, k, v);
    }
    let [q, k, v] = [q, k, v].map(|x| split(net, heads, x));
    let merged = single_head(net, q, k, v);
    let merged = net.graph().permute(merged, [0, 2, 1, 3]);
    let merged = net.graph().cont(merged);
    net.graph().reshape(merged, [width, queries, 1, 1])
}

/// `[heads * d, n]` to `[d, n, heads]`.
fn split(net: &mut Net, heads: i64, x: Tensor) -> Tensor {
    let x = net.graph().cont(x);
    let [width, tokens, ..] = net.graph().shape(x);
    let x = net.graph().reshape(x, [width / heads, heads, tokens, 1]);
    let x = net.graph().permute(x, [0, 2, 1, 3]);
    net.graph().cont(x)
}
