//! What formats with files per frame share: the folder, the frames' names, what is done.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::atomic::AtomicFolder;
use super::names::Stems;
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary};
use crate::base::{Format, FrameIndex};

/// A folder that gets some files for each frame.
pub struct FrameFolder {
    /// The whole of the export.
    pub plan: Arc<ExportPlan>,
    /// Names of frames.
    pub stems: Stems,
    folder: AtomicFolder,
    done: HashSet<FrameIndex>,
    files: u32,
    annotations: u64,
    overlapping: u64,
}

impl FrameFolder {
    /// A new folder for `target`.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn new(plan: Arc<ExportPlan>, target: PathBuf) -> Result<Self, ExportError> {
        let (stems, folder) = (Stems::new(&plan.options), AtomicFolder::new(target)?);
        Ok(Self { plan, stems, folder, done: HashSet::new(), files: 0, annotations: 0, overlapping: 0 })
    }

    /// Makes the sub-folder `name`.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn make(&self, name: &str) -> Result<(), ExportError> {
        self.folder.make(name)
    }

    /// The error for file `name` that cannot be made of what it is to hold.
    pub fn invalid(&self, name: &Path, reason: String) -> ExportError {
        ExportError::Invalid { path: self.folder.target().join(name), reason }
    }

    /// Writes a file whole; `check` gets its bytes as they read back.
    ///
    /// # Errors
    /// A file that cannot be written or does not read back.
    pub fn put(
        &mut self,
        name: &Path,
        bytes: &[u8],
        check: impl FnOnce(&[u8]) -> Result<(), String>,
    ) -> Result<(), ExportError> {
        self.folder.write(name, bytes, check)
    }

    /// Counts `frame` as done, with `files` files, `annotations` masks and `overlapping` pixels that two masks share.
    /// Given again, it counts once.
    pub fn done(&mut self, frame: &ExportFrame<'_>, files: u32, annotations: u64, overlapping: u64) {
        if self.done.insert(frame.index) {
            self.files += files;
            self.annotations += annotations;
            self.overlapping += overlapping;
        }
    }

    /// Whether nothing was done.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// Gives everything its final name. Without a frame nothing is written.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn finish(self, format: Format) -> Result<ExportSummary, ExportError> {
        let mut summary = ExportSummary::new(format, self.folder.target().to_owned());
        if self.done.is_empty() {
            return Ok(summary);
        }
        summary.frames = self.done.len() as u32;
        (summary.files, summary.annotations) = (self.files, self.annotations);
        summary.overlapping_pixels = self.overlapping;
        summary.left_files(self.folder.commit()?);
        Ok(summary)
    }
}
