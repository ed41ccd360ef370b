//! Owns axial rotary positions: each half of a row is rotated by a position of its own.
//! May import: nothing of this crate.
//! Must not: know tensors of a graph.

use super::attention::Rows;
use super::part::{Output, Part};

/// Positions whose sines are kept; the network's grids have at most 64.
const KEPT: usize = 128;

/// Cosines and sines of the angles by which pairs are rotated.
pub struct Angles {
    base: f64,
    pairs: usize,
    table: Vec<[f32; 2]>,
}

impl Angles {
    /// For rows of `width` floats: pair `j` of a half turns by `position * base^(-2 j / (width / 2))`.
    ///
    /// # Panics
    /// When `width` is not a multiple of 4.
    pub fn new(width: usize, base: f32) -> Self {
        assert!(width.is_multiple_of(4), "two halves of pairs");
        let mut angles = Self { base: f64::from(base), pairs: width / 4, table: Vec::new() };
        let all = (0..KEPT as i32).flat_map(|position| (0..width / 4).map(move |pair| (position, pair)));
        angles.table = all.map(|(position, pair)| angles.angle(position, pair)).collect();
        angles
    }

    /// Floats of a row.
    pub fn width(&self) -> usize {
        4 * self.pairs
    }

    fn angle(&self, position: i32, pair: usize) -> [f32; 2] {
        let turn = f64::from(position) * self.base.powf(-(pair as f64) / self.pairs as f64);
        [turn.cos() as f32, turn.sin() as f32]
    }
}

/// Rotates this part of the `rows`; `positions` has two for each row.
///
/// # Panics
/// When lengths do not fit together.
pub fn rotate(angles: &Angles, rows: Rows<'_>, positions: &[i32], output: Output<'_>, part: Part) {
    let width = angles.width();
    rows.check(width);
    assert!(
        positions.len() == 2 * rows.count && output.len == rows.count * width,
        "two positions and room for each row"
    );
    for row in part.of(rows.count, 1) {
        let source = rows.data[row * rows.stride..][..width].chunks_exact(width / 2);
        for (half, (source, &position)) in source.zip(&positions[2 * row..]).enumerate() {
            // SAFETY: a row of this part, inside the output.
            let target = unsafe {
                std::slice::from_raw_parts_mut(output.at.add(row * width + half * width / 2), width / 2)
            };
            let known = usize::try_from(position).ok().filter(|&position| position < KEPT);
            let pairs = target.as_chunks_mut::<2>().0.iter_mut().zip(source.as_chunks::<2>().0);
            if let Some(known) = known {
                let turns = &angles.table[known * angles.pairs..][..angles.pairs];
                for ((to, [a, b]), [cos, sin]) in pairs.zip(turns) {
                    *to = [a * cos - b * sin, a * sin + b * cos];
                }
            } else {
                for (pair, (to, [a, b])) in pairs.enumerate() {
                    let [cos, sin] = angles.angle(position, pair);
                    *to = [a * cos - b * sin, a * sin + b * cos];
                }
            }
        }
    }
}
