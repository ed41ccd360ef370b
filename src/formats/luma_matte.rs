//! A matte as video: MP4 in black and white, which every editor takes as a track matte.

use super::binary_png::matte;
use super::registry::Opening;
use super::video_file::VideoFile;
use super::{ExportError, ExportFrame, ExportSummary, Exporter};
use crate::base::RgbFrame;
use crate::video::VideoKind;

/// Writes `luma-matte.mp4`.
struct LumaMatte(VideoFile);

/// Starts the writer.
///
/// # Errors
/// A file that cannot be made, or no encoder.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    Ok(Box::new(LumaMatte(VideoFile::new(opening, VideoKind::H264)?)))
}

impl Exporter for LumaMatte {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let Self(video) = self;
        let size = video.plan.size;
        let matte = matte(size, frame.masks.iter().map(|mask| mask.mask));
        let grey = RgbFrame::new(size, matte.iter().flat_map(|&v| [v; 3]).collect());
        // A video has pixels: the plan's size was taken from its pictures.
        let picture = grey.unwrap_or_else(|| RgbFrame::filled(size, [0; 3]));
        video.put(frame, &picture, None)
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        self.0.finish()
    }
}
