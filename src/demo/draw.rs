//! Paints one frame from back to front with four samples a pixel, and says whose each pixel is.

use crate::base::{Mask, RgbFrame, Size};

use super::backdrop;
use super::fixed::{ONE, Rgb, ellipse, lit, mix};

/// Something that can be painted.
pub trait Actor {
    /// Half-open box in pixels (x0, y0, x1, y1) outside of which nothing is painted; may leave the picture.
    fn bounds(&self) -> [i32; 4];
    /// Colour at (`x`, `y`) (units, picture coordinates), or `None` where it is not.
    fn sample(&self, x: i32, y: i32) -> Option<Rgb>;
    /// Its shadow on the ground: centre and half axes in units, and strength in 256ths.
    fn shadow(&self) -> Option<[i32; 5]>;
}

/// An actor and whose mask it fills: an index, or `None` for what is not annotated.
pub struct Layer {
    /// What is painted.
    pub actor: Box<dyn Actor>,
    /// Index of the object in the clip's list.
    pub owner: Option<usize>,
}

/// The four sample places within a pixel, in units; its centre is 0.
const SAMPLES: [(i32, i32); 4] = [(-6, -2), (2, -6), (6, 2), (-2, 6)];

/// Paints frame `n`: `layers` from back to front on the backdrop, then the posts. Gives the picture and, for each of
/// `objects` objects, the pixels of which it is what is seen most.
pub fn paint(size: Size, n: i32, layers: &[Layer], objects: usize) -> (RgbFrame, Vec<Mask>) {
    let mut masks = vec![Mask::empty(size); objects];
    let mut bytes = Vec::with_capacity(size.area() * 3);
    let shadows: Vec<[i32; 5]> = layers.iter().filter_map(|l| l.actor.shadow()).collect();
    let boxes: Vec<[i32; 4]> = layers.iter().map(|l| l.actor.bounds()).collect();
    for y in 0..size.height as i32 {
        for x in 0..size.width as i32 {
            let ground = shaded(backdrop::colour(x, y, n), &shadows, x * ONE, y * ONE);
            let near = |i: usize| {
                let [x0, y0, x1, y1] = boxes[i];
                x0 <= x && x < x1 && y0 <= y && y < y1
            };
            let (mut sum, mut votes) = ([0; 3], [None; 4]);
            for (vote, (dx, dy)) in votes.iter_mut().zip(SAMPLES) {
                let (sx, sy) = (x * ONE + dx, y * ONE + dy);
                let colour = backdrop::post(sx, sy, n).or_else(|| {
                    let seen = |(i, layer): (usize, &Layer)| {
                        let colour = if near(i) { layer.actor.sample(sx, sy) } else { None }?;
                        Some((colour, layer.owner))
                    };
                    let (colour, owner) = layers.iter().enumerate().rev().find_map(seen)?;
                    *vote = owner;
                    Some(colour)
                });
                let colour = colour.unwrap_or(ground);
                (0..3).for_each(|i| sum[i] += colour[i].clamp(0, 255));
            }
            bytes.extend(sum.map(|v| ((v + 2) / 4) as u8));
            if let Some(owner) = majority(votes) {
                masks[owner].set(x as u32, y as u32, true);
            }
        }
    }
    (RgbFrame::new(size, bytes).expect("three bytes were pushed for each pixel"), masks)
}

/// Who holds at least two of the four samples; of two equals the one named first.
fn majority(votes: [Option<usize>; 4]) -> Option<usize> {
    votes.iter().flatten().copied().find(|owner| votes.iter().filter(|v| **v == Some(*owner)).count() >= 2)
}

/// `colour` under soft elliptic shadows.
fn shaded(colour: Rgb, shadows: &[[i32; 5]], x: i32, y: i32) -> Rgb {
    shadows.iter().fold(colour, |colour, &[cx, cy, a, b, strength]| {
        let edge = ellipse(x - cx, y - cy, a, b);
        if edge >= 0 { colour } else { mix(colour, lit(colour, 90), -edge * strength / 256) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_belongs_to_who_holds_half_of_it() {
        assert_eq!(majority([Some(1), None, Some(1), None]), Some(1));
        assert_eq!(majority([Some(1), Some(0), Some(0), Some(1)]), Some(1));
        assert_eq!(majority([Some(1), None, None, Some(0)]), None);
        assert_eq!(majority([None; 4]), None);
    }
}
