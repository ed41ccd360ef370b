//! Which of several equivalent ways a backend computes something. Data, so that the network's code has no `if`s.

use super::Variant;
use crate::kernels::Level;

/// Whose loops compute the heavy parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// ggml's.
    Ggml,
    /// Ours, which only ggml's CPU backend can call.
    Own,
}

/// The choices for one backend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lowering {
    /// Deviations for tests; the default is the network as trained.
    pub variant: Variant,
    /// Whose kernels.
    pub kernels: Kernels,
}

impl Lowering {
    /// For ggml's CPU backend: f32 weights, and our own kernels where the processor has vectors to run them fast; else
    /// ggml's, with explicit attention, which is its fastest.
    pub fn cpu() -> Self {
        let kernels = if Level::best() == Level::Portable { Kernels::Ggml } else { Kernels::Own };
        Self { variant: Variant::default(), kernels }
    }
}

impl Default for Lowering {
    fn default() -> Self {
        Self::cpu()
    }
}
