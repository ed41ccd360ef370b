//! The icons, drawn as lines: no font has to have them.

use eframe::egui::{
    Color32, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};

/// A picture on a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say what they show")]
pub enum Icon {
    Open,
    Save,
    Export,
    Undo,
    Redo,
    Point,
    Box,
    Brush,
    Eraser,
    TrackBackward,
    TrackBoth,
    Play,
    Pause,
    StepBack,
    StepForward,
    First,
    Last,
    Eye,
    EyeOff,
    Lock,
    Unlock,
    Plus,
    Bin,
    Cross,
    Fit,
}

/// Side of an icon in points.
const SIDE: f32 = 16.0;

/// Draws `icon` into `rect`.
pub fn draw(painter: &Painter, rect: Rect, icon: Icon, colour: Color32) {
    let stroke = Stroke::new(1.5, colour);
    let p = |x: f32, y: f32| pos2(rect.left() + x * rect.width(), rect.top() + y * rect.height());
    let line = |points: &[(f32, f32)]| {
        painter.add(Shape::line(points.iter().map(|&(x, y)| p(x, y)).collect::<Vec<Pos2>>(), stroke));
    };
    let solid = |points: &[(f32, f32)]| {
        let points = points.iter().map(|&(x, y)| p(x, y)).collect();
        painter.add(Shape::convex_polygon(points, colour, Stroke::NONE));
    };
    let bar = |x0, y0, x1, y1| {
        painter.rect_filled(Rect::from_two_pos(p(x0, y0), p(x1, y1)), 0.5, colour);
    };
    let ring = |x, y, r: f32| {
        painter.circle_stroke(p(x, y), r * rect.width(), stroke);
    };
    match icon {
        Icon::Open => {
            line(&[(0.08, 0.85), (0.08, 0.2), (0.38, 0.2), (0.48, 0.32), (0.86, 0.32), (0.86, 0.45)]);
            line(&[(0.08, 0.85), (0.24, 0.45), (0.98, 0.45), (0.84, 0.85), (0.08, 0.85)]);
        }
        Icon::Save => {
            line(&[(0.12, 0.12), (0.72, 0.12), (0.88, 0.28), (0.88, 0.88), (0.12, 0.88), (0.12, 0.12)]);
            line(&[(0.3, 0.12), (0.3, 0.38), (0.64, 0.38), (0.64, 0.12)]);
            line(&[(0.28, 0.88), (0.28, 0.58), (0.72, 0.58), (0.72, 0.88)]);
        }
        Icon::Export => {
            line(&[(0.5, 0.64), (0.5, 0.08)]);
            line(&[(0.28, 0.3), (0.5, 0.08), (0.72, 0.3)]);
            line(&[(0.12, 0.6), (0.12, 0.9), (0.88, 0.9), (0.88, 0.6)]);
        }
        Icon::Undo => curved_arrow(painter, rect, stroke, false),
        Icon::Redo => curved_arrow(painter, rect, stroke, true),
        Icon::Point => {
            ring(0.5, 0.5, 0.38);
            line(&[(0.3, 0.5), (0.7, 0.5)]);
            line(&[(0.5, 0.3), (0.5, 0.7)]);
        }
        Icon::Box => {
            for (x, y) in [(0.12, 0.16), (0.88, 0.16), (0.12, 0.84), (0.88, 0.84)] {
                let (dx, dy) = (if x < 0.5 { 0.24 } else { -0.24 }, if y < 0.5 { 0.22 } else { -0.22 });
                line(&[(x + dx, y), (x, y), (x, y + dy)]);
            }
        }
        Icon::Brush => {
            line(&[(0.9, 0.1), (0.46, 0.56)]);
            solid(&[(0.34, 0.5), (0.54, 0.68), (0.4, 0.86), (0.1, 0.9), (0.2, 0.62)]);
        }
        Icon::Eraser => {
            line(&[(0.1, 0.62), (0.58, 0.14), (0.9, 0.44), (0.46, 0.88), (0.3, 0.88), (0.1, 0.62)]);
            line(&[(0.34, 0.4), (0.66, 0.68)]);
            line(&[(0.3, 0.88), (0.92, 0.88)]);
        }
        Icon::TrackBackward => {
            line(&[(0.94, 0.5), (0.34, 0.5)]);
            solid(&[(0.44, 0.22), (0.06, 0.5), (0.44, 0.78)]);
        }
        Icon::TrackBoth => {
            line(&[(0.3, 0.5), (0.7, 0.5)]);
            solid(&[(0.34, 0.24), (0.02, 0.5), (0.34, 0.76)]);
            solid(&[(0.66, 0.24), (0.98, 0.5), (0.66, 0.76)]);
        }
        Icon::Play => solid(&[(0.24, 0.12), (0.88, 0.5), (0.24, 0.88)]),
        Icon::Pause => {
            bar(0.22, 0.14, 0.4, 0.86);
            bar(0.6, 0.14, 0.78, 0.86);
        }
        Icon::StepForward => {
            solid(&[(0.2, 0.16), (0.64, 0.5), (0.2, 0.84)]);
            bar(0.68, 0.16, 0.8, 0.84);
        }
        Icon::StepBack => {
            solid(&[(0.8, 0.16), (0.36, 0.5), (0.8, 0.84)]);
            bar(0.2, 0.16, 0.32, 0.84);
        }
        Icon::Last => {
            solid(&[(0.08, 0.18), (0.44, 0.5), (0.08, 0.82)]);
            solid(&[(0.44, 0.18), (0.8, 0.5), (0.44, 0.82)]);
            bar(0.82, 0.18, 0.92, 0.82);
        }
        Icon::First => {
            solid(&[(0.92, 0.18), (0.56, 0.5), (0.92, 0.82)]);
            solid(&[(0.56, 0.18), (0.2, 0.5), (0.56, 0.82)]);
            bar(0.08, 0.18, 0.18, 0.82);
        }
        Icon::Eye | Icon::EyeOff => {
            line(&[(0.04, 0.5), (0.24, 0.28), (0.5, 0.2), (0.76, 0.28), (0.96, 0.5)]);
            line(&[(0.04, 0.5), (0.24, 0.72), (0.5, 0.8), (0.76, 0.72), (0.96, 0.5)]);
            painter.circle_filled(p(0.5, 0.5), 0.14 * rect.width(), colour);
            if icon == Icon::EyeOff {
                line(&[(0.14, 0.9), (0.86, 0.1)]);
            }
        }
        Icon::Lock | Icon::Unlock => {
            line(&[(0.2, 0.46), (0.8, 0.46), (0.8, 0.9), (0.2, 0.9), (0.2, 0.46)]);
            let right = if icon == Icon::Lock { 0.46 } else { 0.3 };
            line(&[(0.32, 0.46), (0.32, 0.24), (0.42, 0.1), (0.58, 0.1), (0.68, 0.24), (0.68, right)]);
        }
        Icon::Plus => {
            line(&[(0.5, 0.12), (0.5, 0.88)]);
            line(&[(0.12, 0.5), (0.88, 0.5)]);
        }
        Icon::Bin => {
            line(&[(0.1, 0.24), (0.9, 0.24)]);
            line(&[(0.36, 0.24), (0.36, 0.1), (0.64, 0.1), (0.64, 0.24)]);
            line(&[(0.2, 0.24), (0.26, 0.92), (0.74, 0.92), (0.8, 0.24)]);
        }
        Icon::Cross => {
            line(&[(0.2, 0.2), (0.8, 0.8)]);
            line(&[(0.8, 0.2), (0.2, 0.8)]);
        }
        Icon::Fit => {
            line(&[(0.08, 0.16), (0.92, 0.16), (0.92, 0.84), (0.08, 0.84), (0.08, 0.16)]);
            line(&[(0.3, 0.36), (0.7, 0.36), (0.7, 0.64), (0.3, 0.64), (0.3, 0.36)]);
        }
    }
}

fn curved_arrow(painter: &Painter, rect: Rect, stroke: Stroke, mirrored: bool) {
    let p = |x: f32, y: f32| {
        let x = if mirrored { 1.0 - x } else { x };
        pos2(rect.left() + x * rect.width(), rect.top() + y * rect.height())
    };
    let arc: Vec<_> = (0..=10)
        .map(|i| {
            let turn = -std::f32::consts::FRAC_PI_2 + std::f32::consts::PI * i as f32 / 10.0;
            p(0.58 + 0.28 * turn.cos(), 0.58 + 0.28 * turn.sin())
        })
        .collect();
    painter.add(Shape::line([vec![p(0.12, 0.3)], arc, vec![p(0.3, 0.86)]].concat(), stroke));
    painter.add(Shape::line(vec![p(0.32, 0.08), p(0.1, 0.3), p(0.32, 0.52)], stroke));
}

/// A button with an icon; `label` is its name for screen readers and the first line of its tooltip.
pub fn button(ui: &mut Ui, icon: Icon, label: &str, hint: &str, enabled: bool, selected: bool) -> Response {
    let side = ui.spacing().interact_size.y + 2.0;
    let sense = if enabled { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(side + 2.0, side), sense);
    if ui.is_rect_visible(rect) {
        let visuals = ui.style().interact_selectable(&response, selected);
        if selected || (enabled && (response.hovered() || response.has_focus())) {
            let fill = if selected { ui.visuals().selection.bg_fill } else { visuals.weak_bg_fill };
            ui.painter().rect_filled(rect, visuals.corner_radius, fill);
        }
        let colour = if enabled {
            visuals.text_color()
        } else {
            ui.visuals().widgets.noninteractive.fg_stroke.color.gamma_multiply(0.35)
        };
        draw(ui.painter(), Rect::from_center_size(rect.center(), vec2(SIDE, SIDE)), icon, colour);
        if response.has_focus() {
            let ring = Stroke::new(1.5, ui.visuals().hyperlink_color);
            ui.painter().rect_stroke(rect, visuals.corner_radius, ring, eframe::egui::StrokeKind::Inside);
        }
    }
    response.widget_info(|| WidgetInfo::selected(Role::Button, enabled, selected, label));
    let tip = if hint.is_empty() { label.to_owned() } else { format!("{label}  ({hint})") };
    response.on_hover_text(&tip).on_disabled_hover_text(tip)
}
