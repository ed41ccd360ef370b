//! The thread that opens and closes: what takes long or touches the disk, but for pictures and masks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crossbeam_channel::Receiver;

use super::inbox::{Inbox, Scene};
use super::message::DeskEvent;
use super::request::OpenRequest;
use super::shared::{Epoch, Shared};
use super::show::{ShowBox, Stage};
use super::teller::{Gone, Teller};
use crate::engine::VideoShape;
use crate::pipeline::PipelineError;
use crate::pipeline::factory::Tools;
use crate::pipeline::facts::VideoFacts;
use crate::pipeline::job::{EngineOptions, Input};
use crate::session::Session;
use crate::video::VideoSource;

/// Name of the thread.
pub(super) const NAME: &str = "masklet-keep";

/// Work for the thread.
pub(super) enum Task {
    Open { epoch: Epoch, what: OpenRequest, options: EngineOptions },
    Close,
}

/// What was found behind an [`OpenRequest`].
struct Found {
    input: Input,
    source: Box<dyn VideoSource>,
    session: Session,
}

/// The state of the thread.
pub(super) struct Keeper {
    pub(super) tools: Tools,
    pub(super) shared: Arc<Shared>,
    pub(super) tell: Teller,
    pub(super) show: Arc<ShowBox>,
    pub(super) inbox: Arc<Inbox>,
}

impl Keeper {
    /// Works until the desk is gone.
    pub(super) fn work(mut self, tasks: &Receiver<Task>) {
        for task in tasks {
            if self.shared.is_closed() {
                return;
            }
            let done = catch_unwind(AssertUnwindSafe(|| self.carry_out(task)));
            let done = done.unwrap_or_else(|payload| {
                let text = PipelineError::panic_text(payload.as_ref());
                self.tell.tell_always(DeskEvent::Panicked { thread: NAME, text })
            });
            if done.is_err() {
                return;
            }
        }
    }

    fn carry_out(&mut self, task: Task) -> Result<(), Gone> {
        match task {
            Task::Open { epoch, what, options } => match self.find(&what) {
                Ok(found) => self.opened(epoch, found, options),
                Err(error) => self.tell.tell_always(DeskEvent::OpenFailed { what, error }),
            },
            Task::Close => {
                self.set_stage(None, None);
                Ok(())
            }
        }
    }

    fn find(&self, what: &OpenRequest) -> Result<Found, PipelineError> {
        match what {
            OpenRequest::Video(input) => {
                let source = self.tools.videos.open(input)?;
                let session = Session::new(source.info().size, source.info().frames);
                Ok(Found { input: input.clone(), source, session })
            }
            OpenRequest::Project { path, .. } | OpenRequest::Journal(path) => {
                Err(PipelineError::Input(format!("{}: projects cannot be opened yet", path.display())))
            }
        }
    }

    fn opened(&mut self, epoch: Epoch, found: Found, options: EngineOptions) -> Result<(), Gone> {
        let info = found.source.info();
        let video = VideoFacts::from(info);
        let shape = VideoShape { size: info.size, frames: info.frames };
        let scene = Scene { epoch, input: found.input.clone(), shape, options };
        let stage = Stage { epoch, input: found.input, source: Some(found.source) };
        self.set_stage(Some(stage), Some(scene));
        let session = Box::new(found.session);
        let opened = DeskEvent::Opened { video, session, project: None, unsaved: false, notes: Vec::new() };
        self.tell.tell(epoch, opened)
    }

    /// Everybody works at something else from now on, or at nothing.
    fn set_stage(&self, stage: Option<Stage>, scene: Option<Scene>) {
        self.shared.cancel();
        self.shared.set_scene(scene.clone());
        self.show.stage(stage);
        self.inbox.scene(scene);
    }
}
