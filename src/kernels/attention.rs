//! Owns single-head attention: blocks of queries against blocks of keys, with scores that never leave the cache.
//! May import: nothing of this crate.
//! Must not: know tensors of a graph.

use super::linear::{PANEL, tile};
use super::math;
use super::part::{Output, Part};
use super::simd::{Level, Simd, levels};

/// Queries and keys of a block.
const BLOCK: usize = 128;

/// Rows of floats that may have a gap between them.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// The floats.
    pub data: &'a [f32],
    /// From row to row.
    pub stride: usize,
    /// How many.
    pub count: usize,
}

impl Rows<'_> {
    pub(super) fn check(&self, width: usize) {
        assert!(
            self.count > 0 && self.data.len() >= (self.count - 1) * self.stride + width,
            "rows inside their slice"
        );
    }
}

/// Floats that [`pack_keys`] writes for `count` keys.
pub fn packed_keys(count: usize, width: usize) -> usize {
    count.next_multiple_of(PANEL) * width
}

/// Packs keys as panels `[count / 32][width][32]`, zeros where they end.
///
/// # Panics
/// When lengths do not fit together.
pub fn pack_keys(keys: Rows<'_>, width: usize, output: Output<'_>, part: Part) {
    keys.check(width);
    assert_eq!(output.len, packed_keys(keys.count, width), "room for the panels");
    for panel in part.of(keys.count.div_ceil(PANEL), 1) {
        for key in 0..PANEL {
            let row = panel * PANEL + key;
            let source = (row < keys.count).then(|| &keys.data[row * keys.stride..][..width]);
            for i in 0..width {
                // SAFETY: panels of this part, inside the output.
                unsafe {
                    let at = output.at.add((panel * width + i) * PANEL + key);
                    at.write(source.map_or(0.0, |source| source[i]));
                }
            }
        }
    }
}

/// Packs values as panels `[width / 32][count][32]`.
///
/// # Panics
/// When lengths do not fit together, or `width` is not a multiple of 32.
pub fn pack_values(values: Rows<'_>, width: usize, output: Output<'_>, part: Part) {
    values.check(width);
    assert!(width.is_multiple_of(PANEL) && output.len == values.count * width, "room for the panels");
    for row in part.of(values.count, 1) {
        for (panel, piece) in values.data[row * values.stride..][..width].chunks_exact(PANEL).enumerate() {
            // SAFETY: rows of this part, inside the output.
            unsafe {
                let at = output.at.add((panel * values.count + row) * PANEL);
                std::ptr::copy_nonoverlapping(piece.as_ptr(), at, PANEL);
            }
        }
    }
}

/// `softmax(q k / sqrt(width)) v` for this part of the queries; `keys` and `values` are packed, `count` of them.
///
/// # Panics
/// When lengths do not fit together, or `width` is not a multiple of 32.
pub fn attention(
    level: Level,
    width: usize,
    queries: Rows<'_>,
    (keys, values, count): (&[f32], &[f32], usize),
    output: Output<'_>,
    part: Part,
) {
    queries.check(width);
    assert!(level.usable_here(), "the processor can run it");
    assert!(width.is_multiple_of(PANEL) && count > 0, "whole panels");
    assert!(
        keys.len() == packed_keys(count, width) && values.len() == count * width,
        "keys and values for each other"
    );
    assert_eq!(output.len, queries.count * width, "room for the result");
    let range = part.of(queries.count, 8);
    let mut scratch = vec![0f32; BLOCK * width + BLOCK * BLOCK + BLOCK * width];
    let mut first = range.start;
    while first < range.end {
        let number = BLOCK.min(range.end - first);
        let block = Rows { data: &queries.data[first * queries.stride..], count: number, ..queries };
        // SAFETY: the level and all lengths were checked; the output has room for these rows.
        unsafe {
            attend(level, width, block, (keys, values, count), &mut scratch, output.at.add(first * width))
        };
        first += number;
    }
}

levels!(attend(
    width: usize,
    queries: Rows<'_>,
    memory: (&[f32], &[f32], usize),
    scratch: &mut [f32],
    out: *mut f32,
) => attend_body);

#[inline(always)]
unsafe fn attend_body<S: Simd, const R: usize>(
    s: S,
    width: usize,
    queries: Rows<'_>,
    (keys, values, count): (&[f32], &[f32], usize),
    scratch: &mut [f32],
    out: *mut f32,
) {
    let (scaled, rest) = scratch.split_at_mut(BLOCK * width);
    let (scores, sums) = rest.split_at_mut(BLOCK * BLOCK);
    let number = queries.count;
    let scale = 1.0 / (width as f32).sqrt();
    for (row, target) in scaled.chunks_exact_mut(width).take(number).enumerate() {
        for (target, &q) in target.iter_mut().zip(&queries.data[row * queries.stride..]) {
            *target = q * scale;
        }
    }
    sums.fill(0.0);
    let (mut largest, mut totals) = ([f32::NEG_INFINITY; BLOCK], [0f32; BLOCK]);
    let mut key = 0;
    while key < count {
        let valid = BLOCK.min(count - key);
        // SAFETY: blocks of keys start at whole panels; scratch holds a block of each; all rows are below `number`.
        unsafe {
            let mut column = 0;
            while column < valid {
                let at = keys.as_ptr().add((key + column) / PANEL * PANEL * width + column % PANEL);
                multiply::<S, R>(
                    s,
                    (scaled.as_ptr(), width),
                    number,
                    width,
                    at,
                    (scores.as_mut_ptr().add(column), BLOCK),
                    false,
                );
                column += 2 * S::LANES;
            }
            for row in 0..number {
                let scores = &mut scores[row * BLOCK..][..valid.next_multiple_of(16)];
                scores[valid..].fill(f32::NEG_INFINITY);
                let mut most = s.splat(largest[row]);
                let mut i = 0;
                while i < scores.len() {
                    most = s.max(most, s.load(scores.as_ptr().add(i)));
                    i += S::LANES;
                }
                let most = s.largest(most);
                let mut total = s.splat(0.0);
                i = 0;
                while i < scores.len() {
                    let weight = math::exp(s, s.sub(s.load(scores.as_ptr().add(i)), s.splat(most)));
                    s.store(scores.as_mut_ptr().add(i), weight);
                    total = s.add(total, weight);
                    i += S::LANES;
                }
                if most > largest[row] {
                    let shrink = (largest[row] - most).exp();
                    totals[row] *= shrink;
                    sums[row * width..][..width].iter_mut().for_each(|x| *x *= shrink);
                    largest[row] = most;
                }
                totals[row] += s.sum(total);
            }
            let mut column = 0;
            while column < width {
                let at = values.as_ptr().add((column / PANEL * count + key) * PANEL + column % PANEL);
                multiply::<S, R>(
                    s,
                    (scores.as_ptr(), BLOCK),
                    number,
                    valid,
                    at,
                    (sums.as_mut_ptr().add(column), width),
                    true,
                );
                column += 2 * S::LANES;
            }
        }
        key += valid;
    }
    for row in 0..number {
        let share = 1.0 / totals[row];
        for (i, &sum) in sums[row * width..][..width].iter().enumerate() {
            // SAFETY: the output has room for `number` rows.
            unsafe { out.add(row * width + i).write(sum * share) };
        }
    }
}

/// Two vectors of columns of the product of `number` rows with a panel, written or added.
///
/// # Safety
/// Rows, panel and target must have the memory that the numbers say.
#[inline(always)]
unsafe fn multiply<S: Simd, const R: usize>(
    s: S,
    (rows, stride): (*const f32, usize),
    number: usize,
    depth: usize,
    panel: *const f32,
    (target, step): (*mut f32, usize),
    add: bool,
) {
    let mut row = 0;
    while row < number {
        let mut starts = [rows; R];
        for (r, start) in starts.iter_mut().enumerate() {
            // SAFETY: rows past the end repeat the last one.
            *start = unsafe { rows.add((row + r).min(number - 1) * stride) };
        }
        // SAFETY: the caller's.
        let sums = unsafe { tile::<S, R, 2>(s, starts, depth, panel) };
        for (r, sums) in sums.iter().enumerate() {
            if row + r >= number {
                break;
            }
            for (j, &sum) in sums.iter().enumerate() {
                // SAFETY: the caller's.
                unsafe {
                    let at = target.add((row + r) * step + j * S::LANES);
                    s.store(at, if add { s.add(s.load(at), sum) } else { sum });
                }
            }
        }
        row += R;
    }
}
