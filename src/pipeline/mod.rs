//! Owns jobs: commands in, events out, the threads between, the order of the work, what an engine and a video are for.
//! May import: base, engine, video, session, project, formats, metrics, demo.
//! Must not: know a window or a terminal, compute what the engine computes, or let anything downstream write upstream.

mod bench;
mod computing;
mod decode;
mod demo;
mod desk;
mod document_export;
mod error;
mod eval;
mod export;
mod factory;
mod facts;
mod files;
mod hop;
mod import;
mod job;
mod masks;
mod message;
mod native;
mod plan;
mod project_export;
mod prompts;
mod runner;
mod store;
mod token;
mod track;
mod work;

pub use bench::{BenchJob, BenchReport, StageTime};
pub use desk::{
    Desk, DeskCommand, DeskEvent, ExportRequest, Folders, ObjectPrompts, OpenRequest, PauseReason,
    PauseRules, Recoverable, RunId, RunRequest, SaveRequest, Seed, discard_recoverable, recoverable,
};
pub use error::{Failure, PipelineError};
pub use eval::{EvalJob, EvalPrompt};
pub use factory::{DeviceLine, EngineFactory, Tools, VideoFactory};
pub use facts::{EngineFacts, VideoFacts};
pub use files::Files;
pub use hop::{Decoded, ObjectMask, Tracked, Work};
pub use import::{ImportAs, ImportJob, ImportReport};
pub use job::{
    EngineOptions, ExportPlan, Input, ModelChoice, ObjectSpec, ProjectExport, ProjectSpec, PromptSpec, Reach,
    TrackJob,
};
pub use message::{Answer, Command, Event, Query, Summary};
pub use native::NativeFactory;
pub use runner::{Canceller, Runner};
pub use token::{Generations, Token};
