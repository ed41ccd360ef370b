//! Work that an earlier run left behind: looked for, and thrown away, on a thread of its own.

use std::path::PathBuf;
use std::time::SystemTime;

use crossbeam_channel::{Receiver, bounded};
use eframe::egui::Context;

use super::status::duration;
use super::work::file_name;
use crate::pipeline::{Folders, Recoverable, discard_recoverable, recoverable};

/// The search for left-over work.
pub struct Search {
    found: Receiver<Vec<Recoverable>>,
}

impl Search {
    /// Begins to look; `None` when no thread can be started.
    pub fn start(folders: Folders, ctx: &Context) -> Option<Self> {
        let (tell, found) = bounded(1);
        let ctx = ctx.clone();
        let body = move || {
            // The window may be gone by now.
            let _ = tell.send(recoverable(&folders));
            ctx.request_repaint();
        };
        std::thread::Builder::new().name("masklet-recover".into()).spawn(body).ok()?;
        Some(Self { found })
    }

    /// What was found, once.
    pub fn found(&self) -> Option<Vec<Recoverable>> {
        self.found.try_recv().ok()
    }
}

/// Left-over work in words.
pub fn described(left: &Recoverable) -> String {
    let name = match (&left.project, &left.video) {
        (Some(project), _) => file_name(project),
        (None, Some(video)) => file_name(video),
        (None, None) => "the demo clip".to_owned(),
    };
    let ago = left.modified.and_then(|at| SystemTime::now().duration_since(at).ok());
    let ago = ago.map_or_else(String::new, |ago| format!(", {} ago", duration(ago)));
    let changes = left.changes;
    format!("{name}: {changes} change{}{ago}", if changes == 1 { "" } else { "s" })
}

/// Throws left-over work away.
pub fn throw_away(journal: PathBuf) {
    let body = move || {
        // What cannot be removed is offered again, which says it.
        let _ = discard_recoverable(&journal);
    };
    let _ = std::thread::Builder::new().name("masklet-recover".into()).spawn(body);
}
