//! The metrics against values computed apart, with NumPy and SciPy: true ellipses and what a tracker may make of them.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use masklet::base::{Click, FrameIndex, Label, Mask, Point, Size};
use masklet::metrics::{Evaluation, SequenceMeter, contour_accuracy, next_click, region_similarity};
use proptest::prelude::*;

/// An ellipse around (x, y) with half axes a, b: (x, y, a, b) in pixels.
type Ellipse = (i64, i64, i64, i64);

/// The click's x and y, and whether it is positive.
type Clicked = Option<(f32, f32, bool)>;

/// Picture (width, height), true ellipse, predicted ellipse, J, F, next click.
type Case = ((u32, u32), Ellipse, Ellipse, f64, f64, Clicked);

/// F dilates by OpenCV's ellipse of `ceil(0.008 * diagonal)`; the click is the first pixel, in reading order, farthest
/// from the border of the largest 8-connected region.
const CASES: [Case; 7] = [
    (
        (854, 480),
        (400, 240, 150, 90),
        (410, 236, 140, 95),
        0.893088552916,
        0.672763603832,
        Some((261.0, 249.0, true)),
    ),
    ((854, 480), (400, 240, 150, 90), (400, 240, 150, 90), 1.000000000000, 1.000000000000, None),
    (
        (854, 480),
        (0, 0, 150, 90),
        (20, 6, 150, 90),
        0.791651274474,
        0.174380201682,
        Some((159.0, 13.0, false)),
    ),
    (
        (320, 240),
        (160, 120, 60, 40),
        (170, 131, 52, 44),
        0.656158522855,
        0.253756092659,
        Some((112.0, 112.0, true)),
    ),
    (
        (1280, 720),
        (900, 300, 200, 280),
        (915, 310, 190, 260),
        0.865097517830,
        0.430516949776,
        Some((827.0, 59.0, true)),
    ),
    ((64, 36), (30, 18, 12, 9), (33, 16, 10, 10), 0.636363636364, 0.400943396226, Some((21.0, 19.0, true))),
    (
        (200, 100),
        (195, 95, 40, 30),
        (190, 90, 50, 20),
        0.715341959335,
        0.197372441185,
        Some((148.0, 90.0, false)),
    ),
];

fn ellipse((width, height): (u32, u32), (cx, cy, a, b): Ellipse) -> Mask {
    let inside = |x: i64, y: i64| (x - cx).pow(2) * b * b + (y - cy).pow(2) * a * a <= a * a * b * b;
    let pixels =
        (0..i64::from(height)).flat_map(|y| (0..i64::from(width)).map(move |x| u8::from(inside(x, y))));
    Mask::new(Size::new(width, height), pixels.collect()).unwrap()
}

#[test]
fn values_computed_apart() {
    for (size, truth, predicted, j, f, click) in CASES {
        let (truth, predicted) = (ellipse(size, truth), ellipse(size, predicted));
        assert!((region_similarity(&predicted, &truth).unwrap() - j).abs() < 1e-11, "J of {size:?}");
        assert!((contour_accuracy(&predicted, &truth).unwrap() - f).abs() < 1e-11, "F of {size:?}");
        let expected = click.map(|(x, y, positive)| Click {
            at: Point { x, y },
            label: if positive { Label::Positive } else { Label::Negative },
        });
        assert_eq!(next_click(&predicted, &truth).unwrap(), expected, "{size:?}");
    }
}

#[test]
fn means_leave_frame_zero_out_and_count_sequences_alike() {
    let score = |cases: &[Case]| {
        let mut meter = SequenceMeter::new("s");
        for (frame, (size, truth, predicted, ..)) in (0..).zip(cases) {
            meter.add(FrameIndex(frame), &ellipse(*size, *predicted), &ellipse(*size, *truth)).unwrap();
        }
        meter.finish().unwrap()
    };
    let evaluation = Evaluation::new(vec![score(&CASES[3..6]), score(&CASES[..2])]).unwrap();
    let j = [(CASES[4].3 + CASES[5].3) / 2.0, CASES[1].3];
    assert!((evaluation.sequences[0].score.j - j[0]).abs() < 1e-11);
    assert!((evaluation.mean.j - (j[0] + j[1]) / 2.0).abs() < 1e-11);
    assert!((evaluation.mean.jf - (evaluation.mean.j + evaluation.mean.f) / 2.0).abs() < 1e-15);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A click always lies on a wrong pixel of its kind, and following the clicks with whole regions mends the mask.
    #[test]
    fn clicks_lie_on_errors(width in 1u32..16, height in 1u32..16, a in any::<u64>(), b in any::<u64>()) {
        let size = Size::new(width, height);
        let draw = |seed: u64| {
            let pixel = |i: u64| u8::from((i / 4 + 1).wrapping_mul(seed | 1).count_ones().is_multiple_of(2));
            Mask::new(size, (0..size.area() as u64).map(pixel).collect()).unwrap()
        };
        let (predicted, truth) = (draw(a), draw(b));
        for mask in [&predicted, &truth] {
            prop_assert_eq!(region_similarity(mask, mask), Ok(1.0));
            prop_assert_eq!(contour_accuracy(mask, mask), Ok(1.0));
        }
        let f = contour_accuracy(&predicted, &truth).unwrap();
        prop_assert!((0.0..=1.0).contains(&f));
        prop_assert_eq!(contour_accuracy(&truth, &predicted), Ok(f));
        match next_click(&predicted, &truth).unwrap() {
            None => prop_assert_eq!(predicted, truth),
            Some(click) => {
                let (x, y) = (click.at.x as u32, click.at.y as u32);
                prop_assert_eq!(truth.get(x, y), click.label == Label::Positive);
                prop_assert_ne!(predicted.get(x, y), truth.get(x, y));
            }
        }
    }
}
