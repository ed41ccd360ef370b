//! The marks of prompts on the picture: points, boxes, the brush.

use eframe::egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, vec2};

use super::pointer::{Gesture, Tool};
use super::view_transform::Placed;
use crate::base::{FrameIndex, FramePrompts, Label, ObjectId};
use crate::gui::theme::Ink;
use crate::gui::wish::PointRef;

/// Radius of a marker in points.
const RADIUS: f32 = 6.0;
/// A press this near hits it.
const REACH: f32 = 9.0;

/// The prompts of one object on the frame that is shown.
pub struct Marks<'a> {
    /// Whose.
    pub object: ObjectId,
    /// On which frame.
    pub frame: FrameIndex,
    /// What was said.
    pub prompts: &'a FramePrompts,
    /// The object's colour.
    pub colour: Color32,
}

impl Marks<'_> {
    /// The click whose marker is nearest to `at`, within reach.
    pub fn hit(&self, placed: &Placed, at: Pos2) -> Option<PointRef> {
        let near = |(index, click): (usize, &crate::base::Click)| {
            let distance = placed.to_window(click.at).distance(at);
            (distance <= REACH).then_some((distance, index))
        };
        let found = self.prompts.clicks.iter().enumerate().filter_map(near);
        let (_, index) = found.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(PointRef { object: self.object, frame: self.frame, index })
    }

    /// Draws them; `moving` is where a marker is being moved to.
    pub fn draw(&self, painter: &Painter, placed: &Placed, selected: Option<PointRef>, moving: &Gesture) {
        if let Some(b) = self.prompts.bounds {
            let rect =
                Rect::from_two_pos(placed.border_to_window(b.x0, b.y0), placed.border_to_window(b.x1, b.y1));
            outlined_rect(painter, rect, self.colour);
        }
        for (index, click) in self.prompts.clicks.iter().enumerate() {
            let this = PointRef { object: self.object, frame: self.frame, index };
            let at = match moving {
                Gesture::Moving { point, to } if *point == this => *to,
                _ => placed.to_window(click.at),
            };
            point(painter, at, click.label, self.colour, selected == Some(this));
        }
    }
}

/// A plus or minus in a disc; readable on any picture.
pub fn point(painter: &Painter, at: Pos2, label: Label, colour: Color32, selected: bool) {
    let fill = match label {
        Label::Positive => colour,
        Label::Negative => Color32::from_gray(24),
    };
    let radius = if selected { RADIUS + 2.0 } else { RADIUS };
    painter.circle_filled(at, radius + 2.0, Color32::from_black_alpha(140));
    painter.circle(at, radius, fill, Stroke::new(if selected { 2.5 } else { 1.5 }, Color32::WHITE));
    let bar = Stroke::new(1.75, Color32::WHITE);
    let half = radius * 0.5;
    painter.line_segment([at - vec2(half, 0.0), at + vec2(half, 0.0)], bar);
    if label == Label::Positive {
        painter.line_segment([at - vec2(0.0, half), at + vec2(0.0, half)], bar);
    }
}

fn outlined_rect(painter: &Painter, rect: Rect, colour: Color32) {
    painter.rect_stroke(rect, 0.0, Stroke::new(3.5, Color32::from_black_alpha(140)), StrokeKind::Middle);
    painter.rect_stroke(rect, 0.0, Stroke::new(1.5, colour), StrokeKind::Middle);
}

/// What the pointer is in the middle of.
pub fn gesture(
    painter: &Painter,
    gesture: &Gesture,
    placed: &Placed,
    colour: Color32,
    ink: &Ink,
    brush: f32,
) {
    match gesture {
        Gesture::Boxing { origin, to, new_object } => {
            let rect = Rect::from_two_pos(*origin, *to);
            let colour = if *new_object { ink.accent } else { colour };
            painter.rect_filled(rect, 0.0, colour.gamma_multiply(0.15));
            outlined_rect(painter, rect, colour);
        }
        Gesture::Painting { points, erase } => {
            let colour = if *erase { Color32::from_black_alpha(150) } else { colour.gamma_multiply(0.6) };
            let width = 2.0 * brush * placed.scale.y;
            painter.add(Shape::line(points.clone(), Stroke::new(width, colour)));
            for at in [points.first(), points.last()].into_iter().flatten() {
                painter.circle_filled(*at, width / 2.0, colour);
            }
        }
        _ => {}
    }
}

/// The brush under the pointer.
pub fn brush(painter: &Painter, at: Pos2, placed: &Placed, radius: f32, tool: Tool) {
    let radius = (radius * placed.scale.y).max(1.5);
    let colour = if tool == Tool::Eraser { Color32::from_rgb(255, 170, 170) } else { Color32::WHITE };
    painter.circle_stroke(at, radius, Stroke::new(3.0, Color32::from_black_alpha(120)));
    painter.circle_stroke(at, radius, Stroke::new(1.25, colour));
}
