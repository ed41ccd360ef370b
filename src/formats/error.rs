//! What can go wrong with an export.

use std::io;
use std::path::{Path, PathBuf};

use crate::base::{Format, FrameIndex, ObjectId, Size};

/// Why an export could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A file or folder cannot be written (or read back).
    #[error("{path} cannot be written: {source}; {}", advice(.source), path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// What was written does not read back as what was meant.
    #[error("{path} was written but does not read back: {reason}; nothing was kept of it, export again", path = .path.display())]
    Invalid {
        /// The file's final name.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// The video writer refused.
    #[error("{path} cannot be written as video: {reason}", path = .path.display())]
    Video {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// No format at all.
    #[error("no export format was given: the formats are {formats}", formats = Format::names())]
    NoFormat,
    /// More objects than a format has labels.
    #[error("{objects} objects do not fit {format}, which holds {most}: export png-binary or coco instead")]
    TooManyObjects {
        /// How many there are.
        objects: usize,
        /// How many fit.
        most: usize,
        /// Which format.
        format: Format,
    },
    /// A disk that is too small.
    #[error("the export needs about {needed} but {path} has {free} left: free some space or choose a folder on another disk", path = path.display())]
    NoSpace {
        /// The folder.
        path: PathBuf,
        /// How much is needed, in words.
        needed: String,
        /// How much there is, in words.
        free: String,
    },
    /// Nothing to export.
    #[error("there is no object to export: add one first")]
    NoObjects,
    /// A mask of an object that the export does not know.
    #[error("frame {frame}: object {object} is not part of this export")]
    UnknownObject {
        /// On which frame.
        frame: FrameIndex,
        /// Whose.
        object: ObjectId,
    },
    /// An object with two masks on one frame.
    #[error("frame {frame}: object {object} has two masks")]
    TwoMasks {
        /// On which frame.
        frame: FrameIndex,
        /// Whose.
        object: ObjectId,
    },
    /// A mask or picture of another size than the video's.
    #[error("frame {frame}: the {what} has {found} pixels but the video has {expected}")]
    Size {
        /// On which frame.
        frame: FrameIndex,
        /// "mask" or "picture".
        what: &'static str,
        /// Its size.
        found: Size,
        /// The video's.
        expected: Size,
    },
    /// A format that draws on the pictures got none.
    #[error("frame {frame}: {format} needs the picture of each frame and got none")]
    NoPicture {
        /// On which frame.
        frame: FrameIndex,
        /// Which format.
        format: Format,
    },
    /// A format that needs increasing frames got an earlier or equal one.
    #[error("frame {frame} came after frame {after}, but {format} must be given its frames in order")]
    Order {
        /// The frame that came too late.
        frame: FrameIndex,
        /// The frame before it.
        after: FrameIndex,
        /// Which format.
        format: Format,
    },
}

impl ExportError {
    /// For `map_err`: an I/O error of `path`.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::WriteZero => {
            "free some space or choose a folder on another disk"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a folder that you may write to"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "a file stands where a folder is needed: choose another folder"
        }
        io::ErrorKind::InvalidFilename => "choose a shorter or plainer name",
        _ => "check the folder and the disk",
    }
}
