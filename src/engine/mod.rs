//! Owns the work on one video: encoding frames, answering prompts, tracking, the memory of each object.
//! May import: base, kernels, ggml, model.
//! Must not: know codecs, threads, files (but for the spill file without a name) or the user's session. Everything here is a plain `Send` object.

pub mod bank;
pub mod choose;
mod fake;
pub mod masks;
mod port;
pub mod positions;
pub mod prompts;
pub mod resample;
pub mod spill;

pub use fake::FakeEngine;
pub use port::{Direction, EngineError, EngineReport, ObjectOutput, VideoEngine, VideoShape};
