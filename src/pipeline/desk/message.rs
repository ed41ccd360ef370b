//! What a window says to the desk, and what it hears back.

use std::path::PathBuf;
use std::sync::Arc;

use super::request::{ExportRequest, ObjectPrompts, OpenRequest, PauseReason, RunRequest, SaveRequest};
use crate::base::{FrameIndex, FramePrompts, Generation, ObjectId, Pts, RgbFrame, Rle};
use crate::pipeline::PipelineError;
use crate::pipeline::facts::{EngineFacts, VideoFacts};
use crate::pipeline::job::EngineOptions;
use crate::session::{Change, Session, TrackResult};

/// Which run, counted from 1 within a desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u64);

/// What a window wants done.
#[derive(Debug)]
pub enum DeskCommand {
    /// Open something in place of what is open, which stays if this fails. The picture is there at once; the engine is
    /// made when it is first needed.
    Open {
        /// What.
        what: OpenRequest,
        /// How its engine is set up.
        options: EngineOptions,
    },
    /// Close what is open. Its journal stays if it holds work that was not saved.
    Close,
    /// Close what is open and throw away the work that was not saved: the person said so.
    Discard,
    /// Decode a frame to be shown. Only the newest wish counts.
    Show(FrameIndex),
    /// Answer the prompts of an object on a frame.
    Answer {
        /// All its prompts.
        object: ObjectPrompts,
        /// On which frame.
        frame: FrameIndex,
    },
    /// Answer without changing anything: the prompts on `frame` are only tried. Only the newest wish counts, and it is
    /// dropped where other work waits.
    Preview {
        /// All its prompts, with those to try on `frame`.
        object: ObjectPrompts,
        /// On which frame.
        frame: FrameIndex,
    },
    /// Follow objects.
    Track(RunRequest),
    /// What the engine remembers of this object is stale: it was removed, or an undo or another edit touched it.
    Forget(ObjectId),
    /// Stop all runs asked for so far within one model step, and the export. Finished frames are kept.
    Cancel,
    /// Write the document's masks.
    Export(ExportRequest),
    /// Keep changes in the journal.
    Keep(Vec<Change>),
    /// Write the project file. Send the changes before it.
    Save(SaveRequest),
}

/// What a window hears.
#[derive(Debug)]
pub enum DeskEvent {
    /// Something was opened; everything that was open before is gone, and so are its events.
    Opened {
        /// The video.
        video: VideoFacts,
        /// The document, empty for a new video.
        session: Box<Session>,
        /// The project file it came from.
        project: Option<PathBuf>,
        /// Whether it holds work that is in no project file (it was recovered).
        unsaved: bool,
        /// What a person should know.
        notes: Vec<String>,
    },
    /// Nothing was opened; what was open still is.
    OpenFailed {
        /// What could not be opened.
        what: OpenRequest,
        /// Why.
        error: PipelineError,
    },
    /// A project's video is not where it was: ask for it and open the project again with its place.
    MediaMissing {
        /// The project file.
        project: PathBuf,
        /// Where the video was.
        media: PathBuf,
    },
    /// An engine is there.
    Engine {
        /// What computes.
        facts: EngineFacts,
    },
    /// There is no engine. Every wish that needs one tries again.
    EngineFailed {
        /// Why.
        error: PipelineError,
    },
    /// A frame to be shown.
    Picture {
        /// Which frame.
        frame: FrameIndex,
        /// When it is shown; `None` for picture folders.
        pts: Option<Pts>,
        /// The picture.
        picture: Arc<RgbFrame>,
        /// Which wish it answers: grows from event to event.
        generation: Generation,
    },
    /// The answer to [`DeskCommand::Answer`]; for [`Document::answer`](crate::session::Document::answer).
    Answered {
        /// Whose.
        object: ObjectId,
        /// Where.
        frame: FrameIndex,
        /// What was answered.
        prompts: Arc<FramePrompts>,
        /// The answer.
        result: TrackResult,
    },
    /// The answer to [`DeskCommand::Preview`].
    Previewed {
        /// Whose.
        object: ObjectId,
        /// Where.
        frame: FrameIndex,
        /// The mask that the prompts would give.
        mask: Rle,
        /// Its score.
        score: f32,
    },
    /// A run begins.
    RunStarted {
        /// Which.
        run: RunId,
        /// Number of frames it may track.
        total: u32,
    },
    /// A frame of a run; for [`Document::add_run_results`](crate::session::Document::add_run_results).
    Tracked {
        /// Of which run.
        run: RunId,
        /// Which frame.
        frame: FrameIndex,
        /// The results of its objects.
        results: Vec<(ObjectId, TrackResult)>,
        /// Number of frames tracked so far.
        done: u32,
        /// Number of frames it may track.
        total: u32,
    },
    /// A run stops by itself at a frame that a person should look at; [`RunEnded`](Self::RunEnded) follows. A new run
    /// from the frame after it goes on.
    Paused {
        /// Which run.
        run: RunId,
        /// At which frame; its results were told already.
        frame: FrameIndex,
        /// Because of which object; `None` for a scene cut.
        object: Option<ObjectId>,
        /// Why.
        reason: PauseReason,
    },
    /// A run ended: at its end, at a pause, at an error (told before) or because it was cancelled.
    RunEnded {
        /// Which.
        run: RunId,
        /// Whether it was cancelled.
        cancelled: bool,
    },
    /// The export moved on.
    ExportProgress {
        /// Frames written.
        done: u32,
        /// Frames in all.
        total: u32,
    },
    /// The export is whole.
    Exported {
        /// Files and folders.
        written: Vec<PathBuf>,
        /// What a person should know.
        notes: Vec<String>,
    },
    /// There is no export: nothing is left of it.
    ExportFailed {
        /// Why.
        error: PipelineError,
    },
    /// The project file is whole.
    Saved {
        /// Where.
        path: PathBuf,
        /// The revision that it holds.
        revision: u64,
    },
    /// The project file is as it was before.
    SaveFailed {
        /// Where.
        path: PathBuf,
        /// Why.
        error: PipelineError,
    },
    /// Figures for the status bar, about once a second while something moves.
    Stats {
        /// Pictures decoded for display a second.
        decode_fps: f32,
        /// Frames tracked a second.
        model_fps: f32,
        /// Main memory of the process; `None` where the system does not say.
        rss_bytes: Option<u64>,
    },
    /// Something failed; everything else goes on.
    Failed {
        /// What, in words: "frame 12 cannot be shown".
        what: String,
        /// Why.
        error: PipelineError,
    },
    /// A thread of the desk failed inside and goes on with a fresh start.
    Panicked {
        /// Which.
        thread: &'static str,
        /// What it said.
        text: String,
    },
}
