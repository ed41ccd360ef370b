//! Masklet cuts objects out of video: prompts in, masks out. The model is EdgeTAM, run natively with ggml.
//!
//! The rooms and who may import whom are drawn in `ARCHITECTURE.md`; `tests/architecture.rs` holds the code to it.

pub mod base;
pub mod cli;
pub mod convert;
pub mod demo;
pub mod engine;
pub mod formats;
pub mod ggml;
#[cfg(feature = "gui")]
pub mod gui;
pub mod kernels;
pub mod metrics;
pub mod model;
pub mod pipeline;
pub mod project;
pub mod session;
pub mod settings;
pub mod video;
