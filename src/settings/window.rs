//! What the window remembers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::base::Format;

/// What the window remembers. Every value has a default.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct WindowSettings {
    /// "dark", "light" or "system".
    pub theme: String,
    /// Files that were opened, the newest first.
    pub recent: Vec<PathBuf>,
    /// Keys that a person chose: actions by their id, keys as text.
    pub keys: BTreeMap<String, Vec<String>>,
    /// The first steps were put away.
    pub tour_done: bool,
    /// Opacity of filled masks, 0 to 100.
    pub opacity: u8,
    /// When runs pause by themselves.
    pub pause: PauseSettings,
    /// What was exported last.
    pub formats: Vec<Format>,
    /// A model file instead of the built-in weights.
    pub model: Option<PathBuf>,
    /// Side of the square picture that the network sees, instead of the model's own.
    pub size: Option<u32>,
    /// Number of threads of the engine, instead of the machine's.
    pub threads: Option<usize>,
}

/// When runs pause by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "named as the rules")]
pub struct PauseSettings {
    pub score: bool,
    pub flood: bool,
    pub area: bool,
    pub cut: bool,
}

impl Default for PauseSettings {
    fn default() -> Self {
        Self { score: true, flood: true, area: true, cut: true }
    }
}

impl Default for WindowSettings {
    fn default() -> Self {
        Self {
            theme: "dark".into(),
            recent: Vec::new(),
            keys: BTreeMap::new(),
            tour_done: false,
            opacity: 45,
            pause: PauseSettings::default(),
            formats: vec![Format::Png],
            model: None,
            size: None,
            threads: None,
        }
    }
}

/// Files that are remembered.
const RECENT: usize = 12;

impl WindowSettings {
    /// Puts a file in front of those that were opened.
    pub fn opened(&mut self, path: &Path) {
        self.recent.retain(|old| old != path);
        self.recent.insert(0, path.to_owned());
        self.recent.truncate(RECENT);
    }

    /// Takes away what no setting may be.
    pub(super) fn held(mut self) -> Self {
        self.opacity = self.opacity.min(100);
        self.recent.truncate(RECENT);
        self.size = self.size.filter(|n| (256..=1024).contains(n) && n.is_multiple_of(256));
        self.threads = self.threads.filter(|n| (1..=1024).contains(n));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_file_comes_first_and_once() {
        let mut settings = WindowSettings::default();
        for i in 0..20 {
            settings.opened(Path::new(&format!("{}.mp4", i % 15)));
        }
        assert_eq!(settings.recent.len(), RECENT);
        assert_eq!(settings.recent[0], PathBuf::from("4.mp4"));
        assert_eq!(settings.recent.iter().filter(|p| p.as_os_str() == "4.mp4").count(), 1);
    }
}
