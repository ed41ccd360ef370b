//! The bar under the menu: files, undo, tools, tracking, how masks look.

use eframe::egui::{Align, ComboBox, Layout, Sides, Ui};

use super::action::Action as A;
use super::canvas::{Overlay, Tool};
use super::icons::Icon;
use super::seen::Seen;
use super::work::Scope;

/// What the bar changes by itself.
pub struct Choice {
    /// How masks look.
    pub overlay: Overlay,
}

/// Draws the bar; gives the overlay style that is chosen now.
pub fn show(ui: &mut Ui, seen: &mut Seen<'_>) -> Choice {
    let mut choice = Choice { overlay: seen.canvas.overlay };
    let mut left_wishes = Vec::new();
    let (work, canvas, keys) = (seen.work, seen.canvas, seen.keys);
    Sides::new().show(
        ui,
        |ui| {
            let mut seen = Seen { work, canvas, keys, wishes: &mut left_wishes };
            left(ui, &mut seen);
        },
        |ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| right(ui, seen, &mut choice));
        },
    );
    seen.wishes.append(&mut left_wishes);
    choice
}

fn left(ui: &mut Ui, seen: &mut Seen<'_>) {
    ui.spacing_mut().item_spacing.x = 2.0;
    seen.icon(ui, Icon::Open, A::OpenVideo, false);
    seen.icon(ui, Icon::Save, A::Save, false);
    seen.icon(ui, Icon::Export, A::Export, false);
    gap(ui);
    seen.icon(ui, Icon::Undo, A::Undo, false);
    seen.icon(ui, Icon::Redo, A::Redo, false);
    gap(ui);
    let tool = seen.canvas.tool;
    for (icon, action, this) in [
        (Icon::Point, A::PointTool, Tool::Point),
        (Icon::Box, A::BoxTool, Tool::Box),
        (Icon::Brush, A::BrushTool, Tool::Brush),
        (Icon::Eraser, A::EraserTool, Tool::Eraser),
    ] {
        seen.icon(ui, icon, action, tool == this);
    }
    gap(ui);
    seen.icon(ui, Icon::TrackBackward, A::TrackBackward, false);
    seen.icon(ui, Icon::TrackBoth, A::TrackBoth, false);
    track(ui, seen);
}

/// The button that most of the work is done with carries its name.
fn track(ui: &mut Ui, seen: &mut Seen<'_>) {
    ui.spacing_mut().item_spacing.x = 6.0;
    ui.add_space(4.0);
    if seen.work.run.is_some() {
        let key = seen.keys.hint(A::Stop);
        if ui.button("Stop").on_hover_text(format!("{}  ({key})", A::Stop.name())).clicked() {
            seen.wish(A::Stop);
        }
    } else {
        let why_not = seen.why_not(A::TrackForward);
        let button = eframe::egui::Button::new("Track").selected(why_not.is_none());
        let response = ui.add_enabled(why_not.is_none(), button);
        if response.clicked() {
            seen.wish(A::TrackForward);
        }
        let hint = format!("{}  ({})", A::TrackForward.name(), seen.keys.hint(A::TrackForward));
        response.on_hover_text(hint).on_disabled_hover_text(why_not.unwrap_or_default());
    }
    let all = seen.work.scope == Scope::All;
    let word = if all { "all objects" } else { "chosen object" };
    let response = ui.button(word).on_hover_text(format!(
        "{}  ({})",
        A::TrackScope.name(),
        seen.keys.hint(A::TrackScope)
    ));
    if response.clicked() {
        seen.wish(A::TrackScope);
    }
}

fn right(ui: &mut Ui, seen: &mut Seen<'_>, choice: &mut Choice) {
    if ui
        .button("Commands")
        .on_hover_text(format!("Find any command  ({})", seen.keys.hint(A::Palette)))
        .clicked()
    {
        seen.wish(A::Palette);
    }
    ComboBox::from_id_salt("overlay")
        .selected_text(choice.overlay.name())
        .width(84.0)
        .show_ui(ui, |ui| {
            for overlay in Overlay::ALL {
                ui.selectable_value(&mut choice.overlay, overlay, overlay.name());
            }
        })
        .response
        .accessible_name("Overlay style")
        .on_hover_text(format!("How masks look  ({})", seen.keys.hint(A::CycleOverlay)));
    seen.icon(ui, Icon::Fit, A::ZoomFit, false);
    let zoom = seen.canvas.placed.filter(|_| seen.work.open.is_some()).map(|placed| placed.zoom() * 100.0);
    let text = zoom.map_or_else(|| "–".to_owned(), |zoom| format!("{zoom:.0} %"));
    if ui
        .button(text)
        .on_hover_text(format!("{}  ({})", A::ZoomActual.name(), seen.keys.hint(A::ZoomActual)))
        .clicked()
    {
        seen.wish(A::ZoomActual);
    }
}

fn gap(ui: &mut Ui) {
    ui.add_space(4.0);
    ui.separator();
    ui.add_space(4.0);
}
