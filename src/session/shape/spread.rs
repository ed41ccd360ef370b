//! Growing and shrinking by a distance, with exact round corners.

use super::inverted;
use crate::base::Mask;

/// Adds every pixel whose distance to the mask is at most `by`.
pub(super) fn grow(mask: &Mask, by: u32) -> Mask {
    let size = mask.size();
    let (width, height) = (size.width as usize, size.height as usize);
    let far = u32::MAX;
    // Distance to the nearest set pixel of the column, downwards and upwards.
    let mut column = vec![far; width * height];
    for x in 0..width {
        let mut distance = far;
        for y in 0..height {
            distance = if mask.data()[y * width + x] != 0 { 0 } else { distance.saturating_add(1) };
            column[y * width + x] = distance;
        }
        distance = far;
        for y in (0..height).rev() {
            let here = &mut column[y * width + x];
            distance = distance.saturating_add(1).min(*here);
            *here = distance;
        }
    }
    // A pixel is within reach when some column to its side is near enough: dx^2 + dy^2 <= by^2.
    let reach = u64::from(by).pow(2);
    let mut data = vec![0u8; width * height];
    for y in 0..height {
        let row = y * width;
        for x in 0..width {
            let distance = u64::from(column[row + x]);
            if distance > u64::from(by) {
                continue;
            }
            // The row's pixels that this column reaches.
            let across = (reach - distance * distance).isqrt() as usize;
            let (from, to) = (x.saturating_sub(across), (x + across + 1).min(width));
            data[row + from..row + to].fill(1);
        }
    }
    Mask::new(size, data).expect("the size is the same")
}

/// Takes away every pixel whose distance to the outside, which does not count beyond the picture, is at most `by`.
pub(super) fn shrink(mask: &Mask, by: u32) -> Mask {
    inverted(&grow(&inverted(mask), by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Size;
    use proptest::prelude::*;

    #[test]
    fn a_dot_grows_to_a_disc() {
        let mut mask = Mask::empty(Size::new(9, 9));
        mask.set(4, 4, true);
        assert_eq!([0, 1, 2, 100].map(|by| grow(&mask, by).area()), [1, 5, 13, 81]);
        assert_eq!(shrink(&grow(&mask, 2), 2), mask);
        assert_eq!(grow(&Mask::empty(Size::new(4, 4)), 3).area(), 0);
    }

    proptest! {
        #[test]
        fn equals_the_definition(width in 1u32..14, height in 1u32..14, seed in any::<u64>(), by in 0u32..6) {
            let size = Size::new(width, height);
            let mut mask = Mask::empty(size);
            for i in 0..width * height {
                let on = (seed ^ u64::from(i)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61 == 0;
                mask.set(i % width, i / width, on);
            }
            let grown = grow(&mask, by);
            for (x, y) in (0..width).flat_map(|x| (0..height).map(move |y| (x, y))) {
                let near = (0..width).flat_map(|x| (0..height).map(move |y| (x, y))).any(|(u, v)| {
                    mask.get(u, v) && u.abs_diff(x).pow(2) + v.abs_diff(y).pow(2) <= by * by
                });
                prop_assert_eq!(grown.get(x, y), near);
            }
        }
    }
}
