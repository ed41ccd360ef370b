//! The mask decoder (checkpoint: `sam_mask_decoder`, `obj_ptr_proj`): tokens and features to masks, scores, pointers.

use super::{Features, Gelu, Net, two_way};
use crate::ggml::{Addition, Tensor};
use crate::kernels::Activation;

/// What the decoder gives. Which mask counts is decided on the host.
#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    /// Mask logits: `[(S / 4)^2, masks]`, row-major pictures; mask 0 is the single one.
    pub masks: Tensor,
    /// Predicted IoU of each mask: `[masks]`.
    pub iou: Tensor,
    /// Object score logit: `[1]`.
    pub score: Tensor,
    /// Object pointer of each mask token: `[hidden, masks]`.
    pub pointers: Tensor,
}

/// The decoder's answer on a tracked frame: the best candidate, blanked when the object is absent.
#[derive(Clone, Copy, Debug)]
pub struct Followed {
    /// Logits `[(S / 4)^2]`.
    pub mask: Tensor,
    /// Object pointer `[hidden]`.
    pub pointer: Tensor,
    /// Which candidate, from 0, as f32 `[1]`.
    pub best: Tensor,
}

/// Chooses among the candidates by the rule for tracked frames, on the device: nothing has to be read back before the
/// memory is encoded. `absent` is the logit of every pixel of an object that is not there.
pub fn follow(net: &mut Net, decoded: Decoded, absent: f32) -> Followed {
    let candidates = net.config().multimasks;
    let one_to = |net: &mut Net, all, axis| net.graph().slice(all, axis, 1, candidates);
    let iou = one_to(net, decoded.iou, 0);
    let iou = net.graph().cont(iou);
    let best = net.graph().argmax(iou);
    let masks = one_to(net, decoded.masks, 1);
    let pointers = one_to(net, decoded.pointers, 1);
    let mask = net.graph().get_rows(masks, best);
    let pointer = net.graph().get_rows(pointers, best);
    let present = net.graph().step(decoded.score);
    let blank = net.graph().scale_bias(present, -absent, absent);
    let mask = net.graph().mul(mask, present);
    let mask = net.graph().add(mask, blank);
    let nobody = net.weight("no_obj_ptr");
    let missing = net.graph().scale_bias(present, -1.0, 1.0);
    let nobody = net.graph().mul(nobody, missing);
    let pointer = net.graph().mul(pointer, present);
    let pointer = net.graph().add(pointer, nobody);
    let best = net.graph().to_f32(best);
    Followed { mask, pointer, best }
}

/// Decodes `sparse` prompts `[hidden, n]` over `image` `[hidden, T]` (the embedding with memory and dense prompt added);
/// `positions` is the dense position encoding `[hidden, T]`.
pub fn decode(
    net: &mut Net,
    image: Tensor,
    positions: Tensor,
    sparse: Tensor,
    features: Features,
) -> Decoded {
    let masks = net.config().multimasks + 1;
    let own = net.weight("mask_decoder.tokens");
    let tokens = net.graph().concat(own, sparse, 1);
    let (tokens, image) = two_way::two_way(net, tokens, image, positions);

    let upscaled = upscale(net, image, features);
    let mut weights = None;
    for mask in 0..masks {
        let token = net.graph().slice(tokens, 1, 2 + mask, 1);
        let row = net.mlp(&format!("mask_decoder.output_hypernetworks_mlps.{mask}"), token);
        weights = Some(weights.map_or(row, |rows| net.graph().concat(rows, row, 1)));
    }
    let weights = weights.expect("the configuration has at least two masks");
    let logits = net.graph().mul_mat(upscaled, weights);
    net.probe("mask_logits4", logits);

    let token = net.graph().slice(tokens, 1, 1, 1);
    let iou = net.mlp("mask_decoder.iou_prediction_head", token);
    let iou = net.graph().sigmoid(iou);
    net.probe("iou4", iou);
    let token = net.graph().slice(tokens, 1, 0, 1);
    let score = net.mlp("mask_decoder.pred_obj_score_head", token);
    net.probe("obj_score", score);
    let mask_tokens = net.graph().slice(tokens, 1, 2, masks);
    let pointers = net.mlp("obj_ptr_proj", mask_tokens);
    net.probe("obj_ptrs", pointers);

    for out in [logits, iou, score, pointers] {
        net.graph().output(out);
    }
    Decoded { masks: logits, iou, score, pointers }
}

/// `output_upscaling`: twice as large twice, with the high-resolution features added before each activation.
fn upscale(net: &mut Net, image: Tensor, features: Features) -> Tensor {
    let x = net.map(image);
    let x = double(net, "mask_decoder.output_upscaling.0", x, features.s1, Activation::None);
    let x = net.layer_norm_2d_gelu("mask_decoder.output_upscaling.1", x);
    let x = net.map(x);
    double(net, "mask_decoder.output_upscaling.3", x, features.s0, Activation::Gelu)
}

/// A 2 x 2 transposed convolution of stride 2: one matrix product whose rows are ordered (ky, kx, channel), then the
/// four results of each pixel are put in their places; then `more` is added, then the activation. `[C, W, H]` to
/// `[C', 4 * W * H]`.
fn double(net: &mut Net, p: &str, x: Tensor, more: Tensor, activation: Activation) -> Tensor {
    let [_, w, h, _] = net.graph().shape(x);
    let (weight, bias) = (net.weight(&format!("{p}.weight")), net.weight(&format!("{p}.bias")));
    let channels = net.graph().shape(bias)[0];
    if net.own() && channels % 32 == 0 && net.lowering().variant.gelu == Gelu::Erf {
        let panels = net.panels(p, 4);
        let y = net.graph().own_doubling(&panels, x, activation, Addition::Before(more));
        return net.tokens(y);
    }
    let x = net.graph().mul_mat(weight, x);
    let x = net.graph().reshape(x, [2 * channels, 2, w, h]);
    let x = net.graph().permute(x, [0, 2, 1, 3]);
    let x = net.graph().cont(x);
    let x = net.graph().reshape(x, [channels, 4 * w * h, 1, 1]);
    let x = net.graph().add(x, bias);
    let x = net.graph().add(x, more);
    if activation == Activation::Gelu { net.gelu(x) } else { x }
}
