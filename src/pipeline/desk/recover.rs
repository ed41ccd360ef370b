//! Where the desk keeps its own files, and what it finds there of earlier runs.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::project::{self, Media};

/// Folders for the desk's own files. `None`: nothing is kept there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    /// Journals of work that was not saved.
    pub journals: Option<PathBuf>,
    /// Nameless, bounded files of what the engine remembers of older frames.
    pub spill: Option<PathBuf>,
}

impl Folders {
    /// The user's: the app's data folder and cache folder.
    pub fn of_user() -> Self {
        Self { journals: project::journal_folder(), spill: project::cache_folder() }
    }
}

/// Work that an earlier run of the app did not save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recoverable {
    /// The journal, for [`OpenRequest::Journal`](super::OpenRequest::Journal).
    pub journal: PathBuf,
    /// The video; `None` for the clip that the program draws.
    pub video: Option<PathBuf>,
    /// The project that it goes on from.
    pub project: Option<PathBuf>,
    /// Number of changes.
    pub changes: usize,
    /// When the last of them was made, where the system says.
    pub modified: Option<SystemTime>,
}

/// The work that can be recovered, the newest first. Journals of an app that is still running are left out. Reads every
/// journal: for the start of the app.
pub fn recoverable(folders: &Folders) -> Vec<Recoverable> {
    let Some(folder) = &folders.journals else { return Vec::new() };
    let found = project::leftovers(folder).into_iter();
    found
        .map(|left| Recoverable {
            journal: left.path,
            video: match left.media {
                Media::Drawn => None,
                Media::File(file) => Some(file.absolute),
            },
            project: left.project,
            changes: left.changes,
            modified: left.modified,
        })
        .collect()
}

/// Throws a journal of [`recoverable`] away: the person said so.
///
/// # Errors
/// It cannot be removed.
pub fn discard_recoverable(journal: &Path) -> std::io::Result<()> {
    std::fs::remove_file(journal)
}
