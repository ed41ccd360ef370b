//! What earlier runs of the app left behind: journals with work that was not saved.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::journal::read_journal;
use super::media::Media;

/// A journal that can be recovered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The journal.
    pub path: PathBuf,
    /// What it is about.
    pub media: Media,
    /// The project that it goes on from.
    pub project: Option<PathBuf>,
    /// Number of changes in it.
    pub changes: usize,
    /// When it was written last, where the system says.
    pub modified: Option<SystemTime>,
}

/// The journals in `folder` that hold changes and that no running masklet writes, the newest first.
pub fn leftovers(folder: &Path) -> Vec<Leftover> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let journals = entries.flatten().map(|entry| entry.path());
    let journals = journals.filter(|path| path.extension().is_some_and(|e| e == "journal"));
    let mut found: Vec<_> = journals.filter_map(|path| leftover(&path)).collect();
    found.sort_by_key(|leftover| std::cmp::Reverse(leftover.modified));
    found
}

fn leftover(path: &Path) -> Option<Leftover> {
    let file = File::open(path).ok()?;
    if let Err(TryLockError::WouldBlock) = file.try_lock_shared() {
        return None;
    }
    let modified = file.metadata().and_then(|m| m.modified()).ok();
    let read = read_journal(path).ok()?;
    let (media, project) = (read.header.media, read.header.project);
    let changes = read.changes.len();
    (changes > 0).then(|| Leftover { path: path.into(), media, project, changes, modified })
}
