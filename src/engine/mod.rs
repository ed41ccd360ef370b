//! Owns the work on one video: encoding frames, answering prompts, tracking, the memory of each object.
//! May import: base, kernels, ggml, model.
//! Must not: know codecs, threads, files (but for the spill file without a name) or the user's session. Everything here is a plain `Send` object.

pub mod bank;
mod cache;
pub mod choose;
mod constants;
mod devices;
mod fake;
mod follow;
pub mod masks;
mod native_model;
mod object;
mod policy;
mod port;
pub mod positions;
mod prepare;
pub mod prompts;
pub mod resample;
mod ring;
pub mod spill;
mod stages;
mod tracker;
mod vectors;

pub use devices::{Device, StepDown, devices};
pub use fake::{FakeCall, FakeEngine};
pub use native_model::{LoadError, Model, ModelOptions};
pub use policy::{Corrections, Padding, Policy, Rounding, SingleMask};
pub use port::{Direction, EngineError, EngineReport, ObjectOutput, VideoEngine, VideoShape};
pub use stages::{Answer, Dense, Image, ProbeSink, Stages};
pub use tracker::{Habit, Tracker, TrackerOptions};
