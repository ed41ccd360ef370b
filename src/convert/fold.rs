//! Owns the arithmetic from the checkpoint's tensors to those of the model file, part by part.
//! May import: nothing outside this room.
//! Must not: round to half precision; that is the writer's last step.
//!
//! Every sum and product here is in `f64` and rounded to `f32` once.

mod parts;

use super::checkpoint::CheckpointTensor;
use super::layout::{BATCH_NORM_EPS, CHANNELS, SQUEEZE_EVERY, STAGE_BLOCKS};
use super::{Checkpoint, expected::TRUNK};

/// What a tensor is for, which decides how it may be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A matrix that is multiplied with activations: linear layers and 1x1 convolutions.
    Matrix,
    /// The kernel of a dense convolution.
    Kernel,
    /// Anything else: biases, norms, depthwise kernels, tokens. Always `f32`.
    Exact,
}

/// A tensor of the model file.
#[derive(Clone, Debug)]
pub(super) struct Folded {
    pub(super) name: String,
    /// Sides in ggml order, the fastest first; one to four.
    pub(super) ne: Vec<u64>,
    pub(super) role: Role,
    pub(super) data: Vec<f32>,
}

/// Folds a whole checkpoint.
pub(super) fn fold(checkpoint: &Checkpoint) -> Vec<Folded> {
    let mut folder = Folder { checkpoint, out: Vec::new() };
    folder.trunk();
    folder.neck();
    folder.prompt_encoder();
    folder.mask_decoder();
    folder.memory_attention();
    folder.memory_encoder();
    folder.perceiver();
    folder.out
}

/// Weight and bias in `f64`, on the way to the model file.
struct Affine {
    /// `rows` x `columns`, row-major; a row makes one output channel.
    weight: Vec<f64>,
    bias: Vec<f64>,
    rows: usize,
    columns: usize,
}

struct Folder<'a> {
    checkpoint: &'a Checkpoint,
    out: Vec<Folded>,
}

impl Folder<'_> {
    fn get(&self, name: &str) -> &CheckpointTensor {
        self.checkpoint.tensor(name)
    }

    fn values(&self, name: &str) -> Vec<f64> {
        self.get(name).data.iter().map(|&value| f64::from(value)).collect()
    }

    fn push(&mut self, name: impl Into<String>, ne: &[usize], role: Role, data: Vec<f32>) {
        let (name, ne) = (name.into(), ne.iter().map(|&side| side as u64).collect::<Vec<u64>>());
        debug_assert_eq!(ne.iter().product::<u64>(), data.len() as u64, "{name}");
        self.out.push(Folded { name, ne, role, data });
    }

    /// A tensor that keeps its memory order and stays exact, under another name and shape.
    fn exact(&mut self, to: &str, from: &str, ne: &[usize]) {
        let data = self.get(from).data.clone();
        self.push(to, ne, Role::Exact, data);
    }

    /// A norm's weight and bias.
    fn norm(&mut self, to: &str, from: &str) {
        for part in ["weight", "bias"] {
            let data = self.get(&format!("{from}.{part}")).data.clone();
            self.push(format!("{to}.{part}"), &[data.len()], Role::Exact, data);
        }
    }

    /// A linear layer, a 1x1 convolution or, without a bias, a projection: same memory, `[in, out]`.
    fn linear(&mut self, to: &str, from: &str) {
        self.matrix(&format!("{to}.weight"), &[&format!("{from}.weight")]);
        self.bias(&format!("{to}.bias"), &[&format!("{from}.bias")]);
    }

    /// Several matrices of the same input, stacked row under row.
    fn matrix(&mut self, to: &str, from: &[&str]) {
        let columns = self.get(from[0]).shape[1];
        let data: Vec<f32> = from.iter().flat_map(|name| self.get(name).data.iter().copied()).collect();
        self.push(to, &[columns, data.len() / columns], Role::Matrix, data);
    }

    /// Several biases, one after the other.
    fn bias(&mut self, to: &str, from: &[&str]) {
        let data: Vec<f32> = from.iter().flat_map(|name| self.get(name).data.iter().copied()).collect();
        self.push(to, &[data.len()], Role::Exact, data);
    }

    /// A dense convolution with a bias: same memory.
    fn conv(&mut self, to: &str, from: &str) {
        let tensor = self.get(&format!("{from}.weight"));
        let (ne, data) = (tensor.shape.iter().rev().copied().collect::<Vec<usize>>(), tensor.data.clone());
        self.push(format!("{to}.weight"), &ne, Role::Kernel, data);
        self.bias(&format!("{to}.bias"), &[&format!("{from}.bias")]);
    }

    /// A depthwise convolution with a bias, made channel-fastest.
    fn depthwise(&mut self, to: &str, from: &str) {
        let affine = self.affine(from);
        self.push_depthwise(to, affine);
    }

    /// Weight and bias of a layer as they are.
    fn affine(&self, from: &str) -> Affine {
        let weight = self.values(&format!("{from}.weight"));
        let bias = self.values(&format!("{from}.bias"));
        let (rows, columns) = (bias.len(), weight.len() / bias.len());
        Affine { weight, bias, rows, columns }
    }

    /// A convolution without bias and the batch norm after it, as one layer: with `s = gamma / sqrt(var + eps)` the
    /// weights of an output channel become `s w` and its bias `beta - mean s`.
    fn conv_norm(&self, from: &str) -> Affine {
        let mut weight = self.values(&format!("{from}.c.weight"));
        let part = |part: &str| self.values(&format!("{from}.bn.{part}"));
        let (gamma, beta, mean, var) =
            (part("weight"), part("bias"), part("running_mean"), part("running_var"));
        let (rows, columns) = (gamma.len(), weight.len() / gamma.len());
        let scale: Vec<f64> =
            gamma.iter().zip(&var).map(|(gamma, var)| gamma / (var + BATCH_NORM_EPS).sqrt()).collect();
        for (row, scale) in weight.chunks_exact_mut(columns).zip(&scale) {
            row.iter_mut().for_each(|weight| *weight *= scale);
        }
        let bias =
            beta.iter().zip(&mean).zip(&scale).map(|((beta, mean), scale)| beta - mean * scale).collect();
        Affine { weight, bias, rows, columns }
    }

    fn push_matrix(&mut self, to: &str, affine: Affine) {
        let ne = [affine.columns, affine.rows];
        self.push(format!("{to}.weight"), &ne, Role::Matrix, round(&affine.weight));
        self.push(format!("{to}.bias"), &[affine.rows], Role::Exact, round(&affine.bias));
    }

    fn push_depthwise(&mut self, to: &str, affine: Affine) {
        let side = affine.columns.isqrt();
        let weight = transpose(&affine.weight, affine.rows, affine.columns);
        self.push(format!("{to}.weight"), &[affine.rows, side, side], Role::Exact, round(&weight));
        self.push(format!("{to}.bias"), &[affine.rows], Role::Exact, round(&affine.bias));
    }

    fn trunk(&mut self) {
        for (part, ne) in
            [("conv1", [3, 3, 3, CHANNELS[0] / 2]), ("conv2", [3, 3, CHANNELS[0] / 2, CHANNELS[0]])]
        {
            let affine = self.conv_norm(&format!("{TRUNK}.stem.{part}"));
            self.push(format!("trunk.stem.{part}.weight"), &ne, Role::Kernel, round(&affine.weight));
            self.push(format!("trunk.stem.{part}.bias"), &ne[3..], Role::Exact, round(&affine.bias));
        }
        for (stage, &blocks) in STAGE_BLOCKS.iter().enumerate() {
            if stage > 0 {
                self.downsample(stage);
            }
            for block in 0..blocks {
                let from = format!("{TRUNK}.stages_{stage}.blocks.{block}");
                let to = format!("trunk.stages.{stage}.blocks.{block}");
                self.token_mixer(&to, &from);
                if block.is_multiple_of(SQUEEZE_EVERY) {
                    self.linear(&format!("{to}.se.fc1"), &format!("{from}.se.fc1"));
                    self.linear(&format!("{to}.se.fc2"), &format!("{from}.se.fc2"));
                }
                self.channel_mixer(&format!("{to}.channel_mixer"), &format!("{from}.channel_mixer"));
            }
        }
    }

    /// The 3x3 branch, the 1x1 branch and the identity as one 3x3 depthwise convolution.
    fn token_mixer(&mut self, to: &str, from: &str) {
        let mut mixed = self.conv_norm(&format!("{from}.token_mixer.conv"));
        let point = self.conv_norm(&format!("{from}.token_mixer.conv1"));
        let centre = mixed.columns / 2;
        for (channel, kernel) in mixed.weight.chunks_exact_mut(mixed.columns).enumerate() {
            kernel[centre] += point.weight[channel] + 1.0;
            mixed.bias[channel] += point.bias[channel];
        }
        self.push_depthwise(&format!("{to}.token_mixer"), mixed);
    }

    /// Two 1x1 convolutions, each with its norm.
    fn channel_mixer(&mut self, to: &str, from: &str) {
        for part in ["conv1", "conv2"] {
            let affine = self.conv_norm(&format!("{from}.{part}"));
            self.push_matrix(&format!("{to}.{part}"), affine);
        }
    }

    fn downsample(&mut self, stage: usize) {
        let from = format!("{TRUNK}.stages_{stage}.downsample");
        let to = format!("trunk.stages.{stage}.downsample");
        self.token_mixer(&format!("{to}.pre_block"), &format!("{from}.pre_block"));
        self.channel_mixer(
            &format!("{to}.pre_block.channel_mixer"),
            &format!("{from}.pre_block.channel_mixer"),
        );
        let spatial = self.conv_norm(&format!("{from}.spatial_downsample"));
        self.push_depthwise(&format!("{to}.spatial_downsample"), spatial);
        let channel = self.conv_norm(&format!("{from}.channel_downsample"));
        self.push_matrix(&format!("{to}.channel_downsample"), channel);
        self.channel_mixer(&format!("{to}.ffn"), &format!("{from}.ffn"));
    }

    /// The two coarse laterals, and the two fine ones joined with the decoder's projections. The join is exact because
    /// the fine levels get no top-down term and nothing but the projections reads them.
    fn neck(&mut self) {
        for index in 0..2 {
            self.linear(&format!("neck.convs.{index}"), &format!("image_encoder.neck.convs.{index}.conv"));
        }
        for (to, projection, lateral) in
            [("neck.high_res_s1", "conv_s1", 2), ("neck.high_res_s0", "conv_s0", 3)]
        {
            let after = self.affine(&format!("sam_mask_decoder.{projection}"));
            let before = self.affine(&format!("image_encoder.neck.convs.{lateral}.conv"));
            self.push_matrix(to, compose(&after, &before));
        }
    }
}

/// The layer that does `before` and then `after`.
fn compose(after: &Affine, before: &Affine) -> Affine {
    let columns = before.columns;
    let mut weight = vec![0.0; after.rows * columns];
    let mut bias = after.bias.clone();
    for row in 0..after.rows {
        for inner in 0..after.columns {
            let factor = after.weight[row * after.columns + inner];
            bias[row] += factor * before.bias[inner];
            let source = &before.weight[inner * columns..(inner + 1) * columns];
            let target = &mut weight[row * columns..(row + 1) * columns];
            target.iter_mut().zip(source).for_each(|(sum, value)| *sum += factor * value);
        }
    }
    Affine { weight, bias, rows: after.rows, columns }
}

/// `rows` x `columns` to `columns` x `rows`.
fn transpose<T: Copy>(values: &[T], rows: usize, columns: usize) -> Vec<T> {
    (0..columns).flat_map(|column| (0..rows).map(move |row| values[row * columns + column])).collect()
}

fn round(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

#[cfg(test)]
mod tests;
