//! Where in a video something is: frame numbers, presentation times, object identities, generations.

use std::fmt;

/// Number of a frame in display order, counted from 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct FrameIndex(pub u32);

impl FrameIndex {
    /// The number as an array index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for FrameIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Frames `first..=last`; never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FrameRange {
    /// First frame.
    pub first: FrameIndex,
    /// Last frame, included.
    pub last: FrameIndex,
}

impl FrameRange {
    /// The range, or `None` when `first > last`.
    pub fn new(first: FrameIndex, last: FrameIndex) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    /// Number of frames, at least 1.
    pub fn count(&self) -> u32 {
        self.last.0 - self.first.0 + 1
    }

    /// Whether `frame` lies in the range.
    pub fn contains(&self, frame: FrameIndex) -> bool {
        (self.first..=self.last).contains(&frame)
    }
}

/// Which way a track runs through the video.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards the last frame.
    Forward,
    /// Towards the first frame.
    Backward,
}

/// Identity of an object within a project. Never re-used; exports number objects 1..N on their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct ObjectId(pub u32);

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Counts seeks, edits and cancels. A message of an older generation is dropped on receipt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u64);

impl Generation {
    /// The generation after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A ratio of two integers, such as a frame rate (30000/1001) or a time base (1/90000).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Rational {
    /// Numerator.
    pub num: i32,
    /// Denominator; 0 means "unknown".
    pub den: i32,
}

impl Rational {
    /// `num / den`.
    pub const fn new(num: i32, den: i32) -> Self {
        Self { num, den }
    }

    /// The ratio as a number; 0 when unknown.
    pub fn as_f64(self) -> f64 {
        if self.den == 0 { 0.0 } else { f64::from(self.num) / f64::from(self.den) }
    }
}

/// Presentation time of a frame in units of `time_base` seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pts {
    /// Count of time-base units; may be negative.
    pub ticks: i64,
    /// Length of a unit in seconds.
    pub time_base: Rational,
}

impl Pts {
    /// The time in seconds.
    pub fn seconds(self) -> f64 {
        self.ticks as f64 * self.time_base.as_f64()
    }
}
