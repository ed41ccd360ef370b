//! Run lengths row by row, as CVAT and Label Studio have them: starting with the zeros.

use crate::base::{Mask, Rle, Size};

/// The runs of the part `[left, top, width, height]` of `mask`, row by row, first the zeros.
pub fn row_runs(mask: &Mask, [left, top, width, height]: [u32; 4]) -> Vec<u32> {
    let (mut runs, mut run, mut value) = (Vec::new(), 0u32, false);
    for (x, y) in (top..top + height).flat_map(|y| (left..left + width).map(move |x| (x, y))) {
        let pixel = mask.get(x, y);
        if pixel != value {
            runs.push(run);
            (run, value) = (0, pixel);
        }
        run += 1;
    }
    runs.push(run);
    runs
}

/// The mask of `size` that has `runs` in its part `[left, top, width, height]` and nothing elsewhere.
///
/// # Errors
/// In words: a part that leaves the picture, runs that do not add up to it.
pub fn from_row_runs(size: Size, bounds: [u32; 4], runs: &[u32]) -> Result<Rle, String> {
    let [left, top, width, height] = bounds;
    let fits = |start: u32, length: u32, most: u32| start.checked_add(length).is_some_and(|end| end <= most);
    if width == 0 || height == 0 || !fits(left, width, size.width) || !fits(top, height, size.height) {
        return Err(format!("the box {bounds:?} does not lie in the picture of {size}"));
    }
    let sum: u64 = runs.iter().map(|&run| u64::from(run)).sum();
    let area = u64::from(width) * u64::from(height);
    if sum != area {
        return Err(format!("the runs add up to {sum} pixels but the box has {area}"));
    }
    let mut mask = Mask::empty(size);
    let mut at = 0u64;
    for (i, &run) in runs.iter().enumerate() {
        if i % 2 == 1 {
            for place in at..at + u64::from(run) {
                let (x, y) = (place % u64::from(width), place / u64::from(width));
                mask.set(left + x as u32, top + y as u32, true);
            }
        }
        at += u64::from(run);
    }
    Ok(Rle::encode(&mask))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn golden_vector() {
        // The ring of 3 x 3 with its hole, in its box (2, 1): rows 111 101 111.
        let ring = Rle::from_coco_text(Size::new(7, 5), ";32NO0129").unwrap();
        assert_eq!(row_runs(&ring.decode(), [2, 1, 3, 3]), [0, 4, 1, 4]);
        assert_eq!(from_row_runs(Size::new(7, 5), [2, 1, 3, 3], &[0, 4, 1, 4]), Ok(ring));
        assert!(from_row_runs(Size::new(7, 5), [5, 1, 3, 3], &[0, 4, 1, 4]).is_err());
        assert!(from_row_runs(Size::new(7, 5), [2, 1, 3, 3], &[0, 4, 1, 5]).is_err());
        assert!(from_row_runs(Size::new(7, 5), [u32::MAX, 1, 3, 3], &[9]).is_err());
    }

    proptest! {
        #[test]
        fn there_and_back(width in 1u32..20, height in 1u32..20, seed in any::<u64>()) {
            let size = Size::new(width, height);
            let data = (0..size.area() as u64).map(|i| u8::from((seed ^ (i / 2)).wrapping_mul(0x9e37_79b9_7f4a).count_ones() % 3 == 0)).collect();
            let mask = Rle::encode(&Mask::new(size, data).expect("the size's length"));
            let bounds = mask.bounding_box().unwrap_or([0, 0, width, height]);
            let runs = row_runs(&mask.decode(), bounds);
            prop_assert_eq!(from_row_runs(size, bounds, &runs), Ok(mask));
        }
    }
}
