//! The video with the masks drawn over it, as MP4.

use std::path::Path;

use super::draw::{Drawn, draw_masks};
use super::findings::Findings;
use super::registry::Opening;
use super::video_file::VideoFile;
use super::{ExportError, ExportFrame, ExportSummary, Exporter};
use crate::video::{self, VideoKind};

/// Writes `overlay.mp4`.
struct Overlay(VideoFile);

/// Starts the writer.
///
/// # Errors
/// A file that cannot be made, or no encoder.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    Ok(Box::new(Overlay(VideoFile::new(opening, VideoKind::H264)?)))
}

/// Looks through a video file.
pub fn validate(path: &Path, findings: &mut Findings) {
    video_check(path, findings);
}

/// Opens `path` as a video; gives what it is in words.
pub fn video_check(path: &Path, findings: &mut Findings) -> Option<String> {
    match video::open(path) {
        Err(error) => {
            findings.error("", error.to_string());
            None
        }
        Ok(source) => {
            let info = source.info();
            info.warnings.iter().for_each(|warning| findings.warn("", warning.clone()));
            if !info.size.width.is_multiple_of(2) || !info.size.height.is_multiple_of(2) {
                findings.warn("", format!("{} pixels: many players need even sides", info.size));
            }
            findings.count("frames", info.frames.into());
            Some(info.format.clone())
        }
    }
}

impl Exporter for Overlay {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let Self(video) = self;
        let mut picture = video.picture(frame)?.clone();
        let masks = video.plan.in_list_order(frame);
        let drawn = video.plan.objects.iter().zip(&masks);
        let drawn: Vec<_> = drawn
            .filter_map(|(object, mask)| Some(Drawn { mask: mask.as_ref()?.mask, colour: object.colour }))
            .collect();
        draw_masks(&mut picture, &drawn);
        video.put(frame, &picture, None)
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        self.0.finish()
    }
}
