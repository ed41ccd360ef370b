//! The masks of one frame as one picture of labels, for the graphics card.

use std::sync::Arc;

use crate::base::{Rle, Size};

/// Label of the mask that is only tried.
pub const PREVIEW: u8 = 255;

/// One label a pixel, 0 for none. Columns stand one after the other, as in run lengths: a mask is a few long fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Size of the picture.
    pub size: Size,
    /// `width` columns of `height` labels.
    pub columns: Vec<u8>,
}

impl Labels {
    /// Paints masks, the last of `masks` first: where they overlap, the earlier wins.
    pub fn paint<'a>(size: Size, masks: impl DoubleEndedIterator<Item = (u8, &'a Rle)>) -> Arc<Self> {
        let mut columns = vec![0u8; size.area()];
        for (label, mask) in masks.rev().filter(|(_, mask)| mask.size() == size) {
            let mut at = 0usize;
            for (i, &run) in mask.counts().iter().enumerate() {
                let end = (at + run as usize).min(columns.len());
                if i % 2 == 1 {
                    columns[at..end].fill(label);
                }
                at = end;
            }
        }
        Arc::new(Self { size, columns })
    }

    #[cfg(test)]
    fn get(&self, x: u32, y: u32) -> u8 {
        if x >= self.size.width || y >= self.size.height {
            return 0;
        }
        self.columns[x as usize * self.size.height as usize + y as usize]
    }

    /// Every `step`-th label in both directions, for pictures that are larger than a texture may be.
    pub fn thinned(&self, step: u32) -> (Size, Vec<u8>) {
        let (step, height) = (step.max(1) as usize, self.size.height as usize);
        let small = Size::new(self.size.width.div_ceil(step as u32), self.size.height.div_ceil(step as u32));
        let columns = self.columns.chunks_exact(height.max(1)).step_by(step);
        (small, columns.flat_map(|column| column.iter().step_by(step).copied()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Mask;

    #[test]
    fn the_earlier_mask_wins_and_thinning_keeps_the_corner() {
        let size = Size::new(5, 3);
        let mut a = Mask::empty(size);
        a.set(1, 1, true);
        let mut b = Mask::new(size, vec![1; 15]).unwrap();
        b.set(0, 0, false);
        let (a, b) = (Rle::encode(&a), Rle::encode(&b));
        let labels = Labels::paint(size, [(1, &a), (2, &b)].into_iter());
        assert_eq!((labels.get(0, 0), labels.get(1, 1), labels.get(4, 2)), (0, 1, 2));
        assert_eq!(labels.get(5, 0), 0);
        let (small, thin) = labels.thinned(2);
        assert_eq!((small, thin.len(), thin[0], thin[1]), (Size::new(3, 2), 6, 0, 2));
    }

    #[test]
    fn a_mask_of_another_size_is_left_out() {
        let wrong = Rle::encode(&Mask::new(Size::new(3, 5), vec![1; 15]).unwrap());
        let labels = Labels::paint(Size::new(5, 3), [(1, &wrong)].into_iter());
        assert!(labels.columns.iter().all(|&l| l == 0));
    }
}
