//! The feature pyramid (checkpoint: `image_encoder.neck`) with the decoder's `conv_s0` and `conv_s1` folded in.

use super::{Net, trunk};
use crate::ggml::Tensor;

/// What the image encoder gives, channel-fastest.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Stride 4: `[hidden / 8, (S / 4)^2]`.
    pub s0: Tensor,
    /// Stride 8: `[hidden / 4, (S / 8)^2]`.
    pub s1: Tensor,
    /// Stride 16: `[hidden, (S / 16)^2]`, the image embedding.
    pub embedding: Tensor,
}

/// Pixels, normalised, planar `[S, S, 3]`, to features.
pub fn encode_image(net: &mut Net, pixels: Tensor) -> Features {
    net.probe("pixels", pixels);
    let [x0, x1, x2, x3] = trunk::trunk(net, pixels);
    let coarse = net.linear("neck.convs.0", x3);
    let coarse = double(net, coarse);
    let lateral = net.linear("neck.convs.1", x2);
    let embedding = net.graph().add(lateral, coarse);
    net.probe("fpn2", embedding);
    let s1 = net.linear("neck.high_res_s1", x1);
    net.probe("conv_s1", s1);
    let s0 = net.linear("neck.high_res_s0", x0);
    net.probe("conv_s0", s0);
    Features { s0: net.tokens(s0), s1: net.tokens(s1), embedding: net.tokens(embedding) }
}

/// Nearest-neighbour doubling of `[C, W, H]`: each column twice, then each row twice.
fn double(net: &mut Net, x: Tensor) -> Tensor {
    let [c, w, h, _] = net.graph().shape(x);
    let x = net.graph().reshape(x, [c, 1, w, h]);
    let x = net.graph().repeat(x, [c, 2, w, h]);
    let x = net.graph().reshape(x, [2 * c * w, 1, h, 1]);
    let x = net.graph().repeat(x, [2 * c * w, 2, h, 1]);
    net.graph().reshape(x, [c, 2 * w, 2 * h, 1])
}
