//! Owns the user's document as pure data and rules: objects, their prompts, their results, their classes, and its history.
//! May import: base.
//! Must not: do I/O, start threads, or know an engine, a video or a file format.

mod classes;
mod confidence;
mod document;
mod edit;
mod history;
mod object;
mod palette;
mod patch;
mod plan;
mod prompts_file;
mod shape;
mod state;

pub use classes::Class;
pub use document::Document;
pub use edit::Edit;
pub use object::{DEFAULT_CLASS, Object, class_list};
pub use palette::{label_colour, palette};
pub use patch::{Change, Patch, Touched};
pub use prompts_file::{PromptEntry, PromptsFile, PromptsFileError, PromptsObject};
pub use shape::{Reshape, Stroke};
pub use state::{Session, SessionError, TrackResult};
