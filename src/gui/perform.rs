//! What each action of the table does.

use std::time::Instant;

use eframe::egui::{Context, FocusDirection, Key, ViewportCommand};

use super::action::Action;
use super::app::App;
use super::canvas::{Tool, focus_id};
use super::dialog::{After, Dialog, ExportForm, Field, FieldKind, PaletteForm, Sheet};
use super::enabled::enabled;
use super::files::Purpose;
use super::theme;
use super::timeline::DOUBT;
use super::toasts::Tone;
use super::work::{Opened, Scope, Work};
use crate::base::{FrameIndex, FrameRange, Label, ObjectId};
use crate::gui::work::Way;
use crate::pipeline::{Input, OpenRequest};
use crate::session::{Edit, Reshape};

impl App {
    /// Does `action`, or says why it cannot be done.
    pub(super) fn perform(&mut self, action: Action, ctx: &Context, now: Instant) {
        if let Err(why) = enabled(action, &self.work) {
            self.toasts.say(Tone::Plain, why, None, now);
            return;
        }
        let done = self
            .do_file(action, ctx, now)
            .or_else(|| self.do_go(action))
            .or_else(|| self.do_view(action, ctx));
        let result = done.map_or_else(|| self.do_edit(action), Ok);
        if let Err(why) = result {
            self.toasts.say(Tone::Plain, why, None, now);
        }
    }

    fn do_file(&mut self, action: Action, ctx: &Context, now: Instant) -> Option<()> {
        match action {
            Action::OpenVideo => self.ask_path(Purpose::OpenFile, ctx),
            Action::OpenFolder => self.ask_path(Purpose::OpenFolder, ctx),
            Action::OpenPath => self.write_path(Purpose::OpenFile, ""),
            Action::OpenDemo => self.lose_or_ask(After::Open(OpenRequest::Video(Input::Demo)), ctx),
            Action::Save => match self.work.open.as_ref().and_then(|open| open.project.clone()) {
                Some(path) => self.work.save(path),
                None => self.ask_path(Purpose::SaveProject, ctx),
            },
            Action::SaveAs => self.ask_path(Purpose::SaveProject, ctx),
            Action::Export => self.open_export(),
            Action::ExportAgain => match self.last_export.clone() {
                Some(mut plan) => {
                    plan.overwrite = true;
                    let range = self.work.session().and_then(|session| session.range());
                    self.work.export(plan, range);
                    self.toasts.say(Tone::Plain, "Exporting again", None, now);
                }
                None => self.open_export(),
            },
            Action::Close => self.lose_or_ask(After::Close, ctx),
            Action::Quit => self.lose_or_ask(After::Quit, ctx),
            _ => return None,
        }
        Some(())
    }

    fn open_export(&mut self) {
        let Some(open) = &self.work.open else { return };
        let place = open.project.as_ref().unwrap_or(&open.video.path);
        let stem =
            place.file_stem().map_or_else(|| "masks".into(), |s| format!("{}-masks", s.to_string_lossy()));
        let folder = match &self.last_export {
            Some(plan) => plan.dir.clone(),
            None => place.parent().map_or_else(|| stem.clone().into(), |folder| folder.join(&stem)),
        };
        let mut last = self.last_export.clone().unwrap_or_default();
        if last.formats.is_empty() {
            last.formats.clone_from(&self.settings.window.formats);
        }
        let range = open.document.session().range();
        self.dialog = Some(Dialog::Export(ExportForm::new(folder, Some(&last), range)));
    }

    fn do_go(&mut self, action: Action) -> Option<()> {
        let step = |work: &mut Work, by: i64| {
            let Some(open) = &work.open else { return };
            let to = (i64::from(open.frame.0) + by).max(0);
            work.go_to(FrameIndex(u32::try_from(to).unwrap_or(u32::MAX)));
        };
        let work = &mut self.work;
        match action {
            Action::PlayPause => work.play_pause(),
            Action::ShuttleForward => work.shuttle(1.0),
            Action::ShuttleBackward => work.shuttle(-1.0),
            Action::StepForward => step(work, 1),
            Action::StepBackward => step(work, -1),
            Action::LeapForward => step(work, 10),
            Action::LeapBackward => step(work, -10),
            Action::First => work.go_to(FrameIndex(0)),
            Action::Last => work.go_to(FrameIndex(u32::MAX)),
            Action::NextPrompt | Action::PreviousPrompt | Action::TrackedStart | Action::TrackedEnd => {
                let found = work.open.as_ref().and_then(|open| landmark(action, open));
                match found {
                    Some(frame) => work.go_to(frame),
                    None => self.say("There is none that way"),
                }
            }
            Action::NextDoubtful => {
                let found = work
                    .open
                    .as_ref()
                    .and_then(|open| open.document.session().next_doubtful(open.frame, DOUBT));
                match found {
                    Some((frame, object)) => {
                        work.go_to(frame);
                        self.choose(object);
                    }
                    None => self.say("Every mask is sure enough, or verified"),
                }
            }
            Action::GoTo => {
                if let Some(open) = &work.open {
                    let last = FrameIndex(open.video.frames.saturating_sub(1));
                    let kind = FieldKind::GoTo(open.rate(), last);
                    self.dialog = Some(Dialog::Field(Field::new(kind, open.frame.to_string(), "")));
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn do_view(&mut self, action: Action, ctx: &Context) -> Option<()> {
        match action {
            Action::CycleOverlay => self.canvas.overlay = self.canvas.overlay.next(),
            Action::ZoomIn => self.canvas.zoom(1.25),
            Action::ZoomOut => self.canvas.zoom(0.8),
            Action::ZoomFit => self.canvas.transform.fit(),
            Action::ZoomActual => self.canvas.zoom_to(1.0),
            Action::FullScreen => {
                let full = ctx.input(|i| i.viewport().fullscreen.unwrap_or(false));
                ctx.send_viewport_cmd(ViewportCommand::Fullscreen(!full));
            }
            Action::Theme => {
                let next = theme::next(&self.settings.window.theme);
                self.settings.window.theme = next.to_owned();
                ctx.set_theme(theme::preference(next));
            }
            Action::Log => self.log.open = !self.log.open,
            // From the picture to the first control, and from any control back.
            Action::FocusControls => ctx.memory_mut(|memory| {
                if memory.has_focus(focus_id()) {
                    memory.surrender_focus(focus_id());
                    memory.move_focus(FocusDirection::Next);
                } else {
                    memory.request_focus(focus_id());
                }
            }),
            Action::Palette => self.dialog = Some(Dialog::Palette(PaletteForm::default())),
            Action::Shortcuts => self.dialog = Some(Dialog::Sheet(Sheet::default())),
            Action::Hints => self.settings.window.tour_done = false,
            Action::PointTool => self.take_tool(Tool::Point),
            Action::BoxTool => self.take_tool(Tool::Box),
            Action::BrushTool => self.take_tool(Tool::Brush),
            Action::EraserTool => self.take_tool(Tool::Eraser),
            Action::BrushSmaller => self.canvas.brush = (self.canvas.brush / 1.25).max(0.5),
            Action::BrushLarger => self.canvas.brush = (self.canvas.brush * 1.25).min(200.0),
            Action::SwapLabel => {
                self.canvas.label = match self.canvas.label {
                    Label::Positive => Label::Negative,
                    Label::Negative => Label::Positive,
                };
                let says = match self.canvas.label {
                    Label::Positive => "The left button says: belongs to it",
                    Label::Negative => "The left button says: does not belong",
                };
                self.say(says);
            }
            Action::TrackScope => {
                self.work.scope = match self.work.scope {
                    Scope::All => Scope::Active,
                    Scope::Active => Scope::All,
                };
            }
            _ => return None,
        }
        Some(())
    }

    fn do_edit(&mut self, action: Action) -> Result<(), String> {
        let pause = self.pause_rules();
        match action {
            Action::Undo => {
                let label = self.work.undo();
                self.canvas.selected = None;
                self.note(label.map(|label| format!("undone: {label}")));
            }
            Action::Redo => {
                let label = self.work.redo();
                self.canvas.selected = None;
                self.note(label.map(|label| format!("done again: {label}")));
            }
            Action::DeletePoint => match self.canvas.selected.take() {
                Some(point) => self.work.remove_point(point)?,
                None => self.work.remove_last()?,
            },
            Action::NewObject => {
                self.work.new_object()?;
                self.canvas.selected = None;
            }
            Action::NextObject => self.cycle(1),
            Action::PreviousObject => self.cycle(-1),
            Action::TrackForward => self.work.track(Way::Forward, pause)?,
            Action::TrackBackward => self.work.track(Way::Backward, pause)?,
            Action::TrackBoth => self.work.track(Way::Both, pause)?,
            Action::TrackOneForward => self.work.track(Way::OneForward, pause)?,
            Action::TrackOneBackward => self.work.track(Way::OneBackward, pause)?,
            Action::Accept => match self.work.pause {
                Some(_) => self.work.go_on(pause)?,
                None => self.cycle(1),
            },
            Action::Stop => self.stop(),
            Action::MarkIn | Action::MarkOut => self.mark(action)?,
            Action::ClearMarks => drop(self.work.apply(Edit::SetRange(None))?),
            _ => self.do_object(action)?,
        }
        Ok(())
    }

    /// Escape: the innermost thing that is under way ends.
    fn stop(&mut self) {
        if self.canvas.gesture.cancel() || self.work.stop() {
            return;
        }
        if self.work.play.take().is_none() && self.canvas.selected.take().is_none() {
            self.work.pause = None;
        }
    }

    fn mark(&mut self, action: Action) -> Result<(), String> {
        let open = self.work.open.as_ref().ok_or("nothing is open")?;
        let last = FrameIndex(open.video.frames.saturating_sub(1));
        let old = open.document.session().range().unwrap_or(FrameRange { first: FrameIndex(0), last });
        let here = open.frame;
        let (first, last) = match action {
            Action::MarkIn => (here, if here > old.last { last } else { old.last }),
            _ => (if here < old.first { FrameIndex(0) } else { old.first }, here),
        };
        self.work.apply(Edit::SetRange(FrameRange::new(first, last)))?;
        Ok(())
    }

    fn do_object(&mut self, action: Action) -> Result<(), String> {
        let open = self.work.open.as_ref().ok_or("nothing is open")?;
        let (session, frame) = (open.document.session(), open.seen());
        let object = open.active.and_then(|id| session.object(id)).ok_or("choose an object first")?;
        let id = object.id;
        let here = FrameRange { first: frame, last: frame };
        let place = session.objects().iter().position(|o| o.id == id).unwrap_or(0);
        let reshape = |how| Edit::Reshape { object: id, range: here, how };
        // Pixels: what is smaller is no part of the object and no hole, but a slip of the model.
        let speck = (open.video.size.area() / 2000).max(4) as u32;
        let edit = match action {
            Action::ClearPrompts => {
                Edit::SetPrompts { object: id, frame, prompts: crate::base::FramePrompts::default() }
            }
            Action::FillHoles => reshape(Reshape::FillHoles(speck)),
            Action::DropIslands => reshape(Reshape::DropIslands(speck)),
            Action::GrowMask => reshape(Reshape::Grow(1)),
            Action::ShrinkMask => reshape(Reshape::Shrink(1)),
            Action::ClearMask => Edit::ClearRange { object: id, range: here },
            Action::NotHere => Edit::NotHere { object: id, range: here, absent: !session.absent(id, frame) },
            Action::Verify => {
                if session.result(id, frame).is_none() {
                    return Err("there is no mask on this frame yet".into());
                }
                Edit::Verify { object: id, range: here, verified: !session.verified(id, frame) }
            }
            Action::HideObject => Edit::Hide { object: id, hidden: !object.hidden },
            Action::LockObject => Edit::Lock { object: id, locked: !object.locked },
            Action::RemoveObject => Edit::RemoveObject(id),
            Action::RaiseObject => Edit::Reorder { object: id, to: place.saturating_sub(1) },
            Action::LowerObject => Edit::Reorder { object: id, to: place + 1 },
            Action::SplitObject => Edit::Split { object: id, from: frame, name: None },
            Action::TrimToRange => {
                Edit::Trim { object: id, range: session.range().ok_or("set the marks first")? }
            }
            Action::DeleteInRange => {
                Edit::ClearRange { object: id, range: session.range().ok_or("set the marks first")? }
            }
            Action::RenameObject => {
                let object = object.clone();
                self.list.rename(&object);
                return Ok(());
            }
            Action::HideOthers => return self.hide_others(id),
            _ => return Ok(()),
        };
        let touched = self.work.apply(edit)?;
        if let (Action::SplitObject, Some(new)) = (action, touched.added) {
            self.choose(new);
        }
        if action == Action::ClearPrompts {
            self.canvas.selected = None;
        }
        Ok(())
    }

    /// Hides all others; shows them where all are hidden.
    fn hide_others(&mut self, id: ObjectId) -> Result<(), String> {
        let Some(session) = self.work.session() else { return Ok(()) };
        let others: Vec<_> =
            session.objects().iter().filter(|o| o.id != id).map(|o| (o.id, o.hidden)).collect();
        let hidden = !others.iter().all(|(_, hidden)| *hidden);
        for (object, was) in others {
            if was != hidden {
                self.work.apply(Edit::Hide { object, hidden })?;
            }
        }
        Ok(())
    }

    fn cycle(&mut self, by: isize) {
        let Some(open) = &self.work.open else { return };
        let objects = open.document.session().objects();
        let count = objects.len() as isize;
        if count == 0 {
            return;
        }
        let now = objects.iter().position(|o| Some(o.id) == open.active).map_or(-by, |at| at as isize);
        let next = objects[(now + by).rem_euclid(count) as usize].id;
        self.choose(next);
    }

    /// The number keys choose an object by its place in the list.
    pub(super) fn digits(&mut self, ctx: &Context) {
        const DIGITS: [Key; 9] = [
            Key::Num1,
            Key::Num2,
            Key::Num3,
            Key::Num4,
            Key::Num5,
            Key::Num6,
            Key::Num7,
            Key::Num8,
            Key::Num9,
        ];
        let plain = ctx.input(|i| i.modifiers.is_none());
        let place = DIGITS.iter().position(|key| ctx.input(|i| i.key_pressed(*key)));
        let Some(place) = place.filter(|_| plain) else { return };
        let id = self.work.session().and_then(|session| session.objects().get(place)).map(|o| o.id);
        if let Some(id) = id {
            self.choose(id);
        }
    }

    /// Makes an object the active one.
    pub(super) fn choose(&mut self, object: ObjectId) {
        if self.canvas.selected.is_some_and(|point| point.object != object) {
            self.canvas.selected = None;
        }
        if let Some(open) = &mut self.work.open {
            open.active = Some(object);
        }
    }

    fn take_tool(&mut self, tool: Tool) {
        self.canvas.gesture.cancel();
        self.canvas.tool = tool;
    }

    pub(super) fn say(&mut self, text: &str) {
        self.toasts.say(Tone::Plain, text, None, Instant::now());
    }

    fn note(&mut self, text: Option<String>) {
        if let Some(text) = text {
            self.log.add(self.started.elapsed(), text);
        }
    }
}

/// The next frame of a kind.
fn landmark(action: Action, open: &Opened) -> Option<FrameIndex> {
    let (session, here) = (open.document.session(), open.frame);
    match action {
        Action::NextPrompt => session.prompted_frames().into_iter().find(|frame| *frame > here),
        Action::PreviousPrompt => session.prompted_frames().into_iter().rfind(|frame| *frame < here),
        _ => {
            let id = open.active?;
            let mut frames =
                session.all_results().filter(|(_, object, _)| *object == id).map(|(frame, _, _)| frame);
            if action == Action::TrackedStart { frames.next() } else { frames.last() }
        }
    }
}
