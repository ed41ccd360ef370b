//! Owns multi-head attention where queries or keys are few: the mask decoder's tokens and the image.
//! May import: nothing of this crate.
//! Must not: know tensors of a graph.

use std::ops::Range;

use super::attention::Rows;
use super::math;
use super::part::{Output, Part};
use super::simd::{Level, Simd, levels};

/// `softmax(q k / sqrt(d)) v` for each of `heads` heads side by side in rows of `width` floats, for this part of the queries.
///
/// # Panics
/// When lengths do not fit together, or a head is not a multiple of 16 floats.
pub fn heads_attention(
    level: Level,
    (heads, width): (usize, usize),
    [queries, keys, values]: [Rows<'_>; 3],
    output: Output<'_>,
    part: Part,
) {
    [queries, keys, values].iter().for_each(|rows| rows.check(width));
    assert!(level.usable_here(), "the processor can run it");
    assert!(
        width.is_multiple_of(heads * 16) && keys.count == values.count,
        "whole heads, a value for each key"
    );
    assert_eq!(output.len, queries.count * width, "room for the result");
    let range = part.of(queries.count, 1);
    let mut scores = vec![0f32; keys.count.next_multiple_of(16)];
    // SAFETY: the level and all lengths were checked; scores have room for all keys in whole vectors.
    unsafe { attend(level, (heads, width), [queries, keys, values], &mut scores, range, output.at) }
}

levels!(attend(
    shape: (usize, usize),
    rows: [Rows<'_>; 3],
    scores: &mut [f32],
    range: Range<usize>,
    out: *mut f32,
) => attend_body);

#[inline(always)]
unsafe fn attend_body<S: Simd, const R: usize>(
    s: S,
    (heads, width): (usize, usize),
    [queries, keys, values]: [Rows<'_>; 3],
    scores: &mut [f32],
    range: Range<usize>,
    out: *mut f32,
) {
    let depth = width / heads;
    let scale = 1.0 / (depth as f32).sqrt();
    for row in range {
        for head in 0..heads {
            // SAFETY: a head's floats are inside its row; scores have whole vectors; the output has this row.
            unsafe {
                let q = queries.data.as_ptr().add(row * queries.stride + head * depth);
                let mut most = f32::NEG_INFINITY;
                for (key, score) in scores.iter_mut().take(keys.count).enumerate() {
                    let k = keys.data.as_ptr().add(key * keys.stride + head * depth);
                    let mut sum = s.splat(0.0);
                    let mut i = 0;
                    while i < depth {
                        sum = s.fma(s.load(q.add(i)), s.load(k.add(i)), sum);
                        i += S::LANES;
                    }
                    *score = s.sum(sum) * scale;
                    most = most.max(*score);
                }
                scores[keys.count..].fill(f32::NEG_INFINITY);
                let mut total = s.splat(0.0);
                let mut i = 0;
                while i < scores.len() {
                    let weight = math::exp(s, s.sub(s.load(scores.as_ptr().add(i)), s.splat(most)));
                    s.store(scores.as_mut_ptr().add(i), weight);
                    total = s.add(total, weight);
                    i += S::LANES;
                }
                let share = s.splat(1.0 / s.sum(total));
                i = 0;
                while i < depth {
                    // Sums of 64 keys first: the error must not grow with the picture.
                    let mut sum = s.splat(0.0);
                    for (block, weights) in scores[..keys.count].chunks(64).enumerate() {
                        let mut some = s.splat(0.0);
                        for (key, &weight) in weights.iter().enumerate() {
                            let v = (block * 64 + key) * values.stride + head * depth + i;
                            some = s.fma(s.splat(weight), s.load(values.data.as_ptr().add(v)), some);
                        }
                        sum = s.add(sum, some);
                    }
                    s.store(out.add(row * width + head * depth + i), s.mul(sum, share));
                    i += S::LANES;
                }
            }
        }
    }
}
