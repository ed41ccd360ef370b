//! Owns the window: what is drawn, what pointer and keys mean, the state of panels and dialogs.
//! May import: base, pipeline, session, settings, convert.
//! Must not: decode, compute masks or touch files on the thread that draws; import the engine, the model or a video.

mod action;
mod app;
mod canvas;
mod dialog;
mod enabled;
mod files;
mod fulfil;
mod hints;
mod icons;
mod inspector;
mod keys;
mod log;
mod menu;
mod news;
mod objects;
mod perform;
mod recover;
mod seen;
mod start;
mod status;
mod theme;
mod timeline;
mod toasts;
mod toolbar;
mod wish;
mod work;

pub use app::{App, FrameTimes, Setup};
pub use start::{GuiError, run};
