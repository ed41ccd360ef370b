//! The system's file dialogs, on a thread of their own, and what a path means.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use eframe::egui::Context;

use crate::pipeline::{Input, OpenRequest};

/// What a path is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A video, a picture or a project.
    OpenFile,
    /// A folder of pictures.
    OpenFolder,
    /// Where the project is saved.
    SaveProject,
    /// Where masks are written.
    ExportFolder,
    /// Where the video of a project is now.
    FindMedia,
}

/// A dialog of the system that is open.
pub struct Asking {
    /// What for.
    pub purpose: Purpose,
    answer: Receiver<Option<PathBuf>>,
    since: Instant,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A path was chosen.
    Path(PathBuf),
    /// The person closed it.
    Closed,
    /// It never opened: this system has no such dialog.
    None,
}

/// Nobody closes a dialog faster than this: it was not there.
const TOO_SOON: Duration = Duration::from_millis(400);

/// Extensions of the files that are offered first.
const VIDEOS: [&str; 16] = [
    "mp4", "mov", "mkv", "webm", "avi", "m4v", "mpg", "mpeg", "ts", "wmv", "flv", "gif", "png", "jpg",
    "jpeg", "masklet",
];

impl Asking {
    /// Opens a dialog; `None` when no thread can be started for it.
    pub fn start(purpose: Purpose, suggestion: Option<&Path>, ctx: &Context) -> Option<Self> {
        let (tell, answer) = bounded(1);
        let mut dialog = rfd::AsyncFileDialog::new();
        if let Some(path) = suggestion {
            if let Some(folder) = path.parent().filter(|folder| folder.is_dir()) {
                dialog = dialog.set_directory(folder);
            }
            if purpose == Purpose::SaveProject
                && let Some(name) = path.file_name()
            {
                dialog = dialog.set_file_name(name.to_string_lossy());
            }
        }
        let ctx = ctx.clone();
        // The dialog is made here, because macOS wants it on this thread; it is waited for on another.
        let wait: Box<dyn FnOnce() -> Option<rfd::FileHandle> + Send> = match purpose {
            Purpose::OpenFile | Purpose::FindMedia => {
                let dialog =
                    dialog.add_filter("Videos, pictures, projects", &VIDEOS).add_filter("All files", &["*"]);
                let chosen = dialog.set_title("Open").pick_file();
                Box::new(|| pollster::block_on(chosen))
            }
            Purpose::OpenFolder => {
                let chosen = dialog.set_title("Open a folder of pictures").pick_folder();
                Box::new(|| pollster::block_on(chosen))
            }
            Purpose::ExportFolder => {
                let chosen = dialog.set_title("Export into").pick_folder();
                Box::new(|| pollster::block_on(chosen))
            }
            Purpose::SaveProject => {
                let dialog = dialog.add_filter("Masklet project", &["masklet"]);
                let chosen = dialog.set_title("Save the project").save_file();
                Box::new(|| pollster::block_on(chosen))
            }
        };
        let body = move || {
            let path = wait().map(|file| file.path().to_owned());
            // The window may be gone by now.
            let _ = tell.send(path);
            ctx.request_repaint();
        };
        std::thread::Builder::new().name("masklet-dialog".into()).spawn(body).ok()?;
        Some(Self { purpose, answer, since: Instant::now() })
    }

    /// Whether it ended, and how.
    pub fn answer(&self) -> Option<Answer> {
        Some(match self.answer.try_recv() {
            Ok(Some(path)) => Answer::Path(path),
            Ok(None) if self.since.elapsed() < TOO_SOON => Answer::None,
            Ok(None) => Answer::Closed,
            Err(crossbeam_channel::TryRecvError::Empty) => return None,
            Err(crossbeam_channel::TryRecvError::Disconnected) => Answer::None,
        })
    }
}

/// What opening a path means.
pub fn request(path: &Path) -> OpenRequest {
    if is_project(path) {
        OpenRequest::Project { path: path.to_owned(), media: None }
    } else {
        OpenRequest::Video(Input::Path(path.to_owned()))
    }
}

fn is_project(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("masklet"))
}

/// `path` with the extension of projects.
pub fn as_project(path: PathBuf) -> PathBuf {
    if is_project(&path) {
        return path;
    }
    let mut name = path.into_os_string();
    name.push(".masklet");
    name.into()
}

/// A path as a person writes it: quotes around it and "~" are understood.
pub fn written(text: &str) -> PathBuf {
    let text = text.trim();
    let bare = ['"', '\''].iter().find_map(|q| text.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(text);
    let bare = bare.strip_prefix("file://").unwrap_or(bare);
    match (bare.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(bare),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_what_it_is() {
        assert!(matches!(request(Path::new("a.MASKLET")), OpenRequest::Project { .. }));
        assert!(matches!(request(Path::new("視頻 é.mp4")), OpenRequest::Video(_)));
        assert_eq!(as_project("a.mp4".into()), PathBuf::from("a.mp4.masklet"));
        assert_eq!(as_project("a.masklet".into()), PathBuf::from("a.masklet"));
        assert_eq!(written(" \"/a b/c\" "), PathBuf::from("/a b/c"));
    }
}
