//! Owns the depthwise convolution of channel-fastest maps.
//! May import: nothing of this crate.
//! Must not: know tensors of a graph.

use super::part::{Output, Part};
use super::simd::{Level, Simd, levels};

/// A depthwise convolution with zeros around the picture.
#[derive(Clone, Copy)]
pub struct Depthwise<'a> {
    /// `[side * side][channels]`.
    pub kernel: &'a [f32],
    /// One for each channel.
    pub bias: &'a [f32],
    /// Width and height of the picture.
    pub size: [usize; 2],
    /// Side of the kernel.
    pub side: usize,
    /// Step.
    pub step: usize,
    /// Zeros around.
    pub pad: usize,
}

impl Depthwise<'_> {
    /// Width and height of the result.
    pub fn result(&self) -> [usize; 2] {
        self.size.map(|n| (n + 2 * self.pad - self.side) / self.step + 1)
    }
}

/// Convolves `picture`, pixels of all channels, into this part of the lines of `output`.
///
/// # Panics
/// When lengths do not fit together.
pub fn depthwise(level: Level, layer: &Depthwise<'_>, picture: &[f32], output: Output<'_>, part: Part) {
    let ([width, height], channels) = (layer.size, layer.bias.len());
    let [wide, high] = layer.result();
    assert!(level.usable_here(), "the processor can run it");
    assert_eq!(layer.kernel.len(), layer.side.pow(2) * channels, "a whole kernel");
    assert_eq!(picture.len(), width * height * channels, "a whole picture");
    assert_eq!(output.len, wide * high * channels, "room for the result");
    let lines = part.of(high, 1);
    // SAFETY: the level and all lengths were checked.
    unsafe { convolve(level, layer, picture, lines.start, lines.end, output.at) }
}

levels!(convolve(layer: &Depthwise<'_>, picture: &[f32], from: usize, to: usize, out: *mut f32) => convolve_body);

/// Pixels that share a loaded weight.
const RUN: usize = 4;

#[inline(always)]
unsafe fn convolve_body<S: Simd, const R: usize>(
    s: S,
    layer: &Depthwise<'_>,
    picture: &[f32],
    from: usize,
    to: usize,
    out: *mut f32,
) {
    let Depthwise { kernel, bias, size: [width, height], side, step, pad } = *layer;
    let (wide, channels) = (layer.result()[0], bias.len());
    for y in from..to {
        // Lines of the kernel that meet the picture.
        let lines = pad.saturating_sub(y * step)..side.min(height + pad - y * step);
        let mut channel = 0;
        while channel < channels {
            let count = S::LANES.min(channels - channel);
            let mut x = 0;
            while x < wide {
                let inside = count == S::LANES
                    && x * step >= pad
                    && x + RUN <= wide
                    && (x + RUN - 1) * step + side <= width + pad;
                // SAFETY: `lines` and `columns` keep taps inside the picture, `inside` those of the whole run;
                // the last channels are loaded and stored `count` at a time.
                unsafe {
                    let bias = s.load_some(bias.as_ptr().add(channel), count);
                    let at = out.add((y * wide + x) * channels + channel);
                    if inside {
                        let mut sums = [bias; RUN];
                        for ky in lines.clone() {
                            let line = ((y * step + ky - pad) * width + x * step - pad) * channels + channel;
                            let line = picture.as_ptr().add(line);
                            for kx in 0..side {
                                let tap = s.load(kernel.as_ptr().add((ky * side + kx) * channels + channel));
                                for (r, sum) in sums.iter_mut().enumerate() {
                                    let pixel = line.add((r * step + kx) * channels);
                                    *sum = s.fma(s.load(pixel), tap, *sum);
                                }
                            }
                        }
                        for (r, &sum) in sums.iter().enumerate() {
                            s.store(at.add(r * channels), sum);
                        }
                        x += RUN;
                    } else {
                        let columns = pad.saturating_sub(x * step)..side.min(width + pad - x * step);
                        let mut sum = bias;
                        for ky in lines.clone() {
                            for kx in columns.clone() {
                                let tap = kernel.as_ptr().add((ky * side + kx) * channels + channel);
                                let pixel = (y * step + ky - pad) * width + x * step + kx - pad;
                                let pixel = picture.as_ptr().add(pixel * channels + channel);
                                sum = s.fma(s.load_some(pixel, count), s.load_some(tap, count), sum);
                            }
                        }
                        s.store_some(at, sum, count);
                        x += 1;
                    }
                }
            }
            channel += S::LANES;
        }
    }
}
