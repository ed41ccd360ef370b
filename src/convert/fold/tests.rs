//! Owns the proof that folded layers compute what the layers they replace compute.
//! May import: the module it tests.
//! Must not: reuse the folding code on the other side of a comparison.

use super::*;
use crate::convert::random_checkpoint;
use std::sync::OnceLock;

/// The random checkpoint and what it folds to, made once.
fn random() -> (&'static Checkpoint, &'static [Folded]) {
    static RANDOM: OnceLock<(Checkpoint, Vec<Folded>)> = OnceLock::new();
    let (checkpoint, folded) = RANDOM.get_or_init(|| {
        let checkpoint = random_checkpoint();
        let folded = fold(&checkpoint);
        (checkpoint, folded)
    });
    (checkpoint, folded)
}

/// A channel of a depthwise 3x3 convolution with padding, at every pixel of a small picture.
fn depthwise3(picture: &[f64], side: usize, kernel: &[f64]) -> Vec<f64> {
    let at = |y: isize, x: isize| {
        let inside = (0..side as isize).contains(&y) && (0..side as isize).contains(&x);
        if inside { picture[y as usize * side + x as usize] } else { 0.0 }
    };
    let pixels = (0..side as isize).flat_map(|y| (0..side as isize).map(move |x| (y, x)));
    pixels
        .map(|(y, x)| (0..9).map(|tap| kernel[tap as usize] * at(y + tap / 3 - 1, x + tap % 3 - 1)).sum())
        .collect()
}

fn find<'a>(folded: &'a [Folded], name: &str) -> &'a Folded {
    folded.iter().find(|tensor| tensor.name == name).unwrap()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

#[test]
fn the_token_mixer_is_the_sum_of_its_three_branches() {
    let (checkpoint, folded) = random();
    let from = format!("{TRUNK}.stages_1.blocks.1.token_mixer");
    let weight = find(folded, "trunk.stages.1.blocks.1.token_mixer.weight");
    let bias = find(folded, "trunk.stages.1.blocks.1.token_mixer.bias");
    assert_eq!(weight.ne, [96, 3, 3]);
    let side = 5;
    for channel in [0, 17, 95] {
        let picture: Vec<f64> = (0..side * side).map(|i| ((i * 7 + channel) % 11) as f64 - 5.0).collect();
        let branch = |conv: &str, taps: usize| {
            let data = |part: &str| wide(&checkpoint.tensor(&format!("{from}.{conv}.{part}")).data);
            let mut kernel = [0.0; 9];
            let own = &data("c.weight")[channel * taps..(channel + 1) * taps];
            if taps == 9 {
                kernel.copy_from_slice(own)
            } else {
                kernel[4] = own[0]
            }
            let plain = depthwise3(&picture, side, &kernel);
            let (gamma, beta) = (data("bn.weight")[channel], data("bn.bias")[channel]);
            let (mean, var) = (data("bn.running_mean")[channel], data("bn.running_var")[channel]);
            plain
                .into_iter()
                .map(move |v| (v - mean) / (var + 1e-5).sqrt() * gamma + beta)
                .collect::<Vec<f64>>()
        };
        let (three, one) = (branch("conv", 9), branch("conv1", 1));
        let kernel: Vec<f64> = (0..9).map(|tap| f64::from(weight.data[tap * 96 + channel])).collect();
        let joined = depthwise3(&picture, side, &kernel);
        for pixel in 0..side * side {
            let wanted = three[pixel] + one[pixel] + picture[pixel];
            let found = joined[pixel] + f64::from(bias.data[channel]);
            assert!((wanted - found).abs() < 1e-5, "channel {channel}, pixel {pixel}: {wanted} {found}");
        }
    }
}

#[test]
fn the_joined_laterals_are_one_after_the_other() {
    let (checkpoint, folded) = random();
    let input: Vec<f64> = (0..48).map(|i| f64::from((i * 5) % 13) - 6.0).collect();
    let apply = |prefix: &str, input: &[f64]| -> Vec<f64> {
        let weight = wide(&checkpoint.tensor(&format!("{prefix}.weight")).data);
        let bias = wide(&checkpoint.tensor(&format!("{prefix}.bias")).data);
        let rows = weight.chunks_exact(input.len()).zip(&bias);
        rows.map(|(row, bias)| bias + row.iter().zip(input).map(|(w, x)| w * x).sum::<f64>()).collect()
    };
    let wanted = apply("sam_mask_decoder.conv_s0", &apply("image_encoder.neck.convs.3.conv", &input));
    let weight = find(folded, "neck.high_res_s0.weight");
    assert_eq!(weight.ne, [48, 32]);
    let bias = wide(&find(folded, "neck.high_res_s0.bias").data);
    for (output, row) in wide(&weight.data).chunks_exact(48).enumerate() {
        let found = bias[output] + row.iter().zip(&input).map(|(w, x)| w * x).sum::<f64>();
        assert!((wanted[output] - found).abs() < 1e-4, "{} {found}", wanted[output]);
    }
}

#[test]
fn transposed_convolutions_are_ordered_by_tap_then_output() {
    let (checkpoint, folded) = random();
    let weight = find(folded, "mask_decoder.output_upscaling.3.weight");
    assert_eq!(weight.ne, [64, 4 * 32]);
    let official = &checkpoint.tensor("sam_mask_decoder.output_upscaling.3.weight").data;
    for (input, output, y, x) in [(0, 0, 0, 0), (63, 31, 1, 1), (5, 9, 0, 1), (40, 2, 1, 0)] {
        let row = (y * 2 + x) * 32 + output;
        let wanted = official[((input * 32 + output) * 2 + y) * 2 + x];
        assert_eq!(weight.data[row * 64 + input], wanted);
    }
}

#[test]
fn projections_are_stacked_in_order() {
    let (checkpoint, folded) = random();
    let weight = find(folded, "memory_attention.layers.1.self_attn.qkv_proj.weight");
    assert_eq!(weight.ne, [256, 768]);
    for (index, part) in ["q", "k", "v"].into_iter().enumerate() {
        let official =
            &checkpoint.tensor(&format!("memory_attention.layers.1.self_attn.{part}_proj.weight")).data;
        assert_eq!(weight.data[index * 65536..][..65536], official[..]);
    }
    let weight = find(folded, "spatial_perceiver.layers.0.self_attn.to_qkv.weight");
    assert_eq!(weight.ne, [64, 192]);
    let official = &checkpoint.tensor("spatial_perceiver.layers.0.self_attn.to_kv.weight").data;
    assert_eq!(weight.data[64 * 64..], official[..]);
    let tokens = find(folded, "mask_decoder.tokens");
    assert_eq!(tokens.ne, [256, 6]);
    assert_eq!(tokens.data[256..512], checkpoint.tensor("sam_mask_decoder.iou_token.weight").data[..]);
}

#[test]
fn the_fuser_scale_is_in_its_last_layer() {
    let (checkpoint, folded) = random();
    let layer = "memory_encoder.fuser.layers.0";
    let gamma = &checkpoint.tensor(&format!("{layer}.gamma")).data;
    for part in ["weight", "bias"] {
        let official = &checkpoint.tensor(&format!("{layer}.pwconv2.{part}")).data;
        let found = &find(folded, &format!("{layer}.pwconv2.{part}")).data;
        let row = official.len() / 256;
        for index in [0, row, official.len() - 1] {
            assert_eq!(found[index], (f64::from(official[index]) * f64::from(gamma[index / row])) as f32);
        }
    }
    let weight = find(folded, &format!("{layer}.dwconv.weight"));
    assert_eq!(weight.ne, [256, 7, 7]);
    let official = &checkpoint.tensor(&format!("{layer}.dwconv.weight")).data;
    assert_eq!(weight.data[(2 * 7 + 5) * 256 + 100], official[100 * 49 + 2 * 7 + 5]);
}

#[test]
fn no_weight_is_lost_or_named_twice() {
    let (_, folded) = random();
    let names: std::collections::HashSet<&str> = folded.iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(names.len(), folded.len());
    // The fused trunk has 4,682,056 weights and the joined laterals replace four layers by two.
    let trunk: usize = folded.iter().filter(|t| t.name.starts_with("trunk.")).map(|t| t.data.len()).sum();
    assert_eq!(trunk, 4_682_056);
}
