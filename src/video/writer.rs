//! Owns writing frames to a video file: the face of it, the same with and without FFmpeg.
//! May import: base.
//! Must not: choose file names, or read back what it wrote.

use std::path::Path;

use super::VideoError;
use crate::base::{Rational, RgbFrame, Size};

#[cfg(feature = "ffmpeg")]
use super::ffmpeg::Encoding;
#[cfg(not(feature = "ffmpeg"))]
use lean::Encoding;

/// When the frames of a written video are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameTiming {
    /// Evenly, so many frames a second.
    Rate(Rational),
    /// Each at its own time, counted in units of this many seconds: see [`VideoWriter::write_at`].
    Times(Rational),
}

/// Codec and container of a written video.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoKind {
    /// MP4 with H.264, or what comes nearest.
    H264,
    /// MOV with ProRes 4444: 10 bits, straight alpha.
    Prores4444,
    /// WebM with VP9 and straight alpha.
    Vp9Alpha,
    /// MKV with FFV1: lossless, straight alpha.
    Ffv1,
}

impl VideoKind {
    /// Whether its pictures have an alpha channel.
    pub fn has_alpha(self) -> bool {
        self != Self::H264
    }

    /// What [`super::VideoInfo::format`] names when the alpha was kept. FFmpeg's own VP9 decoder does not say.
    pub fn alpha_pixels(self) -> Option<&'static str> {
        match self {
            Self::Prores4444 => Some("yuva444p"),
            Self::Ffv1 => Some("bgra"),
            Self::H264 | Self::Vp9Alpha => None,
        }
    }

    /// Size in the file of pictures of `size`: even sides where the codec needs them.
    pub fn padded(self, size: Size) -> Size {
        match self {
            Self::H264 | Self::Prores4444 => {
                Size::new(size.width.next_multiple_of(2), size.height.next_multiple_of(2))
            }
            Self::Vp9Alpha | Self::Ffv1 => size,
        }
    }
}

/// Writes frames to a video file: unless another [`VideoKind`] is asked for, to an MP4 file as H.264 (4:2:0, BT.709, limited range), or MPEG-4 part 2 where there is no H.264 encoder.
///
/// 4:2:0 needs even sides: an odd width or height is padded by repeating the last column or row, so that 853 x 480 becomes
/// 854 x 480 and 1 x 1 becomes 2 x 2. The file is whole only after [`Self::finish`]; a writer that is dropped before leaves
/// an unusable file, for the caller to delete.
pub struct VideoWriter(Encoding);

impl VideoWriter {
    /// Starts a file at exactly `path`, whatever its ending; what is there is overwritten. All frames will have `size`.
    ///
    /// # Errors
    /// [`VideoError::Io`] when the file cannot be made; [`VideoError::Write`] for a size or rate that no video can have,
    /// without an encoder, and in builds without FFmpeg.
    pub fn create(path: &Path, size: Size, timing: FrameTiming) -> Result<Self, VideoError> {
        Self::create_with_comment(path, size, timing, "")
    }

    /// As [`Self::create`], with `comment` in the file's metadata unless it is empty or holds a zero
    /// byte, which FFmpeg cannot keep.
    ///
    /// # Errors
    /// As there.
    pub fn create_with_comment(
        path: &Path,
        size: Size,
        timing: FrameTiming,
        comment: &str,
    ) -> Result<Self, VideoError> {
        Self::create_kind(path, VideoKind::H264, size, timing, comment)
    }

    /// As [`Self::create_with_comment`], of another kind.
    ///
    /// # Errors
    /// As there.
    pub fn create_kind(
        path: &Path,
        kind: VideoKind,
        size: Size,
        timing: FrameTiming,
        comment: &str,
    ) -> Result<Self, VideoError> {
        let refuse = |reason: String| Err(VideoError::Write { path: path.into(), reason });
        if size.width == 0 || size.height == 0 || size.width > 16_384 || size.height > 16_384 {
            return refuse(format!("{size} is no size for a video: sides of 1 to 16384 are"));
        }
        let (FrameTiming::Rate(ratio) | FrameTiming::Times(ratio)) = timing;
        if ratio.num <= 0 || ratio.den <= 0 {
            return refuse(format!(
                "{}/{} is no frame rate or time base: give one above 0",
                ratio.num, ratio.den
            ));
        }
        Encoding::create(path, kind, size, timing, comment).map(Self)
    }

    /// Name of the encoder that is used, as FFmpeg calls it: "libx264", "mpeg4", ...
    pub fn encoder_name(&self) -> &str {
        self.0.encoder_name()
    }

    /// Size of the pictures in the file: even sides.
    pub fn padded_size(&self) -> Size {
        self.0.padded_size()
    }

    /// Adds a frame one step after the last one (one unit of the time base with [`FrameTiming::Times`]).
    ///
    /// # Errors
    /// [`VideoError::Write`]: the frame has another size, the encoder fails, or the disk is full.
    pub fn write(&mut self, frame: &RgbFrame) -> Result<(), VideoError> {
        let at = self.0.last().map_or(0, |last| last.saturating_add(1));
        self.write_at(frame, at)
    }

    /// Adds a frame that is shown at `ticks`: a number of frames with [`FrameTiming::Rate`], of time-base units with
    /// [`FrameTiming::Times`]. Must be later than the frame before. The file starts with its first frame, whatever its time.
    ///
    /// # Errors
    /// As [`Self::write`], and for a time that does not rise.
    pub fn write_at(&mut self, frame: &RgbFrame, ticks: i64) -> Result<(), VideoError> {
        self.0.write_at(frame, None, ticks)
    }

    /// As [`Self::write_at`], with a byte of straight alpha a pixel; without them the picture is opaque. Kinds that have
    /// no alpha leave it out.
    ///
    /// # Errors
    /// As there.
    pub fn write_alpha_at(
        &mut self,
        frame: &RgbFrame,
        alpha: Option<&[u8]>,
        ticks: i64,
    ) -> Result<(), VideoError> {
        self.0.write_at(frame, alpha, ticks)
    }

    /// Writes what the encoder still holds and the index of the file.
    ///
    /// # Errors
    /// [`VideoError::Write`] as above, and when no frame was written.
    pub fn finish(self) -> Result<(), VideoError> {
        self.0.finish()
    }
}

#[cfg(not(feature = "ffmpeg"))]
mod lean {
    use super::{FrameTiming, Path, RgbFrame, Size, VideoError, VideoKind};

    /// What stands in for an encoder where there is none: it cannot be made.
    pub(super) enum Encoding {}

    impl Encoding {
        pub(super) fn create(
            path: &Path,
            _: VideoKind,
            _: Size,
            _: FrameTiming,
            _: &str,
        ) -> Result<Self, VideoError> {
            let reason = "this build has no FFmpeg: use one that has, or export pictures".into();
            Err(VideoError::Write { path: path.into(), reason })
        }

        pub(super) fn encoder_name(&self) -> &str {
            match *self {}
        }

        pub(super) fn padded_size(&self) -> Size {
            match *self {}
        }

        pub(super) fn last(&self) -> Option<i64> {
            match *self {}
        }

        pub(super) fn write_at(&mut self, _: &RgbFrame, _: Option<&[u8]>, _: i64) -> Result<(), VideoError> {
            match *self {}
        }

        pub(super) fn finish(self) -> Result<(), VideoError> {
            match self {}
        }
    }
}
