//! Owns position encodings as plain numbers: sine, random Fourier, and rotary positions.
//! May import: nothing of this crate.
//! Must not: know ggml or weights' files. Every layout is channel-fastest: `[channels, width * height]`.
//!
//! The reference computes in f32 with libraries that are exact to the last bit or nearly so. Here every elementary
//! function is taken in f64 of the same f32 argument and rounded once, so that only their last bit can differ.

use std::f64::consts::TAU;

/// Axial rotations repeat their frequencies after 10000 (`theta`), sine encodings likewise (`temperature`).
const THETA: f64 = 10_000.0;

/// Sine position encoding of a grid: `[channels, width * height]`, the first half of the channels for y.
///
/// Every second pair of channels shares a frequency; even channels hold the sine, odd ones the cosine.
/// `channels` must be a multiple of 4.
pub fn sine_pe(channels: usize, width: usize, height: usize) -> Vec<f32> {
    let half = channels / 2;
    let axis = |n: usize| -> Vec<f32> {
        let last = n as f32 + 1e-6;
        let mut out = Vec::with_capacity(n * half);
        for i in 0..n {
            let place = (i + 1) as f32 / last * TAU as f32;
            for j in 0..half {
                let exponent = (2 * (j / 2)) as f32 / half as f32;
                let angle = place / THETA.powf(f64::from(exponent)) as f32;
                out.push(if j % 2 == 0 { sin(angle) } else { cos(angle) });
            }
        }
        out
    };
    let (xs, ys) = (axis(width), axis(height));
    let mut out = Vec::with_capacity(width * height * half * 2);
    for y in 0..height {
        for x in 0..width {
            out.extend_from_slice(&ys[y * half..(y + 1) * half]);
            out.extend_from_slice(&xs[x * half..(x + 1) * half]);
        }
    }
    out
}

/// Position encoding of one memory entry, `[channels, latents + side * side]`: zeros for the `latents` global tokens,
/// then the sine encoding of the `side` x `side` windowed ones. The temporal vector is added to all of it.
pub fn memory_pe(channels: usize, latents: usize, side: usize) -> Vec<f32> {
    let mut out = vec![0.0; channels * latents];
    out.extend(sine_pe(channels, side, side));
    out
}

/// Random Fourier encoding of a point (`u`, `v`) in 0..=1 into `out`: sines, then cosines.
///
/// `gaussian` is the checkpoint's `(2, n)` matrix, row-major; `out` takes `2 * n` values.
pub fn fourier_pe(gaussian: &[f32], u: f32, v: f32, out: &mut [f32]) {
    let n = gaussian.len() / 2;
    let (x, y) = (2.0 * u - 1.0, 2.0 * v - 1.0);
    let (for_x, for_y) = gaussian.split_at(n);
    let (sines, cosines) = out.split_at_mut(n.min(out.len()));
    for (((gx, gy), s), c) in for_x.iter().zip(for_y).zip(sines).zip(cosines) {
        // A product of two f32 is exact in f64: this is a fused multiply-add on machines without one.
        let dot = (f64::from(y) * f64::from(*gy) + f64::from(x * gx)) as f32;
        let angle = TAU as f32 * dot;
        (*s, *c) = (sin(angle), cos(angle));
    }
}

/// Fourier encoding of the centres of a `grid` x `grid` image embedding: `[2 * n, grid * grid]`.
pub fn dense_pe(gaussian: &[f32], grid: usize) -> Vec<f32> {
    let channels = gaussian.len() / 2 * 2;
    let mut out = vec![0.0; channels * grid * grid];
    for (i, token) in out.chunks_exact_mut(channels.max(1)).enumerate() {
        let centre = |at: usize| (at as f32 + 0.5) / grid as f32;
        fourier_pe(gaussian, centre(i % grid), centre(i / grid), token);
    }
    out
}

/// Rotary positions of the tokens of a `grid` x `grid` image, `[x0, y0, x1, y1, ...]`.
///
/// With queries of width d viewed as `[d / 2, 1, 2 * tokens]`, one `ggml_rope` in normal mode (adjacent pairs) over d/2
/// dimensions is the reference's axial rotation.
pub fn rope_positions(grid: usize) -> Vec<i32> {
    (0..grid * grid).flat_map(|i| [(i % grid) as i32, (i / grid) as i32]).collect()
}

/// Rotary positions of the memory tokens, `[x0, y0, x1, y1, ...]`: `entries` times (`latents` tokens that are not
/// rotated, then a `side` x `side` grid), then `pointer_tokens` that are not rotated. Position 0 means no rotation.
pub fn key_rope_positions(entries: usize, latents: usize, side: usize, pointer_tokens: usize) -> Vec<i32> {
    let grid = rope_positions(side);
    let mut out = Vec::with_capacity(entries * (2 * latents + grid.len()) + 2 * pointer_tokens);
    for _ in 0..entries {
        out.resize(out.len() + 2 * latents, 0);
        out.extend_from_slice(&grid);
    }
    out.resize(out.len() + 2 * pointer_tokens, 0);
    out
}

fn sin(angle: f32) -> f32 {
    f64::from(angle).sin() as f32
}

fn cos(angle: f32) -> f32 {
    f64::from(angle).cos() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f32, expected: f32) {
        assert!((found - expected).abs() <= 3e-6, "{found} is not {expected}");
    }

    #[test]
    fn sine_pe_has_y_first_and_shares_frequencies_in_pairs() {
        let (d, w, h) = (64, 5, 3);
        let pe = sine_pe(d, w, h);
        assert_eq!(pe.len(), d * w * h);
        let at = |c: usize, x: usize, y: usize| pe[(y * w + x) * d + c];
        // Rows share the second half, columns the first.
        assert_eq!(at(7, 0, 1), at(7, 4, 1));
        assert_eq!(at(40, 2, 0), at(40, 2, 2));
        assert_ne!(at(0, 0, 0), at(0, 0, 1));
        let angle = 2.0 / 3.0 * TAU;
        close(at(0, 0, 1), angle.sin() as f32);
        close(at(1, 0, 1), angle.cos() as f32);
        let slower = 4.0 / 5.0 * TAU / 10_000f64.powf(2.0 / 32.0);
        assert!((f64::from(at(34, 3, 0)) - slower.sin()).abs() < 1e-6);
        assert!((f64::from(at(35, 3, 0)) - slower.cos()).abs() < 1e-6);
    }

    #[test]
    fn memory_pe_is_zero_for_the_global_tokens() {
        let pe = memory_pe(64, 256, 16);
        assert_eq!(pe.len(), 64 * 512);
        assert!(pe[..64 * 256].iter().all(|&v| v == 0.0));
        assert_eq!(pe[64 * 256..], sine_pe(64, 16, 16));
    }

    #[test]
    fn fourier_pe_turns_with_the_matrix() {
        let gaussian = [0.5, -1.0, 0.25, 2.0];
        let mut out = [0.0; 4];
        fourier_pe(&gaussian, 0.75, 0.5, &mut out);
        // (0.5, 0) times the matrix is (0.25, -0.5): a quarter and minus half a turn.
        close(out[0], 1.0);
        close(out[2], 0.0);
        close(out[3], -1.0);
        let dense = dense_pe(&gaussian, 4);
        let mut token = [0.0; 4];
        fourier_pe(&gaussian, 0.625, 0.375, &mut token);
        assert_eq!(dense[(4 + 2) * 4..(4 + 2) * 4 + 4], token);
        assert!(dense_pe(&[], 4).is_empty());
    }

    #[test]
    fn key_positions_leave_global_and_pointer_tokens_alone() {
        let positions = key_rope_positions(2, 256, 16, 8);
        assert_eq!(positions.len(), 2 * (2 * 512 + 8));
        assert!(positions[..512].iter().all(|&p| p == 0));
        assert_eq!(positions[512 + 2 * 17..][..2], [1, 1]);
        assert_eq!(positions[1022..1024], [15, 15]);
        assert_eq!(positions[..1024], positions[1024..2048]);
        assert!(positions[2048..].iter().all(|&p| p == 0));
    }
}
