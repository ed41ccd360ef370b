//! Owns pictures from files and videos to files: sources, the frame index, writers.
//! May import: base.
//! Must not: know the engine, the session or a face of the app.

#[cfg(feature = "ffmpeg")]
mod ffi;
#[cfg(feature = "ffmpeg")]
mod ffmpeg;
mod folder;
mod natural;
mod open;
mod picture;
mod source;
mod writer;

pub use natural::natural_order;
pub use open::{OpenOptions, first_picture, open, open_with};
pub use picture::{LabelPicture, read_labels, read_mask, read_picture};
pub use source::{VideoError, VideoInfo, VideoSource};
pub use writer::{FrameTiming, VideoKind, VideoWriter};
