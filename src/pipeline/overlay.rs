//! Joins the overlay export to the video writer.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::base::{Pts, Rational, RgbFrame};
use crate::formats::{FrameSink, SinkSpec};
use crate::video::{self, FrameTiming, VideoInfo, VideoWriter};

/// Ticks a second where each frame has its own time.
const TICKS: i32 = 90_000;

/// Opens overlay videos with the timing of one source, and remembers which encoder was used.
#[derive(Clone)]
pub(super) struct OverlayWriter {
    timing: FrameTiming,
    encoder: Arc<OnceLock<String>>,
}

impl OverlayWriter {
    /// A writer of videos with the timing of `info`; 25 frames a second where there is none.
    pub fn new(info: &VideoInfo) -> Self {
        let rate = info.frame_rate;
        let timing = if info.variable_frame_rate {
            FrameTiming::Times(Rational::new(1, TICKS))
        } else if rate.num > 0 && rate.den > 0 {
            FrameTiming::Rate(rate)
        } else {
            FrameTiming::Rate(Rational::new(25, 1))
        };
        Self { timing, encoder: Arc::default() }
    }

    /// Name of the encoder, once a video was opened.
    pub fn encoder(&self) -> Option<&str> {
        self.encoder.get().map(String::as_str)
    }

    /// Starts a video at `path`.
    ///
    /// # Errors
    /// No encoder, or the file cannot be made.
    pub fn open(&self, path: &Path, spec: &SinkSpec<'_>) -> Result<Box<dyn FrameSink>, String> {
        let writer = VideoWriter::create(path, spec.size, self.timing).map_err(|e| e.to_string())?;
        // A second video of the same job has the same encoder.
        let _ = self.encoder.set(writer.encoder_name().to_owned());
        Ok(Box::new(Sink { writer, timing: self.timing, path: path.into(), last: None }))
    }
}

struct Sink {
    writer: VideoWriter,
    timing: FrameTiming,
    path: PathBuf,
    last: Option<i64>,
}

impl FrameSink for Sink {
    fn frame(&mut self, picture: &RgbFrame, pts: Option<Pts>) -> Result<(), String> {
        let written = match (self.timing, pts) {
            (FrameTiming::Times(_), Some(pts)) => {
                let ticks = (pts.seconds() * f64::from(TICKS)).round() as i64;
                // Damaged files may give two frames one time; a video needs rising ones.
                let ticks = self.last.map_or(ticks, |last| ticks.max(last.saturating_add(1)));
                self.last = Some(ticks);
                self.writer.write_at(picture, ticks)
            }
            _ => self.writer.write(picture),
        };
        written.map_err(|e| e.to_string())
    }

    fn finish(self: Box<Self>) -> Result<u32, String> {
        let Self { writer, path, .. } = *self;
        writer.finish().map_err(|e| e.to_string())?;
        Ok(video::open(&path).map_err(|e| e.to_string())?.info().frames)
    }
}
