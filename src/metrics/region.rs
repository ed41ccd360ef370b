//! J: how much of the region is right.

use super::{MetricError, same_size};
use crate::base::Mask;

/// Region similarity J, 0 to 1: pixels in both masks divided by pixels in either (intersection over union). Two empty
/// masks agree: 1.
///
/// # Errors
/// [`MetricError::Size`].
pub fn region_similarity(predicted: &Mask, truth: &Mask) -> Result<f64, MetricError> {
    same_size(predicted, truth)?;
    let (mut both, mut either) = (0u64, 0u64);
    for (&a, &b) in predicted.data().iter().zip(truth.data()) {
        both += u64::from(a & b);
        either += u64::from(a | b);
    }
    Ok(if either == 0 { 1.0 } else { both as f64 / either as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Size;

    fn mask(bits: &[u8]) -> Mask {
        Mask::new(Size::new(bits.len() as u32, 1), bits.to_vec()).unwrap()
    }

    #[test]
    fn counts_pixels() {
        assert_eq!(region_similarity(&mask(&[1, 1, 0, 0]), &mask(&[0, 1, 1, 0])).unwrap(), 1.0 / 3.0);
        assert_eq!(region_similarity(&mask(&[0, 0]), &mask(&[0, 0])).unwrap(), 1.0);
        assert_eq!(region_similarity(&mask(&[0, 1]), &mask(&[0, 0])).unwrap(), 0.0);
        assert!(matches!(region_similarity(&mask(&[0]), &mask(&[0, 0])), Err(MetricError::Size { .. })));
    }
}
