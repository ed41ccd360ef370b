//! Owns resizing pictures for the network, equal to Pillow and PyTorch to the bit, and their normalisation.
//! May import: base, kernels.
//! Must not: resize for display, or know which size the network wants.

use std::sync::Mutex;

use crate::base::{RgbFrame, Size};
use crate::kernels::{TAP_PRECISION, weighted_sums};

/// How a picture is brought to the network's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// As the official video predictor: Pillow's bicubic filter, 8 bits in and out.
    #[default]
    VideoBicubicU8,
    /// As the official image predictor: PyTorch's antialiased bilinear filter on floats.
    ImageBilinearF32,
}

/// Filter taps of one axis: output `i` is the weighted sum of `count` inputs from `first` on.
struct Axis<W> {
    input: usize,
    output: usize,
    /// `(first, count)` of every output.
    spans: Vec<(usize, usize)>,
    /// Weights, `stride` places for every output.
    weights: Vec<W>,
    stride: usize,
}

impl<W: Copy> Axis<W> {
    fn taps(&self, i: usize) -> (usize, &[W]) {
        let (first, count) = self.spans[i];
        (first, &self.weights[i * self.stride..][..count])
    }
}

impl Axis<i32> {
    /// Pillow's bicubic filter with a = -0.5, in its own order of f64 operations.
    fn bicubic(input: usize, output: usize) -> Self {
        let scale = input as f64 / output as f64;
        let filter_scale = scale.max(1.0);
        let (support, inverse) = (2.0 * filter_scale, 1.0 / filter_scale);
        let stride = support.ceil() as usize * 2 + 1;
        let (mut spans, mut weights) = (Vec::with_capacity(output), vec![0; output * stride]);
        let mut row = Vec::with_capacity(stride);
        for (i, out) in weights.chunks_exact_mut(stride).enumerate() {
            let centre = (i as f64 + 0.5) * scale;
            let first = (centre - support + 0.5).max(0.0) as usize;
            let end = ((centre + support + 0.5) as usize).min(input);
            row.clear();
            row.extend((first..end).map(|x| cubic((x as f64 - centre + 0.5) * inverse)));
            let total: f64 = row.iter().sum();
            for (weight, value) in out.iter_mut().zip(&row) {
                let normal = if total == 0.0 { *value } else { *value / total };
                let fixed = normal * f64::from(1u32 << TAP_PRECISION);
                *weight = if normal < 0.0 { (fixed - 0.5) as i32 } else { (fixed + 0.5) as i32 };
            }
            spans.push((first, end - first));
        }
        Self { input, output, spans, weights, stride }
    }
}

fn cubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    let x = x.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

/// Resizes 8-bit RGB pictures to a square, byte for byte as `Image.resize((side, side))` of Pillow 13 does (bicubic).
///
/// Filter tables and buffers are kept: after the first picture of a size nothing is allocated.
pub struct PillowResizer {
    side: usize,
    tables: Option<(Size, Axis<i32>, Axis<i32>)>,
    /// The picture after the first pass.
    between: Vec<u8>,
    /// One for each thread.
    workers: Vec<Worker>,
}

/// Buffers of a thread.
#[derive(Default)]
struct Worker {
    upright: Vec<u8>,
    filtered: Vec<u8>,
}

impl PillowResizer {
    /// Resizes to `side` x `side` (at least 1) on `threads` threads (1 works on the caller's).
    pub fn new(side: u32, threads: usize) -> Self {
        let workers = (0..threads.max(1)).map(|_| Worker::default()).collect();
        Self { side: side.max(1) as usize, tables: None, between: Vec::new(), workers }
    }

    /// Resizes `picture` into `out`, which becomes `side * side * 3` bytes, row by row, R G B.
    pub fn resize(&mut self, picture: &RgbFrame, out: &mut Vec<u8>) {
        let (size, side) = (picture.size(), self.side);
        let (width, height) = (size.width as usize, size.height as usize);
        if self.tables.as_ref().is_none_or(|(known, ..)| *known != size) {
            self.tables = Some((size, Axis::bicubic(width, side), Axis::bicubic(height, side)));
        }
        let Some((_, across, down)) = &self.tables else { return };
        let (input, between, workers) = (picture.data(), &mut self.between, &mut self.workers);
        // Like Pillow, skip a pass that changes nothing.
        match (width == side, height == side) {
            (true, true) => {
                out.clear();
                out.extend_from_slice(input);
            }
            (true, false) => vertical(workers, down, side, input, out),
            (false, true) => horizontal(workers, across, input, out),
            (false, false) if vertical_first(width, height, side) => {
                vertical(workers, down, width, input, between);
                horizontal(workers, across, between, out);
            }
            (false, false) => {
                horizontal(workers, across, input, between);
                vertical(workers, down, side, between, out);
            }
        }
    }
}

/// Whether Pillow (since 13.0) takes the vertical pass first: when the height shrinks by more than twice the pixels that
/// the width shrinks by. Both passes round to bytes, so the order shows in the result.
fn vertical_first(width: usize, height: usize, side: usize) -> bool {
    height > side && height - side > 2 * width.saturating_sub(side)
}

/// A pass over a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Along the rows.
    Across,
    /// Along the columns.
    Down,
}

/// The passes that bring a picture of `size` to `side` x `side`, in Pillow's order; those that change nothing are left out.
pub(super) fn passes(size: Size, side: u32) -> Vec<Pass> {
    let (width, height, side) = (size.width as usize, size.height as usize, side as usize);
    let mut passes = vec![Pass::Across, Pass::Down];
    if vertical_first(width, height, side) {
        passes.reverse();
    }
    passes.retain(|pass| if *pass == Pass::Across { width != side } else { height != side });
    passes
}

/// Pillow's filter as two dense matrices `[input, output]` whose sum it is; each weight has at most 11 significant bits.
pub(super) fn filters(input: usize, output: usize) -> [Vec<f32>; 2] {
    let axis = Axis::bicubic(input, output);
    let mut dense = [vec![0.0; input * output], vec![0.0; input * output]];
    for i in 0..output {
        let (first, weights) = axis.taps(i);
        for (k, &weight) in weights.iter().enumerate() {
            let whole = (f64::from(weight) / f64::from(1u32 << TAP_PRECISION)) as f32;
            let main = f32::from_bits(whole.to_bits() & !0x1fff);
            dense[0][i * input + first + k] = main;
            dense[1][i * input + first + k] = whole - main;
        }
    }
    dense
}

/// Rows that a thread takes at a time.
const ROWS: usize = 16;

/// Lets the threads fill `data`, [`ROWS`] rows of `stride` bytes at a time: `work(buffers, first row, rows)`.
fn in_bands(
    workers: &mut [Worker],
    stride: usize,
    data: &mut [u8],
    work: impl Fn(&mut Worker, usize, &mut [u8]) + Sync,
) {
    let bands = Mutex::new(data.chunks_mut(ROWS * stride).enumerate());
    let next = || bands.lock().ok().and_then(|mut bands| bands.next());
    let drain = |worker: &mut Worker| {
        while let Some((i, band)) = next() {
            work(worker, i * ROWS, band);
        }
    };
    let Some((own, others)) = workers.split_first_mut() else { return };
    std::thread::scope(|scope| {
        for worker in others {
            // Without another thread this one does it all.
            let _ = std::thread::Builder::new().name("resize".into()).spawn_scoped(scope, || drain(worker));
        }
        drain(own);
    });
}

/// Filters every row of `input` into `output`. The rows of a band are turned upright, so that all of them (and the three
/// colours) are one run of bytes for a tap.
fn horizontal(workers: &mut [Worker], axis: &Axis<i32>, input: &[u8], output: &mut Vec<u8>) {
    let (from, to) = (axis.input * 3, axis.output * 3);
    output.resize(input.len() / from * to, 0);
    in_bands(workers, to, output, |worker, first_row, band| {
        let rows = band.len() / to;
        let Worker { upright, filtered } = worker;
        upright.resize(from * ROWS, 0);
        filtered.resize(to * ROWS, 0);
        turn(&input[first_row * from..][..rows * from], from, upright);
        for (i, out) in filtered.chunks_exact_mut(3 * ROWS).enumerate() {
            let (first, weights) = axis.taps(i);
            weighted_sums(weights, &upright[first * 3 * ROWS..], 3 * ROWS, out);
        }
        turn_back(filtered, band, to);
    });
}

/// Columns that are turned at a time, so that they stay in the first-level cache.
const COLUMNS: usize = 128;

/// Turns up to [`ROWS`] rows of `stride` bytes upright: byte `x` of row `r` goes to `x * ROWS + r`.
fn turn(rows: &[u8], stride: usize, upright: &mut [u8]) {
    for (block, part) in upright.as_chunks_mut::<ROWS>().0.chunks_mut(COLUMNS).enumerate() {
        for (r, row) in rows.chunks_exact(stride).enumerate() {
            for (place, &value) in part.iter_mut().zip(&row[block * COLUMNS..]) {
                place[r] = value;
            }
        }
    }
}

/// Turns them back.
fn turn_back(upright: &[u8], rows: &mut [u8], stride: usize) {
    for (block, part) in upright.as_chunks::<ROWS>().0.chunks(COLUMNS).enumerate() {
        for (r, row) in rows.chunks_exact_mut(stride).enumerate() {
            for (place, value) in part.iter().zip(&mut row[block * COLUMNS..]) {
                *value = place[r];
            }
        }
    }
}

/// Filters every column of `input`, whose rows have `width` pixels, into `output`.
fn vertical(workers: &mut [Worker], axis: &Axis<i32>, width: usize, input: &[u8], output: &mut Vec<u8>) {
    let stride = width * 3;
    output.resize(axis.output * stride, 0);
    in_bands(workers, stride, output, |_, first_row, band| {
        for (i, out) in band.chunks_exact_mut(stride).enumerate() {
            let (first, weights) = axis.taps(first_row + i);
            weighted_sums(weights, &input[first * stride..], stride, out);
        }
    });
}

/// Mean and standard deviation per channel of pictures scaled to 0..=1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normalisation {
    /// Means of R, G, B.
    pub mean: [f32; 3],
    /// Standard deviations of R, G, B.
    pub std: [f32; 3],
}

impl Default for Normalisation {
    /// ImageNet's, with which the model was trained.
    fn default() -> Self {
        Self { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] }
    }
}

/// Turns R G B bytes into what the network sees: `(value / 255 - mean) / std`, all of R, then G, then B, each row by row.
/// `out` becomes as long as `rgb`.
pub fn normalise(rgb: &[u8], how: &Normalisation, out: &mut Vec<f32>) {
    let pixels = rgb.as_chunks::<3>().0;
    out.resize(pixels.len() * 3, 0.0);
    for (c, plane) in out.chunks_exact_mut(pixels.len().max(1)).enumerate() {
        let table: [f32; 256] = std::array::from_fn(|v| (v as f32 / 255.0 - how.mean[c]) / how.std[c]);
        for (value, pixel) in plane.iter_mut().zip(pixels) {
            *value = table[usize::from(pixel[c])];
        }
    }
}

/// Resizes and normalises pictures for the network.
pub struct Preprocessor {
    interpolation: Interpolation,
    normalisation: Normalisation,
    resizer: PillowResizer,
    small: Vec<u8>,
}

impl Preprocessor {
    /// The filter.
    pub(super) fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// The normalisation.
    pub(super) fn normalisation(&self) -> &Normalisation {
        &self.normalisation
    }

    /// For a network that sees `side` x `side` pixels; `threads` as in [`PillowResizer::new`].
    pub fn new(
        side: u32,
        interpolation: Interpolation,
        normalisation: Normalisation,
        threads: usize,
    ) -> Self {
        Self { interpolation, normalisation, resizer: PillowResizer::new(side, threads), small: Vec::new() }
    }

    /// Fills `out` with `3 * side * side` values: planes R, G, B, each row by row.
    pub fn run(&mut self, picture: &RgbFrame, out: &mut Vec<f32>) {
        match self.interpolation {
            Interpolation::VideoBicubicU8 => {
                self.resizer.resize(picture, &mut self.small);
                normalise(&self.small, &self.normalisation, out);
            }
            Interpolation::ImageBilinearF32 => {
                let target = Size::new(self.resizer.side as u32, self.resizer.side as u32);
                out.clear();
                for c in 0..3 {
                    let plane: Vec<f32> =
                        picture.data().iter().skip(c).step_by(3).map(|&v| f32::from(v) / 255.0).collect();
                    let (mean, std) = (self.normalisation.mean[c], self.normalisation.std[c]);
                    let small = resize_bilinear_antialias_f32(&plane, picture.size(), target);
                    out.extend(small.iter().map(|v| (v - mean) / std));
                }
            }
        }
    }
}

impl Axis<f32> {
    /// PyTorch's antialiased triangle filter: f32 with the f64 intermediates that its C++ expressions have.
    fn triangle(input: usize, output: usize) -> Self {
        let scale = input as f32 / output as f32;
        let support = if scale >= 1.0 { scale } else { 1.0 };
        let inverse = if scale >= 1.0 { 1.0 / scale } else { 1.0 };
        let stride = support.ceil() as usize * 2 + 1;
        let (mut spans, mut weights) = (Vec::with_capacity(output), vec![0.0; output * stride]);
        for (i, out) in weights.chunks_exact_mut(stride).enumerate() {
            let centre = (f64::from(scale) * (i as f64 + 0.5)) as f32;
            let first = (f64::from(centre - support) + 0.5).max(0.0) as usize;
            let end = ((f64::from(centre + support) + 0.5) as usize).min(input).min(first + stride);
            let mut total = 0.0f32;
            for (weight, x) in out.iter_mut().zip(first..end) {
                let at = ((f64::from(x as f32 - centre) + 0.5) * f64::from(inverse)) as f32;
                *weight = (1.0 - at.abs()).max(0.0);
                total += *weight;
            }
            if total != 0.0 {
                out.iter_mut().for_each(|w| *w /= total);
            }
            spans.push((first, end.saturating_sub(first)));
        }
        Self { input, output, spans, weights, stride }
    }
}

/// `a * b + c` rounded once. The product is exact in f64; only the sum could round twice, and then by chance of 2^-29.
pub(super) fn fused(a: f32, b: f32, c: f32) -> f32 {
    (f64::from(a) * f64::from(b) + f64::from(c)) as f32
}

/// Resizes row-major floats as PyTorch's `interpolate(mode="bilinear", antialias=True)` does: horizontally, then
/// vertically. `values` must hold `from.area()` of them; an empty picture gives zeros.
pub fn resize_bilinear_antialias_f32(values: &[f32], from: Size, to: Size) -> Vec<f32> {
    if from.area() == 0 || values.len() < from.area() || to.area() == 0 {
        return vec![0.0; to.area()];
    }
    let across = Axis::triangle(from.width as usize, to.width as usize);
    let down = Axis::triangle(from.height as usize, to.height as usize);
    let mut narrow = Vec::with_capacity(to.width as usize * from.height as usize);
    for row in values.chunks_exact(across.input).take(down.input) {
        narrow.extend((0..across.output).map(|i| {
            let (first, weights) = across.taps(i);
            let taps = row[first..first + weights.len()].iter().zip(weights);
            taps.fold(0.0, |sum, (&value, &weight)| fused(value, weight, sum))
        }));
    }
    let mut out = Vec::with_capacity(to.area());
    for i in 0..down.output {
        let (first, weights) = down.taps(i);
        let start = out.len();
        out.resize(start + across.output, 0.0);
        for (row, &weight) in narrow[first * across.output..].chunks_exact(across.output).zip(weights) {
            for (sum, &value) in out[start..].iter_mut().zip(row) {
                *sum = fused(value, weight, *sum);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that look random, the same in any language.
    fn noise(size: Size) -> RgbFrame {
        let bytes =
            (0..size.area() as u32 * 3).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        RgbFrame::new(size, bytes).unwrap()
    }

    /// FNV-1a, 64 bits.
    fn hash(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
    }

    /// Hashes of what Pillow 13.0 makes of the noise.
    const PILLOW: [(u32, u32, u32, u64); 10] = [
        (1, 1, 64, 0x13c7_0172_e557_2325),
        (3, 5000, 64, 0x3a50_fa1b_ba51_990b),
        (8200, 10, 64, 0x2094_cf45_2efc_cff6),
        (854, 480, 256, 0xd658_77e2_fe18_edc4),
        (270, 480, 256, 0x9179_3b39_9865_438e),
        (97, 300, 128, 0x0a45_2824_28e3_52fe),
        (128, 75, 128, 0x0165_f3ca_044b_6032),
        (75, 128, 128, 0x843c_7f15_2eee_77b4),
        (60, 131, 128, 0xf2e8_b7f2_cb29_d81e),
        (160, 90, 256, 0x515d_b99d_7f29_2e6e),
    ];

    #[test]
    fn equals_pillow() {
        for (width, height, side, expected) in PILLOW {
            for threads in [1, 2, 3] {
                let mut resizer = PillowResizer::new(side, threads);
                let mut out = Vec::new();
                resizer.resize(&noise(Size::new(width, height)), &mut out);
                assert_eq!(hash(&out), expected, "{width} x {height} to {side}, {threads} threads");
            }
        }
    }

    #[test]
    fn one_resizer_serves_changing_sizes() {
        let mut resizer = PillowResizer::new(64, 2);
        let (mut first, mut again) = (Vec::new(), Vec::new());
        resizer.resize(&noise(Size::new(100, 30)), &mut first);
        resizer.resize(&noise(Size::new(7, 200)), &mut again);
        resizer.resize(&noise(Size::new(64, 64)), &mut again);
        assert_eq!(again, noise(Size::new(64, 64)).data());
        resizer.resize(&noise(Size::new(100, 30)), &mut again);
        assert_eq!(first, again);
        let flat = RgbFrame::filled(Size::new(8200, 10), [3, 200, 77]);
        resizer.resize(&flat, &mut again);
        assert!(again.as_chunks::<3>().0.iter().all(|p| *p == [3, 200, 77]));
    }

    #[test]
    fn normalises_into_planes() {
        let mut out = Vec::new();
        normalise(&[0, 128, 255, 255, 0, 1], &Normalisation::default(), &mut out);
        let by_hand = |v: f32, mean: f32, std: f32| (v / 255.0 - mean) / std;
        assert_eq!(out[0], by_hand(0.0, 0.485, 0.229));
        assert_eq!(out[1], by_hand(255.0, 0.485, 0.229));
        assert_eq!(out[2], by_hand(128.0, 0.456, 0.224));
        assert_eq!(out[5], by_hand(1.0, 0.406, 0.225));
    }

    #[test]
    fn both_interpolations_keep_a_flat_picture() {
        let picture = RgbFrame::filled(Size::new(30, 17), [10, 20, 30]);
        let mut out = Vec::new();
        for how in [Interpolation::VideoBicubicU8, Interpolation::ImageBilinearF32] {
            Preprocessor::new(32, how, Normalisation::default(), 1).run(&picture, &mut out);
            assert_eq!(out.len(), 3 * 32 * 32);
            let expected = (20.0 / 255.0 - 0.456) / 0.224;
            assert!(out[1024..2048].iter().all(|v| (v - expected).abs() < 1e-5), "{how:?}");
        }
    }

    #[test]
    fn triangle_filter_weighs_by_overlap() {
        let half = resize_bilinear_antialias_f32(&[0.0, 8.0, 16.0, 24.0], Size::new(4, 1), Size::new(2, 1));
        // Weights 3, 3, 1 of 7 at the left edge; mirrored at the right one.
        assert!((half[0] - 40.0 / 7.0).abs() < 1e-5 && (half[1] - 128.0 / 7.0).abs() < 1e-5, "{half:?}");
        let up = resize_bilinear_antialias_f32(&[0.0, 1.0], Size::new(2, 1), Size::new(4, 2));
        assert_eq!(up, [0.0, 0.25, 0.75, 1.0, 0.0, 0.25, 0.75, 1.0]);
        assert_eq!(resize_bilinear_antialias_f32(&[], Size::new(0, 3), Size::new(2, 1)), [0.0, 0.0]);
    }
}
