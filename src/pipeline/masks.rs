//! From the network's low-resolution logits to a mask of the picture's size.

use super::hop::ObjectMask;
use crate::base::{Logits, Mask, Rle, Size};
use crate::engine::ObjectOutput;

/// The picture-sized mask of `output`: logits resized bilinearly (pixel centres aligned at halves), above 0.
pub(super) fn object_mask(output: &ObjectOutput, size: Size) -> ObjectMask {
    let mask = Rle::encode(&upsampled(&output.logits, size));
    ObjectMask { object: output.object, mask, score: output.score, iou: output.iou }
}

/// Left neighbour, right neighbour and the weight of the right one for each of `to` places over `from` values.
fn taps(from: u32, to: u32) -> Vec<(usize, usize, f32)> {
    let scale = from as f32 / to as f32;
    let last = from.saturating_sub(1) as usize;
    (0..to)
        .map(|i| {
            let at = (scale * (i as f32 + 0.5) - 0.5).max(0.0);
            let left = (at as usize).min(last);
            (left, (left + 1).min(last), at - left as f32)
        })
        .collect()
}

/// The pixels of a picture of `size` where the resized logits are above 0.
pub(super) fn upsampled(logits: &Logits, size: Size) -> Mask {
    let (columns, rows) = (taps(logits.width, size.width), taps(logits.height, size.height));
    let width = logits.width as usize;
    let mut line = vec![0f32; width];
    let mut data = Vec::with_capacity(size.area());
    for &(top, bottom, down) in &rows {
        let (above, below) = (&logits.data[top * width..][..width], &logits.data[bottom * width..][..width]);
        for ((value, a), b) in line.iter_mut().zip(above).zip(below) {
            *value = a * (1.0 - down) + b * down;
        }
        data.extend(columns.iter().map(|&(l, r, w)| u8::from(line[l] * (1.0 - w) + line[r] * w > 0.0)));
    }
    Mask::new(size, data).unwrap_or_else(|| Mask::empty(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_stay_halves() {
        let mut logits = Logits::constant(4, 4, -1.0);
        for (i, value) in logits.data.iter_mut().enumerate() {
            *value = if i % 4 < 2 { 1.0 } else { -1.0 };
        }
        let mask = upsampled(&logits, Size::new(40, 6));
        assert_eq!(mask.area(), 20 * 6);
        assert!(mask.get(19, 0) && !mask.get(20, 5));
    }

    #[test]
    fn any_size_works() {
        for (width, height) in [(1, 1), (8200, 1), (3, 700)] {
            let mask = upsampled(&Logits::constant(64, 64, 1.0), Size::new(width, height));
            assert_eq!(mask.area(), u64::from(width) * u64::from(height));
        }
    }
}
