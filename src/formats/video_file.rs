//! What the video formats share: the file, the writer, the order of the frames, the check at the end.

use std::sync::Arc;

use super::atomic::AtomicFile;
use super::registry::Opening;
use super::sink::{FrameSink, SinkSpec};
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary};
use crate::base::{Format, FrameIndex, RgbFrame};
use crate::video::VideoKind;

/// A video file being written. Frames must come in increasing order.
pub struct VideoFile {
    /// The whole of the export.
    pub plan: Arc<ExportPlan>,
    format: Format,
    // The sink is dropped before the file that it writes to is removed.
    sink: Box<dyn FrameSink>,
    file: AtomicFile,
    last: Option<FrameIndex>,
    frames: u32,
}

impl VideoFile {
    /// A video of `kind`.
    ///
    /// # Errors
    /// A file that cannot be made, or no encoder.
    pub fn new(opening: Opening<'_>, kind: VideoKind) -> Result<Self, ExportError> {
        let Opening { plan, format, target, sink: open } = opening;
        let file = AtomicFile::new(target)?;
        let comment = plan.stamp.to_line();
        let spec = SinkSpec { kind, size: plan.size, frame_rate: plan.frame_rate, comment: &comment };
        let sink = open(file.path(), &spec).map_err(|reason| refused(&file, &reason))?;
        Ok(Self { plan, format, sink, file, last: None, frames: 0 })
    }

    /// The picture of `frame`.
    ///
    /// # Errors
    /// There is none.
    pub fn picture<'a>(&self, frame: &ExportFrame<'a>) -> Result<&'a RgbFrame, ExportError> {
        frame.picture.ok_or(ExportError::NoPicture { frame: frame.index, format: self.format })
    }

    /// Writes `picture` as that of `frame`.
    ///
    /// # Errors
    /// A frame that comes too late; what the writer refuses.
    pub fn put(
        &mut self,
        frame: &ExportFrame<'_>,
        picture: &RgbFrame,
        alpha: Option<&[u8]>,
    ) -> Result<(), ExportError> {
        if let Some(after) = self.last.filter(|last| *last >= frame.index) {
            return Err(ExportError::Order { frame: frame.index, after, format: self.format });
        }
        self.sink.frame(picture, alpha, frame.pts).map_err(|reason| refused(&self.file, &reason))?;
        self.last = Some(frame.index);
        self.frames += 1;
        Ok(())
    }

    /// Ends the file, counts what reads back and gives it its final name. Without a frame nothing is written.
    ///
    /// # Errors
    /// What the writer refuses, or a file that does not read back.
    pub fn finish(self) -> Result<ExportSummary, ExportError> {
        let Self { sink, file, frames, format, .. } = self;
        let path = file.target().to_owned();
        let mut summary = ExportSummary::new(format, path.clone());
        if frames == 0 {
            return Ok(summary);
        }
        summary.encoder = sink.encoder().map(str::to_owned);
        let back = sink.finish().map_err(|reason| refused(&file, &reason))?;
        if back != frames {
            let reason = format!("it holds {back} frames instead of {frames}");
            return Err(ExportError::Invalid { path, reason });
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
