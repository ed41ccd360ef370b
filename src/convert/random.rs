//! Owns the random checkpoint: seeded weights of EdgeTAM's shapes that keep activations alive, for fidelity tests.
//! May import: nothing outside this room.
//! Must not: depend on anything but a tensor's name and index, so that any other program can make the same values.
//!
//! The Python twin is in `tests/parity`. Arithmetic is `f64` without fused operations, rounded to `f32` once.

use std::collections::HashMap;

use super::checkpoint::CheckpointTensor;
use super::{Checkpoint, expected};

/// Makes the random checkpoint: always the same.
pub fn random_checkpoint() -> Checkpoint {
    let tensors: HashMap<String, CheckpointTensor> = expected()
        .into_iter()
        .map(|(name, shape)| {
            let data = values(&name, &shape);
            (name, CheckpointTensor { shape, data })
        })
        .collect();
    Checkpoint::from_tensors(tensors).expect("names and shapes come from the list they are checked against")
}

/// How a tensor's values are made of the two noises.
enum Rule {
    /// `offset + scale * normal`.
    Normal { offset: f64, scale: f64 },
    /// `0.9 + 0.2 * uniform`.
    Variance,
}

fn values(name: &str, shape: &[usize]) -> Vec<f32> {
    let key = fnv1a(name);
    let rule = rule(name, shape);
    (0..shape.iter().product::<usize>() as u64)
        .map(|index| match rule {
            Rule::Normal { offset, scale } => (offset + scale * normal(key, index)) as f32,
            Rule::Variance => (0.9 + 0.2 * uniform(key, index)) as f32,
        })
        .collect()
}

fn rule(name: &str, shape: &[usize]) -> Rule {
    let centred = |scale| Rule::Normal { offset: 0.0, scale };
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
    if ends(&[".running_var"]) {
        Rule::Variance
    } else if ends(&[".running_mean"]) {
        centred(0.05)
    } else if ends(&[".gamma"]) {
        centred(0.3)
    } else if ["maskmem_tpos_enc", "no_mem_embed", "no_mem_pos_enc", "no_obj_ptr"].contains(&name) {
        centred(0.5)
    } else if ends(&[
        ".positional_encoding_gaussian_matrix",
        "_embed.weight",
        "_token.weight",
        "_tokens.weight",
    ]) || name.contains(".point_embeddings.")
        || name.starts_with("spatial_perceiver.latents")
    {
        centred(1.0)
    } else if name == "sam_mask_decoder.pred_obj_score_head.layers.2.bias" {
        Rule::Normal { offset: 3.0, scale: 0.1 }
    } else if ends(&[".bias"]) {
        centred(0.1)
    } else if shape.len() == 1 {
        Rule::Normal { offset: 1.0, scale: 0.1 }
    } else {
        centred(gain(name) / (fan_in(name, shape) as f64).sqrt())
    }
}

/// Inputs of one output: all sides but the first, for transposed convolutions the first.
fn fan_in(name: &str, shape: &[usize]) -> usize {
    match name {
        "sam_mask_decoder.output_upscaling.0.weight" | "sam_mask_decoder.output_upscaling.3.weight" => {
            shape[0]
        }
        _ => shape[1..].iter().product(),
    }
}

/// Queries are sharpened, so that attention is not uniform; residual branches are damped, so that depth does not blow
/// up the activations; the hypernetworks are scaled so that logits cover a trained model's range, mask 0 reversed.
fn gain(name: &str) -> f64 {
    if name.ends_with(".q_proj.weight") || name.ends_with(".to_q.weight") {
        2.5
    } else if name.contains(".output_hypernetworks_mlps.") && name.ends_with(".layers.2.weight") {
        if name.contains(".output_hypernetworks_mlps.0.") { -2.5 } else { 2.5 }
    } else if name.ends_with(".token_mixer.conv.c.weight") {
        0.5
    } else if name.ends_with(".token_mixer.conv1.c.weight") {
        0.25
    } else if name.contains(".blocks.") && name.ends_with(".channel_mixer.conv2.c.weight") {
        0.7
    } else {
        1.0
    }
}

/// FNV-1a of the name, 64 bits.
fn fnv1a(name: &str) -> u64 {
    name.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

/// Word `word` (0..4) of element `index`: SplitMix64 at a counter.
fn word(key: u64, index: u64, word: u64) -> u64 {
    let counter = (4 * index + word + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let x = key.wrapping_add(counter);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Nearly normal, mean 0 and variance 1: the sum of twelve uniform numbers. Exact integers until the last division, so
/// no mathematics library is involved.
fn normal(key: u64, index: u64) -> f64 {
    let halves = |word: u64| (0..4).map(move |half| i64::from((word >> (16 * half)) as u16));
    let sum: i64 = (0..3).flat_map(|j| halves(word(key, index, j))).sum();
    (sum - 6 * 65535) as f64 / 65536.0
}

/// Uniform in [0, 1).
fn uniform(key: u64, index: u64) -> f64 {
    (word(key, index, 3) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fixed once, with the Python twin.
    const SHA256: &str = "6892a52c1121eb0a691b785cbf604241051b4eafade6fa413097e7ddcbbda967";

    #[test]
    fn the_values_are_the_agreed_ones() {
        let checkpoint = random_checkpoint();
        let start = |name: &str| checkpoint.get(name).unwrap().data[..3].to_vec();
        assert_eq!(start("maskmem_tpos_enc"), [-0.6472626, -0.3517685, 0.1320343]);
        assert_eq!(
            start("image_encoder.trunk.body.stem.conv1.bn.running_var"),
            [1.0981408, 0.98678243, 1.0339468]
        );
        assert_eq!(start("spatial_perceiver.latents"), [0.11419678, -1.2939911, 0.79486084]);
        assert_eq!(checkpoint.content_sha256(), SHA256);
        assert_eq!(checkpoint.sha256(), SHA256);
    }
}
