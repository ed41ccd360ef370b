//! Owns the demo clip: moving, overlapping, deforming objects drawn by code, with their exact masks.
//! May import: base.
//! Must not: use floating point to draw (the clip is the same bytes everywhere), read files, or know the engine.

mod actors;
mod backdrop;
mod clip;
mod draw;
mod fixed;

pub use clip::{DemoClip, DemoObject};
