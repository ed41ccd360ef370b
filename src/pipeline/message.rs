//! What the faces of the app say to the pipeline, and what they hear back.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::PipelineError;
use super::bench::{BenchJob, BenchReport};
use super::eval::EvalJob;
use super::factory::DeviceLine;
use super::facts::{EngineFacts, VideoFacts};
use super::hop::ObjectMask;
use super::import::{ImportJob, ImportReport};
use super::job::{Input, ProjectExport, TrackJob};
use crate::base::{Format, FrameIndex, Generation, Timings};
use crate::formats::Findings;
use crate::metrics::Evaluation;

/// What a face wants done.
#[derive(Debug)]
pub enum Command {
    /// Stop what runs, keep what it finished, then do this.
    Track(Box<TrackJob>),
    /// Draw the demo clip's pictures and masks into a folder.
    DrawDemo {
        /// The folder; made when it does not exist.
        dir: PathBuf,
        /// Replace pictures that are there already.
        overwrite: bool,
    },
    /// Stop what runs, keep what it finished, then write a project's masks.
    Export(Box<ProjectExport>),
    /// Stop what runs and keep what it finished.
    Cancel,
    /// Answer a question.
    Ask(Query),
}

/// What a face wants to know.
#[derive(Debug)]
pub enum Query {
    /// What a video is.
    Video(Input),
    /// Which devices there are.
    Devices,
    /// How fast the engine is.
    Bench(BenchJob),
    /// How close tracked masks come to given ones.
    Evaluate(EvalJob),
    /// What readers would trip over in a file or folder of a format.
    Validate {
        /// The file or folder.
        path: PathBuf,
        /// Which format it is to have.
        format: Format,
    },
    /// Make a project of a video and masks.
    Import(ImportJob),
}

/// The answer to a [`Query`].
#[derive(Debug)]
pub enum Answer {
    /// What the video is.
    Video(VideoFacts),
    /// The devices, best first.
    Devices(Vec<DeviceLine>),
    /// How fast.
    Bench(BenchReport),
    /// How close.
    Evaluate(Evaluation),
    /// What was found.
    Validate(Findings),
    /// What was imported.
    Imported(ImportReport),
}

/// What a face hears.
#[derive(Debug)]
pub enum Event {
    /// A track job is about to start on its first frame.
    Opened {
        /// Of which job.
        generation: Generation,
        /// The video.
        video: VideoFacts,
        /// What computes.
        engine: EngineFacts,
        /// Names of the objects, in the order of their ids 1, 2, ...
        objects: Vec<String>,
        /// Number of frames that will be tracked.
        total: u32,
        /// What a person should know.
        warnings: Vec<String>,
    },
    /// A frame was tracked.
    Tracked {
        /// Of which job.
        generation: Generation,
        /// Which frame.
        frame: FrameIndex,
        /// Its masks.
        objects: Arc<[ObjectMask]>,
        /// Number of frames tracked so far.
        done: u32,
        /// Number of frames that will be tracked.
        total: u32,
    },
    /// Something long moved on.
    Progress {
        /// Of which job.
        generation: Generation,
        /// What is being worked on, in words.
        what: String,
        /// Steps done.
        done: u32,
        /// Steps in all.
        total: u32,
    },
    /// A job ended well, or was cancelled with what it finished kept.
    Finished(Summary),
    /// A job or a question failed.
    Failed {
        /// Of which job or question.
        generation: Generation,
        /// Why.
        error: PipelineError,
        /// What was finished before and is kept.
        kept: Option<Summary>,
    },
    /// The answer to a question.
    Answer {
        /// Of which question.
        generation: Generation,
        /// The answer.
        answer: Answer,
    },
}

impl Event {
    /// Whether nothing more of its job or question follows.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Finished(_) | Self::Failed { .. } | Self::Answer { .. })
    }
}

/// What a job did.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Which job.
    pub generation: Generation,
    /// Number of frames tracked.
    pub tracked: u32,
    /// Number of frames that were to be tracked.
    pub total: u32,
    /// It was cancelled before its end.
    pub interrupted: bool,
    /// Time from the first prompt to the last frame.
    pub took: Duration,
    /// Where the time went.
    pub timings: Timings,
    /// Files and folders written.
    pub written: Vec<PathBuf>,
    /// What a person should know of the exports.
    pub notes: Vec<String>,
    /// Mean IoU with the ground truth per object, in the order of their ids; only for the demo clip.
    pub truth: Vec<f64>,
}

impl Summary {
    /// Frames tracked a second; 0 when nothing was.
    pub fn frames_per_second(&self) -> f64 {
        let seconds = self.took.as_secs_f64();
        if seconds > 0.0 { f64::from(self.tracked) / seconds } else { 0.0 }
    }
}
