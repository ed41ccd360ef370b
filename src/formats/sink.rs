//! What the video formats ask of a video writer.

use std::path::Path;

use crate::base::{Pts, Rational, RgbFrame, Size};
use crate::video::VideoKind;

/// What a video file is to be like.
#[derive(Clone, Copy, Debug)]
pub struct SinkSpec<'a> {
    /// Codec and container.
    pub kind: VideoKind,
    /// Size of the pictures.
    pub size: Size,
    /// Average frames a second; 0/0 when unknown.
    pub frame_rate: Rational,
    /// Goes into the file's comment; one line of ASCII.
    pub comment: &'a str,
}

/// A video file being written.
pub trait FrameSink: Send {
    /// Adds a picture, with its alpha (a byte a pixel) where the kind has one. `pts` is its time in the source, where known; the first need not be 0.
    ///
    /// # Errors
    /// In words, without the file's name.
    fn frame(&mut self, picture: &RgbFrame, alpha: Option<&[u8]>, pts: Option<Pts>) -> Result<(), String>;

    /// Name of the encoder, once it is known.
    fn encoder(&self) -> Option<&str> {
        None
    }

    /// Ends the file, so that it can be played, and returns its number of frames as it reads back.
    ///
    /// # Errors
    /// In words, without the file's name.
    fn finish(self: Box<Self>) -> Result<u32, String>;
}

/// Opens a [`FrameSink`] on a path that exists as an empty file; its extension says which container.
pub type OpenSink = dyn Fn(&Path, &SinkSpec<'_>) -> Result<Box<dyn FrameSink>, String> + Send + Sync;
