//! The memory encoder (checkpoint: `memory_encoder`): a frame's features and mask to a memory, by way of the perceiver.

use super::{Net, perceiver};
use crate::ggml::{Conv, Tensor};
use crate::kernels::Activation;

/// `embedding` `[hidden, T]` (without memory) and the scaled `mask` `[S, S]` to memory tokens
/// `[memory, latents + latents_2d]`; `sine` is the 2-D sine encoding of the memory map, `[memory, T]`.
pub fn encode_memory(net: &mut Net, embedding: Tensor, mask: Tensor, sine: Tensor) -> Tensor {
    let mask = downsample_mask(net, mask);
    let x = net.linear_add("memory_encoder.pix_feat_proj", embedding, mask);
    let mut x = net.map(x);
    for layer in 0..net.config().fuser_layers {
        x = fuse(net, &format!("memory_encoder.fuser.layers.{layer}"), x);
    }
    let x = net.linear("memory_encoder.out_proj", x);
    let x = net.tokens(x);
    net.probe("memenc", x);
    let memory = perceiver::resample(net, x, sine);
    net.probe("perceiver", memory);
    net.graph().output(memory)
}

/// [`encode_memory`] of a tracked answer, whose logits `[(S / 4)^2]` are brought to the mask on the device, and rounded as
/// memories are stored.
pub fn encode_followed(net: &mut Net, embedding: Tensor, logits: Tensor, side: i64, sine: Tensor) -> Tensor {
    let (scale, bias) = (net.config().sigmoid_scale, net.config().sigmoid_bias);
    let low = net.graph().reshape(logits, [side / 4, side / 4, 1, 1]);
    let mask = net.graph().resize(low, side, side);
    let mask = net.graph().sigmoid(mask);
    let mask = net.graph().scale_bias(mask, scale, bias);
    let memory = encode_memory(net, embedding, mask, sine);
    net.graph().round_bf16(memory)
}

fn downsample_mask(net: &mut Net, mask: Tensor) -> Tensor {
    let p = "memory_encoder.mask_downsampler.encoder";
    let mut x = mask;
    for layer in 0..4 {
        let (name, halve) = (format!("{p}.{}", 3 * layer), Conv { stride: 2, pad: 1 });
        x = if layer == 0 { net.conv(&name, x, halve) } else { net.conv_map(&name, x, halve) };
        x = net.layer_norm_2d_gelu(&format!("{p}.{}", 3 * layer + 1), x);
    }
    let x = net.linear(&format!("{p}.12"), x);
    let x = net.tokens(x);
    net.probe("mask_ds", x);
    x
}

/// A ConvNeXt block; its `gamma` is folded into `pwconv2`.
fn fuse(net: &mut Net, p: &str, x: Tensor) -> Tensor {
    let y = net.depthwise(&format!("{p}.dwconv"), x, Conv { stride: 1, pad: 3 });
    let y = net.layer_norm_2d(&format!("{p}.norm"), y);
    let y = net.linear_act(&format!("{p}.pwconv1"), y, Activation::Gelu);
    net.linear_add(&format!("{p}.pwconv2"), y, x)
}
