//! The thread that opens, closes, saves and keeps the journal: what takes long or touches the disk, but for pictures and
//! masks.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};

use super::found::{Found, Missed, find, media_of};
use super::inbox::{Inbox, Scene};
use super::message::DeskEvent;
use super::recover::Folders;
use super::request::{OpenRequest, SaveRequest};
use super::shared::{Epoch, Shared};
use super::show::{ShowBox, Stage};
use super::teller::{Gone, Teller};
use crate::base::Size;
use crate::engine::VideoShape;
use crate::pipeline::PipelineError;
use crate::pipeline::factory::Tools;
use crate::pipeline::facts::VideoFacts;
use crate::pipeline::job::{EngineOptions, Input};
use crate::project::{Journal, JournalHeader, Project, ProjectError};
use crate::session::Change;

/// Name of the thread.
pub(super) const NAME: &str = "masklet-keep";
/// How long a change may wait for the disk itself; the system has it at once.
const FLUSH: Duration = Duration::from_secs(2);

/// Work for the thread.
pub(super) enum Task {
    Open {
        epoch: Epoch,
        what: OpenRequest,
        options: EngineOptions,
    },
    Close,
    Discard,
    Keep {
        epoch: Epoch,
        changes: Vec<Change>,
    },
    Save {
        epoch: Epoch,
        request: SaveRequest,
    },
    /// Says when everything before it is done.
    Settle(Sender<()>),
}

/// What is open.
struct Open {
    epoch: Epoch,
    input: Input,
    size: Size,
    frames: u32,
    /// The project file and its hash.
    project: Option<(PathBuf, String)>,
}

/// The state of the thread.
pub(super) struct Keeper {
    tools: Tools,
    folders: Folders,
    shared: Arc<Shared>,
    tell: Teller,
    show: Arc<ShowBox>,
    inbox: Arc<Inbox>,
    open: Option<Open>,
    /// Made at the first change.
    journal: Option<Journal>,
    /// Changes that could not be written yet.
    waiting: VecDeque<Change>,
    /// That changes cannot be written was told.
    troubled: bool,
    flushed: Instant,
}

impl Keeper {
    pub(super) fn new(
        tools: Tools,
        folders: Folders,
        shared: Arc<Shared>,
        tell: Teller,
        show: Arc<ShowBox>,
        inbox: Arc<Inbox>,
    ) -> Self {
        Self {
            tools,
            folders,
            shared,
            tell,
            show,
            inbox,
            open: None,
            journal: None,
            waiting: VecDeque::new(),
            troubled: false,
            flushed: Instant::now(),
        }
    }

    /// Works until the desk is gone and everything that was to be kept is.
    pub(super) fn work(mut self, tasks: &Receiver<Task>) {
        for task in tasks {
            if self.shared.is_closed() && matches!(task, Task::Open { .. }) {
                continue;
            }
            let done = catch_unwind(AssertUnwindSafe(|| self.carry_out(task)));
            // A window that is gone hears nothing; what it wanted kept is kept all the same.
            let _ = done.unwrap_or_else(|payload| {
                let text = PipelineError::panic_text(payload.as_ref());
                self.tell.tell_always(DeskEvent::Panicked { thread: NAME, text })
            });
        }
        self.end_journal();
    }

    fn carry_out(&mut self, task: Task) -> Result<(), Gone> {
        match task {
            Task::Open { epoch, what, options } => match find(&what, &self.tools) {
                Ok(found) => self.opened(epoch, found, options),
                Err(Missed::Media { project, media }) => {
                    self.tell.tell_always(DeskEvent::MediaMissing { project, media })
                }
                Err(Missed::Failed(error)) => self.tell.tell_always(DeskEvent::OpenFailed { what, error }),
            },
            Task::Close => {
                self.end_journal();
                self.close();
                Ok(())
            }
            Task::Discard => {
                if let Some(journal) = self.journal.take() {
                    journal.remove();
                }
                self.close();
                Ok(())
            }
            Task::Keep { epoch, changes } => self.keep(epoch, changes),
            Task::Save { epoch, request } => self.save(epoch, &request),
            Task::Settle(done) => {
                if let Some(journal) = &mut self.journal {
                    // What the system has survives this program, whatever the disk says.
                    let _ = journal.flush();
                }
                // Nobody may be waiting any more.
                let _ = done.send(());
                Ok(())
            }
        }
    }

    fn opened(&mut self, epoch: Epoch, found: Found, options: EngineOptions) -> Result<(), Gone> {
        // What was open before keeps its journal if it holds work that was not saved.
        self.end_journal();
        let Found { input, source, session, project, journal, notes } = found;
        let info = source.info();
        let (video, shape) = (VideoFacts::from(info), VideoShape { size: info.size, frames: info.frames });
        let spill = options.spill.or_else(|| self.folders.spill.clone());
        let options = EngineOptions { spill, ..options };
        let (size, frames) = (shape.size, shape.frames);
        self.open = Some(Open { epoch, input: input.clone(), size, frames, project: project.clone() });
        let unsaved = journal.is_some();
        self.journal = journal;
        let stage = Stage { epoch, input: input.clone(), source: Some(source) };
        self.set_stage(Some(stage), Some(Scene { epoch, input, shape, options }));
        let (session, project) = (Box::new(session), project.map(|(path, _)| path));
        self.tell.tell(epoch, DeskEvent::Opened { video, session, project, unsaved, notes })
    }

    fn close(&mut self) {
        self.open = None;
        self.waiting.clear();
        self.set_stage(None, None);
    }

    /// Lets the journal go; it stays on the disk if it holds changes.
    fn end_journal(&mut self) {
        // The last chance for what could not be written.
        let _ = self.write();
        self.waiting.clear();
        if let Some(journal) = self.journal.take() {
            journal.close();
        }
    }

    fn keep(&mut self, epoch: Epoch, changes: Vec<Change>) -> Result<(), Gone> {
        if self.open.as_ref().is_none_or(|open| open.epoch != epoch) {
            return Ok(());
        }
        self.waiting.extend(changes);
        match self.write() {
            Ok(()) => {
                self.troubled = false;
                Ok(())
            }
            Err(_) if self.troubled => Ok(()),
            Err(error) => {
                self.troubled = true;
                let what = "a crash would lose your work: save it".into();
                self.tell.tell(epoch, DeskEvent::Failed { what, error: error.into() })
            }
        }
    }

    /// Writes what waits to the journal.
    fn write(&mut self) -> Result<(), ProjectError> {
        let (Some(folder), Some(open)) = (&self.folders.journals, &self.open) else {
            self.waiting.clear();
            return Ok(());
        };
        if self.waiting.is_empty() {
            return Ok(());
        }
        let journal = match &mut self.journal {
            Some(journal) => journal,
            none => none.insert(Journal::create(folder, &open.header()?)?),
        };
        while let Some(change) = self.waiting.front() {
            journal.add(change)?;
            self.waiting.pop_front();
        }
        if self.flushed.elapsed() > FLUSH {
            self.flushed = Instant::now();
            journal.flush()?;
        }
        Ok(())
    }

    fn save(&mut self, epoch: Epoch, request: &SaveRequest) -> Result<(), Gone> {
        let Some(open) = self.open.as_mut().filter(|open| open.epoch == epoch) else { return Ok(()) };
        let path = request.path.clone();
        let saved = media_of(&open.input, path.parent())
            .and_then(|media| Project::save(&path, &request.session, media));
        let hash = match saved {
            Ok(hash) => hash,
            Err(error) => {
                return self.tell.tell(epoch, DeskEvent::SaveFailed { path, error: error.into() });
            }
        };
        let place = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        open.project = Some((place, hash));
        self.waiting.clear();
        let restarted = open.header();
        if let Some(mut journal) = self.journal.take() {
            // Its changes are in the project file now. One that cannot begin again makes room for a new one.
            match restarted.and_then(|header| journal.restart(&header)) {
                Ok(()) => self.journal = Some(journal),
                Err(_) => journal.remove(),
            }
        }
        self.tell.tell(epoch, DeskEvent::Saved { path, revision: request.revision })
    }

    /// Everybody works at something else from now on, or at nothing.
    fn set_stage(&self, stage: Option<Stage>, scene: Option<Scene>) {
        self.shared.cancel();
        self.shared.set_scene(scene.clone());
        self.show.stage(stage);
        self.inbox.scene(scene);
    }
}

impl Open {
    fn header(&self) -> Result<JournalHeader, ProjectError> {
        let folder = self.project.as_ref().and_then(|(path, _)| path.parent());
        let media = media_of(&self.input, folder)?;
        Ok(JournalHeader::new(self.size, self.frames, media, self.project.clone()))
    }
}
