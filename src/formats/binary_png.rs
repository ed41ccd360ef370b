//! Masks for compositing: one folder per object, one PNG a frame, 255 where the object is and 0 elsewhere.
//!
//! Every exported frame has a file in every folder, all black where the object is absent.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::atomic::AtomicFolder;
use super::names::{Stems, folder_name};
use super::png_file::{Pixels, check, encode};
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter};
use crate::base::{Format, FrameIndex};

/// Writes `objects/<number>_<name>/<stem>.png`.
pub struct BinaryPng {
    plan: Arc<ExportPlan>,
    folder: AtomicFolder,
    stems: Stems,
    comment: String,
    done: HashSet<FrameIndex>,
}

impl BinaryPng {
    /// # Errors
    /// A folder that cannot be made.
    pub fn new(plan: Arc<ExportPlan>, target: PathBuf) -> Result<Self, ExportError> {
        let comment = plan.stamp.to_line();
        let folder = AtomicFolder::new(target)?;
        for (at, object) in plan.objects.iter().enumerate() {
            folder.make(&folder_name(at + 1, &object.name))?;
        }
        Ok(Self { plan, folder, stems: Stems::default(), comment, done: HashSet::new() })
    }
}

impl Exporter for BinaryPng {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let size = self.plan.size;
        let width = size.width as usize;
        let file = format!("{}.png", self.stems.stem(frame));
        let software = self.plan.stamp.software();
        let masks = self.plan.in_list_order(frame);
        for (at, (object, mask)) in self.plan.objects.iter().zip(masks).enumerate() {
            let mut pixels = vec![0u8; size.area()];
            for (x, rows) in mask.iter().flat_map(|mask| mask.mask.column_spans()) {
                rows.for_each(|y| pixels[y as usize * width + x as usize] = 255);
            }
            let name = Path::new(&folder_name(at + 1, &object.name)).join(&file);
            let texts = [("Software", software.as_str()), ("Comment", &self.comment)];
            let bytes = encode(Pixels::Grey, size, &pixels, &texts)
                .map_err(|reason| ExportError::Invalid { path: self.folder.target().join(&name), reason })?;
            self.folder.write(&name, &bytes, |back| check(Pixels::Grey, size, &pixels, back))?;
        }
        self.done.insert(frame.index);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let mut summary = ExportSummary::new(Format::PngBinary, self.folder.target().to_owned());
        if self.done.is_empty() {
            return Ok(summary);
        }
        summary.frames = self.done.len() as u32;
        summary.files = summary.frames * self.plan.objects.len() as u32;
        summary.left_files(self.folder.commit()?);
        Ok(summary)
    }
}
