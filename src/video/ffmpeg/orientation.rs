//! Owns turning stored pictures upright, by the display matrix of a video.
//! May import: base.
//! Must not: touch FFmpeg.

use crate::base::{RgbFrame, Size};

/// One of the eight ways a picture can lie: turned clockwise by quarter turns, then mirrored left to right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Orientation {
    /// Quarter turns clockwise, 0..=3.
    quarters: u8,
    /// Mirrored left to right after the turn.
    mirrored: bool,
}

impl Orientation {
    /// Reads a display matrix: nine native-endian 32-bit integers, `x' = a x + c y`, `y' = b x + d y` in 16.16 fixed point.
    /// `None` when it is damaged or turns by anything but quarter turns.
    pub(super) fn from_matrix(bytes: &[u8]) -> Option<Self> {
        let value = |i: usize| -> Option<f64> {
            Some(f64::from(i32::from_ne_bytes(bytes.get(i * 4..i * 4 + 4)?.try_into().ok()?)) / 65_536.0)
        };
        let (a, b, c, d) = (value(0)?, value(1)?, value(3)?, value(4)?);
        // Scaled matrices occur; what counts is which axis goes where.
        let largest = [a, b, c, d].iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let unit = |v: f64| -> Option<i8> {
            let v = v / largest;
            let rounded = v.round();
            (v.is_finite() && (v - rounded).abs() < 0.02).then_some(rounded as i8)
        };
        let (quarters, mirrored) = match (unit(a)?, unit(b)?, unit(c)?, unit(d)?) {
            (1, 0, 0, 1) => (0, false),
            (0, 1, -1, 0) => (1, false),
            (-1, 0, 0, -1) => (2, false),
            (0, -1, 1, 0) => (3, false),
            (-1, 0, 0, 1) => (0, true),
            (0, 1, 1, 0) => (1, true),
            (1, 0, 0, -1) => (2, true),
            (0, -1, -1, 0) => (3, true),
            _ => return None,
        };
        Some(Self { quarters, mirrored })
    }

    /// Clockwise turn in degrees.
    pub(super) fn degrees(self) -> u16 {
        u16::from(self.quarters) * 90
    }

    /// Whether the picture is mirrored left to right after the turn.
    pub(super) fn is_mirrored(self) -> bool {
        self.mirrored
    }

    /// Size of the upright picture.
    pub(super) fn turn_size(self, size: Size) -> Size {
        if self.quarters % 2 == 1 { Size::new(size.height, size.width) } else { size }
    }

    /// The upright picture of `rows` (RGB, `stride` bytes a row, `size` as stored); `None` when rows are missing.
    pub(super) fn upright(self, rows: &[u8], stride: usize, size: Size) -> Option<RgbFrame> {
        let (w, h) = (size.width as usize, size.height as usize);
        if stride < w * 3 || rows.len() < stride.checked_mul(h.checked_sub(1)?)? + w * 3 {
            return None;
        }
        let upright = self.turn_size(size);
        let mut data = Vec::with_capacity(upright.area() * 3);
        if self == Self::default() {
            rows.chunks(stride).take(h).for_each(|row| data.extend_from_slice(&row[..w * 3]));
            return RgbFrame::new(upright, data);
        }
        let width = upright.width as usize;
        for y in 0..upright.height as usize {
            for x in 0..width {
                let x = if self.mirrored { width - 1 - x } else { x };
                // Where the pixel that comes to (x, y) by a clockwise turn was before.
                let (sx, sy) = match self.quarters {
                    0 => (x, y),
                    1 => (y, h - 1 - x),
                    2 => (w - 1 - x, h - 1 - y),
                    _ => (w - 1 - y, x),
                };
                let at = sy * stride + sx * 3;
                data.extend_from_slice(&rows[at..at + 3]);
            }
        }
        RgbFrame::new(upright, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(a: i32, b: i32, c: i32, d: i32) -> Vec<u8> {
        [a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30]
            .iter()
            .flat_map(|v| v.to_ne_bytes())
            .collect()
    }

    /// The picture `1 2 3 / 4 5 6` as the matrix shows it, by moving each pixel as the matrix says.
    fn by_definition(a: i32, b: i32, c: i32, d: i32) -> (Size, Vec<u8>) {
        let moved: Vec<_> =
            (0..2).flat_map(|y| (0..3).map(move |x| (a * x + c * y, b * x + d * y))).collect();
        let low =
            (moved.iter().map(|p| p.0).min().expect("six"), moved.iter().map(|p| p.1).min().expect("six"));
        let mut all: Vec<_> = moved.iter().map(|p| (p.1 - low.1, p.0 - low.0)).zip(1u8..).collect();
        all.sort_unstable();
        let last = all[5].0;
        (Size::new(last.1 as u32 + 1, last.0 as u32 + 1), all.iter().map(|p| p.1).collect())
    }

    #[test]
    fn all_eight_ways_follow_the_matrix() {
        let stored: Vec<u8> = [[1, 2, 3, 0], [4, 5, 6, 0]].concat().iter().flat_map(|&v| [v; 3]).collect();
        for flip in [1, -1] {
            for (a, b, c, d) in [(1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0)] {
                let (a, c) = (a * flip, c * flip);
                let orientation = Orientation::from_matrix(&matrix(a, b, c, d)).expect("quarter turn");
                assert_eq!(orientation.is_mirrored(), flip == -1);
                let frame = orientation.upright(&stored, 12, Size::new(3, 2)).expect("all rows");
                let (size, pixels) = by_definition(a, b, c, d);
                assert_eq!(frame.size(), size);
                assert_eq!(
                    frame.data().iter().copied().step_by(3).collect::<Vec<_>>(),
                    pixels,
                    "{a} {b} {c} {d}"
                );
            }
        }
    }

    #[test]
    fn odd_matrices_are_refused() {
        assert_eq!(Orientation::from_matrix(&matrix(0, 0, 0, 0)), None);
        assert_eq!(Orientation::from_matrix(&matrix(1, 1, -1, 1)), None);
        assert_eq!(Orientation::from_matrix(&[0; 35]), None);
        assert_eq!(Orientation::from_matrix(&[]), None);
        assert_eq!(Orientation::default().upright(&[0; 5], 3, Size::new(1, 3)), None);
        assert_eq!(Orientation::default().upright(&[], 3, Size::new(1, 0)), None);
    }
}
