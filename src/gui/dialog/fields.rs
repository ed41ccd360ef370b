//! Dialogs with one line of text: a path, or a frame or time to go to.

use eframe::egui::{Key, TextEdit, Ui};

use super::{Outcome, title};
use crate::base::FrameIndex;
use crate::gui::files::{Purpose, written};
use crate::gui::wish::Wish;

/// What the line is for.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// A path.
    Path(Purpose),
    /// A frame number, or a time such as 1:02.5; with the frame rate and the last frame.
    GoTo(f64, FrameIndex),
}

/// A dialog with a line of text.
pub struct Field {
    kind: FieldKind,
    text: String,
    note: String,
    wrong: Option<String>,
    fresh: bool,
}

impl Field {
    /// Asks for `kind`, beginning with `text`; `note` stands above the line.
    pub fn new(kind: FieldKind, text: String, note: &str) -> Self {
        Self { kind, text, note: note.to_owned(), wrong: None, fresh: true }
    }

    pub(super) fn show(&mut self, ui: &mut Ui) -> Option<Outcome> {
        ui.set_width(460.0);
        let (heading, label, go) = match self.kind {
            FieldKind::Path(Purpose::OpenFile | Purpose::OpenFolder) => {
                ("Open", "Path of a video, picture folder or project", "Open")
            }
            FieldKind::Path(Purpose::FindMedia) => ("Where is the video now?", "Path of the video", "Open"),
            FieldKind::Path(Purpose::SaveProject) => ("Save the project", "Path of the project file", "Save"),
            FieldKind::Path(Purpose::ExportFolder) => ("Export into", "Path of the folder", "Choose"),
            FieldKind::GoTo(..) => ("Go to", "Frame number, or time as 1:02.5", "Go"),
        };
        title(ui, heading);
        if !self.note.is_empty() {
            ui.weak(&self.note);
            ui.add_space(4.0);
        }
        ui.label(label);
        let edit = TextEdit::singleline(&mut self.text).desired_width(f32::INFINITY);
        let response = ui.add(edit).accessible_name(label);
        if std::mem::take(&mut self.fresh) {
            response.request_focus();
        }
        if response.changed() {
            self.wrong = None;
        }
        if let Some(wrong) = &self.wrong {
            ui.colored_label(ui.visuals().error_fg_color, wrong);
        }
        ui.add_space(8.0);
        let entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
        let mut outcome = None;
        ui.horizontal(|ui| {
            if ui.button(go).clicked() || entered {
                outcome = self.read();
            }
            if ui.button("Cancel").clicked() {
                outcome = Some(Outcome::Close);
            }
        });
        if entered && outcome.is_none() {
            response.request_focus();
        }
        outcome
    }

    fn read(&mut self) -> Option<Outcome> {
        match self.kind {
            FieldKind::Path(purpose) => {
                if self.text.trim().is_empty() {
                    self.wrong = Some("Write a path first.".into());
                    return None;
                }
                Some(Outcome::Path(purpose, written(&self.text)))
            }
            FieldKind::GoTo(rate, last) => match frame(&self.text, rate) {
                Some(frame) => Some(Outcome::Wishes(vec![Wish::Seek(frame.min(last))])),
                None => {
                    self.wrong = Some("That is neither a frame number nor a time.".into());
                    None
                }
            },
        }
    }
}

/// A frame number, or a time with colons or a point.
fn frame(text: &str, rate: f64) -> Option<FrameIndex> {
    let text = text.trim();
    if let Ok(frame) = text.parse() {
        return Some(FrameIndex(frame));
    }
    let text = text.strip_suffix('s').unwrap_or(text);
    let mut seconds = 0.0;
    for part in text.split(':') {
        let value: f64 = part.trim().parse().ok().filter(|v: &f64| v.is_finite() && *v >= 0.0)?;
        seconds = seconds * 60.0 + value;
    }
    Some(FrameIndex((seconds * rate).round().min(f64::from(u32::MAX)) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_times_are_told_apart() {
        let at = |text| frame(text, 25.0).map(|frame| frame.0);
        assert_eq!(
            (at("12"), at(" 1:02 "), at("0:00.5"), at("2.0s")),
            (Some(12), Some(1550), Some(13), Some(50))
        );
        assert_eq!((at(""), at("x"), at("1:-2"), at("nan:1")), (None, None, None, None));
    }
}
