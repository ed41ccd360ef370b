//! Questions that a click answers.

use std::path::PathBuf;

use eframe::egui::{Button, Ui};

use super::{Outcome, title};
use crate::gui::files::Purpose;
use crate::gui::recover::described;
use crate::gui::work::file_name;
use crate::pipeline::{OpenRequest, Recoverable};

/// What was asked for while work was not saved.
#[derive(Clone, Debug, PartialEq)]
pub enum After {
    /// Open something else.
    Open(OpenRequest),
    /// Close the video.
    Close,
    /// Leave the program.
    Quit,
}

/// A question.
pub enum Question {
    /// There is work that no file holds.
    Unsaved {
        /// The video's name.
        name: String,
        /// What was asked for.
        then: After,
    },
    /// An earlier run left work behind.
    Recover(Vec<Recoverable>),
    /// The video of a project is gone.
    Missing {
        /// The project.
        project: PathBuf,
        /// Where the video was.
        media: PathBuf,
    },
}

impl Question {
    pub(super) fn show(&mut self, ui: &mut Ui) -> Option<Outcome> {
        ui.set_width(420.0);
        let mut outcome = None;
        match self {
            Self::Unsaved { name, then } => {
                title(ui, "Save the work first?");
                ui.label(format!("What you did on {name} is in no project file yet."));
                ui.add_space(12.0);
                ui.horizontal(|ui| {
                    if ui.add(Button::new("Save").selected(true)).clicked() {
                        outcome = Some(Outcome::SaveFirst(then.clone()));
                    }
                    if ui.button("Do not save").clicked() {
                        outcome = Some(Outcome::Lose(then.clone()));
                    }
                    if ui.button("Cancel").clicked() {
                        outcome = Some(Outcome::Close);
                    }
                });
            }
            Self::Recover(found) => {
                title(ui, "Work from last time");
                ui.label("Masklet ended before this work was saved. Open it again?");
                ui.add_space(8.0);
                let mut gone = None;
                for (i, left) in found.iter().enumerate() {
                    ui.horizontal(|ui| {
                        if ui.add(Button::new("Recover").selected(true)).clicked() {
                            outcome = Some(Outcome::Recover(left.journal.clone()));
                        }
                        if ui.button("Throw away").clicked() {
                            gone = Some(i);
                        }
                        ui.label(described(left));
                    });
                }
                if let Some(i) = gone {
                    outcome = Some(Outcome::ThrowAway(found.remove(i).journal));
                }
                ui.add_space(8.0);
                if found.is_empty() && outcome.is_none() {
                    outcome = Some(Outcome::Close);
                }
                if ui.button("Not now").on_hover_text("It is offered again next time.").clicked() {
                    outcome = Some(Outcome::Close);
                }
            }
            Self::Missing { project, media } => {
                title(ui, "Where is the video now?");
                ui.label(format!("{} is about this video, which is not there:", file_name(project)));
                ui.monospace(media.display().to_string());
                ui.add_space(12.0);
                ui.horizontal(|ui| {
                    if ui.add(Button::new("Find it…").selected(true)).clicked() {
                        outcome = Some(Outcome::Browse(Purpose::FindMedia));
                    }
                    if ui.button("Cancel").clicked() {
                        outcome = Some(Outcome::Close);
                    }
                });
            }
        }
        outcome
    }
}
