//! Owns the words every other room speaks: frames, times, objects, pictures, masks and their geometry.
//! May import: nothing of this crate.
//! Must not: do I/O, start threads, or know a model, a codec or a window.

mod device;
mod format;
mod frame;
mod geometry;
mod logits;
mod mask;
mod options;
mod picture;
mod prompt;
mod rle;
mod timings;
mod traffic;

pub use device::{DeviceChoice, DeviceFamily, Preprocess, Transport};
pub use format::{Format, FormatFacts, UnknownFormat};
pub use frame::{Direction, FrameIndex, FrameRange, Generation, ObjectId, Pts, Rational};
pub use geometry::{BoxXyxy, Point, Size};
pub use logits::Logits;
pub use mask::Mask;
pub use options::{ExportOptions, OptionError, OptionFacts, OptionKind, SHARED_OPTIONS};
pub use picture::RgbFrame;
pub use prompt::{Click, FramePrompts, Label, PromptError};
pub use rle::{Rle, RleError};
pub use timings::{Stage, Timings};
pub use traffic::Traffic;
