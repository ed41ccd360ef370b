//! The desk: what a window works at. The window owns the document and speaks [`DeskCommand`]; the desk owns the video,
//! the engine, the journal and their threads, and answers with [`DeskEvent`]. Nothing here makes the window wait.

mod export;
mod found;
mod handle;
mod inbox;
mod keep;
mod message;
mod meter;
mod mirror;
mod pause;
mod recent;
mod recover;
mod request;
mod run;
mod seat;
mod shared;
mod show;
mod teller;
mod workplace;

pub(super) use found::{Found, open_project};
pub use handle::Desk;
pub use message::{DeskCommand, DeskEvent, RunId};
pub use recover::{Folders, Recoverable, discard_recoverable, recoverable};
pub use request::{
    ExportRequest, ObjectPrompts, OpenRequest, PauseReason, PauseRules, RunRequest, SaveRequest, Seed,
};
