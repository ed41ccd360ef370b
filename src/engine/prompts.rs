//! Owns the way from a person's prompts to what the prompt encoder's network parts eat: tokens and mask pictures.
//! May import: base, and positions and resample next door.
//! Must not: know ggml, or decide what is done with the answer.

use super::positions::fourier_pe;
use super::resample::resize_bilinear_antialias_f32;
use crate::base::{FramePrompts, Label, Mask, Point, Size};

/// The prompt encoder's learned vectors: a `(2, n)` Fourier matrix and five vectors of width `2 * n`.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptTable {
    gaussian: Vec<f32>,
    kinds: [Vec<f32>; 4],
    not_a_point: Vec<f32>,
}

/// What a token stands for; the number is the row of the label vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Negative = 0,
    Positive = 1,
    TopLeft = 2,
    BottomRight = 3,
}

/// Sparse prompt tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseTokens {
    /// `[width, count]`, channel-fastest.
    pub tokens: Vec<f32>,
    /// Number of tokens, the padding included.
    pub count: usize,
    /// Whether the decoder is asked for its three candidates: with at most one point (a box is two).
    pub multi: bool,
}

impl PromptTable {
    /// Takes the matrix (row-major, x first), the vectors of the labels 0 (negative), 1 (positive), 2 (top-left) and
    /// 3 (bottom-right), and the one for "not a point"; `None` when the lengths do not fit.
    pub fn new(gaussian: Vec<f32>, kinds: [Vec<f32>; 4], not_a_point: Vec<f32>) -> Option<Self> {
        let width = gaussian.len();
        let fits = width > 0
            && width.is_multiple_of(2)
            && not_a_point.len() == width
            && kinds.iter().all(|k| k.len() == width);
        fits.then_some(Self { gaussian, kinds, not_a_point })
    }

    /// Width of a token.
    pub fn width(&self) -> usize {
        self.not_a_point.len()
    }

    /// The Fourier matrix, for [`dense_pe`](super::positions::dense_pe).
    pub fn gaussian(&self) -> &[f32] {
        &self.gaussian
    }

    /// Tokens of clicks and a box on a picture of `picture` pixels that the network sees as `side` x `side`: first the
    /// box's corners, then the clicks, then one "not a point". The mask is no token: with a mask prompt this is
    /// [`Self::none`] for one mask.
    ///
    /// The coordinates take the official steps in f32: divided by the picture's size, times `side`, plus half a pixel,
    /// divided by `side`.
    pub fn sparse(&self, prompts: &FramePrompts, picture: Size, side: u32) -> SparseTokens {
        let corners = prompts.bounds.iter().flat_map(|b| {
            [(Point { x: b.x0, y: b.y0 }, Kind::TopLeft), (Point { x: b.x1, y: b.y1 }, Kind::BottomRight)]
        });
        let clicks = prompts.clicks.iter().map(|click| {
            let kind = if click.label == Label::Positive { Kind::Positive } else { Kind::Negative };
            (click.at, kind)
        });
        let points: Vec<_> = corners.chain(clicks).collect();
        if points.is_empty() {
            return self.none(prompts.mask.is_none());
        }
        let side = side as f32;
        let place = |at: f32, length: u32| (at / length as f32 * side + 0.5) / side;
        let width = self.width();
        let mut tokens = vec![0.0; width * (points.len() + 1)];
        for (token, (at, kind)) in tokens.chunks_exact_mut(width).zip(&points) {
            fourier_pe(&self.gaussian, place(at.x, picture.width), place(at.y, picture.height), token);
            for (value, label) in token.iter_mut().zip(&self.kinds[*kind as usize]) {
                *value += label;
            }
        }
        tokens[width * points.len()..].copy_from_slice(&self.not_a_point);
        SparseTokens { tokens, count: points.len() + 1, multi: points.len() <= 1 }
    }

    /// Tokens when nothing was said: two of "not a point" (an empty point and the padding). One token instead of two is
    /// another softmax, hence another result. `multi` when tracking, not for the pointer of a mask prompt.
    pub fn none(&self, multi: bool) -> SparseTokens {
        SparseTokens { tokens: [self.not_a_point.as_slice(), &self.not_a_point].concat(), count: 2, multi }
    }
}

/// A mask prompt as the network sees it: `side` x `side` values of 0 or 1, row-major. Resized with antialiasing and cut
/// at 0.5, unless it has that size already.
pub fn mask_picture(mask: &Mask, side: u32) -> Vec<f32> {
    let values: Vec<f32> = mask.data().iter().map(|&v| f32::from(v)).collect();
    let target = Size::new(side, side);
    if mask.size() == target {
        return values;
    }
    let mut resized = resize_bilinear_antialias_f32(&values, mask.size(), target);
    resized.iter_mut().for_each(|v| *v = f32::from(u8::from(*v >= 0.5)));
    resized
}

/// Low-resolution logits of a mask that is taken as the answer: +10 and -10, reduced to a quarter with antialiasing.
/// `picture` is what [`mask_picture`] gave; the result has `side / 4` squared values.
pub fn mask_as_logits(picture: &[f32], side: u32) -> Vec<f32> {
    let high: Vec<f32> = picture.iter().map(|m| m * 20.0 - 10.0).collect();
    resize_bilinear_antialias_f32(&high, Size::new(side, side), Size::new(side / 4, side / 4))
}

/// Previous low-resolution logits as a dense prompt: clamped to -32..=32.
pub fn previous_as_prompt(logits: &[f32], out: &mut Vec<f32>) {
    out.clear();
    out.extend(logits.iter().map(|v| v.clamp(-32.0, 32.0)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{BoxXyxy, Click, Rle};

    fn table() -> PromptTable {
        let kinds = [10.0, 20.0, 30.0, 40.0].map(|v| vec![v; 4]);
        PromptTable::new(vec![0.5, -1.0, 0.25, 2.0], kinds, vec![-7.0, -8.0, -9.0, -10.0]).unwrap()
    }

    fn click(x: f32, y: f32, label: Label) -> Click {
        Click { at: Point { x, y }, label }
    }

    #[test]
    fn corners_come_before_clicks_and_padding_last() {
        let prompts = FramePrompts {
            clicks: vec![click(3.0, 4.0, Label::Negative), click(8.0, 1.0, Label::Positive)],
            bounds: Some(BoxXyxy { x0: 1.0, y0: 2.0, x1: 9.0, y1: 6.0 }),
            mask: None,
        };
        let sparse = table().sparse(&prompts, Size::new(10, 8), 64);
        assert_eq!((sparse.count, sparse.tokens.len(), sparse.multi), (5, 20, false));
        // Sines and cosines are at most 1, so the label shows in the tens.
        let labels: Vec<f32> = sparse.tokens.chunks(4).map(|t| (t[2] / 10.0).round()).collect();
        assert_eq!(labels, [3.0, 4.0, 1.0, 2.0, -1.0]);
        assert_eq!(sparse.tokens[16..], [-7.0, -8.0, -9.0, -10.0]);
        let mut expected = [0.0; 4];
        fourier_pe(
            &[0.5, -1.0, 0.25, 2.0],
            (0.3 * 64.0 + 0.5) / 64.0,
            (0.5 * 64.0 + 0.5) / 64.0,
            &mut expected,
        );
        for (found, wanted) in sparse.tokens[8..12].iter().zip(expected) {
            assert!((found - 10.0 - wanted).abs() < 2e-6);
        }
    }

    #[test]
    fn up_to_one_point_asks_for_candidates() {
        let table = table();
        let size = Size::new(10, 8);
        let mut prompts =
            FramePrompts { clicks: vec![click(1.0, 1.0, Label::Positive)], ..Default::default() };
        assert!(table.sparse(&prompts, size, 64).multi);
        prompts.clicks.push(click(2.0, 2.0, Label::Positive));
        assert!(!table.sparse(&prompts, size, 64).multi);
        let bounds = Some(BoxXyxy { x0: 0.0, y0: 0.0, x1: 10.0, y1: 8.0 });
        assert!(!table.sparse(&FramePrompts { bounds, ..Default::default() }, size, 64).multi);
    }

    #[test]
    fn nothing_is_two_tokens() {
        let table = table();
        let nothing = table.sparse(&FramePrompts::default(), Size::new(10, 8), 64);
        assert_eq!(nothing, table.none(true));
        assert_eq!(nothing.count, 2);
        assert_eq!(nothing.tokens[..4], nothing.tokens[4..]);
        let mask = FramePrompts { mask: Some(Rle::empty(Size::new(10, 8))), ..Default::default() };
        assert_eq!(table.sparse(&mask, Size::new(10, 8), 64), table.none(false));
    }

    #[test]
    fn unfitting_vectors_are_refused() {
        let kinds = || [(); 4].map(|()| vec![0.0; 4]);
        assert!(PromptTable::new(vec![0.0; 4], kinds(), vec![0.0; 3]).is_none());
        assert!(PromptTable::new(vec![0.0; 6], kinds(), vec![0.0; 4]).is_none());
        assert!(PromptTable::new(vec![], [(); 4].map(|()| vec![]), vec![]).is_none());
    }

    #[test]
    fn masks_are_cut_at_one_half() {
        let mut mask = Mask::empty(Size::new(2, 2));
        mask.set(1, 0, true);
        let picture = mask_picture(&mask, 8);
        assert!(picture.iter().all(|&v| v == 0.0 || v == 1.0));
        assert_eq!((picture[7], picture[0], picture[63]), (1.0, 0.0, 0.0));
        assert_eq!(mask_picture(&mask, 2), [0.0, 1.0, 0.0, 0.0]);
        let low = mask_as_logits(&[1.0; 64], 8);
        assert_eq!(low.len(), 4);
        assert!(low.iter().all(|v| (v - 10.0).abs() < 1e-5));
    }

    #[test]
    fn previous_logits_are_clamped() {
        let mut out = vec![1.0];
        previous_as_prompt(&[-1024.0, 0.5, 40.0], &mut out);
        assert_eq!(out, [-32.0, 0.5, 32.0]);
    }
}
