//! News from the desk, as messages, log lines and what follows from them.

use std::time::Instant;

use eframe::egui::Context;

use super::action::Action;
use super::app::App;
use super::dialog::{Dialog, Question};
use super::toasts::Tone;
use super::work::{News, file_name};
use crate::pipeline::PauseReason;

impl App {
    pub(super) fn take_news(&mut self, news: News, ctx: &Context, now: Instant) {
        let at = self.started.elapsed();
        match news {
            News::Opened { path, notes } => {
                self.canvas.transform.fit();
                self.canvas.selected = None;
                if let Some(path) = path {
                    self.log.add(at, format!("opened {}", path.display()));
                    self.settings.window.opened(&path);
                }
                for note in notes {
                    self.log.add(at, note.clone());
                    self.toasts.say(Tone::Plain, note, None, now);
                }
            }
            News::MediaMissing { project, media } => {
                self.missing = Some(project.clone());
                self.dialog = Some(Dialog::Question(Question::Missing { project, media }));
            }
            News::Tracked(frames) => {
                self.log.add(at, format!("tracked {frames} frames"));
                if self.work.pause.is_none() {
                    let text = format!("Tracked {frames} frame{}", if frames == 1 { "" } else { "s" });
                    self.toasts.say(Tone::Good, text, None, now);
                }
                if let Some(text) = self.pause_text() {
                    self.log.add(at, text);
                }
            }
            News::Exported { written, notes } => {
                let paths: Vec<_> = written.iter().map(|path| path.display().to_string()).collect();
                self.log.add(at, format!("exported {}", paths.join(", ")));
                let names: Vec<_> = written.iter().map(|path| file_name(path)).collect();
                let folder = written.first().and_then(|path| path.parent());
                let folder = folder.map(|folder| folder.display().to_string()).unwrap_or_default();
                self.toasts.say(
                    Tone::Good,
                    format!("Exported {} into {folder}", names.join(", ")),
                    None,
                    now,
                );
                for note in notes {
                    self.log.add(at, note.clone());
                    self.toasts.say(Tone::Plain, note, None, now);
                }
            }
            News::Saved(path) => {
                self.log.add(at, format!("saved {}", path.display()));
                self.toasts.say(Tone::Good, format!("Saved {}", file_name(&path)), None, now);
                self.settings.window.opened(&path);
                if let Some(then) = self.after_save.take() {
                    self.go_after(then, ctx, false);
                }
            }
            News::SaveFailed(text) => {
                // What was to follow the saving must not lose the work.
                self.after_save = None;
                self.log.add(at, text.clone());
                self.toasts.say(Tone::Bad, text, Some(Action::SaveAs), now);
            }
            News::Bad(text) => {
                self.log.add(at, text.clone());
                self.toasts.say(Tone::Bad, text, None, now);
            }
        }
    }

    /// Why the last run paused, in words.
    pub(super) fn pause_text(&self) -> Option<String> {
        let pause = self.work.pause?;
        let session = self.work.session()?;
        let name = pause.object.and_then(|id| session.object(id)).map_or("the object", |o| o.name.as_str());
        let why = match pause.reason {
            PauseReason::ScoreFell => format!("{name} seems gone"),
            PauseReason::MaskFloods => format!("the mask of {name} floods the picture"),
            PauseReason::AreaJumps => format!("the area of {name} jumps"),
            PauseReason::SceneCut => "the scene cuts".to_owned(),
        };
        Some(format!("Paused at frame {}: {why}", pause.frame))
    }
}
