//! Owns the matrix product behind every linear layer and dense convolution, with what follows it in the same pass.
//! May import: nothing of this crate.
//! Must not: know tensors of a graph.

use super::math;
use super::part::{Output, Part};
use super::simd::{Level, Simd, levels};

/// Columns (outputs) that lie together in a panel.
pub(super) const PANEL: usize = 32;

/// Sixteen floats on a line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [f32; 16]);

/// A weight matrix in panels: `[outputs / 32][inputs][32]`, zeros where outputs end, and its bias.
pub struct Panels {
    lines: Vec<Line>,
    bias: Vec<f32>,
    inputs: usize,
    outputs: usize,
}

impl Panels {
    /// Packs `weight`, rows of `inputs` floats, one for each output. An empty `bias` is zero.
    ///
    /// # Panics
    /// When the lengths do not fit.
    pub fn pack(weight: &[f32], bias: &[f32], inputs: usize) -> Self {
        let outputs = weight.len() / inputs;
        assert_eq!(weight.len(), outputs * inputs, "whole rows");
        assert!(bias.is_empty() || bias.len() == outputs, "a bias for each output");
        let panels = outputs.div_ceil(PANEL);
        let mut lines = vec![Line([0.0; 16]); panels * inputs * PANEL / 16];
        // SAFETY: a line is sixteen floats without gaps, and any bits are a float.
        let flat =
            unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<f32>(), lines.len() * 16) };
        for (o, row) in weight.chunks_exact(inputs).enumerate() {
            let panel = &mut flat[o / PANEL * inputs * PANEL..];
            for (i, &w) in row.iter().enumerate() {
                panel[i * PANEL + o % PANEL] = w;
            }
        }
        let mut padded = vec![0.0; panels * PANEL];
        padded[..bias.len()].copy_from_slice(bias);
        Self { lines, bias: padded, inputs, outputs }
    }

    /// Inputs of the layer.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Outputs of the layer.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.lines.len() * 64 + self.bias.len() * 4
    }
}

/// What is applied to each result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    None,
    /// `max(x, 0)`.
    Relu,
    /// The exact GELU.
    Gelu,
}

/// A map that is added to the result.
#[derive(Clone, Copy)]
pub enum Added<'a> {
    /// None.
    Nothing,
    /// Before the activation.
    Before(&'a [f32]),
    /// After the activation.
    After(&'a [f32]),
}

/// Where the rows of the product come from.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// Row `i` starts at `i * stride`.
    Rows {
        /// The floats.
        data: &'a [f32],
        /// From row to row.
        stride: usize,
        /// How many.
        count: usize,
    },
    /// Patches of a picture, one for each output pixel.
    Patches(Patches<'a>),
}

/// Square patches of a picture with zeros around it. A row holds them in the order (ky, kx, channel).
#[derive(Clone, Copy)]
pub struct Patches<'a> {
    /// The floats.
    pub data: &'a [f32],
    /// Width and height.
    pub size: [usize; 2],
    /// Channels.
    pub channels: usize,
    /// From one channel to the next, and from one pixel to the next.
    pub strides: [usize; 2],
    /// Side of a patch.
    pub side: usize,
    /// Step.
    pub step: usize,
    /// Zeros around.
    pub pad: usize,
}

impl Patches<'_> {
    /// Width and height of the result.
    pub fn result(&self) -> [usize; 2] {
        self.size.map(|n| (n + 2 * self.pad - self.side) / self.step + 1)
    }

    /// Writes the patches of output pixels `first..` into `rows`.
    fn gather(&self, first: usize, rows: &mut [f32]) {
        let Self { data, size: [width, height], channels, strides: [across, along], side, step, pad } = *self;
        let wide = self.result()[0];
        for (i, row) in rows.chunks_exact_mut(side * side * channels).enumerate() {
            let (x, y) = ((first + i) % wide * step, (first + i) / wide * step);
            for (ky, line) in row.chunks_exact_mut(side * channels).enumerate() {
                let Some(y) = (y + ky).checked_sub(pad).filter(|&y| y < height) else {
                    line.fill(0.0);
                    continue;
                };
                if across == 1 && along == channels && x >= pad && x - pad + side <= width {
                    let at = (y * width + x - pad) * channels;
                    line.copy_from_slice(&data[at..at + side * channels]);
                    continue;
                }
                for (kx, pixel) in line.chunks_exact_mut(channels).enumerate() {
                    let Some(x) = (x + kx).checked_sub(pad).filter(|&x| x < width) else {
                        pixel.fill(0.0);
                        continue;
                    };
                    let at = (y * width + x) * along;
                    for (c, value) in pixel.iter_mut().enumerate() {
                        *value = data[at + c * across];
                    }
                }
            }
        }
    }
}

/// Where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Row after row.
    Rows,
    /// Outputs are four pixels (ky, kx, channel) of a picture twice as large; the given width is the input's. Channels are
    /// a multiple of 32; the bias is given four times.
    Doubled(usize),
}

/// A layer to be applied.
#[derive(Clone, Copy)]
pub struct Layer<'a> {
    /// Weights and bias.
    pub panels: &'a Panels,
    /// What is applied to each result.
    pub activation: Activation,
    /// What is added, in the output's layout.
    pub added: Added<'a>,
    /// Where results go.
    pub placement: Placement,
}

/// Applies `layer` to this part of the rows of `input`.
///
/// # Panics
/// When lengths do not fit together.
pub fn linear(level: Level, layer: &Layer<'_>, input: &Input<'_>, output: Output<'_>, part: Part) {
    let (inputs, outputs) = (layer.panels.inputs, layer.panels.outputs);
    let count = match *input {
        Input::Rows { data, stride, count } => {
            assert!(count == 0 || data.len() >= (count - 1) * stride + inputs, "rows inside their slice");
            count
        }
        Input::Patches(patches) => {
            let [width, height] = patches.size;
            let last =
                (patches.channels - 1) * patches.strides[0] + (width * height - 1) * patches.strides[1];
            assert!(
                patches.data.len() > last && inputs == patches.side.pow(2) * patches.channels,
                "a whole picture"
            );
            patches.result().iter().product()
        }
    };
    assert!(level.usable_here(), "the processor can run it");
    assert_eq!(output.len, count * outputs, "room for the result");
    if let Added::Before(added) | Added::After(added) = layer.added {
        assert_eq!(added.len(), output.len, "something to add to each result");
    }
    if let Placement::Doubled(width) = layer.placement {
        assert!(outputs.is_multiple_of(4 * PANEL) && count.is_multiple_of(width), "whole panels and lines");
    }
    let rows = part.of(count, 8);
    // Rows that are taken through all panels: few enough for the second-level cache.
    let chunk = (32_768 / inputs).clamp(1, 8) * 24;
    let mut gathered = Vec::new();
    let mut first = rows.start;
    while first < rows.end {
        let number = chunk.min(rows.end - first);
        let (at, stride) = match input {
            Input::Rows { data, stride, .. } => (data[first * stride..].as_ptr(), *stride),
            Input::Patches(patches) => {
                gathered.resize(number * inputs, 0.0);
                patches.gather(first, &mut gathered);
                (gathered.as_ptr(), inputs)
            }
        };
        // SAFETY: the level was checked; rows, room and sizes were checked above.
        unsafe { product(level, layer, at, stride, first, number, output.at) };
        first += number;
    }
}

levels!(product(layer: &Layer<'_>, rows: *const f32, stride: usize, first: usize, number: usize, out: *mut f32) => product_body);

/// All panels for `number` rows.
#[inline(always)]
unsafe fn product_body<S: Simd, const R: usize>(
    s: S,
    layer: &Layer<'_>,
    rows: *const f32,
    stride: usize,
    first: usize,
    number: usize,
    out: *mut f32,
) {
    let Panels { inputs, outputs, lines, bias } = layer.panels;
    let (inputs, outputs) = (*inputs, *outputs);
    let mut column = 0;
    while column < outputs {
        let vectors = (outputs - column).min(2 * S::LANES).div_ceil(S::LANES);
        let mut row = 0;
        while row < number {
            let mut starts = [rows; R];
            for (r, start) in starts.iter_mut().enumerate() {
                // Rows past the end repeat the last one; their results are not stored.
                // SAFETY: inside the rows.
                *start = unsafe { rows.add((row + r).min(number - 1) * stride) };
            }
            let valid = R.min(number - row);
            // SAFETY: a panel has `inputs` lines of 32 columns, and `column` is a multiple of the vectors' width inside it;
            // the bias is as long as the panels; stores stay inside row and output.
            unsafe {
                let panel =
                    lines.as_ptr().cast::<f32>().add(column / PANEL * inputs * PANEL + column % PANEL);
                let store = Store { layer, bias: bias.as_ptr(), first: first + row, valid, column, out };
                if vectors == 2 {
                    let sums = tile::<S, R, 2>(s, starts, inputs, panel);
                    store.finish(s, &sums);
                } else {
                    let sums = tile::<S, R, 1>(s, starts, inputs, panel);
                    store.finish(s, &sums);
                }
            }
            row += R;
        }
        column += 2 * S::LANES;
    }
}

/// Sums of products of `R` rows with `V` vectors of columns.
///
/// # Safety
/// Each row must have `depth` floats, and so many lines of 32 floats must follow `panel`, less where it starts in a line.
#[inline(always)]
pub(super) unsafe fn tile<S: Simd, const R: usize, const V: usize>(
    s: S,
    rows: [*const f32; R],
    depth: usize,
    panel: *const f32,
) -> [[S::V; V]; R] {
    // SAFETY: the caller's; blocks stay inside `depth`.
    let mut sums = unsafe { block(s, rows, 0..depth.min(CHAIN), panel) };
    for first in (CHAIN..depth).step_by(CHAIN) {
        // SAFETY: as above.
        let more = unsafe { block::<S, R, V>(s, rows, first..depth.min(first + CHAIN), panel) };
        for (sums, more) in sums.iter_mut().zip(more) {
            for (sum, more) in sums.iter_mut().zip(more) {
                *sum = s.add(*sum, more);
            }
        }
    }
    sums
}

/// Products that are summed one after the other; longer sums are made of such pieces, which rounds less.
const CHAIN: usize = 128;

/// The part `depths` of [`tile`].
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
unsafe fn block<S: Simd, const R: usize, const V: usize>(
    s: S,
    rows: [*const f32; R],
    depths: std::ops::Range<usize>,
    panel: *const f32,
) -> [[S::V; V]; R] {
    let mut sums = [[s.splat(0.0); V]; R];
    for i in depths {
        let mut columns = [s.splat(0.0); V];
        for (j, column) in columns.iter_mut().enumerate() {
            // SAFETY: the caller's.
            *column = unsafe { s.load(panel.add(i * PANEL + j * S::LANES)) };
        }
        for r in 0..R {
            // SAFETY: the caller's.
            let value = s.splat(unsafe { *rows[r].add(i) });
            for j in 0..V {
                sums[r][j] = s.fma(value, columns[j], sums[r][j]);
            }
        }
    }
    sums
}

/// What happens to a tile.
struct Store<'a> {
    layer: &'a Layer<'a>,
    bias: *const f32,
    first: usize,
    valid: usize,
    column: usize,
    out: *mut f32,
}

impl Store<'_> {
    /// # Safety
    /// The output must have room for `valid` rows from `first`, and the bias for all panels.
    #[inline(always)]
    unsafe fn finish<S: Simd, const R: usize, const V: usize>(&self, s: S, sums: &[[S::V; V]; R]) {
        let outputs = self.layer.panels.outputs;
        for (r, sums) in sums.iter().enumerate() {
            if r >= self.valid {
                break;
            }
            let at = match self.layer.placement {
                Placement::Rows => (self.first + r) * outputs + self.column,
                Placement::Doubled(width) => {
                    let channels = outputs / 4;
                    let (x, y) = ((self.first + r) % width, (self.first + r) / width);
                    let (place, channel) = (self.column / channels, self.column % channels);
                    (((2 * y + place / 2) * 2 * width) + 2 * x + place % 2) * channels + channel
                }
            };
            for (j, &sum) in sums.iter().enumerate() {
                let column = self.column + j * S::LANES;
                let count = S::LANES.min(outputs - column);
                let at = at + j * S::LANES;
                // SAFETY: the bias is as long as the panels; `added` is as long as the output, which the caller answers for.
                unsafe {
                    let mut value = s.add(sum, s.load(self.bias.add(column)));
                    if let Added::Before(added) = self.layer.added {
                        value = s.add(value, s.load_some(added.as_ptr().add(at), count));
                    }
                    value = match self.layer.activation {
                        Activation::None => value,
                        Activation::Relu => s.max(value, s.splat(0.0)),
                        Activation::Gelu => math::gelu(s, value),
                    };
                    if let Added::After(added) = self.layer.added {
                        value = s.add(value, s.load_some(added.as_ptr().add(at), count));
                    }
                    s.store_some(self.out.add(at), value, count);
                }
            }
        }
    }
}
