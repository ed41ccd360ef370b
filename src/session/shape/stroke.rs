//! Brush and eraser: discs along a line.

use crate::base::{Mask, Point};

/// A stroke of the brush or the eraser, in pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Stroke {
    /// Where it went; one point is a dab.
    pub points: Vec<Point>,
    /// Radius of the brush; what is not above 0 paints nothing.
    pub radius: f32,
    /// Whether it takes away.
    pub erase: bool,
}

impl Stroke {
    /// Most points that are looked at; more are thinned evenly, so that no stroke takes long.
    const MOST_POINTS: usize = 4_096;

    /// Paints it into `mask`: every pixel whose centre is within the radius of the line. Pixel (x, y) has its centre at
    /// (x, y), as clicks have it. Points that are no numbers are left out.
    pub fn paint(&self, mask: &mut Mask) {
        let step = self.points.len().div_ceil(Self::MOST_POINTS).max(1);
        let points = self.points.iter().enumerate();
        let last = self.points.len().saturating_sub(1);
        let points: Vec<Point> = points
            .filter(|(at, p)| (at % step == 0 || *at == last) && p.x.is_finite() && p.y.is_finite())
            .map(|(_, p)| *p)
            .collect();
        if self.radius.is_nan() || self.radius <= 0.0 {
            return;
        }
        if let [only] = points[..] {
            self.segment(mask, only, only);
        }
        for pair in points.windows(2) {
            self.segment(mask, pair[0], pair[1]);
        }
    }

    fn segment(&self, mask: &mut Mask, a: Point, b: Point) {
        let (size, r) = (mask.size(), self.radius);
        // Bounds first: a casting float saturates, so no coordinate is too far out.
        let low = |v: f32| (v - r).floor().max(0.0) as u32;
        let high = |v: f32, length: u32| ((v + r).ceil() + 1.0).clamp(0.0, length as f32) as u32;
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        let length = dx * dx + dy * dy;
        for y in low(a.y.min(b.y))..high(a.y.max(b.y), size.height) {
            for x in low(a.x.min(b.x))..high(a.x.max(b.x), size.width) {
                let (px, py) = (x as f32 - a.x, y as f32 - a.y);
                let along = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
                let (ex, ey) = (px - along * dx, py - along * dy);
                if ex * ex + ey * ey <= r * r {
                    mask.set(x, y, !self.erase);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Size;

    fn painted(points: &[(f32, f32)], radius: f32, erase: bool, mask: &mut Mask) -> u64 {
        let points = points.iter().map(|&(x, y)| Point { x, y }).collect();
        Stroke { points, radius, erase }.paint(mask);
        mask.area()
    }

    #[test]
    fn brush_and_eraser_are_opposites() {
        let mut mask = Mask::empty(Size::new(20, 10));
        assert_eq!(painted(&[(5.0, 5.0)], 1.0, false, &mut mask), 5, "a dab of radius 1 is a cross");
        assert_eq!(painted(&[(5.0, 5.0), (10.0, 5.0)], 1.0, false, &mut mask), 6 + 6 + 6 + 2);
        assert_eq!(painted(&[(5.0, 5.0), (10.0, 5.0)], 1.0, true, &mut mask), 0);
    }

    #[test]
    fn odd_strokes_paint_what_lies_inside() {
        let size = Size::new(8, 8);
        for points in
            [vec![], vec![(f32::NAN, 1.0)], vec![(1e30, -1e30), (f32::INFINITY, 0.0)], vec![(-50.0, -50.0)]]
        {
            assert_eq!(painted(&points, 3.0, false, &mut Mask::empty(size)), 0, "{points:?}");
        }
        assert_eq!(painted(&[(4.0, 4.0)], 1e9, false, &mut Mask::empty(size)), 64);
        assert_eq!(painted(&[(4.0, 4.0)], f32::NAN, false, &mut Mask::empty(size)), 0);
        assert_eq!(painted(&[(-1.0, -1.0)], 1.5, false, &mut Mask::empty(size)), 1, "only the corner");
        let many: Vec<_> = (0..100_000).map(|i| ((i % 8) as f32, 3.0)).collect();
        assert!(painted(&many, 0.5, false, &mut Mask::empty(size)) >= 8);
    }
}
