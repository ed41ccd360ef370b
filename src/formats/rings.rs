//! Outlines of a mask along the corners of its pixels, and back: polygons that hold exactly the mask.
//!
//! Rings run with the object on their right hand (clockwise on the screen), holes the other way round. Pixels that touch
//! only at a corner belong to different parts.

use std::collections::HashMap;

use crate::base::{Mask, Rle, Size};

/// Corner of a pixel: column and row of the grid between the pixels.
pub type Corner = (u32, u32);

/// One part of an object: its outer ring and the holes in it, each point one step from the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    outer: Vec<Corner>,
    holes: Vec<Hole>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Hole {
    /// Starts with its leftmost edge, downwards.
    ring: Vec<Corner>,
    /// Left end of the object's pixels that lie left of that edge: where a bridge can land.
    shore: u32,
}

impl Part {
    /// Whether there are holes.
    pub fn has_holes(&self) -> bool {
        !self.holes.is_empty()
    }

    /// One ring that holds the part without its holes: each hole is cut open by a bridge of no width. Only corners are
    /// given; the last is joined to the first.
    pub fn bridged(&self) -> Vec<Corner> {
        let mut ring = self.outer.clone();
        for Hole { ring: hole, shore } in &self.holes {
            let (x, y) = hole[0];
            let landing = [(*shore, y + 1), (*shore, y)];
            let place = (0..ring.len()).find(|&i| [ring[i], ring[(i + 1) % ring.len()]] == landing);
            // Holes come from left to right, so the ring that a bridge lands on is merged already.
            let Some(place) = place else { continue };
            let bridge = hole.iter().copied().chain([(x, y), (*shore, y)]);
            ring.splice(place + 2..place + 2, bridge.collect::<Vec<_>>());
        }
        corners(&ring)
    }
}

/// Joins rings to one by bridges of no width from each to the next.
pub fn joined(rings: &[Vec<Corner>]) -> Vec<Corner> {
    let mut all: Vec<Corner> = Vec::new();
    for ring in rings {
        all.extend(ring);
        all.extend(ring.first());
    }
    // Back over the bridges.
    all.extend(rings.iter().rev().skip(1).filter_map(|ring| ring.first()));
    all.dedup();
    if all.len() > 1 && all.first() == all.last() {
        all.pop();
    }
    all
}

/// Drops the points on straight lines.
fn corners(ring: &[Corner]) -> Vec<Corner> {
    let count = ring.len();
    let step = |a: Corner, b: Corner| (i64::from(b.0) - i64::from(a.0), i64::from(b.1) - i64::from(a.1));
    let turns = |i: &usize| {
        let (before, after) =
            (step(ring[(i + count - 1) % count], ring[*i]), step(ring[*i], ring[(i + 1) % count]));
        // A bridge turns back on its own line: that is a corner too.
        before.0 * after.1 != before.1 * after.0 || before.0 * after.0 + before.1 * after.1 <= 0
    };
    (0..count).filter(turns).map(|i| ring[i]).collect()
}

/// The pixels of a mask in its box, with a border of nothing.
struct Window {
    x0: u32,
    y0: u32,
    width: usize,
    inside: Vec<bool>,
}

impl Window {
    fn new(mask: &Rle) -> Option<Self> {
        let [x0, y0, width, height] = mask.bounding_box()?;
        let width = width as usize + 2;
        let mut inside = vec![false; width * (height as usize + 2)];
        for (x, rows) in mask.column_spans() {
            rows.for_each(|y| inside[(y - y0 + 1) as usize * width + (x - x0 + 1) as usize] = true);
        }
        Some(Self { x0, y0, width, inside })
    }

    fn place(&self, at: usize) -> Corner {
        // The window's first pixel lies one before the box, so its bottom right corner is the box's top left one.
        ((at % self.width) as u32 + self.x0, (at / self.width) as u32 + self.y0)
    }
}

const EAST: usize = 0;
const SOUTH: usize = 1;
const WEST: usize = 2;
const NORTH: usize = 3;

/// The parts of `mask`, from the top; none for an empty mask.
pub fn trace(mask: &Rle) -> Vec<Part> {
    let Some(window) = Window::new(mask) else { return Vec::new() };
    let width = window.width;
    // Corner `at` is the bottom right one of pixel `at`. Which edges leave it, by direction.
    let mut edges = vec![0u8; window.inside.len()];
    for at in (0..window.inside.len()).filter(|&at| window.inside[at]) {
        let mut add = |corner: usize, direction: usize| edges[corner] |= 1 << direction;
        if !window.inside[at - width] {
            add(at - width - 1, EAST);
        }
        if !window.inside[at + 1] {
            add(at - width, SOUTH);
        }
        if !window.inside[at + width] {
            add(at, WEST);
        }
        if !window.inside[at - 1] {
            add(at - 1, NORTH);
        }
    }
    let step = |at: usize, direction: usize| match direction {
        EAST => at + 1,
        SOUTH => at + width,
        WEST => at - 1,
        _ => at - width,
    };
    let (mut outers, mut holes): (Vec<Vec<Corner>>, Vec<Vec<Corner>>) = (Vec::new(), Vec::new());
    // Left edges of the object's pixels: which outer ring, or which hole, they are part of.
    let mut owners: HashMap<Corner, Result<usize, usize>> = HashMap::new();
    for start in 0..edges.len() {
        while edges[start] != 0 {
            let first = edges[start].trailing_zeros() as usize;
            let (mut at, mut heading) = (start, first);
            let mut ring = Vec::new();
            let mut lefts = Vec::new();
            let mut doubled = 0i64;
            loop {
                edges[at] &= !(1 << heading);
                let (from, to) = (window.place(at), window.place(step(at, heading)));
                doubled += i64::from(from.0) * i64::from(to.1) - i64::from(to.0) * i64::from(from.1);
                ring.push(from);
                if heading == NORTH {
                    lefts.push(to);
                }
                at = step(at, heading);
                // Right turn first: the ring stays with its own pixel where two touch at a corner. A ring may pass
                // its start before it ends there.
                let open = edges[at] | if at == start { 1 << first } else { 0 };
                let turns = [(heading + 1) % 4, heading, (heading + 3) % 4];
                let next = turns.into_iter().find(|turn| open >> turn & 1 == 1);
                let Some(next) = next.filter(|&next| (at, next) != (start, first)) else { break };
                heading = next;
            }
            let owner = if doubled > 0 {
                outers.push(ring);
                Ok(outers.len() - 1)
            } else {
                holes.push(ring);
                Err(holes.len() - 1)
            };
            owners.extend(lefts.into_iter().map(|left| (left, owner)));
        }
    }
    assign(&window, outers, holes, &owners)
}

/// Gives each hole to its part.
fn assign(
    window: &Window,
    outers: Vec<Vec<Corner>>,
    mut holes: Vec<Vec<Corner>>,
    owners: &HashMap<Corner, Result<usize, usize>>,
) -> Vec<Part> {
    let mut order: Vec<_> = (0..holes.len()).collect();
    // The leftmost edge of a hole, downwards.
    for ring in &mut holes {
        let count = ring.len();
        let left = ring.iter().map(|p| p.0).min().unwrap_or(0);
        let first = (0..count).find(|&i| ring[i].0 == left && ring[(i + 1) % count] == (left, ring[i].1 + 1));
        ring.rotate_left(first.unwrap_or(0));
    }
    order.sort_by_key(|&hole| holes[hole][0]);
    let mut parts: Vec<Part> = outers.into_iter().map(|outer| Part { outer, holes: Vec::new() }).collect();
    let mut part_of = vec![usize::MAX; holes.len()];
    for hole in order {
        let (x, y) = holes[hole][0];
        let row = (y - window.y0 + 1) as usize * window.width;
        let mut shore = x;
        while window.inside[row + (shore - window.x0) as usize] {
            shore -= 1;
        }
        let part = match owners.get(&(shore, y)) {
            Some(Ok(part)) => *part,
            Some(Err(other)) => part_of[*other],
            None => continue,
        };
        part_of[hole] = part;
        if let Some(part) = parts.get_mut(part) {
            part.holes.push(Hole { ring: std::mem::take(&mut holes[hole]), shore });
        }
    }
    parts
}

/// The pixels whose centre lies in one of `rings` by the even-odd rule; points are corners of the pixel grid, the last is
/// joined to the first. What is not finite or lies outside the picture is left out.
pub fn fill<'a>(rings: impl IntoIterator<Item = &'a [(f64, f64)]>, size: Size) -> Mask {
    let mut mask = Mask::empty(size);
    for ring in rings {
        let mut rows: Vec<Vec<f64>> = vec![Vec::new(); size.height as usize];
        for (i, &a) in ring.iter().enumerate() {
            let b = ring[(i + 1) % ring.len()];
            if ![a.0, a.1, b.0, b.1].iter().all(|v| v.is_finite()) {
                continue;
            }
            let (top, bottom) = if a.1 < b.1 { (a, b) } else { (b, a) };
            // Rows whose centre lies between the ends.
            let first = (top.1 - 0.5).ceil().clamp(0.0, f64::from(size.height)) as usize;
            let last = (bottom.1 - 0.5).ceil().clamp(0.0, f64::from(size.height)) as usize;
            for (y, row) in rows.iter_mut().enumerate().take(last).skip(first) {
                let share = (y as f64 + 0.5 - top.1) / (bottom.1 - top.1);
                row.push(top.0 + share * (bottom.0 - top.0));
            }
        }
        for (y, row) in (0u32..).zip(&mut rows) {
            row.sort_by(f64::total_cmp);
            for pair in row.chunks_exact(2) {
                let column = |x: f64| (x - 0.5).ceil().clamp(0.0, f64::from(size.width)) as u32;
                (column(pair[0])..column(pair[1])).for_each(|x| mask.set(x, y, true));
            }
        }
    }
    mask
}

/// `ring` as numbers.
pub fn as_floats(ring: &[Corner]) -> Vec<(f64, f64)> {
    ring.iter().map(|&(x, y)| (f64::from(x), f64::from(y))).collect()
}

/// Pixels in both divided by pixels in either; 1 when both are empty.
pub fn iou(a: &Mask, b: &Mask) -> f64 {
    let (mut both, mut either) = (0u64, 0u64);
    for (&a, &b) in a.data().iter().zip(b.data()) {
        both += u64::from(a & b);
        either += u64::from(a | b);
    }
    if either == 0 { 1.0 } else { both as f64 / either as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mask(rows: &[&str]) -> Mask {
        let size = Size::new(rows[0].len() as u32, rows.len() as u32);
        Mask::new(size, rows.iter().flat_map(|row| row.bytes().map(|b| u8::from(b == b'#'))).collect())
            .unwrap()
    }

    fn rings(mask: &Mask) -> Vec<Vec<Corner>> {
        trace(&Rle::encode(mask)).iter().map(Part::bridged).collect()
    }

    fn filled(rings: &[Vec<Corner>], size: Size) -> Mask {
        let floats: Vec<_> = rings.iter().map(|ring| as_floats(ring)).collect();
        fill(floats.iter().map(Vec::as_slice), size)
    }

    #[test]
    fn a_block_has_four_corners() {
        let block = mask(&["....", ".##.", ".##."]);
        assert_eq!(rings(&block), [[(1, 1), (3, 1), (3, 3), (1, 3)]]);
    }

    #[test]
    fn pixels_that_touch_at_a_corner_are_two_parts() {
        assert_eq!(rings(&mask(&["#.", ".#"])).len(), 2);
        let ring = mask(&["####", "#.##", "##.#", "####"]);
        let parts = trace(&Rle::encode(&ring));
        assert!(parts.len() == 1 && parts[0].has_holes());
        assert_eq!(filled(&rings(&ring), ring.size()), ring);
    }

    #[test]
    fn islands_in_holes_are_parts_of_their_own() {
        let target = mask(&["#######", "#.....#", "#.###.#", "#.#.#.#", "#.###.#", "#.....#", "#######"]);
        assert_eq!(trace(&Rle::encode(&target)).iter().filter(|part| part.has_holes()).count(), 2);
        assert_eq!(filled(&rings(&target), target.size()), target);
        assert_eq!(filled(&[joined(&rings(&target))], target.size()), target);
    }

    #[test]
    fn strange_rings_fill_nothing_or_what_is_inside() {
        let size = Size::new(3, 3);
        assert_eq!(fill([&[][..], &[(f64::NAN, 1.0), (1.0, 2.0)]], size).area(), 0);
        assert_eq!(fill([&[(-9.0, -9.0), (99.0, -9.0), (99.0, 99.0), (-9.0, 99.0)][..]], size).area(), 9);
        assert!((iou(&mask(&["##."]), &mask(&[".##"])) - 1.0 / 3.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn rings_hold_exactly_the_mask(width in 1u32..24, height in 1u32..24, seed in any::<u64>(), density in 1u32..4) {
            let size = Size::new(width, height);
            let pixel = |i: u64| u8::from((seed ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15).count_ones() % 4 < density);
            let mask = Mask::new(size, (0..size.area() as u64).map(pixel).collect()).expect("the size's length");
            let rings = rings(&mask);
            prop_assert!(rings.iter().all(|ring| ring.len() >= 4));
            prop_assert_eq!(&filled(&rings, size), &mask);
            prop_assert_eq!(&filled(&[joined(&rings)], size), &mask);
        }
    }
}
