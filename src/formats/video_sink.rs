//! The video writer behind the video formats: gives each frame its time and counts what reads back.

use std::path::{Path, PathBuf};

use super::sink::{FrameSink, SinkSpec};
use crate::base::{Pts, Rational, RgbFrame, Size};
use crate::video::{self, FrameTiming, VideoError, VideoKind, VideoWriter};

/// Frames a second of folders of pictures, which have no times.
const DEFAULT_RATE: Rational = Rational::new(25, 1);

/// A video file. It is begun with the first frame, which tells whether there are times and in which unit.
struct VideoFileSink {
    kind: VideoKind,
    path: PathBuf,
    size: Size,
    rate: Rational,
    comment: String,
    writer: Option<VideoWriter>,
    /// Unit of the times, where there are any, and the time of the last frame.
    unit: Option<Rational>,
    last: i64,
}

/// Opens [`VideoFileSink`].
///
/// # Errors
/// A build without a video writer.
pub fn open(path: &Path, spec: &SinkSpec<'_>) -> Result<Box<dyn FrameSink>, String> {
    if !cfg!(feature = "ffmpeg") {
        return Err("this build has no FFmpeg: use one that has, or export pictures".into());
    }
    let rate = Some(spec.frame_rate).filter(|rate| rate.num > 0 && rate.den > 0).unwrap_or(DEFAULT_RATE);
    let (path, size, comment) = (path.to_owned(), spec.size, spec.comment.to_owned());
    Ok(Box::new(VideoFileSink {
        kind: spec.kind,
        path,
        size,
        rate,
        comment,
        writer: None,
        unit: None,
        last: 0,
    }))
}

impl FrameSink for VideoFileSink {
    fn frame(&mut self, picture: &RgbFrame, alpha: Option<&[u8]>, pts: Option<Pts>) -> Result<(), String> {
        let Some(writer) = &mut self.writer else {
            self.unit = pts.map(|pts| pts.time_base).filter(|unit| unit.num > 0 && unit.den > 0);
            let timing = self.unit.map_or(FrameTiming::Rate(self.rate), FrameTiming::Times);
            let mut writer =
                VideoWriter::create_kind(&self.path, self.kind, self.size, timing, &self.comment)
                    .map_err(reason)?;
            self.last = pts.filter(|_| self.unit.is_some()).map_or(0, |pts| pts.ticks);
            writer.write_alpha_at(picture, alpha, self.last).map_err(reason)?;
            self.writer = Some(writer);
            return Ok(());
        };
        // Broken files repeat a time or go back: then the frame is shown as soon as can be, but not dropped.
        let own = pts.filter(|pts| Some(pts.time_base) == self.unit).map(|pts| pts.ticks);
        self.last = own.unwrap_or(i64::MIN).max(self.last.saturating_add(1));
        writer.write_alpha_at(picture, alpha, self.last).map_err(reason)
    }

    fn encoder(&self) -> Option<&str> {
        self.writer.as_ref().map(VideoWriter::encoder_name)
    }

    fn finish(self: Box<Self>) -> Result<u32, String> {
        let Some(writer) = self.writer else { return Ok(0) };
        let expected = writer.padded_size();
        writer.finish().map_err(reason)?;
        let back = video::open(&self.path).map_err(reason)?;
        let info = back.info();
        if info.size != expected {
            return Err(format!("it reads back with {} pixels instead of {expected}", info.size));
        }
        if let Some(pixels) = self.kind.alpha_pixels()
            && !info.format.contains(pixels)
        {
            return Err(format!("its alpha is lost: it reads back as {}", info.format));
        }
        Ok(info.frames)
    }
}

/// The error without the name of the file: the temporary one would only puzzle.
fn reason(error: VideoError) -> String {
    match error {
        VideoError::Write { reason, .. } | VideoError::Unreadable { reason, .. } => reason,
        VideoError::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}
