//! Owns what the app remembers between runs: a small JSON file in the user's configuration folder.
//! May import: base.
//! Must not: stop the app. A missing, empty or wrong file means the defaults.

mod window;

use std::path::{Path, PathBuf};

pub use window::{PauseSettings, WindowSettings};

/// What the app remembers. Every value has a default; unknown ones are ignored.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How many decoded pictures may wait for the engine; 0 works in one thread.
    pub ahead: usize,
    /// What the window remembers.
    pub window: WindowSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self { ahead: 4, window: WindowSettings::default() }
    }
}

impl Settings {
    /// The user's settings, or the defaults.
    pub fn load() -> Self {
        Self::path().map(|path| Self::load_from(&path)).unwrap_or_default()
    }

    /// The settings in `path`, or the defaults where it is missing or wrong.
    pub fn load_from(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let settings: Self = serde_json::from_str(&text).unwrap_or_default();
        // A depth beyond this only costs memory.
        Self { ahead: settings.ahead.min(64), window: settings.window.held() }
    }

    /// Writes the settings to `path`, under another name first, so that a full disk leaves the old ones whole.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn save_to(&self, path: &Path) -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let part = path.with_extension("part");
        std::fs::write(&part, serde_json::to_vec_pretty(self)?)?;
        std::fs::rename(&part, path)
    }

    /// Where the user's settings lie; `None` when the system names no home.
    pub fn path() -> Option<PathBuf> {
        let folder = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let base = if cfg!(windows) {
            folder("APPDATA")
        } else if cfg!(target_os = "macos") {
            folder("HOME").map(|home| home.join("Library/Application Support"))
        } else {
            folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")))
        };
        base.map(|base| base.join("masklet").join("settings.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_file_means_the_defaults() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("settings.json");
        assert_eq!(Settings::load_from(&path), Settings::default());
        for text in ["", "{", "[]", r#"{"ahead":"many"}"#, r#"{"ahead":-1}"#, r#"{"other":1}"#] {
            std::fs::write(&path, text).expect("a file");
            assert_eq!(Settings::load_from(&path), Settings::default(), "{text}");
        }
        std::fs::write(&path, r#"{"ahead":0}"#).expect("a file");
        assert_eq!(Settings::load_from(&path).ahead, 0);
    }
}
