//! The journal: every change since the last save, written as it is made, so that a crash loses nothing.
//!
//! A file of [records](super::record): what the document was before, then its changes in order. Changes are absolute, so
//! that playing them upon a file that holds some of them already does no harm.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::ProjectError;
use super::media::Media;
use super::record;
use crate::base::Size;
use crate::session::{Change, Session};

/// Longest journal that is read, in bytes.
const LONGEST: u64 = 4 << 30;

/// What a journal's changes build upon.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalHeader {
    /// Format of the journal: 1.
    pub masklet_journal: u32,
    /// Size of the pictures.
    pub size: Size,
    /// Number of frames of the video.
    pub frames: u32,
    /// What the document is about.
    pub media: Media,
    /// The project file that was opened or saved last; without one the document began empty.
    pub project: Option<PathBuf>,
    /// The project file's hash then.
    pub project_hash: Option<String>,
}

impl JournalHeader {
    /// The header for a document about `media` that was last saved in, or opened from, `project` (its path and hash).
    pub fn new(size: Size, frames: u32, media: Media, project: Option<(PathBuf, String)>) -> Self {
        let (project, project_hash) = project.unzip();
        Self { masklet_journal: 1, size, frames, media, project, project_hash }
    }
}

/// A journal that is being written. It is locked: another masklet leaves it alone.
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Bytes that are whole records.
    length: u64,
    /// Changes since the header.
    changes: u64,
}

impl Journal {
    /// Begins a new journal in `folder`, which is made when it does not exist.
    ///
    /// # Errors
    /// [`ProjectError::Write`].
    pub fn create(folder: &Path, header: &JournalHeader) -> Result<Self, ProjectError> {
        std::fs::create_dir_all(folder).map_err(ProjectError::write(folder))?;
        let made = tempfile::Builder::new()
            .prefix("work-")
            .suffix(".journal")
            .tempfile_in(folder)
            .and_then(|file| file.keep().map_err(|error| error.error));
        let (file, path) = made.map_err(ProjectError::write(folder))?;
        // A lock that cannot be had (some network drives) protects less; the journal is worth more.
        let _ = file.try_lock();
        let mut journal = Self { path, file, length: 0, changes: 0 };
        journal.restart(header)?;
        Ok(journal)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of changes since it began or was restarted.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Adds a change. The system has it when this returns; [`Journal::flush`] brings it to the disk.
    ///
    /// # Errors
    /// [`ProjectError::Write`]; the journal is as it was before, and the change may be added again.
    pub fn add(&mut self, change: &Change) -> Result<(), ProjectError> {
        let json = serde_json::to_vec(change).expect("changes are plain data");
        self.append(&json)?;
        self.changes += 1;
        Ok(())
    }

    /// Brings what was added to the disk.
    ///
    /// # Errors
    /// [`ProjectError::Write`].
    pub fn flush(&mut self) -> Result<(), ProjectError> {
        self.file.sync_data().map_err(ProjectError::write(&self.path))
    }

    /// Begins again after a save: the changes are in the project file.
    ///
    /// # Errors
    /// [`ProjectError::Write`]; the old changes stay then, which does no harm.
    pub fn restart(&mut self, header: &JournalHeader) -> Result<(), ProjectError> {
        let json = serde_json::to_vec(header).expect("a header is plain data");
        self.file.set_len(0).map_err(ProjectError::write(&self.path))?;
        (self.length, self.changes) = (0, 0);
        self.append(&json)?;
        self.flush()
    }

    fn append(&mut self, json: &[u8]) -> Result<(), ProjectError> {
        let line = record::line(json);
        let mut write = || {
            self.file.seek(SeekFrom::Start(self.length))?;
            self.file.write_all(&line)
        };
        if let Err(error) = write() {
            // Half a record would hide all later ones.
            let _ = self.file.set_len(self.length);
            return Err(ProjectError::write(&self.path)(error));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Ends it: a journal without changes is removed, another stays to be recovered.
    pub fn close(self) {
        if self.changes == 0 {
            self.remove();
        }
    }

    /// Removes it with all that is in it.
    pub fn remove(self) {
        let Self { path, file, .. } = self;
        // Some systems do not remove what is open.
        drop(file);
        let _ = std::fs::remove_file(path);
    }
}

/// What a journal holds.
#[derive(Debug)]
pub struct Recovered {
    /// What its changes build upon.
    pub header: JournalHeader,
    /// The changes that are whole.
    pub changes: Vec<Change>,
    /// Bytes of whole records; what follows is damaged.
    pub length: u64,
}

impl Recovered {
    /// Plays the changes upon `base`, which is the project file's document or an empty one. A change that does not fit,
    /// which only damage by other hands can bring about, is left out; their number is returned.
    pub fn play(&self, base: &mut Session) -> usize {
        let failed = self.changes.iter().filter(|change| base.replay(change).is_err()).count();
        base.drop_unknown();
        failed
    }

    /// Goes on writing the journal at `path` that this was read from, behind its last whole record.
    ///
    /// # Errors
    /// It cannot be written, or another masklet has it.
    pub fn resume(&self, path: &Path) -> Result<Journal, ProjectError> {
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(ProjectError::write(path))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let taken = io::Error::new(io::ErrorKind::ResourceBusy, "another masklet works on it");
            return Err(ProjectError::Write { path: path.into(), source: taken });
        }
        file.set_len(self.length).map_err(ProjectError::write(path))?;
        Ok(Journal { path: path.into(), file, length: self.length, changes: self.changes.len() as u64 })
    }
}

/// Reads the journal at `path` as far as it is whole.
///
/// # Errors
/// It cannot be read, or its beginning is damaged.
pub fn read_journal(path: &Path) -> Result<Recovered, ProjectError> {
    let file = File::open(path).map_err(ProjectError::read(path))?;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(ProjectError::read(path))?;
    parse_journal(path, &bytes)
}

/// Reads the journal in `bytes` as far as it is whole; `path` is for messages.
///
/// # Errors
/// Its beginning is damaged.
pub fn parse_journal(path: &Path, bytes: &[u8]) -> Result<Recovered, ProjectError> {
    let begin =
        record::split(bytes).and_then(|(json, rest)| Some((serde_json::from_slice(json).ok()?, rest)));
    let Some((header, mut rest)) =
        begin.filter(|(header, _): &(JournalHeader, _)| header.masklet_journal == 1)
    else {
        return Err(ProjectError::no_project(path, "the journal's beginning is damaged"));
    };
    let mut changes = Vec::new();
    while let Some((json, after)) = record::split(rest) {
        let Ok(change) = serde_json::from_slice(json) else { break };
        changes.push(change);
        rest = after;
    }
    Ok(Recovered { header, changes, length: (bytes.len() - rest.len()) as u64 })
}
