//! Mattes of all objects together: one black and white PNG a frame, in one folder, for compositing.

use std::path::PathBuf;

use super::binary_png::{matte, put_matte};
use super::folder::FrameFolder;
use super::registry::Opening;
use super::{ExportError, ExportFrame, ExportSummary, Exporter};
use crate::base::Format;

/// Writes `mattes/<stem>.png`.
struct MattePng(FrameFolder);

/// Starts the writer.
///
/// # Errors
/// A folder that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    Ok(Box::new(MattePng(FrameFolder::new(opening.plan, opening.target)?)))
}

impl Exporter for MattePng {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let Self(folder) = self;
        let name = PathBuf::from(format!("{}.png", folder.stems.stem(frame)));
        let pixels = matte(folder.plan.size, frame.masks.iter().map(|mask| mask.mask));
        put_matte(folder, &name, &pixels)?;
        folder.done(frame, 1, 0, 0);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        self.0.finish(Format::Matte)
    }
}
