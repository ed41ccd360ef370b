//! What a newcomer sees: the empty window, and the three first steps.

use std::path::PathBuf;

use eframe::egui::{Align, Align2, Area, Frame, Id, Layout, Order, RichText, Ui, vec2};

use super::action::Action as A;
use super::icons::{self, Icon};
use super::keys::Keys;
use super::theme::Ink;
use super::wish::Wish;
use super::work::{Opened, file_name};

/// The empty window.
pub fn welcome(ui: &mut Ui, keys: &Keys, recent: &[PathBuf], wishes: &mut Vec<Wish>) {
    let ink = Ink::of(ui.visuals());
    let rect = ui.available_rect_before_wrap();
    ui.painter().rect_filled(rect, 0.0, ink.backdrop);
    let height = 240.0 + 24.0 * recent.len().min(6) as f32;
    let inner = eframe::egui::Rect::from_center_size(rect.center(), vec2(420.0, height.min(rect.height())));
    let builder = eframe::egui::UiBuilder::new().max_rect(inner).layout(Layout::top_down(Align::Center));
    ui.scope_builder(builder, |ui| {
        ui.label(RichText::new("Masklet").size(30.0).strong());
        ui.add_space(2.0);
        ui.label(RichText::new("Cut objects out of video: click, track, correct, export.").color(ink.quiet));
        ui.add_space(18.0);
        for (action, wide) in [(A::OpenVideo, true), (A::OpenFolder, false), (A::OpenDemo, false)] {
            let button = eframe::egui::Button::new(action.name()).min_size(vec2(260.0, 32.0)).selected(wide);
            if ui.add(button).on_hover_text(keys.hint(action)).clicked() {
                wishes.push(Wish::Do(action));
            }
        }
        ui.add_space(10.0);
        ui.label(RichText::new("…or drop a file or a folder here").color(ink.quiet));
        if !recent.is_empty() {
            ui.add_space(14.0);
            ui.label(RichText::new("Recent").strong());
            for path in recent.iter().take(6) {
                if ui.link(file_name(path)).on_hover_text(path.display().to_string()).clicked() {
                    wishes.push(Wish::Open(super::files::request(path)));
                }
            }
        }
    });
}

/// One step of the first tour.
struct Step {
    title: &'static str,
    text: String,
    done: bool,
}

fn steps(open: &Opened, keys: &Keys) -> [Step; 3] {
    let session = open.document.session();
    let clicked = session.all_prompts().next().is_some();
    let tracked = session.all_results().count() > session.all_prompts().count();
    [
        Step {
            title: "Click on an object",
            text: "Left click: this belongs to it. Right click: this does not. A drag draws a box.".into(),
            done: clicked,
        },
        Step {
            title: "Track it",
            text: format!(
                "Press {} to follow it. Wrong on a later frame? Click there, then track again.",
                keys.hint(A::TrackForward)
            ),
            done: tracked,
        },
        Step {
            title: "Export",
            text: format!(
                "Press {} to write the masks. {} lists every key.",
                keys.hint(A::Export),
                keys.hint(A::Shortcuts)
            ),
            done: false,
        },
    ]
}

/// The first steps, below the list of objects; says whether they were put away.
pub fn tour(ui: &mut Ui, open: &Opened, keys: &Keys) -> bool {
    let ink = Ink::of(ui.visuals());
    let mut away = false;
    ui.horizontal(|ui| {
        ui.strong("First steps");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            away = icons::button(ui, Icon::Cross, "Put the first steps away", "", true, false).clicked();
        });
    });
    let all = steps(open, keys);
    let now = all.iter().position(|step| !step.done).unwrap_or(2);
    for (i, step) in all.iter().enumerate() {
        let colour = match step.done {
            true => ink.good,
            false if i == now => ink.accent,
            false => ink.quiet,
        };
        ui.horizontal(|ui| {
            ui.label(RichText::new(format!("{}.  {}", i + 1, step.title)).color(colour).strong());
            if step.done {
                ui.weak("done");
            }
        });
        if i == now {
            ui.add(eframe::egui::Label::new(RichText::new(&step.text)).wrap());
        }
    }
    ui.add_space(4.0);
    away
}

/// Why a run paused, with the keys to go on; over the picture.
pub fn paused(ui: &Ui, text: &str, keys: &Keys, wishes: &mut Vec<Wish>) -> bool {
    let mut away = false;
    let ink = Ink::of(ui.visuals());
    let top = ui.max_rect().center_top() + vec2(0.0, 12.0);
    Area::new(Id::unique("masklet pause"))
        .order(Order::Middle)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(top)
        .show(ui.ctx(), |ui| {
            Frame::popup(ui.style()).inner_margin(10).show(ui, |ui| {
                ui.horizontal(|ui| {
                    ui.label(RichText::new(text).color(ink.warn).strong());
                    if ui.button(format!("Go on  ({})", keys.hint(A::Accept))).clicked() {
                        wishes.push(Wish::Do(A::Accept));
                    }
                    away = icons::button(ui, Icon::Cross, "Put the pause away", "", true, false).clicked();
                });
                ui.weak("Correct it with a click and track again, or go on.");
            });
        });
    away
}
