//! What happened, newest last; kept short.

use std::collections::VecDeque;

use eframe::egui::{ScrollArea, Ui};

/// The log panel.
#[derive(Default)]
pub struct Log {
    /// Whether it is shown.
    pub open: bool,
    lines: VecDeque<(String, String)>,
}

/// Lines that are kept.
const KEPT: usize = 500;

impl Log {
    /// Adds a line; `at` is the time since the window opened.
    pub fn add(&mut self, at: std::time::Duration, text: impl Into<String>) {
        let seconds = at.as_secs();
        self.lines.push_back((format!("{:>3}:{:02}", seconds / 60, seconds % 60), text.into()));
        if self.lines.len() > KEPT {
            self.lines.pop_front();
        }
    }

    /// The whole text, to be copied.
    fn text(&self) -> String {
        self.lines.iter().map(|(at, text)| format!("{at}  {text}\n")).collect()
    }

    /// Draws it.
    pub fn show(&mut self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            ui.strong("Log");
            if ui.small_button("Copy all").clicked() {
                ui.ctx().copy_text(self.text());
            }
            if ui.small_button("Close log").clicked() {
                self.open = false;
            }
        });
        ScrollArea::vertical().auto_shrink(false).stick_to_bottom(true).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            for (at, text) in &self.lines {
                ui.horizontal(|ui| {
                    ui.monospace(at);
                    ui.label(text);
                });
            }
        });
    }
}
