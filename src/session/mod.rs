//! Owns the user's document as pure data and rules: objects, their prompts, their results, their classes.
//! May import: base.
//! Must not: do I/O, start threads, or know an engine, a video or a file format.

mod document;
mod object;
mod palette;
mod prompts_file;

pub use document::{Session, SessionError, TrackResult};
pub use object::{DEFAULT_CLASS, Object, class_list};
pub use palette::{label_colour, palette};
pub use prompts_file::{PromptEntry, PromptsFile, PromptsFileError, PromptsObject};
