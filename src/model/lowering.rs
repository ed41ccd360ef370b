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
    /// For ggml's CPU backend: f32 weights and explicit attention, which are its fastest.
    pub fn cpu() -> Self {
        Self { variant: Variant::default(), kernels: Kernels::Ggml }
    }

    /// Our own kernels where the processor has vectors to run them fast, else as [`Self::cpu`]. Not yet the default: at
    /// 1024 single numbers (predicted IoU, object score) are up to 3e-5 from the reference, where ggml's stay within 1e-5.
    pub fn own() -> Self {
        let kernels = if Level::best() == Level::Portable { Kernels::Ggml } else { Kernels::Own };
        Self { kernels, ..Self::cpu() }
    }
}

impl Default for Lowering {
    fn default() -> Self {
        Self::cpu()
    }
}
