//! The ruler above the lanes: numbers of frames, marks, the playhead.

use eframe::egui::{Align2, Color32, FontId, Painter, Rect, Shape, Stroke, pos2, vec2};

use super::lanes::Window;
use crate::base::{FrameIndex, FrameRange};

/// Steps between numbers that read well.
const STEPS: [u32; 18] =
    [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];

/// The step at which numbers stand at least `room` points apart.
pub fn step(window: Window, width: f32, room: f32) -> u32 {
    let per_frame = width / (window.end - window.start) as f32;
    STEPS.into_iter().find(|step| *step as f32 * per_frame >= room).unwrap_or(1_000_000)
}

/// Draws the numbers.
pub fn numbers(painter: &Painter, rect: Rect, window: Window, colour: Color32) {
    let step = step(window, rect.width(), 56.0);
    let first = (window.start / f64::from(step)).floor().max(0.0) as u32 * step;
    for frame in (first..=window.end as u32).step_by(step as usize) {
        let x = rect.left() + window.place(f64::from(frame)) as f32 * rect.width();
        if x < rect.left() - 1.0 || x > rect.right() - 8.0 {
            continue;
        }
        let stroke = Stroke::new(1.0, colour.gamma_multiply(0.6));
        painter.line_segment([pos2(x, rect.bottom() - 5.0), pos2(x, rect.bottom())], stroke);
        let at = pos2(x + 3.0, rect.center().y);
        painter.text(at, Align2::LEFT_CENTER, frame.to_string(), FontId::proportional(10.5), colour);
    }
}

/// Draws the part between the in and out marks.
pub fn marks(painter: &Painter, rect: Rect, window: Window, range: Option<FrameRange>, colour: Color32) {
    let Some(range) = range else { return };
    let x = |frame: f64| rect.left() + (window.place(frame) as f32).clamp(0.0, 1.0) * rect.width();
    let (from, to) = (x(f64::from(range.first.0)), x(f64::from(range.last.0) + 1.0));
    let bar = Rect::from_min_max(pos2(from, rect.top()), pos2(to, rect.top() + 4.0));
    painter.rect_filled(bar, 1.0, colour);
    for x in [from, to] {
        painter.line_segment([pos2(x, rect.top()), pos2(x, rect.bottom())], Stroke::new(1.5, colour));
    }
}

/// Draws the playhead through ruler and lanes.
pub fn playhead(painter: &Painter, rect: Rect, window: Window, frame: FrameIndex, colour: Color32) {
    let x = rect.left() + window.place(f64::from(frame.0) + 0.5) as f32 * rect.width();
    if !(rect.left()..=rect.right()).contains(&x) {
        return;
    }
    painter.line_segment([pos2(x, rect.top() + 6.0), pos2(x, rect.bottom())], Stroke::new(1.5, colour));
    let head = pos2(x, rect.top());
    let points = [vec2(-5.0, 2.0), vec2(5.0, 2.0), vec2(5.0, 8.0), vec2(0.0, 13.0), vec2(-5.0, 8.0)];
    let points = points.into_iter().map(|offset| head + offset).collect();
    painter.add(Shape::convex_polygon(points, colour, Stroke::NONE));
}
