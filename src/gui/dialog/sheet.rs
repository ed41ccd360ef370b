//! The list of keys, and how they are changed.

use eframe::egui::{Event, Grid, Key, RichText, ScrollArea, Ui};

use super::{Outcome, title};
use crate::gui::action::{Action, Group, TABLE};
use crate::gui::keys::{Keys, shortcut, text};

/// The sheet.
#[derive(Default)]
pub struct Sheet {
    /// The action that waits for a key.
    waits: Option<Action>,
    /// What the last change took from whom.
    note: Option<String>,
    filter: String,
}

/// The mouse on the picture, which no key map changes.
const MOUSE: [(&str, &str); 10] = [
    ("Left click", "This belongs to the object"),
    ("Right click, Alt+left click", "This does not belong to it"),
    ("Left drag", "A box around it"),
    ("Shift+left drag", "A box around a new object"),
    ("Click on a point", "Select it; once more removes it; a drag moves it"),
    ("Ctrl+click on a mask", "Choose its object"),
    ("Shift and hover", "Try a click without making it"),
    ("Wheel, pinch", "Zoom about the cursor; Shift+wheel moves sideways"),
    ("Middle drag, Space+drag", "Move the picture"),
    ("Hold Q", "See the original"),
];

impl Sheet {
    /// Whether the next key belongs to the sheet.
    pub fn listening(&self) -> bool {
        self.waits.is_some()
    }

    pub(super) fn show(&mut self, ui: &mut Ui, keys: &Keys) -> Option<Outcome> {
        ui.set_width(620.0);
        let changed = self.listen(ui, keys);
        ui.horizontal(|ui| {
            title(ui, "Shortcuts");
            ui.with_layout(eframe::egui::Layout::right_to_left(eframe::egui::Align::Min), |ui| {
                let edit = eframe::egui::TextEdit::singleline(&mut self.filter)
                    .desired_width(160.0)
                    .hint_text("Find");
                ui.add(edit).accessible_name("Find a shortcut");
            });
        });
        ui.weak("Click on a key to give the action another one. Esc keeps the old one.");
        if let Some(note) = &self.note {
            ui.colored_label(ui.visuals().warn_fg_color, note);
        }
        ui.add_space(6.0);
        let mut outcome = changed.map(Outcome::Keys);
        let mut reset = None;
        ScrollArea::vertical().max_height(420.0).min_scrolled_height(420.0).auto_shrink([false, false]).show(
            ui,
            |ui| {
                if self.filter.trim().is_empty() {
                    mouse(ui);
                }
                for group in Group::ALL {
                    reset = self.group(ui, keys, group).or(reset);
                }
            },
        );
        if let Some(action) = reset {
            let mut keys = keys.clone();
            keys.reset(action);
            self.note = None;
            outcome = Some(Outcome::Keys(keys));
        }
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            if ui.button("All as they were at first").clicked() {
                self.note = None;
                outcome = Some(Outcome::Keys(Keys::default()));
            }
            if ui.button("Done").clicked() {
                outcome = Some(Outcome::Close);
            }
        });
        outcome
    }

    fn group(&mut self, ui: &mut Ui, keys: &Keys, group: Group) -> Option<Action> {
        let filter = self.filter.trim().to_lowercase();
        let entries: Vec<_> = TABLE
            .iter()
            .filter(|entry| entry.group == group && entry.name.to_lowercase().contains(&filter))
            .collect();
        if entries.is_empty() {
            return None;
        }
        let defaults = Keys::default();
        let mut reset = None;
        ui.add_space(6.0);
        ui.strong(group.title());
        Grid::new(group.title()).num_columns(3).spacing([16.0, 3.0]).min_col_width(150.0).striped(true).show(
            ui,
            |ui| {
                for entry in entries {
                    let own: Vec<_> = keys.of(entry.action).iter().map(text).collect();
                    let shown = if self.waits == Some(entry.action) {
                        "press a key…".to_owned()
                    } else if own.is_empty() {
                        "none".to_owned()
                    } else {
                        own.join("   ")
                    };
                    ui.label(entry.name);
                    let button = ui.button(RichText::new(shown).monospace());
                    let button = button.accessible_name(format!("Key for {}", entry.name));
                    if button.clicked() {
                        (self.waits, self.note) = (Some(entry.action), None);
                    }
                    if keys.of(entry.action) != defaults.of(entry.action) {
                        if ui.small_button("as before").clicked() {
                            reset = Some(entry.action);
                        }
                    } else {
                        ui.label("");
                    }
                    ui.end_row();
                }
            },
        );
        reset
    }

    /// Takes the key that an action waits for.
    fn listen(&mut self, ui: &Ui, keys: &Keys) -> Option<Keys> {
        let action = self.waits?;
        let pressed = ui.input_mut(|i| {
            let found = i.events.iter().find_map(|event| match *event {
                Event::Key { key, pressed: true, modifiers, .. } => Some(shortcut(key, modifiers)),
                _ => None,
            });
            i.events.retain(|event| !matches!(event, Event::Key { .. }));
            found
        })?;
        self.waits = None;
        if pressed.logical_key == Key::Escape && pressed.modifiers.is_none() {
            return None;
        }
        let mut keys = keys.clone();
        let before = keys.set(action, pressed);
        self.note = before.map(|other| format!("{} has no key {} any more.", other.name(), text(&pressed)));
        Some(keys)
    }
}

fn mouse(ui: &mut Ui) {
    ui.strong("Mouse on the picture");
    Grid::new("mouse").num_columns(2).spacing([16.0, 3.0]).min_col_width(150.0).striped(true).show(
        ui,
        |ui| {
            for (gesture, meaning) in MOUSE {
                ui.label(RichText::new(gesture).monospace());
                ui.label(meaning);
                ui.end_row();
            }
        },
    );
}
