//! Loads the plug-ins that lie beside the program: never from the current folder or a search path, where anyone could
//! leave one.

use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{log, sys};
use crate::base::DeviceFamily;
use crate::ggml::plugin;

/// What became of each family: loaded, or the reason why not.
static TRIED: Mutex<Option<HashMap<DeviceFamily, Result<(), String>>>> = Mutex::new(None);

/// Loads the plug-in of `family`; what was tried before is not tried again.
pub(super) fn load(family: DeviceFamily) -> Result<(), String> {
    let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    tried.get_or_insert_default().entry(family).or_insert_with(|| attempt(family)).clone()
}

fn attempt(family: DeviceFamily) -> Result<(), String> {
    let stem = format!("ggml-{}", family.name().to_lowercase());
    let mut reasons = Vec::new();
    let mut candidates = Vec::new();
    for path in folders().iter().flat_map(|folder| matching(folder, &stem)) {
        match plugin::check(&path) {
            Ok(()) => candidates.push((score(&path), path)),
            Err(error) => reasons.push(format!("{} {error}", path.display())),
        }
    }
    // The processor has several plug-ins, of which the one with the best score fits best; 0 does not run here.
    candidates.retain(|(score, _)| *score > 0);
    candidates.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    for (_, path) in candidates {
        match open(&path) {
            Ok(()) => return Ok(()),
            Err(reason) => reasons.push(reason),
        }
    }
    if reasons.is_empty() {
        let places: Vec<_> = folders().iter().map(|folder| folder.display().to_string()).collect();
        reasons.push(format!("no plug-in {stem} in {}", places.join(" or ")));
    }
    Err(reasons.join("; "))
}

/// Beside the program, or where a package of the system keeps it.
fn folders() -> Vec<PathBuf> {
    let Some(program) = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok()) else {
        return Vec::new();
    };
    let beside = program.parent().map(Path::to_path_buf);
    let package = beside.as_ref().and_then(|bin| Some(bin.parent()?.join("lib/masklet")));
    beside.into_iter().chain(package.filter(|path| path.is_dir())).collect()
}

/// Libraries in `folder` that are named `stem` or `stem-...`.
fn matching(folder: &Path, stem: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).filter(|path| is_of(path, stem)).collect();
    files.sort();
    files
}

fn is_of(path: &Path, stem: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some(base) = [".so", ".dylib", ".dll"].iter().find_map(|end| name.strip_suffix(end)) else {
        return false;
    };
    let rest = base.strip_prefix("lib").unwrap_or(base).strip_prefix(stem);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// How well the plug-in fits this processor; 1 where it does not say.
fn score(path: &Path) -> c_int {
    // SAFETY: the library is a whole one of ours, which only fills in tables when it is loaded; `ggml_backend_score` is
    // documented as `int (*)(void)`. The library is let go again, nothing of it is kept.
    unsafe {
        let Ok(library) = libloading::Library::new(path) else { return 1 };
        let score = library.get::<unsafe extern "C" fn() -> c_int>(b"ggml_backend_score\0");
        score.map_or(1, |score| score())
    }
}

fn open(path: &Path) -> Result<(), String> {
    let failed = || format!("{}: {}", path.display(), log::last());
    let text = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| failed())?;
    log::clear();
    // SAFETY: an absolute path, NUL-terminated; null is handled. ggml catches what a driver throws.
    let registry = unsafe { sys::ggml_backend_load(text.as_ptr()) };
    if registry.is_null() { Err(failed()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plug_ins_are_known_by_their_names() {
        for name in ["libggml-cpu.so", "libggml-cpu-zen4.so", "ggml-cpu.dll", "libggml-cpu.dylib"] {
            assert!(is_of(Path::new(name), "ggml-cpu"), "{name}");
        }
        for name in ["libggml-cpux.so", "libggml.so", "libggml-cpu.so.0", "libggml-cuda.so", "ggml-cpu"] {
            assert!(!is_of(Path::new(name), "ggml-cpu"), "{name}");
        }
    }
}
