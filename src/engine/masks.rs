//! Owns the way from low-resolution logits to masks of the picture's size and to the memory encoder's input.
//! May import: base, and resample next door.
//! Must not: choose among masks, or fill holes (the reference does so on CUDA only).
//!
//! The upsampling equals PyTorch's `interpolate(mode="bilinear", align_corners=False)` on the CPU to the last bit, but for
//! pictures whose width and height add up to at most 128, where PyTorch sums in another order.

use super::resample::fused;
use crate::base::{Logits, Mask, Rle, Size};

/// Neighbours and weights of one axis: output `i` is `low[first] * near + low[second] * far`.
#[derive(Default)]
struct Lerp {
    taps: Vec<Tap>,
    /// Outputs `start..end` that lie between the same two neighbours.
    segments: Vec<(usize, usize)>,
}

#[derive(Clone, Copy)]
struct Tap {
    first: usize,
    second: usize,
    near: f32,
    far: f32,
}

impl Tap {
    fn mix(&self, first: f32, second: f32) -> f32 {
        fused(first, self.near, second * self.far)
    }
}

impl Lerp {
    fn new(low: usize, high: usize) -> Self {
        let scale = low as f32 / high as f32;
        let last = low.saturating_sub(1);
        let taps: Vec<Tap> = (0..high)
            .map(|i| {
                let at = (scale * (i as f32 + 0.5) - 0.5).max(0.0);
                let first = (at as usize).min(last);
                let far = (at - first as f32).clamp(0.0, 1.0);
                Tap { first, second: (first + 1).min(last), near: 1.0 - far, far }
            })
            .collect();
        let mut segments: Vec<(usize, usize)> = Vec::with_capacity(low + 1);
        for (i, tap) in taps.iter().enumerate() {
            match segments.last_mut() {
                Some((start, end)) if taps[*start].first == tap.first => *end = i + 1,
                _ => segments.push((i, i + 1)),
            }
        }
        Self { taps, segments }
    }
}

/// How sure the memory encoder is told to be of a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryMask {
    /// In or out by the sign of the logit: after a prompt.
    Binary,
    /// The sigmoid of the logit: on tracked frames.
    Soft,
}

/// Scale and offset of the mask that the memory encoder sees; from the model file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaskScale {
    /// What a sure pixel is above a sure non-pixel.
    pub scale: f32,
    /// What a sure non-pixel is.
    pub bias: f32,
}

/// Brings low-resolution logits to the picture's size. Tables and buffers are kept: with sizes that stay the same only
/// the result is allocated.
#[derive(Default)]
pub struct MaskResizer {
    low: Option<Size>,
    high: Option<Size>,
    across: Lerp,
    down: Lerp,
    /// The logits after the horizontal pass: as many rows as the low resolution has, as wide as the result.
    wide: Vec<f32>,
}

impl MaskResizer {
    /// A resizer for any sizes; changing them costs new tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// The mask of a picture of `picture` pixels: where the resized logits are above 0. Logits whose length is not their
    /// width times height give an empty mask.
    pub fn mask(&mut self, logits: &Logits, picture: Size) -> Mask {
        if !self.widen(logits, picture) {
            return Mask::empty(picture);
        }
        let width = picture.width as usize;
        let mut data = Vec::with_capacity(picture.area());
        for tap in &self.down.taps {
            let (first, second) = self.neighbours(tap, width);
            data.extend(first.iter().zip(second).map(|(&a, &b)| u8::from(tap.mix(a, b) > 0.0)));
        }
        Mask::new(picture, data).unwrap_or_else(|| Mask::empty(picture))
    }

    /// The same mask as run lengths, without a byte per pixel in between.
    pub fn rle(&mut self, logits: &Logits, picture: Size) -> Rle {
        if !self.widen(logits, picture) {
            return Rle::encode(&Mask::empty(picture));
        }
        let (width, mut runs) = (picture.width as usize, Runs::default());
        for x in 0..width {
            for &(start, end) in &self.down.segments {
                let Tap { first, second, .. } = self.down.taps[start];
                let (a, b) = (self.wide[first * width + x], self.wide[second * width + x]);
                // Between two neighbours of one sign there is no change of sign.
                if a > 0.0 && b > 0.0 {
                    runs.add(true, end - start);
                } else if a <= 0.0 && b <= 0.0 {
                    runs.add(false, end - start);
                } else {
                    self.down.taps[start..end].iter().for_each(|tap| runs.add(tap.mix(a, b) > 0.0, 1));
                }
            }
        }
        runs.counts.push(runs.length);
        Rle::from_counts(picture, runs.counts).unwrap_or_else(|_| Rle::encode(&Mask::empty(picture)))
    }

    /// The resized logits themselves into `out`, row by row. Logits whose length is not their width times height give
    /// zeros.
    pub fn logits(&mut self, logits: &Logits, to: Size, out: &mut Vec<f32>) {
        out.clear();
        if !self.widen(logits, to) {
            out.resize(to.area(), 0.0);
            return;
        }
        for tap in &self.down.taps {
            let (first, second) = self.neighbours(tap, to.width as usize);
            out.extend(first.iter().zip(second).map(|(&a, &b)| tap.mix(a, b)));
        }
    }

    /// What the memory encoder takes for the mask of an object: `side` x `side` values, row by row, into `out`.
    pub fn memory(
        &mut self,
        logits: &Logits,
        side: u32,
        mask: MemoryMask,
        scale: MaskScale,
        out: &mut Vec<f32>,
    ) {
        self.logits(logits, Size::new(side, side), out);
        let MaskScale { scale, bias } = scale;
        match mask {
            MemoryMask::Binary => {
                out.iter_mut().for_each(|v| *v = if *v > 0.0 { scale + bias } else { bias });
            }
            MemoryMask::Soft => out.iter_mut().for_each(|v| *v = 1.0 / (1.0 + (-*v).exp()) * scale + bias),
        }
    }

    fn neighbours(&self, tap: &Tap, width: usize) -> (&[f32], &[f32]) {
        (&self.wide[tap.first * width..][..width], &self.wide[tap.second * width..][..width])
    }

    /// The horizontal pass; false when there is nothing to resize.
    fn widen(&mut self, logits: &Logits, to: Size) -> bool {
        let low = Size::new(logits.width, logits.height);
        if low.area() == 0 || to.area() == 0 || logits.data.len() != low.area() {
            return false;
        }
        if self.low != Some(low) || self.high != Some(to) {
            self.across = Lerp::new(low.width as usize, to.width as usize);
            self.down = Lerp::new(low.height as usize, to.height as usize);
            (self.low, self.high) = (Some(low), Some(to));
        }
        self.wide.clear();
        for row in logits.data.chunks_exact(low.width as usize) {
            self.wide.extend(self.across.taps.iter().map(|tap| tap.mix(row[tap.first], row[tap.second])));
        }
        true
    }
}

/// Run lengths under construction.
#[derive(Default)]
struct Runs {
    counts: Vec<u32>,
    value: bool,
    length: u32,
}

impl Runs {
    fn add(&mut self, value: bool, length: usize) {
        if value != self.value {
            self.counts.push(self.length);
            (self.value, self.length) = (value, 0);
        }
        self.length += length as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SCALE: MaskScale = MaskScale { scale: 20.0, bias: -10.0 };

    fn wave(width: u32, height: u32, seed: u32) -> Logits {
        let mut logits = Logits::constant(width, height, 0.0);
        for (i, v) in (0u32..).zip(&mut logits.data) {
            let noise = (i ^ seed).wrapping_mul(2_654_435_761) >> 20;
            *v = noise as f32 / 256.0 - 8.0;
        }
        logits
    }

    #[test]
    fn upsamples_between_pixel_centres() {
        let low = Logits { width: 2, height: 2, data: vec![0.0, 4.0, 8.0, 12.0] };
        let mut out = Vec::new();
        MaskResizer::new().logits(&low, Size::new(4, 4), &mut out);
        assert_eq!(out[..4], [0.0, 1.0, 3.0, 4.0]);
        assert_eq!(out[4..8], [2.0, 3.0, 5.0, 6.0]);
        assert_eq!(out[12..], [8.0, 9.0, 11.0, 12.0]);
    }

    #[test]
    fn equals_torch() {
        // interpolate() of PyTorch 2.15 on wave(16, 16, 5): bits of single values, and the sum of all bits.
        let mut out = Vec::new();
        for (width, height, samples, sum) in TORCH {
            MaskResizer::new().logits(&wave(16, 16, 5), Size::new(width, height), &mut out);
            for (at, bits) in samples {
                assert_eq!(out[at].to_bits(), bits, "{width} x {height}, value {at}");
            }
            let found = out.iter().fold(0u64, |s, v| s.wrapping_mul(31).wrapping_add(u64::from(v.to_bits())));
            assert_eq!(found, sum, "{width} x {height}");
        }
    }

    /// Width, height, two values as bits with their places, checksum of all.
    type Case = (u32, u32, [(usize, u32); 2], u64);

    const TORCH: [Case; 4] = [
        (85, 48, [(1360, 0x3f06_0000), (2041, 0xc087_6001)], 0x344e_bdfc_86da_43ac),
        (300, 11, [(1100, 0x400e_86a6), (1651, 0xc05e_251e)], 0x3d4e_3683_aac2_7f59),
        (9, 200, [(600, 0xc0c7_a7ab), (901, 0x3f4a_80e4)], 0x6e2e_8e7c_302e_b1a9),
        (150, 150, [(7500, 0x3f39_cb15), (11251, 0xc080_ea3d)], 0xe9aa_36fa_80f7_0ef7),
    ];

    #[test]
    fn memory_is_scaled() {
        let low = Logits { width: 1, height: 2, data: vec![-1024.0, 0.75] };
        let mut out = Vec::new();
        let mut resizer = MaskResizer::new();
        resizer.memory(&low, 2, MemoryMask::Binary, SCALE, &mut out);
        assert_eq!(out, [-10.0, -10.0, 10.0, 10.0]);
        resizer.memory(&low, 2, MemoryMask::Soft, SCALE, &mut out);
        assert_eq!(out[..2], [-10.0, -10.0]);
        let expected = 20.0 / (1.0 + (-0.75f64).exp()) - 10.0;
        assert!((f64::from(out[2]) - expected).abs() < 2e-6);
        resizer.memory(&Logits::constant(4, 4, 0.0), 8, MemoryMask::Binary, SCALE, &mut out);
        assert_eq!(out, [-10.0; 64], "0 is outside");
    }

    #[test]
    fn damaged_logits_give_nothing() {
        let mut resizer = MaskResizer::new();
        let bad = Logits { width: 3, height: 3, data: vec![1.0; 8] };
        let size = Size::new(5, 4);
        assert_eq!(resizer.mask(&bad, size).area(), 0);
        assert_eq!(resizer.rle(&bad, size).area(), 0);
        let nan = Logits::constant(3, 3, f32::NAN);
        assert_eq!(resizer.rle(&nan, size).area(), 0);
        assert_eq!(resizer.mask(&nan, size).area(), 0);
    }

    proptest! {
        #[test]
        fn runs_and_mask_and_logits_agree(
            low in (1u32..20, 1u32..20), size in (1u32..90, 1u32..90), seed in any::<u32>(), offset in -9f32..9.0,
        ) {
            let mut logits = wave(low.0, low.1, seed);
            logits.data.iter_mut().for_each(|v| *v += offset);
            let size = Size::new(size.0, size.1);
            let mut resizer = MaskResizer::new();
            let mask = resizer.mask(&logits, size);
            prop_assert_eq!(resizer.rle(&logits, size), Rle::encode(&mask));
            let mut high = Vec::new();
            resizer.logits(&logits, size, &mut high);
            let by_hand: Vec<u8> = high.iter().map(|v| u8::from(*v > 0.0)).collect();
            prop_assert_eq!(mask.data(), &by_hand[..]);
        }
    }
}
