//! Owns pictures from files and videos to files: sources, the frame index, writers.
//! May import: base.
//! Must not: know the engine, the session or a face of the app.

mod source;

pub use source::{VideoError, VideoInfo, VideoSource};
