//! What becomes of wishes, of what dialogs say, of files that are dropped.

use std::path::PathBuf;
use std::time::Instant;

use eframe::egui::{Context, ViewportCommand};

use super::app::App;
use super::dialog::{After, Dialog, Field, FieldKind, Outcome, Question};
use super::files::{Answer, Asking, Purpose, as_project, request};
use super::recover::{Search, throw_away};
use super::toasts::Tone;
use super::wish::Wish;
use super::work::file_name;
use crate::pipeline::{ExportPlan, OpenRequest};

impl App {
    /// Does what a part of the window asks for.
    pub(super) fn fulfil(&mut self, wish: Wish, ctx: &Context, now: Instant) {
        let result = match wish {
            Wish::Do(action) => {
                self.perform(action, ctx, now);
                Ok(())
            }
            Wish::Edit(edit) => self.work.apply(edit).map(drop),
            Wish::Touch(touch) => self.work.touch(touch),
            Wish::Seek(frame) => {
                self.work.go_to(frame);
                Ok(())
            }
            Wish::Choose(object) => {
                self.choose(object);
                Ok(())
            }
            Wish::Point(point) => {
                self.canvas.selected = point;
                Ok(())
            }
            Wish::Open(what) => {
                self.lose_or_ask(After::Open(what), ctx);
                Ok(())
            }
            Wish::Export(plan, range) => {
                self.export(plan, range);
                Ok(())
            }
        };
        if let Err(why) = result {
            self.toasts.say(Tone::Plain, why, None, now);
        }
        // What was asked for may have changed what is drawn.
        ctx.request_repaint();
    }

    fn export(&mut self, plan: ExportPlan, range: Option<crate::base::FrameRange>) {
        self.settings.window.formats.clone_from(&plan.formats);
        self.last_export = Some(plan.clone());
        self.work.export(plan, range);
    }

    /// Does what was asked for, or asks first when work would be lost.
    pub(super) fn lose_or_ask(&mut self, then: After, ctx: &Context) {
        if !self.work.unsaved() {
            self.go_after(then, ctx, false);
            return;
        }
        let name = self.work.open.as_ref().map_or_else(String::new, |open| file_name(&open.video.path));
        self.dialog = Some(Dialog::Question(Question::Unsaved { name, then }));
    }

    /// Opens, closes or leaves; `lose` says that a person gave up what is not saved.
    pub(super) fn go_after(&mut self, then: After, ctx: &Context, lose: bool) {
        match then {
            After::Open(what) => self.work.open(what),
            After::Close => {
                self.work.close(lose);
                self.canvas.selected = None;
            }
            After::Quit => {
                if self.work.open.is_some() {
                    self.work.close(lose);
                }
                self.leaving = true;
                ctx.send_viewport_cmd(ViewportCommand::Close);
            }
        }
    }

    /// Takes what came out of the dialog.
    pub(super) fn take_outcome(&mut self, outcome: Outcome, ctx: &Context, now: Instant) {
        let keeps_open = matches!(outcome, Outcome::Keys(_) | Outcome::Browse(_) | Outcome::ThrowAway(_));
        let dialog = if keeps_open { None } else { self.dialog.take() };
        match outcome {
            Outcome::Wishes(wishes) => {
                for wish in wishes {
                    self.fulfil(wish, ctx, now);
                }
            }
            Outcome::Browse(purpose) => self.ask_path(purpose, ctx),
            Outcome::Path(purpose, path) => self.take_path(purpose, path, dialog, ctx),
            Outcome::SaveFirst(then) => {
                self.after_save = Some(then);
                self.perform(super::action::Action::Save, ctx, now);
            }
            Outcome::Lose(then) => self.go_after(then, ctx, true),
            Outcome::Recover(journal) => self.lose_or_ask(After::Open(OpenRequest::Journal(journal)), ctx),
            Outcome::ThrowAway(journal) => throw_away(journal),
            Outcome::Keys(keys) => {
                self.settings.window.keys = keys.own();
                self.keys = keys;
            }
            Outcome::Close => {
                self.after_save = None;
                self.missing = None;
            }
        }
        ctx.request_repaint();
    }

    /// Asks for a path with the system's dialog, or with a line of text where there is none.
    pub(super) fn ask_path(&mut self, purpose: Purpose, ctx: &Context) {
        let suggestion = self.suggestion(purpose);
        if self.native_dialogs && self.asking.is_none() {
            self.asking = Asking::start(purpose, suggestion.as_deref(), ctx);
            if self.asking.is_some() {
                return;
            }
        }
        let text = suggestion.map(|path| path.display().to_string()).unwrap_or_default();
        self.write_path(purpose, &text);
    }

    fn suggestion(&self, purpose: Purpose) -> Option<PathBuf> {
        let open = self.work.open.as_ref();
        match purpose {
            Purpose::SaveProject => {
                let open = open?;
                let beside = || open.video.path.with_extension("masklet");
                Some(open.project.clone().unwrap_or_else(beside))
            }
            Purpose::ExportFolder => open.map(|open| open.video.path.clone()),
            _ => self.settings.window.recent.first().cloned(),
        }
    }

    /// Asks for a path with a line of text.
    pub(super) fn write_path(&mut self, purpose: Purpose, text: &str) {
        // A file that is to be opened is never the one that was opened last.
        let text = if matches!(purpose, Purpose::OpenFile | Purpose::OpenFolder) { "" } else { text };
        if purpose == Purpose::ExportFolder {
            // The dialog has the same line.
            return;
        }
        self.dialog = Some(Dialog::Field(Field::new(FieldKind::Path(purpose), text.to_owned(), "")));
    }

    /// Takes the answer of the system's dialog, when there is one.
    pub(super) fn take_dialog_answer(&mut self, ctx: &Context, now: Instant) {
        let Some(asking) = &self.asking else { return };
        let (purpose, Some(answer)) = (asking.purpose, asking.answer()) else { return };
        self.asking = None;
        match answer {
            Answer::Path(path) => {
                let dialog = if purpose == Purpose::ExportFolder { None } else { self.dialog.take() };
                self.take_path(purpose, path, dialog, ctx);
            }
            Answer::Closed => self.after_save = None,
            Answer::None => {
                self.native_dialogs = false;
                let text =
                    self.suggestion(purpose).map(|path| path.display().to_string()).unwrap_or_default();
                if purpose == Purpose::ExportFolder {
                    self.toasts.say(
                        Tone::Plain,
                        "This system has no file dialog: write the folder",
                        None,
                        now,
                    );
                }
                self.write_path(purpose, &text);
            }
        }
    }

    fn take_path(&mut self, purpose: Purpose, path: PathBuf, dialog: Option<Dialog>, ctx: &Context) {
        match purpose {
            Purpose::OpenFile | Purpose::OpenFolder => self.lose_or_ask(After::Open(request(&path)), ctx),
            Purpose::SaveProject => self.work.save(as_project(path)),
            Purpose::FindMedia => {
                if let Some(project) = self.missing.take() {
                    self.work.open(OpenRequest::Project { path: project, media: Some(path) });
                }
            }
            Purpose::ExportFolder => {
                if let Some(Dialog::Export(form)) = &mut self.dialog {
                    form.folder = path.display().to_string();
                }
                if let Some(dialog) = dialog {
                    self.dialog = Some(dialog);
                }
            }
        }
    }

    /// Offers what an earlier run left behind, as soon as nothing else is asked.
    pub(super) fn take_left_over(&mut self) {
        if self.dialog.is_some() {
            return;
        }
        let Some(found) = self.search.as_ref().and_then(Search::found) else { return };
        self.search = None;
        if !found.is_empty() {
            self.dialog = Some(Dialog::Question(Question::Recover(found)));
        }
    }

    /// Takes the first file that was dropped on the window.
    pub(super) fn take_dropped(&mut self, ctx: &Context) {
        let dropped = ctx.input(|i| i.raw.dropped_files.first().map(|file| file.path().to_owned()));
        if let Some(path) = dropped {
            self.dialog = None;
            self.lose_or_ask(After::Open(request(&path)), ctx);
        }
    }
}
