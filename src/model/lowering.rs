//! Which of several equivalent ways a backend computes something. Data, so that the network's code has no `if`s.

use super::Variant;

/// The choices for one backend.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lowering {
    /// Deviations for tests; the default is the network as trained.
    pub variant: Variant,
}

impl Lowering {
    /// For ggml's CPU backend: f32 weights and explicit attention, which are its fastest.
    pub fn cpu() -> Self {
        Self::default()
    }
}
