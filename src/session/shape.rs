//! Masks made and changed by hand: pure functions from mask to mask.

mod regions;
mod spread;
mod stroke;

use crate::base::{Mask, Rle};

pub use stroke::Stroke;

/// A change of a mask's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reshape {
    /// Fills holes of at most that many pixels (background that does not touch the picture's border).
    FillHoles(u32),
    /// Drops parts of fewer pixels than that; the largest part stays.
    DropIslands(u32),
    /// Adds what lies within that many pixels.
    Grow(u32),
    /// Takes away what lies within that many pixels of the outside. The picture's border is no outside.
    Shrink(u32),
}

impl Reshape {
    /// What it does, for the menu.
    pub fn label(self) -> &'static str {
        match self {
            Self::FillHoles(_) => "fill holes",
            Self::DropIslands(_) => "drop islands",
            Self::Grow(_) => "grow",
            Self::Shrink(_) => "shrink",
        }
    }

    /// The changed mask.
    pub fn apply(self, mask: &Rle) -> Rle {
        let mask = mask.decode();
        Rle::encode(&match self {
            Self::FillHoles(most) => regions::fill_holes(&mask, most),
            Self::DropIslands(least) => regions::drop_islands(&mask, least),
            Self::Grow(by) => spread::grow(&mask, by),
            Self::Shrink(by) => spread::shrink(&mask, by),
        })
    }
}

/// What belongs to either mask. Masks of two sizes give the first.
pub fn union(a: &Rle, b: &Rle) -> Rle {
    if a.size() != b.size() {
        return a.clone();
    }
    let mut mask = a.decode();
    for (x, rows) in b.column_spans() {
        rows.for_each(|y| mask.set(x, y, true));
    }
    Rle::encode(&mask)
}

/// The opposite of a mask.
fn inverted(mask: &Mask) -> Mask {
    let data = mask.data().iter().map(|v| 1 - v).collect();
    Mask::new(mask.size(), data).expect("the size is the same")
}
