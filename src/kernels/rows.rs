//! Owns the small passes over channel-fastest rows: normalisation, gates, means over a map.
//! May import: nothing of this crate.
//! Must not: know tensors of a graph.

use super::math;
use super::part::{Output, Part};
use super::simd::{Level, Simd, levels};

/// Normalisation of each row: zero mean, unit (biased) variance, then weight and bias.
#[derive(Clone, Copy)]
pub struct Norm<'a> {
    /// One for each channel.
    pub weight: &'a [f32],
    /// One for each channel.
    pub bias: &'a [f32],
    /// Added to the variance.
    pub eps: f32,
    /// Whether GELU follows.
    pub gelu: bool,
}

/// Normalises this part of the rows of `input`.
///
/// # Panics
/// When lengths do not fit together.
pub fn norm(level: Level, layer: &Norm<'_>, input: &[f32], output: Output<'_>, part: Part) {
    let channels = layer.weight.len();
    assert!(level.usable_here(), "the processor can run it");
    assert!(layer.bias.len() == channels && input.len().is_multiple_of(channels), "whole rows");
    assert_eq!(output.len, input.len(), "room for the result");
    let rows = part.of(input.len() / channels, 16);
    // SAFETY: the level and all lengths were checked.
    unsafe { norm_rows(level, layer, input, rows.start, rows.end, output.at) }
}

levels!(norm_rows(layer: &Norm<'_>, input: &[f32], from: usize, to: usize, out: *mut f32) => norm_body);

#[inline(always)]
unsafe fn norm_body<S: Simd, const R: usize>(
    s: S,
    layer: &Norm<'_>,
    input: &[f32],
    from: usize,
    to: usize,
    out: *mut f32,
) {
    let channels = layer.weight.len();
    if channels < S::LANES {
        // SAFETY: as for this function.
        return unsafe { norm_narrow(s, layer, input, from, to, out) };
    }
    for row in from..to {
        // SAFETY: rows are inside input and output; each access has `count` floats or stays below `channels`.
        unsafe {
            let (source, target) = (input.as_ptr().add(row * channels), out.add(row * channels));
            let mut sum = s.splat(0.0);
            let mut c = 0;
            while c < channels {
                sum = s.add(sum, s.load_some(source.add(c), channels - c));
                c += S::LANES;
            }
            let mean = s.sum(sum) / channels as f32;
            let mut squares = s.splat(0.0);
            c = 0;
            while c < channels {
                let count = channels - c;
                // Lanes past the end must stay zero: subtract a vector that is the mean in valid lanes only.
                let apart = if count >= S::LANES {
                    s.sub(s.load(source.add(c)), s.splat(mean))
                } else {
                    let mut lanes = s.lanes(s.load_some(source.add(c), count));
                    lanes[..count].iter_mut().for_each(|x| *x -= mean);
                    s.load(lanes.as_ptr())
                };
                squares = s.fma(apart, apart, squares);
                c += S::LANES;
            }
            let scale = 1.0 / (s.sum(squares) / channels as f32 + layer.eps).sqrt();
            c = 0;
            while c < channels {
                let count = channels - c;
                let apart = s.sub(s.load_some(source.add(c), count), s.splat(mean));
                let weight = s.load_some(layer.weight.as_ptr().add(c), count);
                let bias = s.load_some(layer.bias.as_ptr().add(c), count);
                let mut value = s.fma(s.mul(apart, s.splat(scale)), weight, bias);
                if layer.gelu {
                    value = math::gelu(s, value);
                }
                s.store_some(target.add(c), value, count);
                c += S::LANES;
            }
        }
    }
}

/// Rows shorter than a vector: many at a time, each in a lane.
///
/// # Safety
/// As for [`norm_body`].
#[inline(always)]
unsafe fn norm_narrow<S: Simd>(s: S, layer: &Norm<'_>, input: &[f32], from: usize, to: usize, out: *mut f32) {
    let channels = layer.weight.len();
    let mut row = from;
    while row < to {
        let number = S::LANES.min(to - row);
        let source = &input[row * channels..][..number * channels];
        let mut columns = [[0f32; 16]; 16];
        for (lane, values) in source.chunks_exact(channels).enumerate() {
            for (column, &value) in columns.iter_mut().zip(values) {
                column[lane] = value;
            }
        }
        let (mut sum, mut squares) = (s.splat(0.0), s.splat(0.0));
        // SAFETY: a column holds a vector.
        unsafe {
            for column in &columns[..channels] {
                sum = s.add(sum, s.load(column.as_ptr()));
            }
            let mean = s.div(sum, s.splat(channels as f32));
            for column in &columns[..channels] {
                let apart = s.sub(s.load(column.as_ptr()), mean);
                squares = s.fma(apart, apart, squares);
            }
            let mut scales = s.lanes(s.div(squares, s.splat(channels as f32)));
            scales.iter_mut().for_each(|x| *x = 1.0 / (*x + layer.eps).sqrt());
            let scale = s.load(scales.as_ptr());
            for (c, column) in columns[..channels].iter_mut().enumerate() {
                let apart = s.sub(s.load(column.as_ptr()), mean);
                let mut value = s.fma(s.mul(apart, scale), s.splat(layer.weight[c]), s.splat(layer.bias[c]));
                if layer.gelu {
                    value = math::gelu(s, value);
                }
                s.store(column.as_mut_ptr(), value);
            }
        }
        for lane in 0..number {
            for (c, column) in columns[..channels].iter().enumerate() {
                // SAFETY: `number` rows of this part are inside the output.
                unsafe { out.add((row + lane) * channels + c).write(column[lane]) };
            }
        }
        row += S::LANES;
    }
}

/// Multiplies each row of `input` by `gate`, in this part of the rows.
///
/// # Panics
/// When lengths do not fit together.
pub fn scale_channels(level: Level, gate: &[f32], input: &[f32], output: Output<'_>, part: Part) {
    assert!(level.usable_here(), "the processor can run it");
    assert!(input.len().is_multiple_of(gate.len()), "whole rows");
    assert_eq!(output.len, input.len(), "room for the result");
    let rows = part.of(input.len() / gate.len(), 16);
    // SAFETY: the level and all lengths were checked.
    unsafe { scale_rows(level, gate, input, rows.start, rows.end, output.at) }
}

levels!(scale_rows(gate: &[f32], input: &[f32], from: usize, to: usize, out: *mut f32) => scale_body);

#[inline(always)]
unsafe fn scale_body<S: Simd, const R: usize>(
    s: S,
    gate: &[f32],
    input: &[f32],
    from: usize,
    to: usize,
    out: *mut f32,
) {
    for row in from..to {
        let mut c = 0;
        while c < gate.len() {
            let (at, count) = (row * gate.len() + c, gate.len() - c);
            // SAFETY: inside the row, or `count` floats of it.
            unsafe {
                let value = s.mul(
                    s.load_some(input.as_ptr().add(at), count),
                    s.load_some(gate.as_ptr().add(c), count),
                );
                s.store_some(out.add(at), value, count);
            }
            c += S::LANES;
        }
    }
}

/// Mean of each of `channels` channels over all rows of `input`, for this part of the channels. Sums are of 64 rows first,
/// then of those sums, so that the error does not grow with the map.
///
/// # Panics
/// When lengths do not fit together.
pub fn channel_means(level: Level, channels: usize, input: &[f32], output: Output<'_>, part: Part) {
    assert!(level.usable_here(), "the processor can run it");
    assert!(
        input.len().is_multiple_of(channels) && output.len == channels,
        "whole rows, a mean for each channel"
    );
    let range = part.of(channels, 16);
    // SAFETY: the level and all lengths were checked.
    unsafe { mean_channels(level, channels, input, range.start, range.end, output.at) }
}

levels!(mean_channels(channels: usize, input: &[f32], from: usize, to: usize, out: *mut f32) => mean_body);

#[inline(always)]
unsafe fn mean_body<S: Simd, const R: usize>(
    s: S,
    channels: usize,
    input: &[f32],
    from: usize,
    to: usize,
    out: *mut f32,
) {
    let rows = input.len() / channels;
    let mut c = from;
    while c < to {
        let count = S::LANES.min(to - c);
        let mut total = s.splat(0.0);
        let mut row = 0;
        while row < rows {
            let mut sum = s.splat(0.0);
            for i in row..(row + 64).min(rows) {
                // SAFETY: `count` floats of the row.
                sum = s.add(sum, unsafe { s.load_some(input.as_ptr().add(i * channels + c), count) });
            }
            total = s.add(total, sum);
            row += 64;
        }
        // SAFETY: the output has a float for each channel.
        unsafe { s.store_some(out.add(c), s.div(total, s.splat(rows as f32)), count) };
        c += S::LANES;
    }
}
