//! DAVIS masks: one palette PNG a frame, pixel = object number, 0 = background.
//!
//! Overlaps cannot be stored: the object that comes earlier in the list wins, and the pixels concerned are counted.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::atomic::AtomicFolder;
use super::names::Stems;
use super::png_file::{Pixels, check, encode};
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter};
use crate::base::{Format, FrameIndex};

/// Most objects: 255 means void in DAVIS, 254 in TrackEval's documents.
pub const MOST_OBJECTS: usize = 253;

/// Writes `masks/<stem>.png`.
pub struct IndexedPng {
    plan: Arc<ExportPlan>,
    folder: AtomicFolder,
    stems: Stems,
    comment: String,
    done: HashSet<FrameIndex>,
    overlapping: u64,
}

impl IndexedPng {
    /// # Errors
    /// More than [`MOST_OBJECTS`] objects; a folder that cannot be made.
    pub fn new(plan: Arc<ExportPlan>, target: PathBuf) -> Result<Self, ExportError> {
        if plan.objects.len() > MOST_OBJECTS {
            return Err(ExportError::TooManyObjects(plan.objects.len()));
        }
        let comment = plan.stamp.to_line();
        let folder = AtomicFolder::new(target)?;
        Ok(Self { plan, folder, stems: Stems::default(), comment, done: HashSet::new(), overlapping: 0 })
    }
}

impl Exporter for IndexedPng {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let size = self.plan.size;
        let width = size.width as usize;
        let mut labels = vec![0u8; size.area()];
        let mut twice = vec![false; size.area()];
        for (label, mask) in (1u8..).zip(self.plan.in_list_order(frame)) {
            let spans = mask.iter().flat_map(|mask| mask.mask.column_spans());
            for at in spans.flat_map(|(x, rows)| rows.map(move |y| y as usize * width + x as usize)) {
                if labels[at] == 0 {
                    labels[at] = label;
                } else {
                    twice[at] = true;
                }
            }
        }
        let name = PathBuf::from(format!("{}.png", self.stems.stem(frame)));
        let texts = [("Software", self.plan.stamp.software()), ("Comment", self.comment.clone())];
        let texts = texts.each_ref().map(|(keyword, text)| (*keyword, text.as_str()));
        let bytes = encode(Pixels::Indexed, size, &labels, &texts)
            .map_err(|reason| ExportError::Invalid { path: self.folder.target().join(&name), reason })?;
        self.folder.write(&name, &bytes, |back| check(Pixels::Indexed, size, &labels, back))?;
        if self.done.insert(frame.index) {
            self.overlapping += twice.iter().map(|&t| u64::from(t)).sum::<u64>();
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let mut summary = ExportSummary::new(Format::Png, self.folder.target().to_owned());
        if self.done.is_empty() {
            return Ok(summary);
        }
        summary.frames = self.done.len() as u32;
        summary.files = summary.frames;
        summary.overlapping_pixels = self.overlapping;
        summary.left_files(self.folder.commit()?);
        Ok(summary)
    }
}
