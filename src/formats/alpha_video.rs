//! Cut-outs as video with straight alpha: ProRes 4444, VP9 or FFV1. Colours stay below what is transparent.

use std::path::Path;

use super::binary_png::matte;
use super::findings::Findings;
use super::overlay::video_check;
use super::registry::Opening;
use super::video_file::VideoFile;
use super::{ExportError, ExportFrame, ExportSummary, Exporter};
use crate::base::Format;
use crate::video::VideoKind;

/// Writes `cutout.mov`, `.webm` or `.mkv`.
struct AlphaVideo {
    video: VideoFile,
    format: Format,
}

fn kind(format: Format) -> VideoKind {
    match format {
        Format::Vp9Alpha => VideoKind::Vp9Alpha,
        Format::Ffv1 => VideoKind::Ffv1,
        _ => VideoKind::Prores4444,
    }
}

/// Starts the writer.
///
/// # Errors
/// A file that cannot be made, or no encoder.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let format = opening.format;
    Ok(Box::new(AlphaVideo { video: VideoFile::new(opening, kind(format))?, format }))
}

/// Looks through a video file that is to have alpha.
pub fn validate(path: &Path, findings: &mut Findings) {
    let Some(words) = video_check(path, findings) else { return };
    if let Some(pixels) = kind(findings.format).alpha_pixels()
        && !words.contains(pixels)
    {
        findings.error("", format!("it has no alpha of the kind {pixels}: it is {words}"));
    }
}

impl Exporter for AlphaVideo {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let picture = self.video.picture(frame)?;
        let alpha = matte(picture.size(), frame.masks.iter().map(|mask| mask.mask));
        self.video.put(frame, picture, Some(&alpha))
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let mut summary = self.video.finish()?;
        if summary.frames > 0 && self.format == Format::Vp9Alpha {
            summary.warnings.push("browsers show its alpha; Premiere ignores it".into());
        }
        Ok(summary)
    }
}
