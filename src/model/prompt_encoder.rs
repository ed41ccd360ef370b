//! The dense half of the prompt encoder (checkpoint: `sam_prompt_encoder`, `mask_downsample`). The sparse half, a few
//! vectors for clicks and boxes, is computed on the host.

use super::Net;
use crate::ggml::{Conv, Tensor};

/// Mask logits `[S / 4, S / 4]` as a dense prompt: `[hidden, (S / 16)^2]`.
pub fn embed_mask(net: &mut Net, logits: Tensor) -> Tensor {
    let p = "prompt_encoder.mask_downscaling";
    let halve = Conv { stride: 2, pad: 0 };
    let x = net.conv(&format!("{p}.0"), logits, halve);
    let x = net.layer_norm_2d_gelu(&format!("{p}.1"), x);
    let x = net.conv_map(&format!("{p}.3"), x, halve);
    let x = net.layer_norm_2d_gelu(&format!("{p}.4"), x);
    let x = net.linear(&format!("{p}.6"), x);
    net.tokens(x)
}

/// The dense prompt that says "no mask": `[hidden]`, to be broadcast.
pub fn no_mask(net: &mut Net) -> Tensor {
    net.weight("prompt_encoder.no_mask")
}

/// What is added to features that have no memory (checkpoint: `no_mem_embed`): `[hidden]`, to be broadcast.
pub fn no_memory(net: &mut Net) -> Tensor {
    net.weight("no_mem_embed")
}

/// A binary mask `[S, S]` to `[S / 4, S / 4]`, as the pointer of a mask prompt wants it.
pub fn pointer_mask(net: &mut Net, mask: Tensor) -> Tensor {
    let x = net.conv("mask_downsample", mask, Conv { stride: 4, pad: 0 });
    net.planar(x)
}

/// The tokens that say "no prompt": `[hidden, 2]`.
pub fn no_prompt(net: &mut Net) -> Tensor {
    let hidden = net.config().hidden;
    let token = net.weight("prompt_encoder.not_a_point");
    net.graph().repeat(token, [hidden, 2, 1, 1])
}
