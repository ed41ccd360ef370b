//! The project file: read with every check, written so that the good file is never lost.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::error::ProjectError;
use super::media::Media;
use super::migrate;
use super::schema::{SchemaError, Stored};
use crate::session::Session;

/// Longest file that is read, in bytes.
const LONGEST: u64 = 2 << 30;

/// A project: a document and its video's place.
#[derive(Clone, Debug)]
pub struct Project {
    /// The document.
    pub session: Session,
    /// What it is about.
    pub media: Media,
    /// SHA-256 of the file, in hex.
    pub hash: String,
}

impl Project {
    /// Reads the project at `path`.
    ///
    /// # Errors
    /// It cannot be read, is no project, is damaged, or was written by a newer masklet.
    pub fn load(path: &Path) -> Result<Self, ProjectError> {
        let file = File::open(path).map_err(ProjectError::read(path))?;
        let metadata = file.metadata().map_err(ProjectError::read(path))?;
        if !metadata.is_file() || metadata.len() > LONGEST {
            return Err(ProjectError::no_project(path, "a project is a file of at most 2 GiB"));
        }
        let mut bytes = Vec::new();
        file.take(LONGEST).read_to_end(&mut bytes).map_err(ProjectError::read(path))?;
        Self::parse(path, &bytes)
    }

    /// Reads the project in `bytes`; `path` is for messages.
    ///
    /// # Errors
    /// As [`Project::load`].
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ProjectError> {
        let refuse = |reason: String| ProjectError::no_project(path, reason);
        let value: Value = serde_json::from_slice(bytes).map_err(|e| refuse(e.to_string()))?;
        let version = value.get("masklet").and_then(Value::as_u64);
        let version = version.ok_or_else(|| refuse("it does not begin as one".into()))?;
        if version > migrate::NEWEST {
            return Err(ProjectError::Newer { path: path.into(), version });
        }
        let value = migrate::migrate(value, version).map_err(refuse)?;
        let stored: Stored = serde_json::from_value(value).map_err(|e| refuse(e.to_string()))?;
        let session = stored.session().map_err(|error| match error {
            SchemaError::Session(source) => ProjectError::Damaged { path: path.into(), source },
            other => refuse(other.to_string()),
        })?;
        Ok(Self { session, media: stored.video.media, hash: hash(bytes) })
    }

    /// The project file for `session`, which is about `media`.
    pub fn to_bytes(session: &Session, media: Media) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(&Stored::of(session, media))
            .expect("plain data with text for keys can be written");
        bytes.push(b'\n');
        bytes
    }

    /// Writes `session` to `path`: to a file beside it first, which takes its place when it is whole and on the disk.
    /// Returns the file's hash.
    ///
    /// # Errors
    /// [`ProjectError::Write`]; what was at `path` still is then.
    pub fn save(path: &Path, session: &Session, media: Media) -> Result<String, ProjectError> {
        let bytes = Self::to_bytes(session, media);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let write = || -> std::io::Result<()> {
            let mut part = tempfile::Builder::new().prefix(".masklet-").tempfile_in(folder)?;
            let mut writer = BufWriter::new(part.as_file_mut());
            writer.write_all(&bytes)?;
            writer.flush()?;
            drop(writer);
            keep_permissions(path, part.as_file())?;
            part.as_file().sync_all()?;
            part.persist(path)?;
            // The name too must be on the disk; where folders cannot be flushed, the system does it in time.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
            Ok(())
        };
        write().map_err(ProjectError::write(path))?;
        Ok(hash(&bytes))
    }
}

/// Gives the new file the permissions of the one it replaces, or those that new files have.
fn keep_permissions(path: &Path, file: &File) -> std::io::Result<()> {
    match std::fs::metadata(path) {
        Ok(old) => file.set_permissions(old.permissions()),
        #[cfg(unix)]
        Err(_) => {
            use std::os::unix::fs::PermissionsExt;
            // Temporary files are for their owner alone; a project may be read by who may read the folder.
            file.set_permissions(std::fs::Permissions::from_mode(0o644))
        }
        #[cfg(not(unix))]
        Err(_) => Ok(()),
    }
}

/// SHA-256 in hex.
pub(super) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
