//! The timeline: transport, ruler, one lane per object.

mod lanes;
mod ruler;

use eframe::egui::{
    Align2, Color32, CursorIcon, FontId, Painter, Rect, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2,
};

use super::action::Action as A;
use super::canvas::display_colour;
use super::icons::Icon;
use super::inspector::probability;
use super::seen::Seen;
use super::theme::Ink;
use super::wish::Wish;
use super::work::Opened;
use crate::base::FrameIndex;
use crate::session::Object;

use lanes::{Column, Lanes, Window};

/// Width of the names, height of a lane and of the ruler, in points.
const NAMES: f32 = 132.0;
const LANE: f32 = 24.0;
const RULER: f32 = 20.0;

/// Below this score (a logit) a person should look.
pub const DOUBT: f32 = 1.0;

/// What the timeline remembers.
#[derive(Default)]
pub struct Timeline {
    window: Option<(std::path::PathBuf, Window)>,
    lanes: Lanes,
}

impl Timeline {
    /// Draws it.
    pub fn show(&mut self, ui: &mut Ui, seen: &mut Seen<'_>) {
        ui.add_space(2.0);
        transport(ui, seen);
        let Some(open) = &seen.work.open else { return };
        let frames = open.video.frames;
        let mut window = match &self.window {
            Some((path, window)) if *path == open.video.path && window.end <= f64::from(frames) => *window,
            _ => Window::whole(frames),
        };
        if seen.work.play.is_some() || seen.work.run.as_ref().is_some_and(|run| run.follow) {
            window.show(open.frame.0, frames);
        }
        let ink = Ink::of(ui.visuals());
        let area = ui.available_rect_before_wrap();
        let ruler = Rect::from_min_max(
            pos2(area.left() + NAMES, area.top()),
            pos2(area.right() - 8.0, area.top() + RULER),
        );
        self.ruler(ui, seen, open, ruler, &mut window);
        let session = open.document.session();
        let scroll = Rect::from_min_max(pos2(area.left(), ruler.bottom() + 2.0), area.max);
        let mut inner = ui.new_child(eframe::egui::UiBuilder::new().max_rect(scroll).id_salt("lanes"));
        let id = (open.video.path.as_path(), open.document.revision());
        let lanes = self.lanes.of(id, session, window, ruler.width().max(1.0) as usize);
        ScrollArea::vertical().auto_shrink(false).show(&mut inner, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            for object in session.objects() {
                let columns = lanes.get(&object.id).map_or(&[][..], Vec::as_slice);
                lane(ui, seen, object, open.active == Some(object.id), columns, (ruler.x_range(), window));
            }
        });
        ui.allocate_rect(area, Sense::hover());
        let all = Rect::from_min_max(ruler.min, pos2(ruler.right(), area.bottom()));
        ruler::playhead(&ui.painter_at(all.expand2(vec2(6.0, 0.0))), all, window, open.frame, ink.accent);
        self.window = Some((open.video.path.clone(), window));
    }

    fn ruler(&self, ui: &Ui, seen: &mut Seen<'_>, open: &Opened, rect: Rect, window: &mut Window) {
        let ink = Ink::of(ui.visuals());
        let painter = ui.painter_at(rect.expand2(vec2(6.0, 0.0)));
        painter.rect_filled(rect, 2.0, ink.lane);
        ruler::numbers(&painter, rect, *window, ink.quiet);
        ruler::marks(&painter, rect, *window, open.document.session().range(), ink.accent);
        let response = ui.interact(rect, ui.scope_id().with("ruler"), Sense::click_and_drag());
        let last = open.video.frames.saturating_sub(1);
        response.widget_info(|| {
            WidgetInfo::slider(
                true,
                f64::from(open.frame.0),
                format!("Timeline, frame {} of {last}", open.frame),
            )
        });
        scrub(&response, seen, *window, rect.x_range(), last);
        wheel(ui, rect, window, open.video.frames);
        response.on_hover_cursor(CursorIcon::ResizeHorizontal);
    }
}

/// A press or drag shows the frame under it.
fn scrub(
    response: &eframe::egui::Response,
    seen: &mut Seen<'_>,
    window: Window,
    x: eframe::egui::Rangef,
    last: u32,
) {
    if !response.is_pointer_button_down_on() {
        return;
    }
    let Some(at) = response.interact_pointer_pos() else { return };
    let place = f64::from((at.x - x.min) / x.span().max(1.0));
    let frame = window.frame(place).floor().clamp(0.0, f64::from(last)) as u32;
    if seen.work.open.as_ref().is_some_and(|open| open.frame.0 != frame) {
        seen.wishes.push(Wish::Seek(FrameIndex(frame)));
    }
}

fn wheel(ui: &Ui, rect: Rect, window: &mut Window, frames: u32) {
    let over = ui.input(|i| i.pointer.hover_pos()).filter(|at| rect.contains(*at));
    let Some(at) = over else { return };
    let (wheel, pinch, shift) = ui.input(|i| (i.smooth_scroll_delta(), i.zoom_delta(), i.modifiers.shift));
    let place = f64::from((at.x - rect.left()) / rect.width().max(1.0));
    if shift || wheel.x != 0.0 {
        let by = f64::from((wheel.x + wheel.y) / rect.width().max(1.0)) * (window.end - window.start);
        window.pan(-by, frames);
    } else if wheel.y != 0.0 {
        window.zoom(place, f64::from((-wheel.y * 0.005).exp()), frames);
    } else if pinch != 1.0 {
        window.zoom(place, f64::from(1.0 / pinch), frames);
    }
}

fn transport(ui: &mut Ui, seen: &mut Seen<'_>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        seen.icon(ui, Icon::First, A::First, false);
        seen.icon(ui, Icon::StepBack, A::StepBackward, false);
        let playing = seen.work.play.is_some();
        seen.icon(ui, if playing { Icon::Pause } else { Icon::Play }, A::PlayPause, false);
        seen.icon(ui, Icon::StepForward, A::StepForward, false);
        seen.icon(ui, Icon::Last, A::Last, false);
        ui.spacing_mut().item_spacing.x = 8.0;
        let Some(open) = &seen.work.open else { return };
        ui.add_space(8.0);
        ui.monospace(format!("{} / {}", open.frame, open.video.frames.saturating_sub(1)));
        ui.weak(super::status::time(open));
        if let Some(play) = seen.work.play.filter(|play| play.speed != 1.0) {
            ui.label(format!("{}×", play.speed));
        }
        if let Some(range) = open.document.session().range() {
            ui.separator();
            ui.label(format!("marks {} to {}", range.first, range.last));
            if ui.small_button("clear").on_hover_text(seen.keys.hint(A::ClearMarks)).clicked() {
                seen.wish(A::ClearMarks);
            }
        }
    });
}

fn lane(
    ui: &mut Ui,
    seen: &mut Seen<'_>,
    object: &Object,
    active: bool,
    columns: &[Column],
    (x, window): (eframe::egui::Rangef, Window),
) {
    let ink = Ink::of(ui.visuals());
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), LANE), Sense::hover());
    let names = Rect::from_min_max(rect.min, pos2(x.min - 6.0, rect.bottom()));
    let response = ui.interact(names, ui.scope_id().with(("lane", object.id)), Sense::click());
    response
        .widget_info(|| WidgetInfo::selected(Role::Button, true, active, format!("Lane of {}", object.name)));
    if response.clicked() {
        seen.wishes.push(Wish::Choose(object.id));
    }
    let painter = ui.painter_at(rect);
    if active {
        painter.rect_filled(names, 3.0, ink.chosen);
    }
    let colour = display_colour(object.colour);
    let chip = Rect::from_center_size(pos2(names.left() + 12.0, rect.center().y), vec2(10.0, 10.0));
    painter.rect_filled(chip, 3.0, colour);
    let text = pos2(names.left() + 24.0, rect.center().y);
    let tint = ui.visuals().text_color().gamma_multiply(if object.hidden { 0.5 } else { 1.0 });
    ui.painter_at(names).text(text, Align2::LEFT_CENTER, &object.name, FontId::proportional(12.0), tint);

    let lane = Rect::from_x_y_ranges(x, rect.y_range());
    let response = ui.interact(lane, ui.scope_id().with(("track", object.id)), Sense::click_and_drag());
    let last = seen.work.open.as_ref().map_or(0, |open| open.video.frames.saturating_sub(1));
    response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, said(object, columns)));
    scrub(&response, seen, window, x, last);
    painter.rect_filled(lane, 2.0, ink.lane);
    for (i, column) in columns.iter().enumerate() {
        draw(&painter, lane, i, column, colour, &ink);
    }
    prompts(&painter, lane, columns);
    if let Some(at) = response.hover_pos() {
        let i = (at.x - lane.left()).max(0.0) as usize;
        if let Some(score) = columns.get(i).and_then(|column| column.score) {
            response.on_hover_text_at_pointer(format!("score {:.2}", probability(score)));
        }
    }
}

/// A lane in words, for those who do not see it.
fn said(object: &Object, columns: &[Column]) -> String {
    let share = |n: usize| n * 100 / columns.len().max(1);
    let tracked = columns.iter().filter(|c| c.score.is_some()).count();
    let doubtful = columns.iter().filter(|c| c.score.is_some_and(|score| score < DOUBT)).count();
    format!("{}: {} % tracked, {} % doubtful", object.name, share(tracked), share(doubtful))
}

/// The upper part says where there is a mask, the lower how sure it is.
fn draw(painter: &Painter, lane: Rect, i: usize, column: &Column, colour: Color32, ink: &Ink) {
    let left = lane.left() + i as f32;
    let part = |top: f32, bottom: f32| {
        Rect::from_min_max(pos2(left, lane.top() + top), pos2(left + 1.0, lane.top() + bottom))
    };
    if column.absent {
        painter.rect_filled(part(8.0, 10.0), 0.0, ink.quiet.gamma_multiply(0.6));
        return;
    }
    let Some(score) = column.score else { return };
    let strength = if column.empty { 0.25 } else { 0.85 };
    painter.rect_filled(part(3.0, 15.0), 0.0, colour.gamma_multiply(strength));
    painter.rect_filled(part(17.0, 22.0), 0.0, confidence(score, ink));
    if column.verified {
        painter.rect_filled(part(1.0, 3.0), 0.0, ink.good);
    }
}

/// Green where sure, amber where doubtful, red where gone.
fn confidence(score: f32, ink: &Ink) -> Color32 {
    if score < 0.0 {
        ink.bad
    } else if score < DOUBT {
        ink.warn
    } else {
        ink.good.gamma_multiply(0.75)
    }
}

/// A diamond on the frames with prompts.
fn prompts(painter: &Painter, lane: Rect, columns: &[Column]) {
    let mut i = 0;
    while i < columns.len() {
        let run = columns[i..].iter().take_while(|column| column.prompted).count();
        if run == 0 {
            i += 1;
            continue;
        }
        // Frames next to each other share a bar of diamonds no wider than they are.
        let centre = pos2(lane.left() + i as f32 + run as f32 / 2.0, lane.top() + 9.0);
        let r = 4.5;
        let points =
            vec![centre - vec2(0.0, r), centre + vec2(r, 0.0), centre + vec2(0.0, r), centre - vec2(r, 0.0)];
        let edge = eframe::egui::Stroke::new(1.0, Color32::from_black_alpha(200));
        painter.add(eframe::egui::Shape::convex_polygon(points, Color32::WHITE, edge));
        i += run;
    }
}
