//! The picture: masks over it, prompts on it, and the pointer that makes them.

mod gpu;
mod labels;
mod markers;
mod pixels;
mod pointer;
mod view_transform;

use std::sync::Arc;

use eframe::egui::{
    Color32, CursorIcon, EventFilter, Id, Key, PointerButton, Pos2, Rect, Response, Role, Sense, Ui,
    WidgetInfo, vec2,
};

use super::theme::Ink;
use super::wish::{PointRef, Touch, Wish};
use super::work::{Opened, Work};
use crate::base::{BoxXyxy, Click, FrameIndex, Label, ObjectId};
use crate::session::{Object, Stroke};

pub use gpu::{Palette, install};
pub use labels::{Labels, PREVIEW};
pub use pixels::Pixels;
pub use pointer::{Button, Gesture, Meant, Tool};
pub use view_transform::{Placed, ViewTransform};

/// How masks look over the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum Overlay {
    /// Not at all.
    Off = 0,
    /// Coloured, with a border.
    #[default]
    Fill = 1,
    /// The border only.
    Outline = 2,
    /// White on black.
    Matte = 3,
    /// The picture where there is a mask, a chequered ground elsewhere.
    CutOut = 4,
}

impl Overlay {
    /// All, in the order of the key that walks through them.
    pub const ALL: [Self; 5] = [Self::Fill, Self::Outline, Self::Matte, Self::CutOut, Self::Off];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::Fill => "Fill",
            Self::Outline => "Outline",
            Self::Matte => "Matte",
            Self::CutOut => "Cut-out",
        }
    }

    /// The one after this.
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|o| *o == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()]
    }
}

/// The state of the canvas.
pub struct Canvas {
    /// Zoom and place.
    pub transform: ViewTransform,
    /// How masks look.
    pub overlay: Overlay,
    /// Opacity of filled masks, 0 to 1.
    pub opacity: f32,
    /// The tool in hand.
    pub tool: Tool,
    /// What the left button adds.
    pub label: Label,
    /// Radius of the brush, in pixels of the picture.
    pub brush: f32,
    /// The selected point.
    pub selected: Option<PointRef>,
    /// What the pointer is in the middle of.
    pub gesture: Gesture,
    /// The picture was moved while Space was held: its release means nothing then.
    pub panned_with_space: bool,
    /// Where the picture lay when it was drawn last.
    pub placed: Option<Placed>,
    /// Where the canvas lies.
    pub rect: Rect,
    cache: Cache,
    hovered: Option<(Pos2, Label)>,
    limit: u32,
}

/// What was made for the graphics card, with what it was made of.
#[derive(Default)]
struct Cache {
    pixels: Option<(usize, Arc<Pixels>)>,
    labels: Option<(LabelKey, Arc<Labels>)>,
    palette: Option<(Vec<[u8; 3]>, Arc<Palette>)>,
}

/// What the labels depend on: video, frame, revision, preview.
type LabelKey = (std::path::PathBuf, FrameIndex, u64, Option<super::work::Preview>);

/// The widget's id: it keeps the keyboard while nothing else has it.
pub fn focus_id() -> Id {
    Id::unique("masklet picture")
}

/// An object's colour as it looks good over a picture: as bright as it can be, a little lighter than pure.
pub fn display_colour(colour: [u8; 3]) -> Color32 {
    let most = colour.into_iter().max().unwrap_or(0).max(1);
    let [r, g, b] = colour.map(|v| {
        let bright = f32::from(v) / f32::from(most) * 235.0;
        (bright * 0.78 + 255.0 * 0.22).min(255.0) as u8
    });
    Color32::from_rgb(r, g, b)
}

impl Canvas {
    /// A canvas; `limit` is the longest side of a texture.
    pub fn new(limit: u32) -> Self {
        Self {
            transform: ViewTransform::default(),
            overlay: Overlay::default(),
            opacity: 0.45,
            tool: Tool::default(),
            label: Label::Positive,
            brush: 8.0,
            selected: None,
            gesture: Gesture::default(),
            panned_with_space: false,
            placed: None,
            rect: Rect::NOTHING,
            cache: Cache::default(),
            hovered: None,
            limit,
        }
    }

    /// Makes what the graphics card needs of a new picture. Before the first drawing, so that drawing is quick.
    pub fn prepare(&mut self, work: &Work) {
        let Some(shown) = work.open.as_ref().and_then(|open| open.shown.as_ref()) else {
            self.cache.pixels = None;
            return;
        };
        let key = Arc::as_ptr(&shown.picture) as usize;
        if self.cache.pixels.as_ref().is_none_or(|(old, _)| *old != key) {
            self.cache.pixels = Some((key, Pixels::of(&shown.picture, self.limit)));
        }
    }

    /// Draws the open picture and takes what the pointer does.
    pub fn show(&mut self, ui: &mut Ui, work: &Work, open: &Opened, wishes: &mut Vec<Wish>) {
        let rect = ui.available_rect_before_wrap();
        self.rect = rect;
        let response = ui.interact(rect, focus_id(), Sense::click_and_drag());
        self.name(&response, open);
        hold_focus(ui, &response);
        let ink = Ink::of(ui.visuals());
        let [num, den] = open.video.sample_aspect;
        let aspect = if num > 0 && den > 0 { num as f32 / den as f32 } else { 1.0 };
        let ppp = ui.pixels_per_point();
        let mut placed = self.transform.place(rect, open.video.size, aspect, ppp);
        self.navigate(ui, &response, &placed);
        placed = self.transform.place(rect, open.video.size, aspect, ppp);
        self.placed = Some(placed);

        let painter = ui.painter_at(rect);
        painter.rect_filled(rect, 0.0, ink.backdrop);
        let peek = ui.input(|i| i.key_down(Key::Q)) && !ui.ctx().text_edit_focused();
        if let Some((_, pixels)) = &self.cache.pixels {
            let pixels = Arc::clone(pixels);
            let scene = gpu::Scene {
                pixels,
                labels: self.labels(open),
                palette: self.palette(open.document.session().objects()),
                placed,
                overlay: if peek { Overlay::Off } else { self.overlay },
                chosen: label_of(open.document.session().objects(), open.active),
                opacity: self.opacity,
                backdrop: ink.backdrop,
            };
            painter.add(scene.shape(rect));
        }
        let marks = marks(open);
        self.pointer(ui, &response, open, &placed, &marks, work, wishes);
        if !peek {
            for mark in &marks {
                mark.draw(&painter, &placed, self.selected, &self.gesture);
            }
        }
        let colour = active_colour(open).unwrap_or(ink.accent);
        markers::gesture(&painter, &self.gesture, &placed, colour, &ink, self.brush);
        if let Some(at) = response.hover_pos() {
            if self.tool.paints() {
                ui.ctx().set_cursor_icon(CursorIcon::None);
                markers::brush(&painter, at, &placed, self.brush, self.tool);
            } else if matches!(self.gesture, Gesture::Panning { .. }) {
                ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
            } else if placed.rect().contains(at) {
                ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
            }
        }
    }

    fn name(&self, response: &Response, open: &Opened) {
        let text = format!(
            "Picture of frame {}, {} by {} pixels. Left click adds a point, right click says what does not belong.",
            open.seen(),
            open.video.size.width,
            open.video.size.height
        );
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &text));
    }

    /// Wheel and pinch.
    fn navigate(&mut self, ui: &Ui, response: &Response, placed: &Placed) {
        let Some(at) = response.hover_pos() else { return };
        let (wheel, pinch, modifiers) = ui.input(|i| (i.smooth_scroll_delta(), i.zoom_delta(), i.modifiers));
        if modifiers.alt && self.tool.paints() {
            self.brush = (self.brush * (wheel.y * 0.005).exp()).clamp(0.5, 500.0);
        } else if modifiers.shift && (wheel.x != 0.0 || wheel.y != 0.0) {
            self.transform.pan(placed, self.rect, vec2(wheel.x + wheel.y, 0.0));
        } else if pinch != 1.0 {
            self.transform.zoom_about(self.rect, placed, at, pinch);
        } else if wheel.y != 0.0 {
            self.transform.zoom_about(self.rect, placed, at, (wheel.y * 0.006).exp());
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the drawing's own pieces, made once and used twice")]
    fn pointer(
        &mut self,
        ui: &Ui,
        response: &Response,
        open: &Opened,
        placed: &Placed,
        marks: &[markers::Marks<'_>],
        work: &Work,
        wishes: &mut Vec<Wish>,
    ) {
        let (pointer, modifiers, space) =
            ui.input(|i| (i.pointer.clone(), i.modifiers, i.key_down(Key::Space)));
        let Some(at) = pointer.interact_pos().or(pointer.latest_pos()) else { return };
        // Of several markers the active object's come last and lie on top.
        let hit = || marks.iter().rev().find_map(|mark| mark.hit(placed, at));
        if response.contains_pointer() {
            for (button, egui_button) in BUTTONS {
                if pointer.button_pressed(egui_button) {
                    self.gesture.press(at, button, modifiers, self.tool, hit(), space);
                }
            }
        }
        if let Some(Meant::Pan(delta)) = self.gesture.moved(at) {
            self.panned_with_space |= space;
            self.transform.pan(placed, self.rect, delta);
        }
        if pointer.any_released() && !pointer.any_down() {
            let outside = !placed.rect().contains(at);
            match self.gesture.release(at, self.tool) {
                Some(Meant::Click { .. }) if outside => {
                    if response.double_clicked() {
                        self.transform.fit();
                    }
                    wishes.push(Wish::Point(None));
                }
                Some(meant) => self.meant(meant, open, placed, work, wishes),
                None => {}
            }
        }
        self.hover(response, placed, modifiers, wishes);
    }

    fn meant(&mut self, meant: Meant, open: &Opened, placed: &Placed, work: &Work, wishes: &mut Vec<Wish>) {
        let touch = match meant {
            Meant::Pan(delta) => {
                self.transform.pan(placed, self.rect, delta);
                return;
            }
            Meant::Pick(at) => {
                let found = work.object_at(placed.to_picture(at));
                wishes.extend(found.map(Wish::Choose));
                return;
            }
            Meant::Marker(point) if self.selected == Some(point) => Touch::Remove(point),
            Meant::Marker(point) => {
                wishes.push(Wish::Point(Some(point)));
                if open.active != Some(point.object) {
                    wishes.push(Wish::Choose(point.object));
                }
                return;
            }
            Meant::Click { at, negative } => {
                let label = if negative { opposite(self.label) } else { self.label };
                Touch::Click(Click { at: placed.to_picture(at), label })
            }
            Meant::Box { from, to, new_object } => {
                let (a, b) = (placed.to_border(from), placed.to_border(to));
                let bounds =
                    BoxXyxy { x0: a.x.min(b.x), y0: a.y.min(b.y), x1: a.x.max(b.x), y1: a.y.max(b.y) };
                // A box along the border covers nothing.
                if bounds.x1 - bounds.x0 < 1.0 || bounds.y1 - bounds.y0 < 1.0 {
                    return;
                }
                Touch::Bounds { bounds, new_object }
            }
            Meant::Moved { point, to } => Touch::Move { point, to: placed.to_picture(to) },
            Meant::Stroke { points, erase } => {
                let points = points.into_iter().map(|at| placed.to_picture(at)).collect();
                Touch::Paint(Stroke { points, radius: self.brush, erase })
            }
        };
        self.selected = None;
        wishes.push(Wish::Touch(touch));
    }

    /// With Shift held, the mask that a click would give.
    fn hover(
        &mut self,
        response: &Response,
        placed: &Placed,
        modifiers: eframe::egui::Modifiers,
        wishes: &mut Vec<Wish>,
    ) {
        let idle = self.gesture == Gesture::Idle && !self.tool.paints();
        let at = response.hover_pos().filter(|at| idle && modifiers.shift && placed.rect().contains(*at));
        let label = if modifiers.alt { opposite(self.label) } else { self.label };
        let now = at.map(|at| (at, label));
        // A hand never rests: less than 2 points is no other place.
        let same = match (now, self.hovered) {
            (Some((a, l)), Some((b, m))) => l == m && a.distance(b) < 2.0,
            (now, before) => now.is_none() && before.is_none(),
        };
        if !same {
            wishes.push(Wish::Touch(match now {
                Some((at, label)) => Touch::Hover(placed.to_picture(at), label),
                None => Touch::Leave,
            }));
            self.hovered = now;
        }
    }

    fn labels(&mut self, open: &Opened) -> Arc<Labels> {
        let frame = open.seen();
        let preview = open.preview.as_ref().filter(|preview| preview.frame == frame);
        let key = (open.video.path.clone(), frame, open.document.revision(), preview.cloned());
        if let Some((old, labels)) = &self.cache.labels
            && *old == key
        {
            return Arc::clone(labels);
        }
        let session = open.document.session();
        let objects = session.objects();
        let masks = objects
            .iter()
            .enumerate()
            .filter(|(_, object)| !object.hidden)
            .filter_map(|(i, object)| Some((label(i), &session.result(object.id, frame)?.mask)));
        let tried = preview.map(|preview| (PREVIEW, &preview.mask));
        let masks: Vec<_> = tried.into_iter().chain(masks).collect();
        let labels = Labels::paint(open.video.size, masks.into_iter());
        self.cache.labels = Some((key, Arc::clone(&labels)));
        labels
    }

    fn palette(&mut self, objects: &[Object]) -> Arc<Palette> {
        let key: Vec<_> = objects.iter().map(|object| object.colour).collect();
        if let Some((old, palette)) = &self.cache.palette
            && *old == key
        {
            return Arc::clone(palette);
        }
        let mut palette = [[1.0f32; 4]; 256];
        for (i, object) in objects.iter().enumerate() {
            palette[usize::from(label(i))] = display_colour(object.colour).to_normalized_gamma_f32();
        }
        palette[usize::from(PREVIEW)] = [1.0, 1.0, 1.0, 1.0];
        let palette = Arc::new(palette);
        self.cache.palette = Some((key, Arc::clone(&palette)));
        palette
    }

    /// Zooms about the middle of the canvas.
    pub fn zoom(&mut self, factor: f32) {
        if let Some(placed) = self.placed {
            self.transform.zoom_about(self.rect, &placed, self.rect.center(), factor);
        }
    }

    /// Sets the zoom, in physical pixels per pixel of the picture, about the middle of the canvas.
    pub fn zoom_to(&mut self, zoom: f32) {
        if let Some(placed) = self.placed {
            self.transform.zoom_to(self.rect, &placed, self.rect.center(), zoom);
        }
    }
}

const BUTTONS: [(Button, PointerButton); 3] = [
    (Button::Primary, PointerButton::Primary),
    (Button::Secondary, PointerButton::Secondary),
    (Button::Middle, PointerButton::Middle),
];

/// The label of the object at that place of the list; past 254 they share one.
fn label(place: usize) -> u8 {
    (place + 1).min(usize::from(PREVIEW) - 1) as u8
}

fn label_of(objects: &[Object], id: Option<ObjectId>) -> u8 {
    objects.iter().position(|object| Some(object.id) == id).map_or(0, label)
}

fn opposite(label: Label) -> Label {
    match label {
        Label::Positive => Label::Negative,
        Label::Negative => Label::Positive,
    }
}

fn active_colour(open: &Opened) -> Option<Color32> {
    let object = open.document.session().object(open.active?)?;
    Some(display_colour(object.colour))
}

/// The prompts on the frame that is seen, the active object's last.
fn marks(open: &Opened) -> Vec<markers::Marks<'_>> {
    let (session, frame) = (open.document.session(), open.seen());
    let mut marks: Vec<_> = session
        .objects()
        .iter()
        .filter(|object| !object.hidden || Some(object.id) == open.active)
        .filter_map(|object| {
            let prompts = session.prompts(object.id, frame)?;
            Some(markers::Marks { object: object.id, frame, prompts, colour: display_colour(object.colour) })
        })
        .collect();
    marks.sort_by_key(|mark| Some(mark.object) == open.active);
    marks
}

/// The picture has the keyboard while nothing else does: arrows and Tab are its own then.
fn hold_focus(ui: &Ui, response: &Response) {
    ui.memory_mut(|memory| {
        if memory.focused().is_none() {
            memory.request_focus(response.id);
        }
        if memory.has_focus(response.id) {
            let all = EventFilter { tab: true, horizontal_arrows: true, vertical_arrows: true, escape: true };
            memory.set_focus_lock_filter(response.id, all);
        }
    });
}
