//! F: how well the contours lie on each other, as the DAVIS benchmark has it.

use super::{MetricError, same_size};
use crate::base::{Mask, Size};

/// How far apart two contour pixels may lie and still match, as a fraction of the picture's diagonal.
const TOLERANCE: f64 = 0.008;

/// Contour accuracy F, 0 to 1: the harmonic mean of the share of predicted contour pixels that lie near a true one and
/// of true ones that lie near a predicted one. Near means within `ceil(0.008 * diagonal)` pixels. Two masks without
/// contour agree: 1.
///
/// # Errors
/// [`MetricError::Size`].
pub fn contour_accuracy(predicted: &Mask, truth: &Mask) -> Result<f64, MetricError> {
    same_size(predicted, truth)?;
    let size = truth.size();
    let radius = match_radius(size);
    let (ours, theirs) = (contour(predicted), contour(truth));
    if ours.is_empty() || theirs.is_empty() {
        // With one contour missing, one of precision and recall is 0 and so is their harmonic mean.
        return Ok(if ours.len() == theirs.len() { 1.0 } else { 0.0 });
    }
    let precision = share_within(&ours, &dilate(&theirs, size, radius), size);
    let recall = share_within(&theirs, &dilate(&ours, size, radius), size);
    let sum = precision + recall;
    Ok(if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum })
}

/// Distance in pixels within which contour pixels match.
fn match_radius(size: Size) -> u32 {
    let (width, height) = (f64::from(size.width), f64::from(size.height));
    (TOLERANCE * (width * width + height * height).sqrt()).ceil() as u32
}

/// The pixels (x, y) that differ from their neighbour to the right, below, or right below. On the last row only the
/// right neighbour counts, in the last column only the one below, and the last pixel never is contour.
fn contour(mask: &Mask) -> Vec<(u32, u32)> {
    let Size { width, height } = mask.size();
    let mut pixels = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let (right, below) = (x + 1 < width, y + 1 < height);
            let here = mask.get(x, y);
            let differs = (right && mask.get(x + 1, y) != here)
                || (below && mask.get(x, y + 1) != here)
                || (right && below && mask.get(x + 1, y + 1) != here);
            if differs {
                pixels.push((x, y));
            }
        }
    }
    pixels
}

/// Half the width of the matching ellipse in the row `dy` off its centre: the circle of `radius`, rounded to pixels.
fn half_width(radius: u32, dy: u32) -> u32 {
    let (r, dy) = (f64::from(radius), f64::from(dy));
    (r * r - dy * dy).max(0.0).sqrt().round() as u32
}

/// Which pixels lie under an ellipse of `radius` around one of `pixels`: one byte a pixel, row-major.
fn dilate(pixels: &[(u32, u32)], size: Size, radius: u32) -> Vec<bool> {
    let (width, height) = (size.width as usize, size.height as usize);
    let half: Vec<usize> = (0..=radius).map(|dy| half_width(radius, dy) as usize).collect();
    // Where runs begin (+1) and end (-1) in each row; their running sum is above 0 under some ellipse.
    let mut edges = vec![0i32; (width + 1) * height];
    for &(x, y) in pixels {
        let (x, y, radius) = (x as usize, y as usize, radius as usize);
        for row in y.saturating_sub(radius)..(y + radius + 1).min(height) {
            let reach = half[row.abs_diff(y)];
            edges[row * (width + 1) + x.saturating_sub(reach)] += 1;
            edges[row * (width + 1) + (x + reach + 1).min(width)] -= 1;
        }
    }
    let mut covered = Vec::with_capacity(width * height);
    for row in edges.chunks_exact(width + 1) {
        let mut depth = 0;
        covered.extend(row[..width].iter().map(|edge| {
            depth += edge;
            depth > 0
        }));
    }
    covered
}

fn share_within(pixels: &[(u32, u32)], covered: &[bool], size: Size) -> f64 {
    let inside = pixels.iter().filter(|&&(x, y)| covered[y as usize * size.width as usize + x as usize]);
    inside.count() as f64 / pixels.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(size: Size, x: std::ops::Range<u32>, y: std::ops::Range<u32>) -> Mask {
        let mut mask = Mask::empty(size);
        x.flat_map(|x| y.clone().map(move |y| (x, y))).for_each(|(x, y)| mask.set(x, y, true));
        mask
    }

    #[test]
    fn radius_grows_with_the_picture() {
        assert_eq!(match_radius(Size::new(854, 480)), 8);
        assert_eq!(match_radius(Size::new(800, 600)), 8);
        assert_eq!(match_radius(Size::new(1280, 720)), 12);
        assert_eq!(match_radius(Size::new(1, 1)), 1);
    }

    #[test]
    fn a_contour_lies_up_and_left_of_the_edge() {
        let mask = block(Size::new(5, 5), 2..4, 2..4);
        let expected = [(1, 1), (2, 1), (3, 1), (1, 2), (3, 2), (1, 3), (2, 3), (3, 3)];
        assert_eq!(contour(&mask), expected);
        // The picture's own border is no contour; the last pixel never is.
        assert!(contour(&block(Size::new(3, 3), 0..3, 0..3)).is_empty());
        assert_eq!(contour(&block(Size::new(2, 2), 1..2, 1..2)), [(0, 0), (1, 0), (0, 1)]);
    }

    #[test]
    fn missing_contours() {
        let size = Size::new(40, 30);
        let (nothing, some) = (Mask::empty(size), block(size, 5..9, 5..9));
        assert_eq!(contour_accuracy(&nothing, &nothing).unwrap(), 1.0);
        assert_eq!(contour_accuracy(&nothing, &some).unwrap(), 0.0);
        assert_eq!(contour_accuracy(&some, &nothing).unwrap(), 0.0);
        assert_eq!(contour_accuracy(&block(size, 0..40, 0..30), &nothing).unwrap(), 1.0);
        assert!(contour_accuracy(&some, &Mask::empty(Size::new(30, 40))).is_err());
    }

    #[test]
    fn shifts_within_the_radius_are_forgiven() {
        let size = Size::new(854, 480);
        let truth = block(size, 100..300, 100..300);
        let shifted = |by: u32| contour_accuracy(&block(size, 100 + by..300 + by, 100..300), &truth).unwrap();
        assert_eq!(shifted(8), 1.0);
        assert!(shifted(9) < 1.0 && shifted(9) > 0.5);
        assert_eq!(contour_accuracy(&block(size, 600..700, 100..300), &truth).unwrap(), 0.0);
    }

    proptest! {
        #[test]
        fn dilation_covers_what_lies_under_the_ellipse(
            pixels in prop::collection::vec((0u32..25, 0u32..17), 0..12), radius in 1u32..9,
        ) {
            let size = Size::new(25, 17);
            let covered = dilate(&pixels, size, radius);
            for (at, &c) in (0u32..).zip(&covered) {
                let (x, y) = (at % 25, at / 25);
                let near = pixels.iter().any(|&(px, py)| {
                    py.abs_diff(y) <= radius && px.abs_diff(x) <= half_width(radius, py.abs_diff(y))
                });
                prop_assert_eq!(c, near, "({}, {})", x, y);
            }
        }
    }
}
