//! How a run ended.

use std::process::ExitCode;

use crate::pipeline::{Failure, PipelineError};

/// How a run ended, as the number that the system gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Exit {
    /// All done.
    Done = 0,
    /// Something broke inside.
    Failed = 1,
    /// The arguments make no sense.
    Usage = 2,
    /// The video, a prompt or a mask file cannot be used.
    Input = 3,
    /// The device or the model.
    Device = 4,
    /// Results cannot be written.
    Output = 5,
    /// Stopped on request; what was finished is kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<&PipelineError> for Exit {
    fn from(error: &PipelineError) -> Self {
        match error.kind() {
            Failure::Internal => Self::Failed,
            Failure::Input => Self::Input,
            Failure::Device => Self::Device,
            Failure::Output => Self::Output,
            Failure::Cancelled => Self::Interrupted,
        }
    }
}

impl Exit {
    /// One word for JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "internal",
            Self::Usage => "usage",
            Self::Input => "input",
            Self::Device => "device",
            Self::Output => "output",
            Self::Interrupted => "interrupted",
        }
    }
}
