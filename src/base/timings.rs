//! How long the stages of the work took.

use std::time::Duration;

/// A stage whose time is kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Reading and decoding a picture.
    Decode,
    /// Resizing and normalising it.
    Preprocess,
    /// Image encoder.
    Encode,
    /// Memory attention.
    MemoryAttention,
    /// Prompt encoder and mask decoder.
    MaskDecode,
    /// Memory encoder and perceiver.
    MemoryEncode,
    /// On devices that do it in one go: memory attention, mask decoder, memory encoder and perceiver.
    Follow,
    /// Masks to picture size and to run lengths.
    Masks,
}

impl Stage {
    /// Every stage in the order of the work.
    pub const ALL: [Self; 8] = [
        Self::Decode,
        Self::Preprocess,
        Self::Encode,
        Self::MemoryAttention,
        Self::MaskDecode,
        Self::MemoryEncode,
        Self::Follow,
        Self::Masks,
    ];
}

/// Total time and number of runs per stage.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    sums: [(Duration, u32); Stage::ALL.len()],
}

impl Timings {
    /// Adds one run of `stage`.
    pub fn add(&mut self, stage: Stage, took: Duration) {
        let (sum, runs) = &mut self.sums[stage as usize];
        *sum += took;
        *runs += 1;
    }

    /// Runs `work` and adds its time to `stage`.
    pub fn measure<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = std::time::Instant::now();
        let result = work();
        self.add(stage, start.elapsed());
        result
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.sums.iter_mut().zip(&other.sums) {
            mine.0 += theirs.0;
            mine.1 += theirs.1;
        }
    }

    /// Mean milliseconds of a run of `stage` and the number of runs.
    pub fn mean_ms(&self, stage: Stage) -> (f64, u32) {
        let (sum, runs) = self.sums[stage as usize];
        (if runs == 0 { 0.0 } else { sum.as_secs_f64() * 1e3 / f64::from(runs) }, runs)
    }
}
