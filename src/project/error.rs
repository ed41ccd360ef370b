//! Why a project or a journal cannot be read or written.

use std::path::{Path, PathBuf};

use crate::base::Size;
use crate::session::SessionError;

/// Why a project or a journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// It cannot be read at all.
    #[error("{path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// It cannot be written; what was there before still is.
    #[error("{path} cannot be written: {source}; the file is as it was, save to another folder", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// It is no project.
    #[error("{path} is no masklet project: {reason}", path = path.display())]
    NoProject {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },
    /// It was written by a later version.
    #[error("{path} was saved by a newer masklet (format {version}): update masklet to open it", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u64,
    },
    /// It breaks the document's rules.
    #[error("{path} is damaged: {source}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The rule.
        source: SessionError,
    },
    /// The video is another than the project's.
    #[error(
        "{media} does not belong to {project}: it has {found_frames} frames of {found} pixels, the project has \
         {frames} of {size}; choose the video that the project was made with",
        media = media.display(), project = project.display()
    )]
    OtherVideo {
        /// The project or journal.
        project: PathBuf,
        /// The video.
        media: PathBuf,
        /// Size of the project's pictures.
        size: Size,
        /// The project's number of frames.
        frames: u32,
        /// Size of the video's pictures.
        found: Size,
        /// The video's number of frames.
        found_frames: u32,
    },
}

impl ProjectError {
    pub(super) fn read(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |source| Self::Read { path: path.into(), source }
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |source| Self::Write { path: path.into(), source }
    }

    pub(super) fn no_project(path: &Path, reason: impl ToString) -> Self {
        Self::NoProject { path: path.into(), reason: reason.to_string() }
    }
}
