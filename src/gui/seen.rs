//! What the parts of the window may look at while they draw.

use eframe::egui::{Response, Ui};

use super::action::Action;
use super::canvas::Canvas;
use super::enabled::enabled;
use super::icons::{self, Icon};
use super::keys::Keys;
use super::wish::Wish;
use super::work::Work;

/// What is drawn, and where wishes go.
pub struct Seen<'a> {
    /// The document and what goes on.
    pub work: &'a Work,
    /// The canvas.
    pub canvas: &'a Canvas,
    /// The key map.
    pub keys: &'a Keys,
    /// What is asked for.
    pub wishes: &'a mut Vec<Wish>,
}

impl Seen<'_> {
    /// Asks for an action.
    pub fn wish(&mut self, action: Action) {
        self.wishes.push(Wish::Do(action));
    }

    /// Why `action` cannot be done; `None` if it can.
    pub fn why_not(&self, action: Action) -> Option<&'static str> {
        enabled(action, self.work).err()
    }

    /// A button with an icon for an action.
    pub fn icon(&mut self, ui: &mut Ui, icon: Icon, action: Action, selected: bool) -> Response {
        let why_not = self.why_not(action);
        let hint = why_not.map_or_else(|| self.keys.hint(action), str::to_owned);
        let response = icons::button(ui, icon, action.name(), &hint, why_not.is_none(), selected);
        if response.clicked() {
            self.wish(action);
        }
        response
    }
}
