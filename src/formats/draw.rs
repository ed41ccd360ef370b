//! Masks drawn over a picture: a tint and a line along the edge.

use crate::base::{RgbFrame, Rle};

/// Share of the object's colour in the tint, in 256ths.
const TINT: u32 = 102;

/// A mask with its object's colour (R, G, B).
#[derive(Clone, Copy, Debug)]
pub struct Drawn<'a> {
    /// What to draw, of the picture's size; anything beyond the picture is left out.
    pub mask: &'a Rle,
    /// In which colour; it is brightened, so that dark palette colours show.
    pub colour: [u8; 3],
}

/// Draws `masks` into `picture`, the first on top.
pub fn draw_masks(picture: &mut RgbFrame, masks: &[Drawn<'_>]) {
    // Thicker on larger pictures, so that the line survives being shown smaller.
    let line = (picture.size().width.min(picture.size().height) / 360).clamp(1, 8);
    for drawn in masks.iter().rev() {
        draw(picture, drawn, line);
    }
}

fn draw(picture: &mut RgbFrame, drawn: &Drawn<'_>, line: u32) {
    let Some(window) = Window::new(drawn.mask) else { return };
    let colour = bright(drawn.colour);
    let inner = window.eroded(line);
    let (width, height) = (picture.size().width as usize, picture.size().height as usize);
    for (at, _) in window.inside.iter().enumerate().filter(|(_, inside)| **inside) {
        let (x, y) = (window.x0 + at % window.width, window.y0 + at / window.width);
        if x >= width || y >= height {
            continue;
        }
        let pixel = &mut picture.data_mut()[(y * width + x) * 3..][..3];
        let share = if inner[at] { TINT } else { 256 };
        for (value, &target) in pixel.iter_mut().zip(&colour) {
            *value = ((u32::from(*value) * (256 - share) + u32::from(target) * share) >> 8) as u8;
        }
    }
}

/// The same hue at full strength.
fn bright(colour: [u8; 3]) -> [u8; 3] {
    let top = u32::from(colour.into_iter().max().unwrap_or(0));
    // Black has no hue: white is what shows.
    colour.map(|c| (u32::from(c) * 255).checked_div(top).map_or(255, |c| c as u8))
}

/// The part of a mask within its box.
struct Window {
    x0: usize,
    y0: usize,
    width: usize,
    height: usize,
    /// Which sides of the box lie on the picture's border: left, top, right, bottom.
    border: [bool; 4],
    inside: Vec<bool>,
}

impl Window {
    fn new(mask: &Rle) -> Option<Self> {
        let [x0, y0, width, height] = mask.bounding_box()?.map(|v| v as usize);
        let size = mask.size();
        let border =
            [x0 == 0, y0 == 0, x0 + width == size.width as usize, y0 + height == size.height as usize];
        let mut inside = vec![false; width * height];
        for (x, rows) in mask.column_spans() {
            rows.for_each(|y| inside[(y as usize - y0) * width + x as usize - x0] = true);
        }
        Some(Self { x0, y0, width, height, border, inside })
    }

    /// Which pixels are more than `line` steps (up, down, left, right) away from the mask's edge. The picture's border
    /// is no edge: a mask that runs out of the picture gets no line there.
    fn eroded(&self, line: u32) -> Vec<bool> {
        let (width, height) = (self.width, self.height);
        let mut inside = self.inside.clone();
        for _ in 0..line {
            let before = inside.clone();
            for at in 0..before.len() {
                let (x, y) = (at % width, at / width);
                let left = if x > 0 { before[at - 1] } else { self.border[0] };
                let above = if y > 0 { before[at - width] } else { self.border[1] };
                let right = if x + 1 < width { before[at + 1] } else { self.border[2] };
                let below = if y + 1 < height { before[at + width] } else { self.border[3] };
                inside[at] = before[at] && left && above && right && below;
            }
        }
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Mask, Size};

    fn block(size: Size, x: std::ops::Range<u32>, y: std::ops::Range<u32>) -> Rle {
        let mut mask = Mask::empty(size);
        x.flat_map(|x| y.clone().map(move |y| (x, y))).for_each(|(x, y)| mask.set(x, y, true));
        Rle::encode(&mask)
    }

    fn at(picture: &RgbFrame, x: usize, y: usize) -> [u8; 3] {
        let start = (y * picture.size().width as usize + x) * 3;
        picture.data()[start..start + 3].try_into().unwrap()
    }

    #[test]
    fn tint_inside_line_on_the_edge_nothing_outside() {
        let size = Size::new(12, 10);
        let mut picture = RgbFrame::filled(size, [100; 3]);
        let mask = block(size, 0..6, 3..8);
        draw_masks(&mut picture, &[Drawn { mask: &mask, colour: [128, 0, 0] }]);
        assert_eq!(at(&picture, 5, 5), [255, 0, 0]);
        assert_eq!(at(&picture, 3, 3), [255, 0, 0]);
        assert_eq!(at(&picture, 4, 5), [161, 60, 60]);
        // The mask runs out of the picture on the left: no line there.
        assert_eq!(at(&picture, 0, 5), [161, 60, 60]);
        assert_eq!(at(&picture, 6, 5), [100; 3]);
        assert_eq!(at(&picture, 3, 2), [100; 3]);
    }

    #[test]
    fn the_first_lies_on_top() {
        let size = Size::new(9, 9);
        let mut picture = RgbFrame::filled(size, [0; 3]);
        let (a, b) = (block(size, 2..4, 2..4), block(size, 2..7, 2..7));
        let (red, green) = ([128, 0, 0], [0, 128, 0]);
        draw_masks(&mut picture, &[Drawn { mask: &a, colour: red }, Drawn { mask: &b, colour: green }]);
        assert_eq!(at(&picture, 2, 2), [255, 0, 0]);
        assert_eq!(at(&picture, 6, 6), [0, 255, 0]);
    }

    #[test]
    fn any_size_goes() {
        for (width, height) in [(1, 1), (1, 7), (9, 1)] {
            let size = Size::new(width, height);
            let mut picture = RgbFrame::filled(size, [10; 3]);
            let empty = Rle::encode(&Mask::empty(size));
            draw_masks(&mut picture, &[Drawn { mask: &empty, colour: [0; 3] }]);
            assert_eq!(picture, RgbFrame::filled(size, [10; 3]));
            let full = block(size, 0..width, 0..height);
            draw_masks(&mut picture, &[Drawn { mask: &full, colour: [0; 3] }]);
            assert_eq!(at(&picture, 0, 0), [107; 3]);
        }
        // A mask of another size is cut off, not refused.
        let mut small = RgbFrame::filled(Size::new(2, 2), [0; 3]);
        let large = block(Size::new(5, 5), 0..5, 0..5);
        draw_masks(&mut small, &[Drawn { mask: &large, colour: [1, 2, 3] }]);
    }
}
