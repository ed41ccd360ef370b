//! Which of several equivalent ways a backend computes something. Data, so that the network's code has no `if`s.

use super::Variant;
use crate::kernels::Level;

/// Whose loops compute the heavy parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// ggml's.
    Ggml,
    /// Ours, compiled for this kind of processor; only ggml's CPU backend can call them.
    Own(Level),
}

/// The choices for one backend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lowering {
    /// Deviations for tests; the default is the network as trained.
    pub variant: Variant,
    /// Whose kernels.
    pub kernels: Kernels,
    /// How ggml computes dense convolutions.
    pub stem: Stem,
    /// What its products are computed in.
    pub arithmetic: Arithmetic,
}

/// How ggml computes a dense convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stem {
    /// Patches side by side, then a matrix product.
    Patches,
    /// One operation with f16 weights and f32 sums.
    DirectF16,
}

/// What a device's products are computed in; sums are f32 everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Single precision.
    F32,
    /// NVIDIA's 19-bit floats.
    Tf32,
}

impl Lowering {
    /// The arithmetic in words.
    pub fn precision(&self) -> &'static str {
        match self.arithmetic {
            Arithmetic::F32 => "f32",
            Arithmetic::Tf32 => "TF32, f32 sums",
        }
    }
}

impl Lowering {
    /// For the CPU: our own kernels where the processor has vectors to run them fast, else ggml's.
    pub fn cpu() -> Self {
        match Level::best() {
            Level::Portable => Self::stock(),
            level => Self::own(level),
        }
    }

    /// Our own kernels at `level`, which this processor must be able to run.
    pub fn own(level: Level) -> Self {
        Self { kernels: Kernels::Own(level), ..Self::stock() }
    }

    /// For CUDA: as [`Self::stock`], with the dense convolutions at the start as one operation in f16. Other products
    /// are in TF32, which has as many bits; sums are f32.
    pub fn cuda() -> Self {
        Self { stem: Stem::DirectF16, arithmetic: Arithmetic::Tf32, ..Self::stock() }
    }

    /// What every ggml backend can compute: f32 weights, explicit attention, ggml's own kernels.
    pub fn stock() -> Self {
        Self {
            variant: Variant::default(),
            kernels: Kernels::Ggml,
            stem: Stem::Patches,
            arithmetic: Arithmetic::F32,
        }
    }
}

impl Lowering {
    /// Each kind of work and what computes it, for a person who wants to know.
    pub fn explain(&self) -> Vec<(&'static str, String)> {
        let (dense, attention, small) = match self.kernels {
            Kernels::Ggml => (
                "ggml's matrix product, then bias and activation".to_owned(),
                "ggml's matrix products with softmax between".to_owned(),
                "ggml's element-wise operations".to_owned(),
            ),
            Kernels::Own(level) => (
                format!("own, {level:?}: weights in panels, bias and activation in the same pass"),
                format!("own, {level:?}: blocks of queries and keys, scores stay in the cache"),
                format!("own, {level:?}"),
            ),
        };
        vec![
            ("linear, 1x1 and dense convolution", dense),
            ("attention", attention),
            ("norm, depthwise, rotation, gates", small),
            ("weights", "f32".to_owned()),
            ("memories", "rounded to bf16, kept as f32".to_owned()),
        ]
    }
}

impl Default for Lowering {
    fn default() -> Self {
        Self::cpu()
    }
}
