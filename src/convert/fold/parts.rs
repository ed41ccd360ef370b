//! Owns the folding of everything behind the image encoder.
//! May import: the folder beside it.
//! Must not: do arithmetic other than through it.

use super::{Affine, Folder, Role, round, transpose};
use crate::convert::layout::{
    DECODER_LAYERS, FUSER_LAYERS, HIDDEN, LATENTS, MASK_TOKENS, MEMORY, MEMORY_LAYERS, PERCEIVER_LAYERS,
    SLOTS,
};

impl Folder<'_> {
    pub(super) fn prompt_encoder(&mut self) {
        let (to, from) = ("prompt_encoder", "sam_prompt_encoder");
        let gaussian = format!("{from}.pe_layer.positional_encoding_gaussian_matrix");
        self.exact(&format!("{to}.gaussian"), &gaussian, &[HIDDEN / 2, 2]);
        let labels: Vec<String> =
            (0..4).map(|label| format!("{from}.point_embeddings.{label}.weight")).collect();
        self.rows(&format!("{to}.point_embeddings"), &labels);
        self.exact(&format!("{to}.not_a_point"), &format!("{from}.not_a_point_embed.weight"), &[HIDDEN]);
        self.exact(&format!("{to}.no_mask"), &format!("{from}.no_mask_embed.weight"), &[HIDDEN]);
        let (to, from) = (format!("{to}.mask_downscaling"), format!("{from}.mask_downscaling"));
        for index in [0, 3] {
            self.conv(&format!("{to}.{index}"), &format!("{from}.{index}"));
        }
        for index in [1, 4] {
            self.norm(&format!("{to}.{index}"), &format!("{from}.{index}"));
        }
        self.linear(&format!("{to}.6"), &format!("{from}.6"));
    }

    pub(super) fn mask_decoder(&mut self) {
        let (to, from) = ("mask_decoder", "sam_mask_decoder");
        let tokens =
            ["obj_score_token", "iou_token", "mask_tokens"].map(|token| format!("{from}.{token}.weight"));
        self.rows(&format!("{to}.tokens"), &tokens);
        for index in 0..DECODER_LAYERS {
            let (to, from) =
                (format!("{to}.transformer.layers.{index}"), format!("{from}.transformer.layers.{index}"));
            self.stacked(
                &format!("{to}.self_attn.qk_proj"),
                &format!("{from}.self_attn"),
                &["q_proj", "k_proj"],
            );
            for part in ["v_proj", "out_proj"] {
                self.linear(&format!("{to}.self_attn.{part}"), &format!("{from}.self_attn.{part}"));
            }
            for attention in ["cross_attn_token_to_image", "cross_attn_image_to_token"] {
                self.attention(&format!("{to}.{attention}"), &format!("{from}.{attention}"));
            }
            for norm in 1..=4 {
                self.norm(&format!("{to}.norm{norm}"), &format!("{from}.norm{norm}"));
            }
            for layer in 0..2 {
                self.linear(&format!("{to}.mlp.layers.{layer}"), &format!("{from}.mlp.layers.{layer}"));
            }
        }
        let part = "transformer.final_attn_token_to_image";
        self.attention(&format!("{to}.{part}"), &format!("{from}.{part}"));
        let part = "transformer.norm_final_attn";
        self.norm(&format!("{to}.{part}"), &format!("{from}.{part}"));
        for index in [0, 3] {
            let part = format!("output_upscaling.{index}");
            self.transposed_conv(&format!("{to}.{part}"), &format!("{from}.{part}"));
        }
        self.norm(&format!("{to}.output_upscaling.1"), &format!("{from}.output_upscaling.1"));
        for mask in 0..MASK_TOKENS {
            let part = format!("output_hypernetworks_mlps.{mask}");
            self.mlp(&format!("{to}.{part}"), &format!("{from}.{part}"));
        }
        for part in ["iou_prediction_head", "pred_obj_score_head"] {
            self.mlp(&format!("{to}.{part}"), &format!("{from}.{part}"));
        }
    }

    pub(super) fn memory_attention(&mut self) {
        for index in 0..MEMORY_LAYERS {
            let layer = format!("memory_attention.layers.{index}");
            let attention = format!("{layer}.self_attn");
            self.stacked(&format!("{attention}.qkv_proj"), &attention, &["q_proj", "k_proj", "v_proj"]);
            self.linear(&format!("{attention}.out_proj"), &format!("{attention}.out_proj"));
            self.attention(&format!("{layer}.cross_attn_image"), &format!("{layer}.cross_attn_image"));
            for part in ["linear1", "linear2"] {
                self.linear(&format!("{layer}.{part}"), &format!("{layer}.{part}"));
            }
            for norm in 1..=3 {
                self.norm(&format!("{layer}.norm{norm}"), &format!("{layer}.norm{norm}"));
            }
        }
        self.norm("memory_attention.norm", "memory_attention.norm");
    }

    /// The memory encoder, and the small tensors of the memory bank. `no_mem_pos_enc` is not used by inference.
    pub(super) fn memory_encoder(&mut self) {
        self.mlp("obj_ptr_proj", "obj_ptr_proj");
        self.conv("mask_downsample", "mask_downsample");
        self.exact("no_obj_ptr", "no_obj_ptr", &[HIDDEN]);
        self.exact("no_mem_embed", "no_mem_embed", &[HIDDEN]);
        self.exact("maskmem_tpos_enc", "maskmem_tpos_enc", &[MEMORY, SLOTS]);
        let encoder = "memory_encoder.mask_downsampler.encoder";
        for index in [0, 3, 6, 9] {
            self.conv(&format!("{encoder}.{index}"), &format!("{encoder}.{index}"));
            let norm = format!("{encoder}.{}", index + 1);
            self.norm(&norm, &norm);
        }
        for part in [&format!("{encoder}.12"), "memory_encoder.pix_feat_proj", "memory_encoder.out_proj"] {
            self.linear(part, part);
        }
        for index in 0..FUSER_LAYERS {
            let layer = format!("memory_encoder.fuser.layers.{index}");
            self.depthwise(&format!("{layer}.dwconv"), &format!("{layer}.dwconv"));
            self.norm(&format!("{layer}.norm"), &format!("{layer}.norm"));
            self.linear(&format!("{layer}.pwconv1"), &format!("{layer}.pwconv1"));
            let scaled = self.scaled(&format!("{layer}.pwconv2"), &format!("{layer}.gamma"));
            self.push_matrix(&format!("{layer}.pwconv2"), scaled);
        }
    }

    pub(super) fn perceiver(&mut self) {
        for latents in ["spatial_perceiver.latents", "spatial_perceiver.latents_2d"] {
            self.exact(latents, latents, &[MEMORY, LATENTS]);
        }
        for index in 0..PERCEIVER_LAYERS {
            let layer = format!("spatial_perceiver.layers.{index}");
            for norm in ["attn.norm_x", "attn.norm_latents", "ff.0", "self_attn.norm", "self_ff.0"] {
                self.norm(&format!("{layer}.{norm}"), &format!("{layer}.{norm}"));
            }
            for part in
                ["attn.to_q", "attn.to_kv", "attn.to_out", "ff.1", "ff.3", "self_attn.to_out", "self_ff.1"]
            {
                let name = format!("{layer}.{part}.weight");
                self.matrix(&name, &[&name]);
            }
            let name = format!("{layer}.self_ff.3.weight");
            self.matrix(&name, &[&name]);
            let parts = ["to_q", "to_kv"].map(|part| format!("{layer}.self_attn.{part}.weight"));
            self.matrix(&format!("{layer}.self_attn.to_qkv.weight"), &[&parts[0], &parts[1]]);
        }
        self.norm("spatial_perceiver.norm", "spatial_perceiver.norm");
    }

    /// Vectors of the hidden width, one after the other; a name may hold several.
    fn rows(&mut self, to: &str, from: &[String]) {
        let data: Vec<f32> = from.iter().flat_map(|name| self.get(name).data.iter().copied()).collect();
        self.push(to, &[HIDDEN, data.len() / HIDDEN], Role::Exact, data);
    }

    /// Linear layers of the same input as one.
    fn stacked(&mut self, to: &str, from: &str, parts: &[&str]) {
        for kind in ["weight", "bias"] {
            let names: Vec<String> = parts.iter().map(|part| format!("{from}.{part}.{kind}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let to = format!("{to}.{kind}");
            if kind == "weight" { self.matrix(&to, &names) } else { self.bias(&to, &names) }
        }
    }

    fn attention(&mut self, to: &str, from: &str) {
        for part in ["q_proj", "k_proj", "v_proj", "out_proj"] {
            self.linear(&format!("{to}.{part}"), &format!("{from}.{part}"));
        }
    }

    fn mlp(&mut self, to: &str, from: &str) {
        for layer in 0..3 {
            self.linear(&format!("{to}.layers.{layer}"), &format!("{from}.layers.{layer}"));
        }
    }

    /// A linear layer whose outputs are multiplied by a vector.
    fn scaled(&self, from: &str, scale: &str) -> Affine {
        let mut affine = self.affine(from);
        for (row, scale) in self.values(scale).into_iter().enumerate() {
            affine.weight[row * affine.columns..][..affine.columns]
                .iter_mut()
                .for_each(|weight| *weight *= scale);
            affine.bias[row] *= scale;
        }
        affine
    }

    /// A transposed convolution whose steps do not overlap, as a matrix: `(in, out, y, x)` becomes rows in the order
    /// (y, x, out), each over the inputs. Four times as many outputs, placed by a permutation.
    fn transposed_conv(&mut self, to: &str, from: &str) {
        let tensor = self.get(&format!("{from}.weight"));
        let (input, output, taps) = (tensor.shape[0], tensor.shape[1], tensor.shape[2] * tensor.shape[3]);
        let weight: Vec<f64> = tensor.data.iter().map(|&value| f64::from(value)).collect();
        // (in, out * taps) -> (out, taps, in) -> (taps, out, in)
        let by_output = transpose(&weight, input, output * taps);
        let rows = (0..taps).flat_map(|tap| (0..output).map(move |channel| channel * taps + tap));
        let weight: Vec<f64> =
            rows.flat_map(|row| by_output[row * input..][..input].iter().copied()).collect();
        self.push(format!("{to}.weight"), &[input, taps * output], Role::Matrix, round(&weight));
        self.bias(&format!("{to}.bias"), &[&format!("{from}.bias")]);
    }
}
