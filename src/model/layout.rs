//! Every tensor of a model file with its shape. A file is held against this list before anything is built from it,
//! because ggml stops the program when shapes do not fit.

use super::Config;

/// Collects names and shapes (ggml order).
struct Layout<'a> {
    config: &'a Config,
    tensors: Vec<(String, [i64; 4])>,
}

/// All tensors of a model with `config`.
pub(super) fn tensors(config: &Config) -> Vec<(String, [i64; 4])> {
    let mut layout = Layout { config, tensors: Vec::new() };
    layout.trunk();
    layout.neck();
    layout.prompt_encoder();
    layout.mask_decoder();
    layout.pointers();
    layout.memory_attention();
    layout.memory_encoder();
    layout.perceiver();
    layout.tensors
}

/// Reduced width of squeeze-excite: a quarter, rounded to the nearest multiple of 8 (12 becomes 16).
fn se_width(channels: i64) -> i64 {
    let quarter = channels / 4;
    let rounded = ((quarter + 4) / 8 * 8).max(8);
    if rounded * 10 < quarter * 9 { rounded + 8 } else { rounded }
}

impl Layout<'_> {
    fn add(&mut self, name: impl Into<String>, ne: &[i64]) {
        let mut shape = [1; 4];
        shape[..ne.len()].copy_from_slice(ne);
        self.tensors.push((name.into(), shape));
    }

    fn conv(&mut self, name: &str, kernel: &[i64], outputs: i64) {
        self.add(format!("{name}.weight"), kernel);
        self.add(format!("{name}.bias"), &[outputs]);
    }

    fn linear(&mut self, name: &str, inputs: i64, outputs: i64) {
        self.conv(name, &[inputs, outputs], outputs);
    }

    fn norm(&mut self, name: &str, width: i64) {
        self.conv(name, &[width], width);
    }

    fn depthwise(&mut self, name: &str, channels: i64, side: i64) {
        self.conv(name, &[channels, side, side], channels);
    }

    fn mlp(&mut self, name: &str, inputs: i64, outputs: i64) {
        self.linear(&format!("{name}.layers.0"), inputs, inputs);
        self.linear(&format!("{name}.layers.1"), inputs, inputs);
        self.linear(&format!("{name}.layers.2"), inputs, outputs);
    }

    fn trunk(&mut self) {
        let channels = self.config.channels.clone();
        let first = channels[0];
        self.conv("trunk.stem.conv1", &[3, 3, 3, first / 2], first / 2);
        self.conv("trunk.stem.conv2", &[3, 3, first / 2, first], first);
        for (stage, &c) in channels.iter().enumerate() {
            if stage > 0 {
                let p = format!("trunk.stages.{stage}.downsample");
                let before = channels[stage - 1];
                self.mixers(&format!("{p}.pre_block"), before);
                self.depthwise(&format!("{p}.spatial_downsample"), before, 3);
                self.linear(&format!("{p}.channel_downsample"), before, c);
                self.linear(&format!("{p}.ffn.conv1"), c, 2 * c);
                self.linear(&format!("{p}.ffn.conv2"), 2 * c, c);
            }
            for block in 0..self.config.stage_blocks[stage] {
                let p = format!("trunk.stages.{stage}.blocks.{block}");
                self.mixers(&p, c);
                if block.is_multiple_of(self.config.se_every) {
                    self.linear(&format!("{p}.se.fc1"), c, se_width(c));
                    self.linear(&format!("{p}.se.fc2"), se_width(c), c);
                }
            }
        }
    }

    fn mixers(&mut self, p: &str, c: i64) {
        self.depthwise(&format!("{p}.token_mixer"), c, 3);
        self.linear(&format!("{p}.channel_mixer.conv1"), c, 2 * c);
        self.linear(&format!("{p}.channel_mixer.conv2"), 2 * c, c);
    }

    fn neck(&mut self) {
        let (channels, hidden) = (self.config.channels.clone(), self.config.hidden);
        self.linear("neck.convs.0", channels[3], hidden);
        self.linear("neck.convs.1", channels[2], hidden);
        self.linear("neck.high_res_s1", channels[1], hidden / 4);
        self.linear("neck.high_res_s0", channels[0], hidden / 8);
    }

    fn prompt_encoder(&mut self) {
        let hidden = self.config.hidden;
        self.add("prompt_encoder.gaussian", &[hidden / 2, 2]);
        self.add("prompt_encoder.point_embeddings", &[hidden, 4]);
        self.add("prompt_encoder.not_a_point", &[hidden]);
        self.add("prompt_encoder.no_mask", &[hidden]);
        self.conv("prompt_encoder.mask_downscaling.0", &[2, 2, 1, 4], 4);
        self.norm("prompt_encoder.mask_downscaling.1", 4);
        self.conv("prompt_encoder.mask_downscaling.3", &[2, 2, 4, 16], 16);
        self.norm("prompt_encoder.mask_downscaling.4", 16);
        self.linear("prompt_encoder.mask_downscaling.6", 16, hidden);
    }

    fn mask_decoder(&mut self) {
        let (hidden, masks) = (self.config.hidden, self.config.multimasks + 1);
        self.add("mask_decoder.tokens", &[hidden, masks + 2]);
        let transformer = "mask_decoder.transformer";
        for layer in 0..self.config.decoder_layers {
            let p = format!("{transformer}.layers.{layer}");
            self.linear(&format!("{p}.self_attn.qk_proj"), hidden, 2 * hidden);
            self.linear(&format!("{p}.self_attn.v_proj"), hidden, hidden);
            self.linear(&format!("{p}.self_attn.out_proj"), hidden, hidden);
            self.cross_attention(&format!("{p}.cross_attn_token_to_image"));
            self.cross_attention(&format!("{p}.cross_attn_image_to_token"));
            for norm in 1..=4 {
                self.norm(&format!("{p}.norm{norm}"), hidden);
            }
            self.linear(&format!("{p}.mlp.layers.0"), hidden, 8 * hidden);
            self.linear(&format!("{p}.mlp.layers.1"), 8 * hidden, hidden);
        }
        self.cross_attention(&format!("{transformer}.final_attn_token_to_image"));
        self.norm(&format!("{transformer}.norm_final_attn"), hidden);
        self.conv("mask_decoder.output_upscaling.0", &[hidden, hidden], hidden / 4);
        self.norm("mask_decoder.output_upscaling.1", hidden / 4);
        self.conv("mask_decoder.output_upscaling.3", &[hidden / 4, hidden / 2], hidden / 8);
        for mask in 0..masks {
            self.mlp(&format!("mask_decoder.output_hypernetworks_mlps.{mask}"), hidden, hidden / 8);
        }
        self.mlp("mask_decoder.iou_prediction_head", hidden, masks);
        self.mlp("mask_decoder.pred_obj_score_head", hidden, 1);
    }

    fn cross_attention(&mut self, p: &str) {
        let hidden = self.config.hidden;
        for part in ["q_proj", "k_proj", "v_proj"] {
            self.linear(&format!("{p}.{part}"), hidden, hidden / 2);
        }
        self.linear(&format!("{p}.out_proj"), hidden / 2, hidden);
    }

    fn pointers(&mut self) {
        let (hidden, memory) = (self.config.hidden, self.config.memory);
        self.mlp("obj_ptr_proj", hidden, hidden);
        self.conv("mask_downsample", &[4, 4, 1, 1], 1);
        self.add("no_obj_ptr", &[hidden]);
        self.add("no_mem_embed", &[hidden]);
        self.add("maskmem_tpos_enc", &[memory, i64::from(self.config.memory_slots)]);
    }

    fn memory_attention(&mut self) {
        let (hidden, memory) = (self.config.hidden, self.config.memory);
        for layer in 0..self.config.memory_attention_layers {
            let p = format!("memory_attention.layers.{layer}");
            self.linear(&format!("{p}.self_attn.qkv_proj"), hidden, 3 * hidden);
            self.linear(&format!("{p}.self_attn.out_proj"), hidden, hidden);
            self.linear(&format!("{p}.cross_attn_image.q_proj"), hidden, hidden);
            self.linear(&format!("{p}.cross_attn_image.k_proj"), memory, hidden);
            self.linear(&format!("{p}.cross_attn_image.v_proj"), memory, hidden);
            self.linear(&format!("{p}.cross_attn_image.out_proj"), hidden, hidden);
            self.linear(&format!("{p}.linear1"), hidden, 8 * hidden);
            self.linear(&format!("{p}.linear2"), 8 * hidden, hidden);
            for norm in 1..=3 {
                self.norm(&format!("{p}.norm{norm}"), hidden);
            }
        }
        self.norm("memory_attention.norm", hidden);
    }

    fn memory_encoder(&mut self) {
        let (hidden, memory) = (self.config.hidden, self.config.memory);
        let p = "memory_encoder.mask_downsampler.encoder";
        let mut inputs = 1;
        for layer in 0..4 {
            let outputs = inputs * 4;
            self.conv(&format!("{p}.{}", 3 * layer), &[3, 3, inputs, outputs], outputs);
            self.norm(&format!("{p}.{}", 3 * layer + 1), outputs);
            inputs = outputs;
        }
        self.linear(&format!("{p}.12"), inputs, hidden);
        self.linear("memory_encoder.pix_feat_proj", hidden, hidden);
        self.linear("memory_encoder.out_proj", hidden, memory);
        for layer in 0..self.config.fuser_layers {
            let p = format!("memory_encoder.fuser.layers.{layer}");
            self.depthwise(&format!("{p}.dwconv"), hidden, 7);
            self.norm(&format!("{p}.norm"), hidden);
            self.linear(&format!("{p}.pwconv1"), hidden, 4 * hidden);
            self.linear(&format!("{p}.pwconv2"), 4 * hidden, hidden);
        }
    }

    fn perceiver(&mut self) {
        let width = self.config.memory;
        self.add("spatial_perceiver.latents", &[width, self.config.latents]);
        self.add("spatial_perceiver.latents_2d", &[width, self.config.latents_2d]);
        for layer in 0..self.config.perceiver_layers {
            let p = format!("spatial_perceiver.layers.{layer}");
            self.norm(&format!("{p}.attn.norm_x"), width);
            self.norm(&format!("{p}.attn.norm_latents"), width);
            self.add(format!("{p}.attn.to_q.weight"), &[width, width]);
            self.add(format!("{p}.attn.to_kv.weight"), &[width, 2 * width]);
            self.add(format!("{p}.attn.to_out.weight"), &[width, width]);
            self.norm(&format!("{p}.self_attn.norm"), width);
            self.add(format!("{p}.self_attn.to_qkv.weight"), &[width, 3 * width]);
            self.add(format!("{p}.self_attn.to_out.weight"), &[width, width]);
            for ff in ["ff", "self_ff"] {
                self.norm(&format!("{p}.{ff}.0"), width);
                self.add(format!("{p}.{ff}.1.weight"), &[width, 4 * width]);
                self.add(format!("{p}.{ff}.3.weight"), &[4 * width, width]);
            }
        }
        self.norm("spatial_perceiver.norm", width);
    }
}

#[cfg(test)]
mod tests {
    use super::se_width;

    #[test]
    fn squeeze_excite_widths_of_repvit_m1() {
        assert_eq!([48, 96, 192, 384].map(se_width), [16, 24, 48, 96]);
    }
}
