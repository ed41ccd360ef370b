//! Where a patient user would click next: simulated corrections for evaluation.

use super::distance::squared_distance_to_border;
use super::{MetricError, same_size};
use crate::base::{Click, Label, Mask, Point, Size};

/// The click that corrects most: in the largest connected region where `predicted` is wrong, at the pixel farthest from
/// the region's border (the first in reading order when several are). Positive where the object was missed, negative
/// where something else was taken for it. `None` when nothing is wrong.
///
/// With an empty `predicted` it is the first click: the middle of the object's largest part. Of a missed and a false
/// region of equal size the missed one is chosen.
///
/// # Errors
/// [`MetricError::Size`].
pub fn next_click(predicted: &Mask, truth: &Mask) -> Result<Option<Click>, MetricError> {
    same_size(predicted, truth)?;
    let size = truth.size();
    let wrong = |want: u8| -> Vec<bool> {
        predicted.data().iter().zip(truth.data()).map(|(p, t)| p != t && *t == want).collect()
    };
    let (missed, false_alarm) = (largest_region(&wrong(1), size), largest_region(&wrong(0), size));
    let (region, label) = if missed.len() >= false_alarm.len() {
        (missed, Label::Positive)
    } else {
        (false_alarm, Label::Negative)
    };
    if region.is_empty() {
        return Ok(None);
    }
    let mut inside = vec![false; size.area()];
    region.iter().for_each(|&at| inside[at] = true);
    let distance = squared_distance_to_border(&inside, size);
    // max_by_key takes the last of equals; reversed, that is the first in reading order.
    let centre = (0..distance.len()).rev().max_by_key(|&at| distance[at]).unwrap_or(region[0]);
    let width = size.width as usize;
    let at = Point { x: (centre % width) as f32, y: (centre / width) as f32 };
    Ok(Some(Click { at, label }))
}

/// Pixels of the largest region of `set`, where pixels touch by a side or a corner; the first in reading order of equal
/// ones.
fn largest_region(set: &[bool], size: Size) -> Vec<usize> {
    let (width, height) = (size.width as usize, size.height as usize);
    let mut open = set.to_vec();
    let (mut largest, mut stack) = (Vec::new(), Vec::new());
    for start in 0..open.len() {
        if !std::mem::replace(&mut open[start], false) {
            continue;
        }
        let mut region = Vec::new();
        stack.push(start);
        while let Some(at) = stack.pop() {
            region.push(at);
            let (x, y) = (at % width, at / width);
            for v in y.saturating_sub(1)..(y + 2).min(height) {
                for u in x.saturating_sub(1)..(x + 2).min(width) {
                    if std::mem::replace(&mut open[v * width + u], false) {
                        stack.push(v * width + u);
                    }
                }
            }
        }
        if region.len() > largest.len() {
            largest = region;
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(mask: &mut Mask, x: std::ops::Range<u32>, y: std::ops::Range<u32>) {
        x.flat_map(|x| y.clone().map(move |y| (x, y))).for_each(|(x, y)| mask.set(x, y, true));
    }

    fn click(x: f32, y: f32, label: Label) -> Option<Click> {
        Some(Click { at: Point { x, y }, label })
    }

    #[test]
    fn clicks_the_middle_of_the_largest_fault() {
        let size = Size::new(40, 30);
        let (mut truth, mut predicted) = (Mask::empty(size), Mask::empty(size));
        assert_eq!(next_click(&predicted, &truth), Ok(None));
        block(&mut truth, 4..11, 5..12);
        assert_eq!(next_click(&predicted, &truth), Ok(click(7.0, 8.0, Label::Positive)));
        block(&mut predicted, 4..11, 5..12);
        assert_eq!(next_click(&predicted, &truth), Ok(None));
        block(&mut predicted, 20..29, 5..14);
        assert_eq!(next_click(&predicted, &truth), Ok(click(24.0, 9.0, Label::Negative)));
        predicted.set(7, 8, false);
        assert_eq!(next_click(&predicted, &truth), Ok(click(24.0, 9.0, Label::Negative)));
    }

    #[test]
    fn the_whole_picture_and_one_pixel() {
        let full = Mask::new(Size::new(5, 3), vec![1; 15]).unwrap();
        // Beyond the picture is outside: the middle row is farthest, its second pixel the first that far.
        assert_eq!(next_click(&Mask::empty(full.size()), &full), Ok(click(1.0, 1.0, Label::Positive)));
        let one = Mask::new(Size::new(1, 1), vec![1]).unwrap();
        assert_eq!(next_click(&Mask::empty(one.size()), &one), Ok(click(0.0, 0.0, Label::Positive)));
    }

    #[test]
    fn parts_are_not_added_up() {
        let size = Size::new(40, 30);
        let (mut truth, mut predicted) = (Mask::empty(size), Mask::empty(size));
        for i in 0..4 {
            block(&mut truth, i * 6..i * 6 + 4, 0..4);
        }
        block(&mut predicted, 30..35, 20..25);
        assert_eq!(next_click(&predicted, &truth), Ok(click(32.0, 22.0, Label::Negative)));
    }
}
