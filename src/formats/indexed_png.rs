//! DAVIS masks: one palette PNG a frame, pixel = object number, 0 = background.
//!
//! Overlaps cannot be stored: the object that comes earlier in the list wins, and the pixels concerned are counted.

use std::path::{Path, PathBuf};

use super::findings::Findings;
use super::folder::FrameFolder;
use super::png_file::{Pixels, check, encode};
use super::png_lint::{self, Kind};
use super::registry::Opening;
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter};
use crate::base::Format;

/// Most objects: 255 means void in DAVIS, 254 in TrackEval's documents.
pub const MOST_OBJECTS: usize = 253;

/// Writes `masks/<stem>.png`.
struct IndexedPng(FrameFolder);

/// Starts the writer.
///
/// # Errors
/// More than [`MOST_OBJECTS`] objects; a folder that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let objects = opening.plan.objects.len();
    if objects > MOST_OBJECTS {
        return Err(ExportError::TooManyObjects { objects, most: MOST_OBJECTS, format: Format::Png });
    }
    Ok(Box::new(IndexedPng(FrameFolder::new(opening.plan, opening.target)?)))
}

/// Looks through a folder of masks as DAVIS has it.
pub fn validate(path: &Path, findings: &mut Findings) {
    png_lint::folder(path, Kind::Indexed, findings);
}

/// Which object each pixel belongs to, row by row: its number, the first of the list where masks overlap. Also how many
/// pixels two masks share.
pub fn labels(plan: &ExportPlan, frame: &ExportFrame<'_>) -> (Vec<u16>, u64) {
    let width = plan.size.width as usize;
    let mut labels = vec![0u16; plan.size.area()];
    let mut twice = vec![false; plan.size.area()];
    for (label, mask) in (1u16..).zip(plan.in_list_order(frame)) {
        let spans = mask.iter().flat_map(|mask| mask.mask.column_spans());
        for at in spans.flat_map(|(x, rows)| rows.map(move |y| y as usize * width + x as usize)) {
            if labels[at] == 0 {
                labels[at] = label;
            } else {
                twice[at] = true;
            }
        }
    }
    let shared = twice.iter().map(|&t| u64::from(t)).sum();
    (labels, shared)
}

impl Exporter for IndexedPng {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let Self(folder) = self;
        let size = folder.plan.size;
        let (labels, shared) = labels(&folder.plan, frame);
        // No more than 253 objects: they fit.
        let labels: Vec<u8> = labels.into_iter().map(|label| label as u8).collect();
        let name = PathBuf::from(format!("{}.png", folder.stems.stem(frame)));
        let (software, comment) = (folder.plan.stamp.software(), folder.plan.stamp.to_line());
        let texts = [("Software", software.as_str()), ("Comment", comment.as_str())];
        let bytes =
            encode(Pixels::Indexed, size, &labels, &texts).map_err(|reason| folder.invalid(&name, reason))?;
        folder.put(&name, &bytes, |back| check(Pixels::Indexed, size, &labels, back))?;
        folder.done(frame, 1, 0, shared);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        self.0.finish(Format::Png)
    }
}
