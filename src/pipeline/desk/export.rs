//! The export thread: from the document's masks to files. It needs no engine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crossbeam_channel::Receiver;

use super::inbox::Scene;
use super::message::DeskEvent;
use super::request::ExportRequest;
use super::shared::{Epoch, Shared};
use super::teller::{Gone, Teller};
use crate::base::{FrameIndex, FrameRange};
use crate::pipeline::PipelineError;
use crate::pipeline::document_export::write_document;
use crate::pipeline::factory::Tools;

/// Name of the thread.
pub(super) const NAME: &str = "masklet-export";

/// Work for the thread.
pub(super) struct Task {
    pub(super) epoch: Epoch,
    pub(super) export: u64,
    pub(super) request: ExportRequest,
}

/// Works until the desk is gone.
pub(super) fn work(tasks: &Receiver<Task>, tools: &Tools, shared: &Arc<Shared>, tell: &Teller) {
    for task in tasks {
        let epoch = task.epoch;
        let Some(scene) = shared.scene().filter(|scene| scene.epoch == epoch) else { continue };
        let done = catch_unwind(AssertUnwindSafe(|| export(task, &scene, tools, shared, tell)));
        let done = done.unwrap_or_else(|payload| {
            let error = PipelineError::panicked(NAME, payload.as_ref());
            tell.tell(epoch, DeskEvent::ExportFailed { error })
        });
        if done.is_err() || shared.is_closed() {
            return;
        }
    }
}

fn export(task: Task, scene: &Scene, tools: &Tools, shared: &Shared, tell: &Teller) -> Result<(), Gone> {
    let Task { epoch, export, request } = task;
    let whole = FrameRange { first: FrameIndex(0), last: FrameIndex(scene.shape.frames.saturating_sub(1)) };
    let range = request.range.unwrap_or(whole);
    let wanted = || !shared.export_cancelled(export);
    let mut gone = false;
    let written = tools.videos.open(&scene.input).and_then(|mut source| {
        write_document(
            source.as_mut(),
            &request.session,
            range,
            &request.plan,
            request.engine.as_ref(),
            &mut |done, total| {
                gone |= tell.tell(epoch, DeskEvent::ExportProgress { done, total }).is_err();
                !gone && wanted()
            },
        )
    });
    match written {
        Ok((written, notes)) => tell.tell(epoch, DeskEvent::Exported { written, notes }),
        Err(error) => tell.tell(epoch, DeskEvent::ExportFailed { error }),
    }
}
