//! Where the picture lies in the window: zoom, pan, and the way between points of the window and pixels of the picture.

use eframe::egui::{Pos2, Rect, Vec2, vec2};

use crate::base::{Point, Size};

/// Zoom and place of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewTransform {
    /// Physical pixels of the screen per pixel of the picture, downwards; `None` fits the picture into the window.
    zoom: Option<f32>,
    /// The picture's pixel in the middle of the canvas; only with a zoom.
    centre: Vec2,
}

/// The transform for one canvas and one picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// Top-left corner of the picture, in points of the window.
    pub origin: Pos2,
    /// Points of the window per pixel of the picture, to the right and downwards.
    pub scale: Vec2,
    /// Points to physical pixels.
    pub pixels_per_point: f32,
    /// Size of the picture in pixels.
    pub size: Size,
}

const SMALLEST: f32 = 0.02;
const LARGEST: f32 = 64.0;
/// Space around a fitted picture, in points.
const MARGIN: f32 = 12.0;

impl Default for ViewTransform {
    fn default() -> Self {
        Self { zoom: None, centre: Vec2::ZERO }
    }
}

impl ViewTransform {
    /// The whole picture, as large as it fits.
    pub fn fit(&mut self) {
        self.zoom = None;
    }

    /// Where a picture of `size`, whose pixels are `aspect` times as wide as high, lies on `canvas`. Corners lie on
    /// whole physical pixels, so that masks and picture are sharp at any scale of the screen.
    pub fn place(&self, canvas: Rect, size: Size, aspect: f32, pixels_per_point: f32) -> Placed {
        let picture = vec2(size.width as f32 * aspect, size.height as f32);
        let zoom = self.zoom.unwrap_or_else(|| {
            let room = (canvas.size() - Vec2::splat(2.0 * MARGIN)).max(Vec2::splat(16.0)) * pixels_per_point;
            (room.x / picture.x).min(room.y / picture.y).clamp(SMALLEST, LARGEST)
        });
        let scale = vec2(zoom * aspect, zoom) / pixels_per_point;
        let centre =
            if self.zoom.is_some() { self.centre } else { vec2(size.width as f32, size.height as f32) / 2.0 };
        let corner = (canvas.center() - centre * scale).to_vec2() * pixels_per_point;
        let origin = (corner.round() / pixels_per_point).to_pos2();
        Placed { origin, scale, pixels_per_point, size }
    }

    /// Multiplies the zoom by `factor`; what lies under `at` stays there.
    pub fn zoom_about(&mut self, canvas: Rect, placed: &Placed, at: Pos2, factor: f32) {
        let old = placed.zoom();
        self.zoom_to(canvas, placed, at, old * factor);
    }

    /// Sets the zoom, in physical pixels per pixel; what lies under `at` stays there.
    pub fn zoom_to(&mut self, canvas: Rect, placed: &Placed, at: Pos2, zoom: f32) {
        let zoom = zoom.clamp(SMALLEST, LARGEST);
        let held = placed.exact(at);
        let scale = placed.scale * (zoom / placed.zoom());
        self.zoom = Some(zoom);
        self.centre = held - (at - canvas.center()) / scale;
        self.keep_in_sight(placed.size);
    }

    /// Moves the picture by `delta` points of the window.
    pub fn pan(&mut self, placed: &Placed, canvas: Rect, delta: Vec2) {
        if self.zoom.is_none() {
            self.centre = placed.exact(canvas.center());
        }
        self.zoom = Some(placed.zoom());
        self.centre -= delta / placed.scale;
        self.keep_in_sight(placed.size);
    }

    /// The middle of the canvas never leaves the picture: it cannot be lost.
    fn keep_in_sight(&mut self, size: Size) {
        self.centre = self.centre.clamp(Vec2::ZERO, vec2(size.width as f32, size.height as f32));
    }
}

impl Placed {
    /// Physical pixels per pixel of the picture, downwards; 1 is "100 %".
    pub fn zoom(&self) -> f32 {
        self.scale.y * self.pixels_per_point
    }

    /// The picture's rectangle in the window.
    pub fn rect(&self) -> Rect {
        Rect::from_min_size(self.origin, vec2(self.size.width as f32, self.size.height as f32) * self.scale)
    }

    /// Continuous place in the picture, 0 at its left or top border, also outside.
    fn exact(&self, at: Pos2) -> Vec2 {
        (at - self.origin) / self.scale
    }

    /// The point of the picture under `at`, held to the picture. The centre of the top-left pixel is (0, 0).
    pub fn to_picture(self, at: Pos2) -> Point {
        let p = self.exact(at) - Vec2::splat(0.5);
        let last = vec2(self.size.width as f32 - 1.0, self.size.height as f32 - 1.0);
        let p = p.clamp(Vec2::ZERO, last.max(Vec2::ZERO));
        Point { x: p.x, y: p.y }
    }

    /// The border under `at` for a box: 0 is the left or top edge, width and height the others.
    pub fn to_border(self, at: Pos2) -> Point {
        let p = self.exact(at).clamp(Vec2::ZERO, vec2(self.size.width as f32, self.size.height as f32));
        Point { x: p.x, y: p.y }
    }

    /// Where a point of the picture lies in the window.
    pub fn to_window(self, p: Point) -> Pos2 {
        self.origin + vec2(p.x + 0.5, p.y + 0.5) * self.scale
    }

    /// Where a border of the picture lies in the window.
    pub fn border_to_window(self, x: f32, y: f32) -> Pos2 {
        self.origin + vec2(x, y) * self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::pos2 as at;
    use proptest::prelude::*;

    fn canvas() -> Rect {
        Rect::from_min_size(at(100.0, 50.0), vec2(800.0, 600.0))
    }

    #[test]
    fn a_fitted_picture_lies_in_the_middle() {
        let placed = ViewTransform::default().place(canvas(), Size::new(400, 200), 1.0, 1.0);
        assert!((placed.rect().center() - canvas().center()).length() < 1.0);
        assert!(canvas().contains_rect(placed.rect()));
        assert_eq!(placed.to_picture(at(0.0, 0.0)), Point { x: 0.0, y: 0.0 });
    }

    #[test]
    fn wide_pixels_make_a_wide_picture() {
        let placed = ViewTransform::default().place(canvas(), Size::new(100, 100), 2.0, 1.25);
        let rect = placed.rect();
        assert!((rect.width() / rect.height() - 2.0).abs() < 1e-3);
    }

    proptest! {
        #[test]
        fn zooming_holds_what_is_under_the_cursor(
            x in 320.0f32..680.0, y in 180.0f32..520.0, ppp in 1.0f32..2.5, steps in 1u32..8,
        ) {
            let (size, cursor) = (Size::new(640, 480), at(x, y));
            let mut view = ViewTransform::default();
            let placed = view.place(canvas(), size, 1.0, ppp);
            let before = placed.to_picture(cursor);
            for _ in 0..steps {
                let placed = view.place(canvas(), size, 1.0, ppp);
                view.zoom_about(canvas(), &placed, cursor, 1.2);
            }
            let placed = view.place(canvas(), size, 1.0, ppp);
            let after = placed.to_picture(cursor);
            // Corners are put on whole pixels of the screen: half of one, at each step.
            let slack = (1.0 + steps as f32) / placed.zoom().min(1.0);
            prop_assert!((before.x - after.x).abs() <= slack && (before.y - after.y).abs() <= slack);
        }

        #[test]
        fn there_and_back(x in 0.0f32..639.0, y in 0.0f32..479.0, ppp in 1.0f32..2.5) {
            let placed = ViewTransform::default().place(canvas(), Size::new(640, 480), 1.0, ppp);
            let back = placed.to_picture(placed.to_window(Point { x, y }));
            prop_assert!((back.x - x).abs() < 0.01 && (back.y - y).abs() < 0.01);
            // Corners lie on whole physical pixels.
            let corner = placed.origin.to_vec2() * ppp;
            prop_assert!((corner - corner.round()).length() < 0.01);
        }
    }
}
