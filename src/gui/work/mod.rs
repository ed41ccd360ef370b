//! The window's side of the desk: the open document, what is shown of it, what is going on.

mod hear;
mod play;
mod prompt;
mod run;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::base::{FrameIndex, FrameRange, ObjectId, Pts, RgbFrame, Rle};
use crate::pipeline::{
    Desk, DeskCommand, EngineFacts, EngineOptions, ExportPlan, ExportRequest, Folders, OpenRequest,
    PauseReason, PipelineError, SaveRequest, Tools, VideoFacts,
};
use crate::session::{Document, Edit, Session, Touched};

pub use hear::News;
pub use play::Play;
pub use run::{Run, Scope, Way};

/// Commands that wait for room in the desk's queue; beyond them a person is told.
const UNSENT: usize = 256;

/// The engine, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum EngineState {
    /// It is made when it is first needed.
    #[default]
    Asleep,
    /// What computes.
    Ready(EngineFacts),
    /// Why there is none.
    Failed(String),
}

/// The picture on the canvas.
pub struct Shown {
    /// Which frame it is.
    pub frame: FrameIndex,
    /// Its time.
    pub pts: Option<Pts>,
    /// The picture.
    pub picture: Arc<RgbFrame>,
}

/// A mask that a click would give.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// On which frame.
    pub frame: FrameIndex,
    /// The mask.
    pub mask: Rle,
    /// Its score.
    pub score: f32,
}

/// A run that stopped by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// At which frame.
    pub frame: FrameIndex,
    /// Because of which object; `None` for a scene cut.
    pub object: Option<ObjectId>,
    /// Why.
    pub reason: PauseReason,
    /// Which way it went.
    pub direction: crate::base::Direction,
}

/// One open video with its document.
pub struct Opened {
    /// What is edited.
    pub document: Document,
    /// The video.
    pub video: VideoFacts,
    /// The project file, once there is one.
    pub project: Option<PathBuf>,
    /// The revision that is in the project file.
    pub saved: Option<u64>,
    /// When it was written.
    pub saved_at: Option<Instant>,
    /// The frame that is wanted on the canvas.
    pub frame: FrameIndex,
    /// The frame that is there.
    pub shown: Option<Shown>,
    /// The object that clicks go to.
    pub active: Option<ObjectId>,
    /// The mask that a click would give.
    pub preview: Option<Preview>,
    /// Answers that are still being computed.
    pub asked: usize,
}

/// What the window works at.
pub struct Work {
    desk: Desk,
    unsent: VecDeque<DeskCommand>,
    /// How engines are set up.
    pub options: EngineOptions,
    /// What is open.
    pub open: Option<Opened>,
    /// What is being opened, in words.
    pub opening: Option<String>,
    /// What computes.
    pub engine: EngineState,
    /// What is being tracked.
    pub run: Option<Run>,
    /// Why the last run paused, until it goes on or something else is done.
    pub pause: Option<Pause>,
    /// Frames exported, of how many.
    pub exporting: Option<(u32, u32)>,
    /// A project is being written.
    pub saving: bool,
    /// Playback.
    pub play: Option<Play>,
    /// Which objects a run follows.
    pub scope: Scope,
    /// Pictures decoded and frames tracked a second, bytes of main memory.
    pub figures: Figures,
    begin: Option<Box<Session>>,
    news: Vec<News>,
}

/// The desk's last figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Pictures decoded for display a second.
    pub decode_fps: f32,
    /// Frames tracked a second.
    pub model_fps: f32,
    /// Main memory of the process in bytes.
    pub rss: Option<u64>,
}

impl Work {
    /// A desk without anything on it. `wake` is called when there is news.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(
        tools: Tools,
        options: EngineOptions,
        folders: Folders,
        wake: Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Self, PipelineError> {
        Ok(Self {
            desk: Desk::start_in(folders, tools, wake)?,
            unsent: VecDeque::new(),
            options,
            open: None,
            opening: None,
            engine: EngineState::default(),
            run: None,
            pause: None,
            exporting: None,
            saving: false,
            play: None,
            scope: Scope::default(),
            figures: Figures::default(),
            begin: None,
            news: Vec::new(),
        })
    }

    /// The next video that is opened begins with this document, if it fits.
    pub fn begin_with(&mut self, session: Option<Box<Session>>) {
        self.begin = session;
    }

    /// Opens something in place of what is open; that stays if this fails.
    pub fn open(&mut self, what: OpenRequest) {
        self.opening = Some(match &what {
            OpenRequest::Video(crate::pipeline::Input::Demo) => "the demo clip".into(),
            OpenRequest::Video(crate::pipeline::Input::Path(path))
            | OpenRequest::Project { path, .. }
            | OpenRequest::Journal(path) => file_name(path),
        });
        self.send(DeskCommand::Open { what, options: self.options.clone() });
    }

    /// Closes what is open. `discard` throws away what was not saved.
    pub fn close(&mut self, discard: bool) {
        self.keep_changes();
        self.send(if discard { DeskCommand::Discard } else { DeskCommand::Close });
        self.open = None;
        self.forget_activity();
    }

    fn forget_activity(&mut self) {
        (self.run, self.pause, self.exporting, self.play) = (None, None, None, None);
        self.saving = false;
    }

    /// The document's state, if something is open.
    pub fn session(&self) -> Option<&Session> {
        self.open.as_ref().map(|open| open.document.session())
    }

    /// Shows a frame, held to the video.
    pub fn seek(&mut self, frame: FrameIndex) {
        let Some(open) = &mut self.open else { return };
        let frame = FrameIndex(frame.0.min(open.video.frames.saturating_sub(1)));
        if open.frame != frame {
            open.frame = frame;
            open.preview = None;
            self.send(DeskCommand::Show(frame));
        }
    }

    /// Shows a frame because a person said so: playback ends, and the picture no longer follows the run.
    pub fn go_to(&mut self, frame: FrameIndex) {
        self.play = None;
        if let Some(run) = &mut self.run {
            run.follow = false;
        }
        self.seek(frame);
    }

    /// Makes a change as one step of undo, and tells the desk what it made stale.
    ///
    /// # Errors
    /// Why the change does not fit, in words.
    pub fn apply(&mut self, edit: Edit) -> Result<Touched, String> {
        let stale = !matches!(edit, Edit::SetPrompts { .. } | Edit::AddObject { .. });
        let Some(open) = &mut self.open else { return Err("nothing is open".into()) };
        let touched = open.document.apply(edit).map_err(|error| error.to_string())?;
        if stale {
            self.forget(&touched);
        }
        self.after_change();
        Ok(touched)
    }

    /// Takes the newest step back; says what it was.
    pub fn undo(&mut self) -> Option<String> {
        let open = self.open.as_mut()?;
        let label = open.document.undo_label()?.to_owned();
        let touched = open.document.undo()?;
        self.forget(&touched);
        self.after_change();
        Some(label)
    }

    /// Makes the step again that was taken back last; says what it was.
    pub fn redo(&mut self) -> Option<String> {
        let open = self.open.as_mut()?;
        let label = open.document.redo_label()?.to_owned();
        let touched = open.document.redo()?;
        self.forget(&touched);
        self.after_change();
        Some(label)
    }

    fn forget(&mut self, touched: &Touched) {
        for &object in &touched.objects {
            self.send(DeskCommand::Forget(object));
        }
    }

    /// The active object must exist, and previews are of a state that is gone.
    fn after_change(&mut self) {
        let Some(open) = &mut self.open else { return };
        open.preview = None;
        let objects = open.document.session().objects();
        if !objects.iter().any(|object| Some(object.id) == open.active) {
            open.active = objects.last().map(|object| object.id);
        }
    }

    /// Saves the project to `path`, on another thread.
    pub fn save(&mut self, path: PathBuf) {
        self.keep_changes();
        let Some(open) = &self.open else { return };
        let session = Arc::new(open.document.session().clone());
        let revision = open.document.revision();
        self.saving = true;
        self.send(DeskCommand::Save(SaveRequest { session, revision, path }));
    }

    /// Writes masks, on another thread.
    pub fn export(&mut self, plan: ExportPlan, range: Option<FrameRange>) {
        let Some(open) = &self.open else { return };
        let engine = match &self.engine {
            EngineState::Ready(facts) => Some(facts.clone()),
            _ => None,
        };
        let session = Arc::new(open.document.session().clone());
        self.exporting = Some((0, range.map_or(open.video.frames, |r| r.count())));
        self.send(DeskCommand::Export(ExportRequest { session, range, plan, engine }));
    }

    /// Whether there is work that no project file holds.
    pub fn unsaved(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.saved != Some(open.document.revision()))
    }

    /// Hands the newest changes to the journal and what could not be sent before to the desk.
    pub fn tick(&mut self) {
        self.keep_changes();
        while let Some(command) = self.unsent.pop_front() {
            if let Err(back) = self.desk.send(command) {
                self.unsent.push_front(*back);
                break;
            }
        }
    }

    fn keep_changes(&mut self) {
        let Some(open) = &mut self.open else { return };
        let changes = open.document.take_changes();
        if !changes.is_empty() {
            self.send(DeskCommand::Keep(changes));
        }
    }

    /// Sends a command, later if the desk is busy; the order is kept.
    fn send(&mut self, command: DeskCommand) {
        let latest =
            matches!(command, DeskCommand::Show(_) | DeskCommand::Preview { .. } | DeskCommand::Cancel);
        let back = if self.unsent.is_empty() || latest {
            self.desk.send(command).err().map(|back| *back)
        } else {
            Some(command)
        };
        let Some(back) = back else { return };
        if self.unsent.len() < UNSENT {
            self.unsent.push_back(back);
        } else {
            self.news.push(News::Bad("too much waits to be done: wait a moment, or stop the run".into()));
        }
    }

    /// Whether something goes on that the window should look at again soon.
    pub fn busy(&self) -> bool {
        self.run.is_some() || self.exporting.is_some() || self.opening.is_some() || !self.unsent.is_empty()
    }
}

/// The last part of a path, for titles and messages.
pub fn file_name(path: &std::path::Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
