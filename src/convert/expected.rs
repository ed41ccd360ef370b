//! Owns the list of EdgeTAM's tensors, names and shapes as in the official checkpoint, and the check against it.
//! May import: nothing outside this room.
//! Must not: accept a file with anything missing, added or of another shape.

use std::collections::HashMap;

use super::ConvertError;
use super::layout::{
    CHANNELS, CROSS, DECODER_LAYERS, FEED_FORWARD, FUSER_LAYERS, HIDDEN, LATENTS, MASK_TOKENS, MEMORY,
    MEMORY_LAYERS, PERCEIVER_LAYERS, SLOTS, SQUEEZE_EVERY, SQUEEZED, STAGE_BLOCKS,
};

/// What the official names of the trunk start with.
pub(super) const TRUNK: &str = "image_encoder.trunk.body";
/// The counters PyTorch keeps beside every batch norm. They mean nothing to inference and may be absent.
pub(super) const COUNTER: &str = ".bn.num_batches_tracked";

/// Collects names and shapes.
#[derive(Default)]
struct List(Vec<(String, Vec<usize>)>);

impl List {
    fn add(&mut self, name: impl Into<String>, shape: &[usize]) {
        self.0.push((name.into(), shape.to_vec()));
    }

    /// A layer with weight and bias.
    fn layer(&mut self, prefix: &str, shape: &[usize]) {
        self.add(format!("{prefix}.weight"), shape);
        self.add(format!("{prefix}.bias"), &shape[..1]);
    }

    fn linear(&mut self, prefix: &str, output: usize, input: usize) {
        self.layer(prefix, &[output, input]);
    }

    fn norm(&mut self, prefix: &str, width: usize) {
        self.layer(prefix, &[width]);
    }

    fn conv(&mut self, prefix: &str, output: usize, input: usize, kernel: usize) {
        self.layer(prefix, &[output, input, kernel, kernel]);
    }

    /// A convolution without bias, then a batch norm.
    fn conv_norm(&mut self, prefix: &str, output: usize, input: usize, kernel: usize) {
        self.add(format!("{prefix}.c.weight"), &[output, input, kernel, kernel]);
        for part in ["weight", "bias", "running_mean", "running_var"] {
            self.add(format!("{prefix}.bn.{part}"), &[output]);
        }
    }

    /// A perceptron of three layers.
    fn mlp(&mut self, prefix: &str, output: usize) {
        for (layer, width) in [HIDDEN, HIDDEN, output].into_iter().enumerate() {
            self.linear(&format!("{prefix}.layers.{layer}"), width, HIDDEN);
        }
    }

    fn block(&mut self, prefix: &str, width: usize, squeezed: Option<usize>) {
        self.conv_norm(&format!("{prefix}.token_mixer.conv"), width, 1, 3);
        self.conv_norm(&format!("{prefix}.token_mixer.conv1"), width, 1, 1);
        if let Some(inner) = squeezed {
            self.conv(&format!("{prefix}.se.fc1"), inner, width, 1);
            self.conv(&format!("{prefix}.se.fc2"), width, inner, 1);
        }
        self.conv_norm(&format!("{prefix}.channel_mixer.conv1"), 2 * width, width, 1);
        self.conv_norm(&format!("{prefix}.channel_mixer.conv2"), width, 2 * width, 1);
    }

    fn trunk(&mut self) {
        self.conv_norm(&format!("{TRUNK}.stem.conv1"), CHANNELS[0] / 2, 3, 3);
        self.conv_norm(&format!("{TRUNK}.stem.conv2"), CHANNELS[0], CHANNELS[0] / 2, 3);
        for (stage, &width) in CHANNELS.iter().enumerate() {
            if stage > 0 {
                let (prefix, before) = (format!("{TRUNK}.stages_{stage}.downsample"), width / 2);
                self.block(&format!("{prefix}.pre_block"), before, None);
                self.conv_norm(&format!("{prefix}.spatial_downsample"), before, 1, 3);
                self.conv_norm(&format!("{prefix}.channel_downsample"), width, before, 1);
                self.conv_norm(&format!("{prefix}.ffn.conv1"), 2 * width, width, 1);
                self.conv_norm(&format!("{prefix}.ffn.conv2"), width, 2 * width, 1);
            }
            for block in 0..STAGE_BLOCKS[stage] {
                let squeezed = block.is_multiple_of(SQUEEZE_EVERY).then_some(SQUEEZED[stage]);
                self.block(&format!("{TRUNK}.stages_{stage}.blocks.{block}"), width, squeezed);
            }
        }
        for (index, &width) in CHANNELS.iter().rev().enumerate() {
            self.conv(&format!("image_encoder.neck.convs.{index}.conv"), HIDDEN, width, 1);
        }
    }

    fn prompt_encoder(&mut self) {
        let prefix = "sam_prompt_encoder";
        self.add(format!("{prefix}.pe_layer.positional_encoding_gaussian_matrix"), &[2, HIDDEN / 2]);
        for label in 0..4 {
            self.add(format!("{prefix}.point_embeddings.{label}.weight"), &[1, HIDDEN]);
        }
        self.add(format!("{prefix}.not_a_point_embed.weight"), &[1, HIDDEN]);
        self.add(format!("{prefix}.no_mask_embed.weight"), &[1, HIDDEN]);
        self.conv(&format!("{prefix}.mask_downscaling.0"), 4, 1, 2);
        self.norm(&format!("{prefix}.mask_downscaling.1"), 4);
        self.conv(&format!("{prefix}.mask_downscaling.3"), 16, 4, 2);
        self.norm(&format!("{prefix}.mask_downscaling.4"), 16);
        self.conv(&format!("{prefix}.mask_downscaling.6"), HIDDEN, 16, 1);
    }

    /// An attention whose inner width is `inner`.
    fn attention(&mut self, prefix: &str, inner: usize) {
        for part in ["q", "k", "v"] {
            self.linear(&format!("{prefix}.{part}_proj"), inner, HIDDEN);
        }
        self.linear(&format!("{prefix}.out_proj"), HIDDEN, inner);
    }

    fn mask_decoder(&mut self) {
        let prefix = "sam_mask_decoder";
        for index in 0..DECODER_LAYERS {
            let layer = format!("{prefix}.transformer.layers.{index}");
            self.attention(&format!("{layer}.self_attn"), HIDDEN);
            self.attention(&format!("{layer}.cross_attn_token_to_image"), CROSS);
            self.attention(&format!("{layer}.cross_attn_image_to_token"), CROSS);
            for norm in 1..=4 {
                self.norm(&format!("{layer}.norm{norm}"), HIDDEN);
            }
            self.linear(&format!("{layer}.mlp.layers.0"), FEED_FORWARD, HIDDEN);
            self.linear(&format!("{layer}.mlp.layers.1"), HIDDEN, FEED_FORWARD);
        }
        self.attention(&format!("{prefix}.transformer.final_attn_token_to_image"), CROSS);
        self.norm(&format!("{prefix}.transformer.norm_final_attn"), HIDDEN);
        self.add(format!("{prefix}.iou_token.weight"), &[1, HIDDEN]);
        self.add(format!("{prefix}.mask_tokens.weight"), &[MASK_TOKENS, HIDDEN]);
        self.add(format!("{prefix}.obj_score_token.weight"), &[1, HIDDEN]);
        // Transposed convolutions: the input comes first, so the bias is as long as the second side.
        self.add(format!("{prefix}.output_upscaling.0.weight"), &[HIDDEN, 64, 2, 2]);
        self.add(format!("{prefix}.output_upscaling.0.bias"), &[64]);
        self.norm(&format!("{prefix}.output_upscaling.1"), 64);
        self.add(format!("{prefix}.output_upscaling.3.weight"), &[64, 32, 2, 2]);
        self.add(format!("{prefix}.output_upscaling.3.bias"), &[32]);
        self.conv(&format!("{prefix}.conv_s0"), 32, HIDDEN, 1);
        self.conv(&format!("{prefix}.conv_s1"), 64, HIDDEN, 1);
        for mask in 0..MASK_TOKENS {
            self.mlp(&format!("{prefix}.output_hypernetworks_mlps.{mask}"), 32);
        }
        self.mlp(&format!("{prefix}.iou_prediction_head"), MASK_TOKENS);
        self.mlp(&format!("{prefix}.pred_obj_score_head"), 1);
    }

    fn memory_attention(&mut self) {
        for index in 0..MEMORY_LAYERS {
            let layer = format!("memory_attention.layers.{index}");
            self.attention(&format!("{layer}.self_attn"), HIDDEN);
            for (part, input) in [("q", HIDDEN), ("k", MEMORY), ("v", MEMORY), ("out", HIDDEN)] {
                self.linear(&format!("{layer}.cross_attn_image.{part}_proj"), HIDDEN, input);
            }
            self.linear(&format!("{layer}.linear1"), FEED_FORWARD, HIDDEN);
            self.linear(&format!("{layer}.linear2"), HIDDEN, FEED_FORWARD);
            for norm in 1..=3 {
                self.norm(&format!("{layer}.norm{norm}"), HIDDEN);
            }
        }
        self.norm("memory_attention.norm", HIDDEN);
    }

    fn memory_encoder(&mut self) {
        let prefix = "memory_encoder";
        let widths = [1, 4, 16, 64, HIDDEN];
        for (index, pair) in widths.windows(2).enumerate() {
            self.conv(&format!("{prefix}.mask_downsampler.encoder.{}", 3 * index), pair[1], pair[0], 3);
            self.norm(&format!("{prefix}.mask_downsampler.encoder.{}", 3 * index + 1), pair[1]);
        }
        self.conv(&format!("{prefix}.mask_downsampler.encoder.12"), HIDDEN, HIDDEN, 1);
        self.conv(&format!("{prefix}.pix_feat_proj"), HIDDEN, HIDDEN, 1);
        for index in 0..FUSER_LAYERS {
            let layer = format!("{prefix}.fuser.layers.{index}");
            self.add(format!("{layer}.gamma"), &[HIDDEN]);
            self.conv(&format!("{layer}.dwconv"), HIDDEN, 1, 7);
            self.norm(&format!("{layer}.norm"), HIDDEN);
            self.linear(&format!("{layer}.pwconv1"), 4 * HIDDEN, HIDDEN);
            self.linear(&format!("{layer}.pwconv2"), HIDDEN, 4 * HIDDEN);
        }
        self.conv(&format!("{prefix}.out_proj"), MEMORY, HIDDEN, 1);
    }

    fn perceiver(&mut self) {
        let prefix = "spatial_perceiver";
        self.add(format!("{prefix}.latents"), &[LATENTS, MEMORY]);
        self.add(format!("{prefix}.latents_2d"), &[LATENTS, MEMORY]);
        for index in 0..PERCEIVER_LAYERS {
            let layer = format!("{prefix}.layers.{index}");
            self.norm(&format!("{layer}.attn.norm_x"), MEMORY);
            self.norm(&format!("{layer}.attn.norm_latents"), MEMORY);
            self.perceiver_projections(&format!("{layer}.attn"));
            self.perceiver_feed_forward(&format!("{layer}.ff"));
            self.norm(&format!("{layer}.self_attn.norm"), MEMORY);
            self.perceiver_projections(&format!("{layer}.self_attn"));
            self.perceiver_feed_forward(&format!("{layer}.self_ff"));
        }
        self.norm(&format!("{prefix}.norm"), MEMORY);
    }

    fn perceiver_projections(&mut self, prefix: &str) {
        for (part, output) in [("to_q", MEMORY), ("to_kv", 2 * MEMORY), ("to_out", MEMORY)] {
            self.add(format!("{prefix}.{part}.weight"), &[output, MEMORY]);
        }
    }

    fn perceiver_feed_forward(&mut self, prefix: &str) {
        self.norm(&format!("{prefix}.0"), MEMORY);
        self.add(format!("{prefix}.1.weight"), &[4 * MEMORY, MEMORY]);
        self.add(format!("{prefix}.3.weight"), &[MEMORY, 4 * MEMORY]);
    }
}

/// The 876 float tensors of the official checkpoint, names and shapes, in its order. The 106 counters of the batch
/// norms (see [`is_counter`]) are not among them.
pub fn expected() -> Vec<(String, Vec<usize>)> {
    let mut list = List::default();
    list.add("maskmem_tpos_enc", &[SLOTS, 1, 1, MEMORY]);
    list.add("no_mem_embed", &[1, 1, HIDDEN]);
    list.add("no_mem_pos_enc", &[1, 1, HIDDEN]);
    list.add("no_obj_ptr", &[1, HIDDEN]);
    list.trunk();
    list.conv("mask_downsample", 1, 1, 4);
    list.memory_attention();
    list.memory_encoder();
    list.prompt_encoder();
    list.mask_decoder();
    list.mlp("obj_ptr_proj", HIDDEN);
    list.perceiver();
    list.0
}

/// Whether `name` is the counter of a batch norm that EdgeTAM has.
pub(super) fn is_counter(name: &str, wanted: &HashMap<String, Vec<usize>>) -> bool {
    name.strip_suffix(COUNTER).is_some_and(|conv| wanted.contains_key(&format!("{conv}.bn.running_var")))
}

/// Checks names and shapes of a checkpoint, before any data is read.
///
/// # Errors
/// Names the first tensor (in alphabetical order) that is missing, unexpected or of a wrong shape.
pub(super) fn check<'a>(
    wanted: &HashMap<String, Vec<usize>>,
    found: impl Iterator<Item = (&'a str, &'a [usize])>,
) -> Result<(), ConvertError> {
    let found: HashMap<&str, &[usize]> = found.collect();
    let mut missing: Vec<&String> = wanted.keys().filter(|name| !found.contains_key(name.as_str())).collect();
    missing.sort();
    if let Some(name) = missing.first() {
        let (missing, total) = (missing.len(), wanted.len());
        return Err(ConvertError::Missing { name: (*name).clone(), missing, total });
    }
    let mut names: Vec<&str> = found.keys().copied().collect();
    names.sort_unstable();
    for name in names {
        match wanted.get(name) {
            Some(shape) if shape == found[name] => {}
            Some(shape) => {
                let (name, found, wanted) = (name.to_owned(), found[name].to_vec(), shape.clone());
                return Err(ConvertError::Shape { name, found, wanted });
            }
            None if is_counter(name, wanted) => {}
            None => return Err(ConvertError::Unexpected { name: name.to_owned() }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_the_published_counts() {
        let list = expected();
        assert_eq!(list.len(), 982 - 106);
        let names: HashMap<String, Vec<usize>> = list.iter().cloned().collect();
        assert_eq!(names.len(), list.len(), "no name twice");
        assert_eq!(list.iter().filter(|(name, _)| name.ends_with("running_var")).count(), 106);
        let size = |keep: fn(&str) -> bool| -> usize {
            let shapes = list.iter().filter(|(name, _)| keep(name)).map(|(_, shape)| shape);
            shapes.map(|shape| shape.iter().product::<usize>()).sum()
        };
        let buffer = |name: &str| name.contains(".running_") || name.contains("gaussian");
        assert_eq!(size(|name| !name.contains(".running_") && !name.contains("gaussian")), 13_895_794);
        assert_eq!(list.iter().filter(|(name, _)| buffer(name)).count(), 213);
        assert_eq!(size(|name| name.contains(".running_") || name.contains("gaussian")), 47_248);
        for (prefix, counters, count) in [
            ("image_encoder.", 106, 684),
            ("sam_mask_decoder.", 0, 131),
            ("memory_attention.", 0, 54),
            ("spatial_perceiver.", 0, 44),
            ("memory_encoder.", 0, 40),
            ("sam_prompt_encoder.", 0, 17),
            ("obj_ptr_proj.", 0, 6),
            ("mask_downsample.", 0, 2),
        ] {
            let found = list.iter().filter(|(name, _)| name.starts_with(prefix)).count();
            assert_eq!(found + counters, count, "{prefix}");
        }
    }

    #[test]
    fn counters_are_known_only_beside_a_norm() {
        let wanted = expected().into_iter().collect();
        assert!(is_counter("image_encoder.trunk.body.stem.conv1.bn.num_batches_tracked", &wanted));
        assert!(!is_counter("image_encoder.neck.convs.0.bn.num_batches_tracked", &wanted));
    }
}
