//! Exports a saved project: its video and its document are found, its masks written.

use std::time::Instant;

use crossbeam_channel::Sender;

use super::PipelineError;
use super::desk::{Found, open_project};
use super::document_export::write_document;
use super::factory::Tools;
use super::job::ProjectExport;
use super::message::{Event, Summary};
use super::token::Token;
use crate::base::{FrameIndex, FrameRange, Timings};

/// Does `job`; the event that ends it is returned.
///
/// # Errors
/// The project or its video cannot be used, or the results cannot be written; nothing is left of them then.
pub(super) fn export(
    job: &ProjectExport,
    tools: &Tools,
    token: &Token,
    tell: &Sender<Event>,
) -> Result<Event, PipelineError> {
    let start = Instant::now();
    let (path, video) = (&job.project.path, job.project.video.as_deref());
    let found = open_project(path, video, tools).map_err(|missed| missed.into_error())?;
    let Found { mut source, session, mut notes, .. } = found;
    let marks = session.range();
    let first = job.from.or(marks.map(|marks| marks.first)).unwrap_or_default();
    let end = FrameIndex(session.frames().saturating_sub(1));
    let last = job.to.or(marks.map(|marks| marks.last)).unwrap_or(end);
    let range = FrameRange::new(first, last).ok_or_else(|| PipelineError::Range {
        from: first,
        to: last,
        reason: "the range ends before it starts".into(),
    })?;
    let generation = token.generation();
    let mut progress = |done, total| {
        let _ = tell.send(Event::Progress { generation, what: "writing".into(), done, total });
        !token.cancelled()
    };
    let (written, more) = write_document(source.as_mut(), &session, range, &job.export, None, &mut progress)?;
    notes.extend(more);
    Ok(Event::Finished(Summary {
        generation,
        tracked: range.count(),
        total: range.count(),
        interrupted: false,
        took: start.elapsed(),
        timings: Timings::default(),
        written,
        notes,
        truth: Vec::new(),
    }))
}
