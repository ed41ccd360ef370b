//! Owns the inner loop of resampling: weighted sums of rows of bytes in fixed point.
//! May import: nothing of this crate.
//! Must not: know pictures, or choose weights.

/// Fractional bits of the weights.
pub const TAP_PRECISION: u32 = 22;

/// For every `j`: `output[j]` is the sum over taps `t` of `weights[t] * input[t * stride + j]`, rounded and cut to 0..=255.
///
/// The weights have [`TAP_PRECISION`] fractional bits; their absolute values should not add up to more than 2, else the
/// sums wrap. Integer arithmetic: every machine gives the same bytes.
///
/// # Panics
/// When `input` is shorter than `(weights.len() - 1) * stride + output.len()`.
pub fn weighted_sums(weights: &[i32], input: &[u8], stride: usize, output: &mut [u8]) {
    let needed = weights.len().saturating_sub(1) * stride + output.len();
    assert!(input.len() >= needed || weights.is_empty(), "{} bytes for taps that span {needed}", input.len());
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, which is all that the function asks for.
        return unsafe { avx2(weights, input, stride, output) };
    }
    portable(weights, input, stride, output);
}

/// Sixteen bytes at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(weights: &[i32], input: &[u8], stride: usize, output: &mut [u8]) {
    use std::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_packus_epi16, _mm_storeu_si128, _mm_unpackhi_epi64, _mm256_add_epi32,
        _mm256_castsi256_si128, _mm256_cvtepu8_epi32, _mm256_extracti128_si256, _mm256_mullo_epi32,
        _mm256_packs_epi32, _mm256_permute4x64_epi64, _mm256_set1_epi32, _mm256_srai_epi32,
    };
    let (whole, rest) = output.as_chunks_mut::<16>();
    let at_rest = whole.len() * 16;
    for (i, out) in whole.iter_mut().enumerate() {
        let mut low = _mm256_set1_epi32(HALF);
        let mut high = low;
        for (tap, &weight) in weights.iter().enumerate() {
            let bytes: &[u8] = &input[tap * stride + i * 16..][..16];
            // SAFETY: the slice has sixteen bytes, and the load asks for no alignment.
            let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>()) };
            let weight = _mm256_set1_epi32(weight);
            let (first, second) =
                (_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(bytes, bytes)));
            low = _mm256_add_epi32(low, _mm256_mullo_epi32(first, weight));
            high = _mm256_add_epi32(high, _mm256_mullo_epi32(second, weight));
        }
        let low = _mm256_srai_epi32::<{ TAP_PRECISION as i32 }>(low);
        let high = _mm256_srai_epi32::<{ TAP_PRECISION as i32 }>(high);
        // Both packings saturate, which is the cut to 0..=255; the first interleaves halves, which is put right.
        let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(low, high));
        let bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
        // SAFETY: `out` has sixteen bytes, and the store asks for no alignment.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast::<__m128i>(), bytes) };
    }
    if !rest.is_empty() {
        portable(weights, input.get(at_rest..).unwrap_or_default(), stride, rest);
    }
}

/// Bytes that are summed at a time: few enough for the first-level cache.
const STRIP: usize = 256;

/// One half, for rounding.
const HALF: i32 = 1 << (TAP_PRECISION - 1);

fn portable(weights: &[i32], input: &[u8], stride: usize, output: &mut [u8]) {
    let mut sums = [0i32; STRIP];
    for (i, strip) in output.chunks_mut(STRIP).enumerate() {
        let sums = &mut sums[..strip.len()];
        sums.fill(HALF);
        for (tap, &weight) in weights.iter().enumerate() {
            let row = &input[tap * stride + i * STRIP..][..strip.len()];
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum = sum.wrapping_add(i32::from(value).wrapping_mul(weight));
            }
        }
        for (value, &sum) in strip.iter_mut().zip(sums.iter()) {
            *value = (sum >> TAP_PRECISION).clamp(0, 255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, in 64 bits.
    fn plainly(weights: &[i32], input: &[u8], stride: usize, length: usize) -> Vec<u8> {
        let one = |j: usize| {
            let sum: i64 = weights
                .iter()
                .enumerate()
                .map(|(t, &w)| i64::from(w) * i64::from(input[t * stride + j]))
                .sum();
            ((sum + (1 << (TAP_PRECISION - 1))) >> TAP_PRECISION).clamp(0, 255) as u8
        };
        (0..length).map(one).collect()
    }

    #[test]
    fn both_twins_equal_the_definition() {
        let input: Vec<u8> = (0..9000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for length in [0, 1, 15, 16, 17, 48, 100, 300] {
            for weights in
                [vec![], vec![1 << 22], vec![-400_000, 2_500_000, 2_600_000, -505_696], vec![200_000; 21]]
            {
                for stride in [length, 48, 131] {
                    let expected = plainly(&weights, &input, stride, length);
                    let (mut fast, mut slow) = (vec![9; length], vec![9; length]);
                    weighted_sums(&weights, &input, stride, &mut fast);
                    portable(&weights, &input, stride, &mut slow);
                    assert_eq!(fast, expected, "{length} bytes, {} taps, stride {stride}", weights.len());
                    assert_eq!(slow, expected);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "taps that span")]
    fn too_short_an_input_is_refused() {
        weighted_sums(&[1, 1], &[0; 9], 5, &mut [0; 5]);
    }
}
