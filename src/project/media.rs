//! Where a project's video is: by relative and absolute path, and by what it begins and ends with.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

/// Bytes that are hashed at each end of a file.
const CHUNK: u64 = 1 << 20;
/// Most entries of a folder that count.
const MOST_ENTRIES: usize = 1 << 20;

/// What a document is about.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Media {
    /// The clip that the program draws itself.
    Drawn,
    /// A video file or a folder of pictures.
    File(MediaFile),
}

/// A video file or a folder of pictures.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaFile {
    /// Where it was, in full.
    pub absolute: PathBuf,
    /// Where it was, seen from the project's folder; `None` on another drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative: Option<PathBuf>,
    /// What it was.
    pub fingerprint: Fingerprint,
}

/// Enough of a file to know it again.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// Its length in bytes; of a folder the sum of its files'.
    pub bytes: u64,
    /// SHA-256 over its first and its last MiB, in hex; of a folder over the names and lengths of its files.
    pub hash: String,
}

impl Fingerprint {
    /// The fingerprint of what lies at `path`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut hash = Sha256::new();
        let bytes =
            if path.is_dir() { Self::add_folder(path, &mut hash)? } else { Self::add_file(path, &mut hash)? };
        let hash = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { bytes, hash })
    }

    fn add_file(path: &Path, hash: &mut Sha256) -> io::Result<u64> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        for start in [0, bytes.saturating_sub(CHUNK)] {
            file.seek(SeekFrom::Start(start))?;
            let mut chunk = Vec::new();
            file.by_ref().take(CHUNK).read_to_end(&mut chunk)?;
            hash.update(&chunk);
        }
        Ok(bytes)
    }

    fn add_folder(path: &Path, hash: &mut Sha256) -> io::Result<u64> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(path)?.take(MOST_ENTRIES) {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_file() {
                files.push((entry.file_name(), metadata.len()));
            }
        }
        files.sort();
        for (name, length) in &files {
            hash.update(name.as_encoded_bytes());
            hash.update([0]);
            hash.update(length.to_le_bytes());
        }
        Ok(files.iter().map(|(_, length)| length).sum())
    }
}

impl MediaFile {
    /// Describes `video` for a project that lies in `folder`.
    ///
    /// # Errors
    /// The video cannot be read.
    pub fn describe(video: &Path, folder: Option<&Path>) -> io::Result<Self> {
        let absolute = std::path::absolute(video)?;
        // A project named without a folder lies in the current one.
        let here =
            |folder: &'_ Path| if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.into() };
        let folder = folder.map(|folder| std::path::absolute(here(folder))).transpose()?;
        let relative = folder.and_then(|folder| relative(&absolute, &folder));
        Ok(Self { relative, fingerprint: Fingerprint::of(video)?, absolute })
    }

    /// Where the video is now, for a project in `folder`, and whether it is the same as then: the first place at which
    /// something lies, the unchanged before the changed.
    pub fn locate(&self, folder: Option<&Path>) -> Option<(PathBuf, bool)> {
        let beside = folder.zip(self.absolute.file_name()).map(|(folder, name)| folder.join(name));
        let relative = folder.zip(self.relative.as_deref()).map(|(folder, path)| folder.join(path));
        let places = [relative, Some(self.absolute.clone()), beside];
        let there: Vec<_> = places.into_iter().flatten().filter(|path| path.exists()).collect();
        let same = there.iter().find(|path| Fingerprint::of(path).is_ok_and(|f| f == self.fingerprint));
        match same {
            Some(path) => Some((path.clone(), true)),
            None => there.first().map(|path| (path.clone(), false)),
        }
    }
}

/// `path` seen from `folder`; `None` when they have no common root.
fn relative(path: &Path, folder: &Path) -> Option<PathBuf> {
    let (path, folder): (Vec<_>, Vec<_>) = (path.components().collect(), folder.components().collect());
    let common = path.iter().zip(&folder).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return None;
    }
    let up = folder[common..].iter().map(|_| Component::ParentDir);
    Some(up.chain(path[common..].iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_the_project() {
        let seen = |path, folder| relative(Path::new(path), Path::new(folder)).unwrap();
        assert_eq!(seen("/a/b/c.mp4", "/a/b"), Path::new("c.mp4"));
        assert_eq!(seen("/a/x/c.mp4", "/a/b/d"), Path::new("../../x/c.mp4"));
    }

    #[test]
    fn a_moved_video_is_found_beside_its_project_and_a_changed_one_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("old"), dir.path().join("new"));
        [&old, &new].into_iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
        std::fs::write(old.join("c.mp4"), vec![7; 3 << 20]).unwrap();
        let media = MediaFile::describe(&old.join("c.mp4"), Some(&old)).unwrap();
        assert_eq!(media.relative.as_deref(), Some(Path::new("c.mp4")));
        assert_eq!(media.locate(Some(&old)), Some((old.join("c.mp4"), true)));
        std::fs::rename(old.join("c.mp4"), new.join("c.mp4")).unwrap();
        assert_eq!(media.locate(Some(&old)), None);
        assert_eq!(media.locate(Some(&new)), Some((new.join("c.mp4"), true)));
        let mut bytes = vec![7; 3 << 20];
        bytes[5] = 8;
        std::fs::write(new.join("c.mp4"), bytes).unwrap();
        assert_eq!(media.locate(Some(&new)), Some((new.join("c.mp4"), false)));
    }

    #[test]
    fn a_folder_is_known_by_its_files() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("1.png"), b"abc").unwrap();
        let one = Fingerprint::of(dir.path()).unwrap();
        std::fs::write(dir.path().join("2.png"), b"").unwrap();
        let two = Fingerprint::of(dir.path()).unwrap();
        assert_eq!((one.bytes, two.bytes), (3, 3));
        assert_ne!(one.hash, two.hash);
    }
}
