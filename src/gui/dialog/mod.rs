//! Questions that must be answered before anything else goes on. One at a time.

mod export;
mod fields;
mod palette;
mod question;
mod sheet;

use std::path::PathBuf;

use eframe::egui::{Context, Frame, Id, Key, Modal, Ui};

use super::files::Purpose;
use super::keys::Keys;
use super::wish::Wish;
use super::work::Work;

pub use export::ExportForm;
pub use fields::{Field, FieldKind};
pub use palette::PaletteForm;
pub use question::{After, Question};
pub use sheet::Sheet;

/// The dialog that is open.
pub enum Dialog {
    /// Which masks, where.
    Export(ExportForm),
    /// A line of text: a path, a frame.
    Field(Field),
    /// A question with a few buttons.
    Question(Question),
    /// The command palette.
    Palette(PaletteForm),
    /// The list of keys.
    Sheet(Sheet),
}

/// What came out of a dialog.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Ask for these and close.
    Wishes(Vec<Wish>),
    /// Choose the export folder with the system's dialog.
    Browse(Purpose),
    /// A path was written.
    Path(Purpose, PathBuf),
    /// "Save" before something that would lose work.
    SaveFirst(After),
    /// Lose the work and go on.
    Lose(After),
    /// Open this journal.
    Recover(PathBuf),
    /// Throw this journal away.
    ThrowAway(PathBuf),
    /// The keys changed.
    Keys(Keys),
    /// Nothing; close.
    Close,
}

impl Dialog {
    /// Draws it over the window; something came out of it when it is not `None`.
    pub fn show(&mut self, ctx: &Context, work: &Work, keys: &Keys) -> Option<Outcome> {
        let mut outcome = None;
        let frame = Frame::popup(&ctx.global_style()).inner_margin(18);
        let modal = Modal::new(Id::unique("masklet dialog")).frame(frame);
        let response = modal.show(ctx, |ui: &mut Ui| {
            outcome = match self {
                Self::Export(form) => form.show(ui, work),
                Self::Field(field) => field.show(ui),
                Self::Question(question) => question.show(ui),
                Self::Palette(form) => form.show(ui, work, keys),
                Self::Sheet(sheet) => sheet.show(ui, keys),
            };
        });
        let waits = matches!(self, Self::Sheet(sheet) if sheet.listening());
        if outcome.is_none()
            && !waits
            && (response.should_close() || ctx.input(|i| i.key_pressed(Key::Escape)))
        {
            outcome = Some(Outcome::Close);
        }
        outcome
    }
}

/// The heading of a dialog.
fn title(ui: &mut Ui, text: &str) {
    ui.heading(text);
    ui.add_space(8.0);
}
