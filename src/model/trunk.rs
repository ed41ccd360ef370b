//! RepViT-M1, the image encoder's trunk (checkpoint: `image_encoder.trunk.body`), with its branches folded.

use super::Net;
use crate::ggml::{Conv, Tensor};
use crate::kernels::Activation;

/// 3 x 3, same size.
const SAME: Conv = Conv { stride: 1, pad: 1 };
/// 3 x 3, half the size.
const HALF: Conv = Conv { stride: 2, pad: 1 };

/// Pixels, planar `[S, S, 3]`, to the outputs of the four stages, channel-fastest, at strides 4, 8, 16 and 32.
pub(super) fn trunk(net: &mut Net, pixels: Tensor) -> [Tensor; 4] {
    let x = stem(net, pixels);
    let x = stage(net, 0, x);
    let mut taps = [x; 4];
    for (index, name) in [(1, "stage1"), (2, "stage2"), (3, "stage3")] {
        let x = downsample(net, &format!("trunk.stages.{index}.downsample"), taps[index - 1]);
        taps[index] = stage(net, index, x);
        net.probe(name, taps[index]);
    }
    taps
}

fn stem(net: &mut Net, pixels: Tensor) -> Tensor {
    let x = net.conv_gelu("trunk.stem.conv1", pixels, HALF);
    let x = net.conv_map("trunk.stem.conv2", x, HALF);
    net.probe("stem", x);
    x
}

fn stage(net: &mut Net, index: usize, mut x: Tensor) -> Tensor {
    for block in 0..net.config().stage_blocks[index] {
        let p = format!("trunk.stages.{index}.blocks.{block}");
        x = net.depthwise(&format!("{p}.token_mixer"), x, SAME);
        if block.is_multiple_of(net.config().se_every) {
            x = squeeze_excite(net, &format!("{p}.se"), x);
        }
        x = channel_mixer(net, &format!("{p}.channel_mixer"), x);
    }
    if index == 0 {
        net.probe("stage0", x);
    }
    x
}

fn downsample(net: &mut Net, p: &str, x: Tensor) -> Tensor {
    let x = net.depthwise(&format!("{p}.pre_block.token_mixer"), x, SAME);
    let x = channel_mixer(net, &format!("{p}.pre_block.channel_mixer"), x);
    let x = net.depthwise(&format!("{p}.spatial_downsample"), x, HALF);
    let x = net.linear(&format!("{p}.channel_downsample"), x);
    channel_mixer(net, &format!("{p}.ffn"), x)
}

/// `x + conv2(gelu(conv1(x)))`; the residual starts after squeeze-excite.
fn channel_mixer(net: &mut Net, p: &str, x: Tensor) -> Tensor {
    let y = net.linear_act(&format!("{p}.conv1"), x, Activation::Gelu);
    net.linear_add(&format!("{p}.conv2"), y, x)
}

/// Scales each channel by a gate computed from the channels' means.
fn squeeze_excite(net: &mut Net, p: &str, x: Tensor) -> Tensor {
    let channels = net.graph().shape(x)[0];
    let z = means(net, x);
    let z = net.graph().reshape(z, [channels, 1, 1, 1]);
    let z = net.linear_act(&format!("{p}.fc1"), z, Activation::Relu);
    let z = net.linear(&format!("{p}.fc2"), z);
    let z = net.graph().sigmoid(z);
    if net.own() { net.graph().own_scale(x, z) } else { net.graph().mul(x, z) }
}

fn means(net: &mut Net, x: Tensor) -> Tensor {
    if net.own() {
        return net.graph().own_means(x);
    }
    let z = net.tokens(x);
    let z = net.graph().transpose(z);
    let z = net.graph().cont(z);
    net.graph().mean(z)
}
