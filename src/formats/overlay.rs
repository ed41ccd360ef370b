//! The video with the masks drawn over it, as MP4.

use std::path::PathBuf;
use std::sync::Arc;

use super::atomic::AtomicFile;
use super::draw::{Drawn, draw_masks};
use super::sink::{FrameSink, OpenSink, SinkSpec};
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter};
use crate::base::{Format, FrameIndex};

/// Writes `overlay.mp4`. Frames must come in increasing order.
pub struct Overlay {
    plan: Arc<ExportPlan>,
    // The sink is dropped before the file that it writes to is removed.
    sink: Box<dyn FrameSink>,
    file: AtomicFile,
    last: Option<FrameIndex>,
    frames: u32,
}

impl Overlay {
    /// # Errors
    /// A file that cannot be made, or no encoder.
    pub fn new(plan: Arc<ExportPlan>, target: PathBuf, open: &OpenSink) -> Result<Self, ExportError> {
        let file = AtomicFile::new(target)?;
        let comment = plan.stamp.to_line();
        let spec = SinkSpec { size: plan.size, frame_rate: plan.frame_rate, comment: &comment };
        let sink = open(file.path(), &spec).map_err(|reason| refused(&file, &reason))?;
        Ok(Self { plan, sink, file, last: None, frames: 0 })
    }
}

impl Exporter for Overlay {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let format = Format::Overlay;
        if let Some(after) = self.last.filter(|last| *last >= frame.index) {
            return Err(ExportError::Order { frame: frame.index, after, format });
        }
        let picture = frame.picture.ok_or(ExportError::NoPicture { frame: frame.index, format })?;
        let masks = self.plan.in_list_order(frame);
        let drawn = self.plan.objects.iter().zip(&masks);
        let drawn: Vec<_> = drawn
            .filter_map(|(object, mask)| Some(Drawn { mask: mask.as_ref()?.mask, colour: object.colour }))
            .collect();
        let mut picture = picture.clone();
        draw_masks(&mut picture, &drawn);
        self.sink.frame(&picture, frame.pts).map_err(|reason| refused(&self.file, &reason))?;
        self.last = Some(frame.index);
        self.frames += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let Self { sink, file, frames, .. } = *self;
        let path = file.target().to_owned();
        let mut summary = ExportSummary::new(Format::Overlay, path.clone());
        if frames == 0 {
            return Ok(summary);
        }
        summary.encoder = sink.encoder().map(str::to_owned);
        let back = sink.finish().map_err(|reason| refused(&file, &reason))?;
        if back != frames {
            return Err(ExportError::Invalid {
                path,
                reason: format!("it holds {back} frames instead of {frames}"),
            });
        }
        file.commit()?;
        (summary.frames, summary.files) = (frames, 1);
        Ok(summary)
    }
}

/// What the writer said, without the temporary name that it was given: that one would only puzzle.
fn refused(file: &AtomicFile, reason: &str) -> ExportError {
    let reason = reason.replace(&format!("{}: ", file.path().display()), "");
    ExportError::Video { path: file.target().to_owned(), reason }
}
