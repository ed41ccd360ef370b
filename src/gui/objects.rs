//! The list of objects.

use eframe::egui::{
    Align2, Button, Color32, FontId, Popup, Rect, Response, Role, ScrollArea, Sense, Stroke, StrokeKind,
    TextEdit, Ui, WidgetInfo, pos2, vec2,
};

use super::action::Action as A;
use super::canvas::display_colour;
use super::icons::{self, Icon};
use super::seen::Seen;
use super::theme::Ink;
use super::wish::Wish;
use crate::base::ObjectId;
use crate::session::{Edit, Object, label_colour};

/// What the list remembers.
#[derive(Default)]
pub struct List {
    /// The object whose name is being written.
    renaming: Option<Renaming>,
}

struct Renaming {
    object: ObjectId,
    text: String,
    fresh: bool,
}

/// Height of a row in points.
const ROW: f32 = 30.0;

impl List {
    /// Begins to rename an object.
    pub fn rename(&mut self, object: &Object) {
        self.renaming = Some(Renaming { object: object.id, text: object.name.clone(), fresh: true });
    }

    /// Draws the list.
    pub fn show(&mut self, ui: &mut Ui, seen: &mut Seen<'_>) {
        ui.add_space(2.0);
        ui.horizontal(|ui| {
            ui.heading("Objects");
            ui.with_layout(eframe::egui::Layout::right_to_left(eframe::egui::Align::Center), |ui| {
                seen.icon(ui, Icon::Bin, A::RemoveObject, false);
                seen.icon(ui, Icon::Plus, A::NewObject, false);
            });
        });
        ui.add_space(2.0);
        let Some(open) = &seen.work.open else { return };
        let objects = open.document.session().objects();
        if objects.is_empty() {
            ui.add_space(6.0);
            ui.weak("No object yet. Click on one in the picture: left for what belongs to it, right for what does not.");
            return;
        }
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            for (place, object) in objects.iter().enumerate() {
                self.row(ui, seen, object, place, open.active == Some(object.id));
            }
        });
    }

    fn row(&mut self, ui: &mut Ui, seen: &mut Seen<'_>, object: &Object, place: usize, active: bool) {
        let ink = Ink::of(ui.visuals());
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
        response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, active, &object.name));
        if active {
            ui.painter().rect_filled(rect, 4.0, ink.chosen);
            let edge = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
            ui.painter().rect_filled(edge, 1.5, ink.accent);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 4.0, ui.visuals().faint_bg_color);
        }
        if response.clicked() {
            seen.wishes.push(Wish::Choose(object.id));
        }
        if response.double_clicked() {
            self.rename(object);
        }
        response.context_menu(|ui| self.menu(ui, seen, object));
        let middle = rect.center().y;
        let chip = Rect::from_center_size(pos2(rect.left() + 18.0, middle), vec2(14.0, 14.0));
        colour_chip(ui, seen, object, chip);
        let icons_left = rect.right() - 58.0;
        let text =
            Rect::from_min_max(pos2(rect.left() + 32.0, rect.top()), pos2(icons_left - 2.0, rect.bottom()));
        if self.renaming.as_ref().is_some_and(|r| r.object == object.id) {
            self.rename_field(ui, seen, text.shrink2(vec2(0.0, 3.0)));
        } else {
            name(ui, object, text, place);
        }
        let spots = [icons_left + 14.0, icons_left + 42.0];
        let eye = if object.hidden { Icon::EyeOff } else { Icon::Eye };
        let word = if object.hidden { "Show" } else { "Hide" };
        if small(ui, eye, pos2(spots[0], middle), &format!("{word} {}", object.name), object.hidden) {
            seen.wishes.push(Wish::Edit(Edit::Hide { object: object.id, hidden: !object.hidden }));
        }
        let lock = if object.locked { Icon::Lock } else { Icon::Unlock };
        let word = if object.locked { "Unlock" } else { "Lock" };
        if small(ui, lock, pos2(spots[1], middle), &format!("{word} {}", object.name), object.locked) {
            seen.wishes.push(Wish::Edit(Edit::Lock { object: object.id, locked: !object.locked }));
        }
    }

    fn rename_field(&mut self, ui: &mut Ui, seen: &mut Seen<'_>, rect: Rect) {
        let Some(renaming) = &mut self.renaming else { return };
        let edit = TextEdit::singleline(&mut renaming.text).align(Align2::LEFT_CENTER);
        let response = ui.put(rect, edit).accessible_name("Name of the object");
        if std::mem::take(&mut renaming.fresh) {
            response.request_focus();
        }
        if response.lost_focus() {
            let escaped = ui.input(|i| i.key_pressed(eframe::egui::Key::Escape));
            let (object, name) = (renaming.object, renaming.text.clone());
            self.renaming = None;
            let same =
                seen.work.session().and_then(|s| s.object(object)).is_none_or(|o| o.name == name.trim());
            if !escaped && !same {
                seen.wishes.push(Wish::Edit(Edit::Rename { object, name }));
            }
        }
    }

    fn menu(&mut self, ui: &mut Ui, seen: &mut Seen<'_>, object: &Object) {
        ui.set_min_width(200.0);
        let id = object.id;
        if ui.button("Rename").clicked() {
            self.rename(object);
            ui.close();
        }
        let Some(session) = seen.work.session() else { return };
        let others: Vec<_> = session.objects().iter().filter(|other| other.id != id).cloned().collect();
        let classes: Vec<String> = session.schema().iter().map(|class| class.name.clone()).collect();
        if !classes.is_empty() {
            ui.menu_button("Class", |ui| {
                for class in classes {
                    if ui.button(&class).clicked() {
                        seen.wishes.push(Wish::Edit(Edit::SetClass { object: id, class }));
                        ui.close();
                    }
                }
            });
        }
        let from = seen.work.open.as_ref().map(super::work::Opened::seen).unwrap_or_default();
        ui.add_enabled_ui(!others.is_empty(), |ui| {
            ui.menu_button("Swap from here on with", |ui| {
                for other in &others {
                    if ui.button(&other.name).clicked() {
                        seen.wishes.push(Wish::Edit(Edit::Swap { a: id, b: other.id, from }));
                        ui.close();
                    }
                }
            });
            ui.menu_button("Merge into", |ui| {
                for other in &others {
                    if ui.button(&other.name).clicked() {
                        seen.wishes.push(Wish::Edit(Edit::Merge { object: id, into: other.id }));
                        ui.close();
                    }
                }
            });
        });
        ui.separator();
        for action in [A::SplitObject, A::RaiseObject, A::LowerObject, A::HideOthers, A::RemoveObject] {
            let button = Button::new(action.name()).shortcut_text(seen.keys.hint(action));
            if ui.add(button).clicked() {
                seen.wishes.push(Wish::Choose(id));
                seen.wish(action);
                ui.close();
            }
        }
    }
}

fn name(ui: &Ui, object: &Object, rect: Rect, place: usize) {
    let faded = if object.hidden { 0.5 } else { 1.0 };
    let colour = ui.visuals().text_color().gamma_multiply(faded);
    let painter = ui.painter_at(rect);
    let key = if place < 9 { format!("{}", place + 1) } else { String::new() };
    let with_class = object.class != crate::session::DEFAULT_CLASS;
    let y = if with_class { rect.center().y - 6.0 } else { rect.center().y };
    painter.text(pos2(rect.left(), y), Align2::LEFT_CENTER, &object.name, FontId::proportional(13.0), colour);
    if with_class {
        let at = pos2(rect.left(), rect.center().y + 7.5);
        painter.text(
            at,
            Align2::LEFT_CENTER,
            &object.class,
            FontId::proportional(10.5),
            colour.gamma_multiply(0.65),
        );
    }
    let at = pos2(rect.right(), rect.center().y);
    painter.text(at, Align2::RIGHT_CENTER, key, FontId::proportional(11.0), colour.gamma_multiply(0.45));
}

fn small(ui: &mut Ui, icon: Icon, at: eframe::egui::Pos2, label: &str, on: bool) -> bool {
    let rect = Rect::from_center_size(at, vec2(24.0, 24.0));
    let response = ui.interact(rect, ui.scope_id().with(label), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, on, label));
    let strength = if on || response.hovered() { 1.0 } else { 0.45 };
    let colour = ui.visuals().text_color().gamma_multiply(strength);
    icons::draw(ui.painter(), Rect::from_center_size(at, vec2(14.0, 14.0)), icon, colour);
    response.on_hover_text(label).clicked()
}

/// The colours that are offered: far apart in hue, and the first of the palette.
fn offered() -> impl Iterator<Item = [u8; 3]> {
    (1..=12).map(label_colour).chain([[255, 140, 0], [230, 0, 90], [0, 170, 255], [120, 60, 255]])
}

fn colour_chip(ui: &mut Ui, seen: &mut Seen<'_>, object: &Object, rect: Rect) {
    let response: Response =
        ui.interact(rect.expand(4.0), ui.scope_id().with(("colour", object.id)), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Colour of {}", object.name)));
    ui.painter().rect_filled(rect, 4.0, display_colour(object.colour));
    if response.hovered() {
        let ring = Stroke::new(1.5, ui.visuals().strong_text_color());
        ui.painter().rect_stroke(rect, 4.0, ring, StrokeKind::Outside);
    }
    Popup::menu(&response).show(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        let colours: Vec<_> = offered().collect();
        for row in colours.chunks(8) {
            ui.horizontal(|ui| {
                for &colour in row {
                    let (rect, response) = ui.allocate_exact_size(vec2(22.0, 22.0), Sense::click());
                    let name = format!("Colour {}, {}, {}", colour[0], colour[1], colour[2]);
                    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
                    ui.painter().rect_filled(rect, 4.0, display_colour(colour));
                    if response.hovered() || colour == object.colour {
                        let ring = Stroke::new(2.0, Color32::WHITE);
                        ui.painter().rect_stroke(rect, 4.0, ring, StrokeKind::Inside);
                    }
                    if response.clicked() {
                        seen.wishes.push(Wish::Edit(Edit::Recolour { object: object.id, colour }));
                        ui.close();
                    }
                }
            });
        }
    });
}
