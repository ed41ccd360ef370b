//! The command palette: every action by a few letters of its name.

use eframe::egui::{Button, Key, Modifiers, ScrollArea, TextEdit, Ui};

use super::Outcome;
use crate::gui::action::{Entry, TABLE};
use crate::gui::enabled::enabled;
use crate::gui::keys::Keys;
use crate::gui::wish::Wish;
use crate::gui::work::Work;

/// What is written and chosen.
#[derive(Default)]
pub struct PaletteForm {
    text: String,
    chosen: usize,
    old: bool,
}

/// How well `name` fits what was written: smaller is better, `None` not at all. All letters must come in this order;
/// those at the start of a word count most.
fn fit(text: &str, name: &str) -> Option<usize> {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    let (mut at, mut cost) = (0, 0);
    for letter in text.to_lowercase().chars().filter(|c| !c.is_whitespace()) {
        let starts = |i: usize| i == 0 || !name[i - 1].is_alphanumeric();
        let next = (at..name.len()).find(|&i| name[i] == letter)?;
        let word = (at..name.len()).find(|&i| name[i] == letter && starts(i));
        // Letters in a row beat a later start of a word.
        let found = if next == at { next } else { word.unwrap_or(next) };
        cost += if found == at || starts(found) { found - at } else { 10 + found - at };
        at = found + 1;
    }
    Some(cost)
}

/// The actions that fit, best first.
fn matches(text: &str) -> Vec<&'static Entry> {
    let mut found: Vec<_> = TABLE.iter().filter_map(|entry| Some((fit(text, entry.name)?, entry))).collect();
    found.sort_by_key(|(cost, _)| *cost);
    found.into_iter().map(|(_, entry)| entry).collect()
}

impl PaletteForm {
    pub(super) fn show(&mut self, ui: &mut Ui, work: &Work, keys: &Keys) -> Option<Outcome> {
        ui.set_width(460.0);
        let (down, up, enter) = ui.input_mut(|i| {
            (
                i.consume_key(Modifiers::NONE, Key::ArrowDown),
                i.consume_key(Modifiers::NONE, Key::ArrowUp),
                i.key_pressed(Key::Enter),
            )
        });
        let edit = TextEdit::singleline(&mut self.text)
            .desired_width(f32::INFINITY)
            .hint_text("What do you want to do?");
        let response = ui.add(edit).accessible_name("Find a command");
        if !std::mem::replace(&mut self.old, true) || !response.has_focus() {
            response.request_focus();
        }
        if response.changed() {
            self.chosen = 0;
        }
        let found = matches(&self.text);
        let last = found.len().saturating_sub(1);
        self.chosen = match (down, up) {
            (true, _) => (self.chosen + 1).min(last),
            (_, true) => self.chosen.saturating_sub(1),
            _ => self.chosen.min(last),
        };
        let mut picked = enter.then(|| found.get(self.chosen).copied()).flatten();
        ui.add_space(6.0);
        ScrollArea::vertical().max_height(320.0).min_scrolled_height(320.0).auto_shrink([false, true]).show(
            ui,
            |ui| {
                ui.spacing_mut().item_spacing.y = 1.0;
                for (i, entry) in found.iter().enumerate() {
                    let can = enabled(entry.action, work);
                    let button = Button::selectable(i == self.chosen, entry.name)
                        .right_text(eframe::egui::RichText::new(keys.hint(entry.action)).weak())
                        .min_size(eframe::egui::vec2(ui.available_width(), 24.0));
                    let row = ui.add_enabled(can.is_ok(), button);
                    if i == self.chosen && (down || up) {
                        row.scroll_to_me(None);
                    }
                    if row.clicked() {
                        picked = Some(entry);
                    }
                    if let Err(why) = can {
                        row.on_disabled_hover_text(why);
                    }
                }
                if found.is_empty() {
                    ui.weak("No command has these letters.");
                }
            },
        );
        let picked = picked?;
        enabled(picked.action, work).is_ok().then(|| Outcome::Wishes(vec![Wish::Do(picked.action)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gui::action::Action;

    #[test]
    fn a_few_letters_find_the_action() {
        assert_eq!(matches("undo")[0].action, Action::Undo);
        assert_eq!(matches("tr fo")[0].action, Action::TrackForward);
        assert_eq!(matches("export m")[0].action, Action::Export);
        assert!(matches("zzqx").is_empty());
        assert_eq!(matches("").len(), TABLE.len());
    }
}
