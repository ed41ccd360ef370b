//! The menu bar, made from the table of actions.

use std::path::PathBuf;

use eframe::egui::{Button, MenuBar, Ui};

use super::action::{Action, Group, TABLE};
use super::seen::Seen;
use super::wish::Wish;
use super::work::file_name;

/// Draws the bar.
pub fn show(ui: &mut Ui, seen: &mut Seen<'_>, recent: &[PathBuf]) {
    MenuBar::new().ui(ui, |ui| {
        for group in Group::ALL {
            ui.menu_button(group.title(), |ui| {
                ui.set_min_width(260.0);
                for entry in TABLE.iter().filter(|entry| entry.group == group) {
                    item(ui, seen, entry.action);
                    if entry.action == Action::OpenDemo && !recent.is_empty() {
                        ui.menu_button("Open recent", |ui| recent_files(ui, seen, recent));
                    }
                    if ends_section(entry.action) {
                        ui.separator();
                    }
                }
            });
        }
    });
}

fn item(ui: &mut Ui, seen: &mut Seen<'_>, action: Action) {
    let why_not = seen.why_not(action);
    let name = match (action, &seen.work.open) {
        (Action::Undo, Some(open)) => with_label("Undo", open.document.undo_label()),
        (Action::Redo, Some(open)) => with_label("Redo", open.document.redo_label()),
        _ => action.name().to_owned(),
    };
    let button = Button::new(name).shortcut_text(seen.keys.hint(action));
    let response = ui.add_enabled(why_not.is_none(), button);
    let clicked = response.clicked();
    if let Some(why_not) = why_not {
        response.on_disabled_hover_text(why_not);
    }
    if clicked {
        seen.wish(action);
        ui.close();
    }
}

fn with_label(word: &str, label: Option<&str>) -> String {
    label.map_or_else(|| word.to_owned(), |label| format!("{word} {label}"))
}

fn recent_files(ui: &mut Ui, seen: &mut Seen<'_>, recent: &[PathBuf]) {
    for path in recent {
        if ui.button(file_name(path)).on_hover_text(path.display().to_string()).clicked() {
            seen.wishes.push(Wish::Open(super::files::request(path)));
            ui.close();
        }
    }
}

/// Whether a line follows in the menu.
fn ends_section(action: Action) -> bool {
    use Action as A;
    matches!(
        action,
        A::OpenDemo
            | A::SaveAs
            | A::ExportAgain
            | A::Redo
            | A::SwapLabel
            | A::BrushLarger
            | A::ClearMask
            | A::PreviousObject
            | A::LockObject
            | A::LowerObject
            | A::SplitObject
            | A::TrackOneBackward
            | A::TrackScope
            | A::ShuttleBackward
            | A::LeapBackward
            | A::Last
            | A::NextDoubtful
            | A::GoTo
            | A::CycleOverlay
            | A::ZoomActual
            | A::FullScreen
    )
}
