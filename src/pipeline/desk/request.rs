//! What a window asks for, as plain data that is made from its document in one call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::{Direction, FrameIndex, FramePrompts, FrameRange, ObjectId};
use crate::pipeline::facts::EngineFacts;
use crate::pipeline::job::{ExportPlan, Input};
use crate::session::{Session, TrackResult};

/// What is opened.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenRequest {
    /// A video; the document begins empty.
    Video(Input),
    /// A saved project with its video.
    Project {
        /// The `.masklet` file.
        path: PathBuf,
        /// Where the video is now, if it is not where the project says. One of another size or length is refused.
        media: Option<PathBuf>,
    },
    /// What an earlier run of the app left behind; see [`recoverable`](crate::pipeline).
    Journal(PathBuf),
}

/// All that the document says about one object, for the engine.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectPrompts {
    /// Whose.
    pub object: ObjectId,
    /// Its prompts, by frame.
    pub prompts: BTreeMap<FrameIndex, Arc<FramePrompts>>,
    /// The results on those frames, as far as there are any: what the person saw. An engine that has forgotten the object
    /// is told these.
    pub answers: BTreeMap<FrameIndex, Arc<TrackResult>>,
    /// Frames on which it is said not to be: it is not tracked there.
    pub absent: BTreeSet<FrameIndex>,
}

impl ObjectPrompts {
    /// What `session` says of `object`.
    pub fn of(session: &Session, object: ObjectId) -> Self {
        let prompts: BTreeMap<_, _> =
            session.prompts_of(object).map(|(frame, prompts)| (frame, prompts.clone())).collect();
        let answer = |&frame: &FrameIndex| Some((frame, session.shared_result(object, frame)?.clone()));
        Self {
            object,
            answers: prompts.keys().filter_map(answer).collect(),
            prompts,
            absent: session.absent_frames(object).collect(),
        }
    }

    /// The same, with other prompts on `frame`: what a hover asks for.
    #[must_use]
    pub fn with(mut self, frame: FrameIndex, prompts: FramePrompts) -> Self {
        self.prompts.insert(frame, Arc::new(prompts));
        self
    }
}

/// A result that the document has, to begin a run from where the engine remembers nothing (after opening a project,
/// after an undo).
#[derive(Clone, Debug, PartialEq)]
pub struct Seed {
    /// Whose.
    pub object: ObjectId,
    /// Where.
    pub frame: FrameIndex,
    /// What is known there.
    pub result: Arc<TrackResult>,
}

/// Follow objects through a range.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// Which objects; the others are not touched.
    pub objects: Vec<ObjectPrompts>,
    /// The first frame that is tracked; the others follow in the direction of travel.
    pub from: FrameIndex,
    /// Where it ends: at its last frame when going forward, at its first when going backward.
    pub range: FrameRange,
    /// Which way.
    pub direction: Direction,
    /// When to pause.
    pub pause: PauseRules,
    /// The results just behind `from`, the nearest first.
    pub seeds: Vec<Seed>,
}

impl RunRequest {
    /// How many frames behind the first one the network looks at.
    const LOOKS_BACK: u32 = 6;

    /// A run over `objects` of `session` from `from` to the end of `range` in the direction of travel. Locked objects and
    /// unknown ones are left out.
    pub fn of(
        session: &Session,
        objects: &[ObjectId],
        from: FrameIndex,
        range: FrameRange,
        direction: Direction,
    ) -> Self {
        let open = |id: &&ObjectId| session.object(**id).is_some_and(|object| !object.locked);
        let objects: Vec<_> = objects.iter().filter(open).map(|&id| ObjectPrompts::of(session, id)).collect();
        let behind = (1..=Self::LOOKS_BACK).filter_map(|distance| match direction {
            Direction::Forward => from.0.checked_sub(distance),
            Direction::Backward => from.0.checked_add(distance),
        });
        let seeds = behind
            .map(FrameIndex)
            .flat_map(|frame| objects.iter().map(move |o| (o.object, frame)))
            .filter_map(|(object, frame)| {
                let result = session.shared_result(object, frame)?.clone();
                Some(Seed { object, frame, result })
            })
            .collect();
        Self { objects, from, range, direction, pause: PauseRules::default(), seeds }
    }
}

/// Why a run paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PauseReason {
    /// The object's score fell below 0: the model takes it as gone.
    ScoreFell,
    /// The mask suddenly covers most of the picture.
    MaskFloods,
    /// The mask's area is suddenly another.
    AreaJumps,
    /// The picture is suddenly another.
    SceneCut,
}

/// When a run pauses by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRules {
    /// When a score falls.
    pub score: bool,
    /// When a mask floods the picture.
    pub flood: bool,
    /// When a mask's area jumps.
    pub area: bool,
    /// When the scene cuts.
    pub cut: bool,
}

impl PauseRules {
    /// Never.
    pub const OFF: Self = Self { score: false, flood: false, area: false, cut: false };
}

impl Default for PauseRules {
    /// By every rule.
    fn default() -> Self {
        Self { score: true, flood: true, area: true, cut: true }
    }
}

/// Write the document's masks.
#[derive(Clone, Debug)]
pub struct ExportRequest {
    /// The document as it is now.
    pub session: Arc<Session>,
    /// Which frames; the whole video when not given.
    pub range: Option<FrameRange>,
    /// Where to and in which formats.
    pub plan: ExportPlan,
    /// What computed the masks, for the stamp.
    pub engine: Option<EngineFacts>,
}

/// Write the project file.
#[derive(Clone, Debug)]
pub struct SaveRequest {
    /// The document as it is now.
    pub session: Arc<Session>,
    /// Its revision, which comes back with the event.
    pub revision: u64,
    /// The `.masklet` file.
    pub path: PathBuf,
}
