//! Why a job or a question failed, in words for a person, with the kind that decides the exit code.

use std::path::{Path, PathBuf};

use crate::base::FrameIndex;
use crate::engine::EngineError;
use crate::project::ProjectError;
use crate::session::SessionError;
use crate::video::VideoError;

/// What kind of failure, for exit codes and for the colour of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// Something broke inside.
    Internal,
    /// The video, a prompt or a mask file cannot be used.
    Input,
    /// The device or the model.
    Device,
    /// Results cannot be written.
    Output,
    /// Stopped on request.
    Cancelled,
}

/// Why a job or a question failed.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The video cannot be read.
    #[error(transparent)]
    Video(#[from] VideoError),
    /// The engine cannot be built or failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A model file cannot be used.
    #[error("{0}")]
    Model(String),
    /// No object has a prompt.
    #[error("nothing to track: give at least one object a click, a box or a mask")]
    NothingToTrack,
    /// An object without any prompt.
    #[error("object \"{0}\" has no prompt: give it a click, a box or a mask, or leave it out")]
    Unprompted(String),
    /// A project or a journal cannot be read or written.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// Objects or prompts that do not fit each other or the video.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The range holds no frame.
    #[error("no frame from {from} to {to} can be tracked: {reason}")]
    Range {
        /// First frame wanted.
        from: FrameIndex,
        /// Last frame wanted.
        to: FrameIndex,
        /// Why, and what to do.
        reason: String,
    },
    /// A mask file cannot be read.
    #[error("mask {path}: {reason}", path = path.display())]
    MaskFile {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A prompts file cannot be used.
    #[error("{path}: {reason}", path = path.display())]
    PromptsFile {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// Anything else about the input.
    #[error("{0}")]
    Input(String),
    /// Results cannot be written.
    #[error("{0}")]
    Output(String),
    /// Results would replace what is there.
    #[error("{path} holds results already: choose another folder, or say --overwrite", path = .0.display())]
    Exists(PathBuf),
    /// A question was withdrawn before its answer.
    #[error("cancelled")]
    Cancelled,
    /// Too many commands wait.
    #[error("too much waits to be done: cancel something or try again")]
    Busy,
    /// The workers are gone without an answer.
    #[error("the workers ended without an answer; this is a defect of masklet, please report it")]
    Lost,
    /// A worker panicked.
    #[error("the {stage} worker failed inside: {message}; this is a defect of masklet, please report it")]
    Panicked {
        /// Which worker.
        stage: &'static str,
        /// What it said.
        message: String,
    },
    /// A worker's thread cannot be started.
    #[error("a worker thread cannot be started: {0}")]
    Thread(std::io::Error),
}

impl PipelineError {
    /// What kind of failure.
    pub fn kind(&self) -> Failure {
        match self {
            Self::Project(ProjectError::Write { .. }) => Failure::Output,
            Self::Engine(
                EngineError::Prompt { .. } | EngineError::FrameSize { .. } | EngineError::NoPrompts,
            )
            | Self::Video(_)
            | Self::Project(_)
            | Self::NothingToTrack
            | Self::Unprompted(_)
            | Self::Session(_)
            | Self::PromptsFile { .. }
            | Self::Range { .. }
            | Self::MaskFile { .. }
            | Self::Input(_) => Failure::Input,
            Self::Engine(_) | Self::Model(_) => Failure::Device,
            Self::Output(_) | Self::Exists(_) => Failure::Output,
            Self::Cancelled => Failure::Cancelled,
            Self::Busy | Self::Lost | Self::Panicked { .. } | Self::Thread(_) => Failure::Internal,
        }
    }

    /// The error for the mask at `path` that could not be read.
    pub(super) fn mask_file(path: &Path, error: VideoError) -> Self {
        let reason = match error {
            VideoError::Io { source, .. } => format!("{source}; give the path of a PNG"),
            VideoError::Unreadable { reason, .. } => reason,
            other => other.to_string(),
        };
        Self::MaskFile { path: path.into(), reason }
    }

    /// The error for a worker that panicked with `payload`.
    pub(super) fn panicked(stage: &'static str, payload: &(dyn std::any::Any + Send)) -> Self {
        Self::Panicked { stage, message: Self::panic_text(payload) }
    }

    /// What a panic with `payload` said.
    pub(super) fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
        let text = payload.downcast_ref::<&str>().map(ToString::to_string);
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
    }
}
