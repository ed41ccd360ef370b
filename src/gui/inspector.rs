//! The right side: what is known of the active object here, the selected point, how runs pause, the video.

use eframe::egui::{ComboBox, Grid, ScrollArea, Slider, TextEdit, Ui};

use super::action::Action as A;
use super::canvas::Tool;
use super::seen::Seen;
use super::wish::{Touch, Wish};
use super::work::Opened;
use crate::base::{FrameRange, Label, ObjectId};
use crate::pipeline::PauseRules;
use crate::session::{Edit, Object};

/// What the inspector changes by itself.
#[derive(Clone, Copy)]
pub struct Choices {
    /// When runs pause.
    pub pause: PauseRules,
    /// Opacity of filled masks.
    pub opacity: f32,
    /// Radius of the brush in pixels of the picture.
    pub brush: f32,
}

/// What the inspector remembers: the class that is being written.
#[derive(Default)]
pub struct Inspector {
    class: Option<(ObjectId, String)>,
}

/// The probability that a score's logit stands for.
pub fn probability(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}

impl Inspector {
    /// Draws it; gives what is chosen now.
    pub fn show(&mut self, ui: &mut Ui, seen: &mut Seen<'_>, mut choices: Choices) -> Choices {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.add_space(2.0);
            if let Some(open) = &seen.work.open {
                if let Some(object) = open.active.and_then(|id| open.document.session().object(id)) {
                    section(ui, "Object", |ui| self.object(ui, seen, object));
                    section(ui, "On this frame", |ui| here(ui, seen, open, object));
                }
                point(ui, seen, open);
                if seen.canvas.tool.paints() {
                    section(ui, "Brush", |ui| brush(ui, seen, &mut choices));
                }
                section(ui, "Masks", |ui| {
                    let slider = Slider::new(&mut choices.opacity, 0.0..=1.0).show_value(false);
                    ui.horizontal(|ui| {
                        ui.label("Opacity");
                        ui.add(slider).accessible_name("Opacity of masks");
                    });
                });
                section(ui, "Pause a run when", |ui| pauses(ui, &mut choices.pause));
                section(ui, "Video", |ui| video(ui, open));
            } else {
                ui.weak("Nothing is open.");
            }
        });
        choices
    }

    fn object(&mut self, ui: &mut Ui, seen: &mut Seen<'_>, object: &Object) {
        facts(ui, "object facts", |ui| {
            row(ui, "Name", &object.name);
            ui.weak("Class");
            ui.horizontal(|ui| self.class(ui, seen, object));
            ui.end_row();
        });
    }

    fn class(&mut self, ui: &mut Ui, seen: &mut Seen<'_>, object: &Object) {
        if self.class.as_ref().is_none_or(|(id, _)| *id != object.id) {
            self.class = Some((object.id, object.class.clone()));
        }
        let Some((_, text)) = &mut self.class else { return };
        let response = ui
            .add(TextEdit::singleline(text).desired_width(96.0).hint_text("class"))
            .accessible_name("Class of the object");
        if response.lost_focus() && *text != object.class {
            let class = text.trim().to_owned();
            if !class.is_empty() {
                seen.wishes.push(Wish::Edit(Edit::SetClass { object: object.id, class }));
            }
            self.class = None;
        } else if !response.has_focus() && *text != object.class {
            self.class = None;
        }
        let classes: Vec<String> = seen
            .work
            .session()
            .map(|s| s.schema().iter().map(|c| c.name.clone()).collect())
            .unwrap_or_default();
        let chosen = ComboBox::from_id_salt("classes").selected_text("").width(20.0).show_ui(ui, |ui| {
            classes
                .iter()
                .find(|class| ui.selectable_label(**class == object.class, *class).clicked())
                .cloned()
        });
        chosen.response.accessible_name("Known classes");
        if let Some(class) = chosen.inner.flatten() {
            seen.wishes.push(Wish::Edit(Edit::SetClass { object: object.id, class }));
            self.class = None;
        }
    }
}

fn here(ui: &mut Ui, seen: &mut Seen<'_>, open: &Opened, object: &Object) {
    let (session, frame, id) = (open.document.session(), open.seen(), object.id);
    let result = session.result(id, frame);
    let prompts = session.prompts(id, frame);
    facts(ui, "frame facts", |ui| {
        match result {
            Some(result) => {
                let area = result.mask.area();
                let share = area as f64 / (open.video.size.area().max(1)) as f64 * 100.0;
                row(ui, "Score", &format!("{:.2}", probability(result.score)));
                row(ui, "Area", &format!("{area} px · {share:.1} %"));
            }
            None => row(ui, "Mask", if open.asked > 0 { "being computed…" } else { "none yet" }),
        }
        let said = prompts.map(|p| {
            let clicks = p.clicks.len();
            let mut words = Vec::new();
            if clicks > 0 {
                words.push(format!("{clicks} point{}", if clicks == 1 { "" } else { "s" }));
            }
            words.extend(p.bounds.map(|_| "a box".to_owned()));
            words.extend(p.mask.as_ref().map(|_| "a painted mask".to_owned()));
            words.join(", ")
        });
        row(ui, "Prompts", said.as_deref().unwrap_or("none"));
    });
    let range = FrameRange { first: frame, last: frame };
    let mut verified = session.verified(id, frame);
    let hint = seen.keys.hint(A::Verify);
    ui.add_enabled_ui(result.is_some(), |ui| {
        if ui
            .checkbox(&mut verified, "Verified")
            .on_hover_text(format!("This mask is right; tracking leaves it alone  ({hint})"))
            .changed()
        {
            seen.wishes.push(Wish::Edit(Edit::Verify { object: id, range, verified }));
        }
    });
    let mut absent = session.absent(id, frame);
    let hint = seen.keys.hint(A::NotHere);
    if ui
        .checkbox(&mut absent, "Not on this frame")
        .on_hover_text(format!("The object is out of sight here  ({hint})"))
        .changed()
    {
        seen.wishes.push(Wish::Edit(Edit::NotHere { object: id, range, absent }));
    }
}

fn point(ui: &mut Ui, seen: &mut Seen<'_>, open: &Opened) {
    let Some(point) = seen.canvas.selected else { return };
    let prompts = open.document.session().prompts(point.object, point.frame);
    let Some(click) = prompts.and_then(|prompts| prompts.clicks.get(point.index)).copied() else { return };
    section(ui, "Selected point", |ui| {
        facts(ui, "point facts", |ui| {
            row(ui, "Place", &format!("{:.0}, {:.0}", click.at.x, click.at.y));
            row(
                ui,
                "Means",
                if click.label == Label::Positive { "belongs to it" } else { "does not belong" },
            );
        });
        let hint = seen.keys.hint(A::DeletePoint);
        if ui.button("Remove the point").on_hover_text(hint).clicked() {
            seen.wishes.push(Wish::Touch(Touch::Remove(point)));
        }
    });
}

fn brush(ui: &mut Ui, seen: &mut Seen<'_>, choices: &mut Choices) {
    let slider = Slider::new(&mut choices.brush, 0.5..=200.0).logarithmic(true).suffix(" px");
    ui.add(slider).accessible_name("Radius of the brush");
    let other = if seen.canvas.tool == Tool::Eraser { "paints" } else { "erases" };
    ui.weak(format!("The right button {other}. Alt and the wheel change the size."));
    ui.horizontal_wrapped(|ui| {
        for action in [A::FillHoles, A::DropIslands, A::GrowMask, A::ShrinkMask] {
            let short = match action {
                A::FillHoles => "Fill holes",
                A::DropIslands => "Drop islands",
                A::GrowMask => "Grow",
                _ => "Shrink",
            };
            let ok = seen.why_not(action).is_none();
            if ui
                .add_enabled(ok, eframe::egui::Button::new(short))
                .on_hover_text(seen.keys.hint(action))
                .clicked()
            {
                seen.wish(action);
            }
        }
    });
}

fn pauses(ui: &mut Ui, rules: &mut PauseRules) {
    ui.checkbox(&mut rules.score, "the object seems gone");
    ui.checkbox(&mut rules.flood, "the mask floods the picture");
    ui.checkbox(&mut rules.area, "its area jumps");
    ui.checkbox(&mut rules.cut, "the scene cuts");
}

fn video(ui: &mut Ui, open: &Opened) {
    let video = &open.video;
    facts(ui, "video facts", |ui| {
        row(ui, "File", &super::work::file_name(&video.path));
        row(ui, "Size", &format!("{} × {}", video.size.width, video.size.height));
        row(ui, "Frames", &video.frames.to_string());
        let vfr = if video.variable_frame_rate { " (varies)" } else { "" };
        row(ui, "Rate", &format!("{:.3} fps{vfr}", open.rate()));
        row(ui, "Format", &video.format);
        if video.rotation != 0 {
            row(ui, "Turned", &format!("{}°", video.rotation));
        }
    });
    for warning in &video.warnings {
        ui.weak(warning);
    }
}

fn section(ui: &mut Ui, title: &str, add: impl FnOnce(&mut Ui)) {
    ui.add_space(2.0);
    ui.strong(title);
    ui.add_space(1.0);
    add(ui);
    ui.add_space(4.0);
    ui.separator();
}

fn facts(ui: &mut Ui, id: &str, add: impl FnOnce(&mut Ui)) {
    Grid::new(id).num_columns(2).spacing([10.0, 4.0]).min_col_width(56.0).show(ui, add);
}

fn row(ui: &mut Ui, name: &str, value: &str) {
    ui.weak(name);
    ui.add(eframe::egui::Label::new(value).truncate()).on_hover_text(value);
    ui.end_row();
}
