//! Files and folders that appear under their final name only when they are whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile, TempDir};

use super::ExportError;

/// Start of temporary names; a crash may leave one behind, and this says whose it is.
const PREFIX: &str = ".masklet-";

/// A file under a temporary name beside its final one. Dropping it without [`AtomicFile::commit`] removes it.
#[derive(Debug)]
pub struct AtomicFile {
    temp: NamedTempFile,
    target: PathBuf,
}

impl AtomicFile {
    /// A new empty file for `target`, whose folder must exist.
    pub fn new(target: PathBuf) -> Result<Self, ExportError> {
        // Said now and not after hours of tracking, when the name is wanted.
        if target.is_dir() {
            return Err(ExportError::io(&target)(io::ErrorKind::IsADirectory.into()));
        }
        // Writers that guess the container from the name need the real extension.
        let extension = target.extension().map(|e| format!(".part.{}", e.display()));
        let mut builder = Builder::new();
        builder.prefix(PREFIX).suffix(extension.as_deref().unwrap_or(".part"));
        // Without this the file would be readable by its owner only; the system takes the umask off.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temp = builder.tempfile_in(folder_of(&target)).map_err(ExportError::io(&target))?;
        Ok(Self { temp, target })
    }

    /// Where to write.
    pub fn file(&mut self) -> &mut File {
        self.temp.as_file_mut()
    }

    /// The temporary name, for writers that open files themselves.
    pub fn path(&self) -> &Path {
        self.temp.path()
    }

    /// The final name.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Flushes the file to the disk and gives it its final name, in place of an older file. Validate it before.
    pub fn commit(self) -> Result<(), ExportError> {
        // A writer may have replaced the file behind our handle: sync what lies under the name.
        File::open(self.temp.path())
            .and_then(|file| file.sync_all())
            .map_err(ExportError::io(&self.target))?;
        let Self { temp, target } = self;
        temp.persist(&target).map_err(|e| ExportError::Io { path: target.clone(), source: e.error })?;
        sync_folder(folder_of(&target));
        Ok(())
    }
}

/// A folder that is filled under a temporary name beside its final one. Dropping it without [`AtomicFolder::commit`]
/// removes it.
#[derive(Debug)]
pub struct AtomicFolder {
    temp: TempDir,
    target: PathBuf,
}

impl AtomicFolder {
    /// A new empty folder for `target`, whose parent must exist.
    pub fn new(target: PathBuf) -> Result<Self, ExportError> {
        if target.exists() && !target.is_dir() {
            return Err(ExportError::io(&target)(io::ErrorKind::NotADirectory.into()));
        }
        let mut builder = Builder::new();
        builder.prefix(PREFIX).suffix(".part");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let temp = builder.tempdir_in(folder_of(&target)).map_err(ExportError::io(&target))?;
        Ok(Self { temp, target })
    }

    /// The final name.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Makes the sub-folder `name`.
    pub fn make(&self, name: &str) -> Result<(), ExportError> {
        fs::create_dir(self.temp.path().join(name)).map_err(ExportError::io(&self.target.join(name)))
    }

    /// Writes the file `name` (which may lie in a sub-folder) whole, or leaves nothing of it. `check` gets its bytes as
    /// they read back and says what is wrong with them.
    pub fn write(
        &self,
        name: &Path,
        bytes: &[u8],
        check: impl FnOnce(&[u8]) -> Result<(), String>,
    ) -> Result<(), ExportError> {
        let (path, target) = (self.temp.path().join(name), self.target.join(name));
        let result = fs::write(&path, bytes)
            .and_then(|()| fs::read(&path))
            .map_err(ExportError::io(&target))
            .and_then(|back| {
                check(&back).map_err(|reason| ExportError::Invalid { path: target.clone(), reason })
            });
        if result.is_err() {
            // The first error counts; that the rest could not be removed adds nothing.
            let _ = fs::remove_file(&path);
        }
        result
    }

    /// Lets `fill` write the file `name` piece by piece, then `check` read it; nothing is left of it when either fails.
    /// Gives what `check` found.
    pub fn stream<T>(
        &self,
        name: &Path,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
        check: impl FnOnce(&Path) -> Result<T, String>,
    ) -> Result<T, ExportError> {
        let (path, target) = (self.temp.path().join(name), self.target.join(name));
        let result = File::create(&path)
            .and_then(|mut file| fill(&mut file))
            .map_err(ExportError::io(&target))
            .and_then(|()| {
                check(&path).map_err(|reason| ExportError::Invalid { path: target.clone(), reason })
            });
        if result.is_err() {
            let _ = fs::remove_file(&path);
        }
        result
    }

    /// Flushes every file to the disk and moves it to its final place, in place of an older one. Returns how many files
    /// lay there before under other names and were left.
    pub fn commit(self) -> Result<u32, ExportError> {
        let Self { temp, target } = self;
        each_file(temp.path(), &mut |path| File::open(path)?.sync_all()).map_err(ExportError::io(&target))?;
        if !target.exists() {
            // The usual case: one step, so that the folder is there with all its files or not at all.
            fs::rename(temp.path(), &target).map_err(ExportError::io(&target))?;
            sync_folder(folder_of(&target));
            return Ok(0);
        }
        let (mut moved, mut there) = (0u32, 0u32);
        each_file(temp.path(), &mut |path| {
            let name = path.strip_prefix(temp.path()).map_err(io::Error::other)?;
            let place = target.join(name);
            fs::create_dir_all(folder_of(&place))?;
            fs::rename(path, &place)?;
            moved += 1;
            Ok(())
        })
        .and_then(|()| {
            each_file(&target, &mut |_| {
                there += 1;
                Ok(())
            })
        })
        .map_err(ExportError::io(&target))?;
        sync_folder(&target);
        Ok(there.saturating_sub(moved))
    }
}

/// Calls `visit` for every file in `folder` and the folders in it. Links are not followed.
fn each_file(folder: &Path, visit: &mut impl FnMut(&Path) -> io::Result<()>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            each_file(&entry.path(), visit)?;
        } else {
            visit(&entry.path())?;
        }
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a rename outlive a power cut. Not every system can; the files themselves are safe by then.
fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_when_committed_and_replaces_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("é.json");
        fs::write(&target, "old").unwrap();
        let mut file = AtomicFile::new(target.clone()).unwrap();
        file.file().write_all(b"new").unwrap();
        assert!(file.path().to_str().unwrap().ends_with(".part.json"));
        assert_eq!(fs::read(&target).unwrap(), b"old");
        file.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(names(dir.path()), ["é.json"]);
    }

    #[test]
    fn a_name_that_is_taken_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let folder = AtomicFolder::new(dir.path().join("file")).unwrap_err();
        assert!(folder.to_string().contains("a file stands where a folder is needed"), "{folder}");
        AtomicFile::new(dir.path().to_owned()).unwrap_err();
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[test]
    fn what_is_dropped_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = AtomicFile::new(dir.path().join("a")).unwrap();
        let folder = AtomicFolder::new(dir.path().join("b")).unwrap();
        folder.write(Path::new("1"), b"x", |_| Ok(())).unwrap();
        drop((file, folder));
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_file_that_does_not_read_back_is_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let folder = AtomicFolder::new(dir.path().join("b")).unwrap();
        folder.write(Path::new("1"), b"x", |_| Ok(())).unwrap();
        let error = folder.write(Path::new("2"), b"y", |_| Err("differs".into())).unwrap_err();
        assert!(
            error.to_string().contains("differs") && error.to_string().contains("2 was written"),
            "{error}"
        );
        let missing = folder.write(Path::new("no/3"), b"y", |_| Ok(())).unwrap_err();
        assert!(matches!(missing, ExportError::Io { path, .. } if path == dir.path().join("b/no/3")));
        folder.commit().unwrap();
        assert_eq!(names(&dir.path().join("b")), ["1"]);
    }

    #[test]
    fn a_folder_that_exists_keeps_its_other_files() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("b");
        fs::create_dir_all(target.join("x")).unwrap();
        fs::write(target.join("x/1"), "old").unwrap();
        fs::write(target.join("x/9"), "old").unwrap();
        let folder = AtomicFolder::new(target.clone()).unwrap();
        for sub in ["x", "y"] {
            folder.make(sub).unwrap();
            folder.write(&Path::new(sub).join("1"), b"new", |_| Ok(())).unwrap();
        }
        assert_eq!(folder.commit().unwrap(), 1);
        assert_eq!(fs::read(target.join("x/1")).unwrap(), b"new");
        assert_eq!(fs::read(target.join("x/9")).unwrap(), b"old");
        assert_eq!(fs::read(target.join("y/1")).unwrap(), b"new");
        assert_eq!(names(dir.path()), ["b"]);
    }

    #[test]
    #[cfg(unix)]
    fn others_may_read_what_the_umask_allows() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("plain");
        fs::write(&plain, "").unwrap();
        AtomicFile::new(dir.path().join("a")).unwrap().commit().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&dir.path().join("a")), mode(&plain));
    }
}
