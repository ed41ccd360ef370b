//! What the pipeline asks of a video, whatever it is made of.

use std::path::PathBuf;

use crate::base::{FrameIndex, Pts, Rational, RgbFrame, Size};

/// What is known of a video after opening it.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoInfo {
    /// The file or folder.
    pub path: PathBuf,
    /// Size of the upright pictures, in stored pixels (before sample aspect).
    pub size: Size,
    /// Number of frames that are displayed.
    pub frames: u32,
    /// Average frames a second; 0/0 when unknown (picture folders).
    pub frame_rate: Rational,
    /// Length in seconds, where there are times.
    pub duration: Option<f64>,
    /// Container and codec in words, e.g. "mov, h264, yuv420p", with ", mirrored" where the picture is mirrored after the
    /// turn
    /// below; "picture folder" for one.
    pub format: String,
    /// Clockwise turn applied to make the picture upright: 0, 90, 180, 270.
    pub rotation: u16,
    /// Width of a pixel divided by its height.
    pub sample_aspect: Rational,
    /// Frames are not evenly spaced in time.
    pub variable_frame_rate: bool,
    /// What a person should know (header says more frames than there are, the end is cut off, ...).
    pub warnings: Vec<String>,
}

/// Why a video cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum VideoError {
    /// No such file or folder, or it cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Not something that can be opened as video.
    #[error("{path}: {reason}", path = path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A frame past the end.
    #[error("{path}: frame {frame} does not exist; the video has frames 0 to {last}", path = path.display())]
    NoSuchFrame {
        /// The file or folder.
        path: PathBuf,
        /// The frame asked for.
        frame: FrameIndex,
        /// The last frame.
        last: u32,
    },
    /// One frame could not be decoded.
    #[error("{path}: frame {frame}: {reason}", path = path.display())]
    Frame {
        /// The file or folder.
        path: PathBuf,
        /// Which frame.
        frame: FrameIndex,
        /// Why.
        reason: String,
    },
    /// Opening was stopped on request.
    #[error("{path}: stopped while it was opened", path = path.display())]
    Stopped {
        /// The file.
        path: PathBuf,
    },
    /// A video could not be written.
    #[error("{path}: cannot write the video: {reason}", path = path.display())]
    Write {
        /// The file being written.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
}

/// A video as a list of upright RGB pictures, numbered in display order. Memory does not grow with its length.
pub trait VideoSource: Send {
    /// What is known of it.
    fn info(&self) -> &VideoInfo;

    /// Frame `frame`, the same picture by whatever path it is reached. Fast when it follows the last one read.
    ///
    /// # Errors
    /// [`VideoError::NoSuchFrame`] past the end, [`VideoError::Frame`] when it cannot be decoded.
    fn frame(&mut self, frame: FrameIndex) -> Result<RgbFrame, VideoError>;

    /// When `frame` is shown; `None` where there are no times (picture folders) or no such frame.
    fn pts(&self, frame: FrameIndex) -> Option<Pts>;

    /// File name of `frame` without folder, for picture folders.
    fn file_name(&self, frame: FrameIndex) -> Option<&str>;
}
