//! The export dialog.

use std::path::PathBuf;

use eframe::egui::{Button, Grid, Label, RichText, ScrollArea, TextEdit, Ui};

use super::{Outcome, title};
use crate::base::{Format, FrameRange};
use crate::gui::files::{Purpose, written};
use crate::gui::wish::Wish;
use crate::gui::work::Work;
use crate::pipeline::ExportPlan;

/// What is chosen in the dialog.
#[derive(Clone, Debug)]
pub struct ExportForm {
    /// The folder, as written.
    pub folder: String,
    formats: Vec<Format>,
    overwrite: bool,
    marked_only: bool,
    range: Option<FrameRange>,
}

impl ExportForm {
    /// A form about the open document: `last` was exported before, `range` are the marks.
    pub fn new(folder: PathBuf, last: Option<&ExportPlan>, range: Option<FrameRange>) -> Self {
        let formats = last.map_or_else(|| vec![Format::Png], |plan| plan.formats.clone());
        Self {
            folder: folder.display().to_string(),
            formats,
            overwrite: false,
            marked_only: range.is_some(),
            range,
        }
    }

    pub(super) fn show(&mut self, ui: &mut Ui, work: &Work) -> Option<Outcome> {
        ui.set_width(620.0);
        title(ui, "Export masks");
        let mut outcome = None;
        ui.strong("Formats");
        ScrollArea::vertical()
            .max_height(280.0)
            .min_scrolled_height(280.0)
            .auto_shrink([false, true])
            .show(ui, |ui| self.formats(ui));
        ui.add_space(8.0);
        ui.strong("Folder");
        ui.horizontal(|ui| {
            let edit = TextEdit::singleline(&mut self.folder).desired_width(510.0);
            ui.add(edit).accessible_name("Folder for the export");
            if ui.button("Browse…").clicked() {
                outcome = Some(Outcome::Browse(Purpose::ExportFolder));
            }
        });
        ui.checkbox(&mut self.overwrite, "Replace what is there already");
        if let Some(range) = self.range {
            let text = format!("Only the frames between the marks ({} to {})", range.first, range.last);
            ui.checkbox(&mut self.marked_only, text);
        }
        ui.add_space(8.0);
        let why_not = self.why_not(work);
        ui.weak("Hidden objects are written too.");
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let response =
                ui.add_enabled(why_not.is_none(), Button::new("Export").selected(why_not.is_none()));
            if response.clicked() {
                outcome = Some(Outcome::Wishes(vec![self.wish()]));
            }
            if ui.button("Cancel").clicked() {
                outcome = Some(Outcome::Close);
            }
            if let Some(why_not) = why_not {
                ui.weak(why_not);
            }
        });
        outcome
    }

    fn formats(&mut self, ui: &mut Ui) {
        Grid::new("formats").num_columns(2).spacing([16.0, 4.0]).show(ui, |ui| {
            for format in Format::ALL {
                let facts = format.facts();
                let mut on = self.formats.contains(&format);
                if ui.checkbox(&mut on, facts.title).on_hover_text(facts.name).changed() {
                    if on {
                        self.formats.push(format);
                    } else {
                        self.formats.retain(|f| *f != format);
                    }
                }
                ui.add(Label::new(RichText::new(facts.about).weak()).wrap());
                ui.end_row();
            }
        });
    }

    fn why_not(&self, work: &Work) -> Option<&'static str> {
        if work.exporting.is_some() {
            Some("An export is under way.")
        } else if self.formats.is_empty() {
            Some("Choose a format.")
        } else if self.folder.trim().is_empty() {
            Some("Choose a folder.")
        } else {
            None
        }
    }

    fn wish(&self) -> Wish {
        let plan = ExportPlan {
            dir: written(&self.folder),
            formats: self.formats.clone(),
            overwrite: self.overwrite,
            ..ExportPlan::default()
        };
        Wish::Export(plan, self.range.filter(|_| self.marked_only))
    }
}
