//! Owns the functions that the float kernels apply to whole vectors: erf-GELU and the exponential.
//! May import: nothing of this crate.
//! Must not: touch memory.

use super::simd::Simd;

// Coefficients as fitted; the first of P happens to be near 2 / sqrt pi.
#[allow(clippy::approx_constant, clippy::excessive_precision)]
mod fit {
    /// Numerator and denominator of erf(x) / x in x^2, constant term first; fitted for |x| <= 3.95, where erf is 1 in f32.
    pub(super) const P: [f32; 6] =
        [1.128_379, 0.193_326_66, 0.053_114_22, 0.003_887_196_5, 2.869_693_3e-4, 2.017_755_6e-6];
    /// Denominator.
    pub(super) const Q: [f32; 6] =
        [1.0, 0.504_662_98, 0.115_298_45, 0.015_210_345, 0.001_190_984_3, 3.786_910_3e-5];
}
use fit::{P, Q};

/// `x * (1 + erf(x / sqrt 2)) / 2`, within 1.5e-6 of the exact value for |x| <= 6 and the nearest of 0 and x beyond.
#[inline(always)]
pub(super) fn gelu<S: Simd>(s: S, x: S::V) -> S::V {
    let t = s.mul(x, s.splat(std::f32::consts::FRAC_1_SQRT_2));
    let t = s.max(s.min(t, s.splat(3.95)), s.splat(-3.95));
    let square = s.mul(t, t);
    let (mut p, mut q) = (s.splat(P[5]), s.splat(Q[5]));
    for i in (0..5).rev() {
        p = s.fma(p, square, s.splat(P[i]));
        q = s.fma(q, square, s.splat(Q[i]));
    }
    let erf = s.div(s.mul(t, p), q);
    let erf = s.max(s.min(erf, s.splat(1.0)), s.splat(-1.0));
    let half = s.mul(x, s.splat(0.5));
    s.fma(half, erf, half)
}

/// `exp(x)` for `x <= 0`, relative error about 2e-7; below -87 it stays at the value of -87, which is as good as 0.
#[inline(always)]
pub(super) fn exp<S: Simd>(s: S, x: S::V) -> S::V {
    /// ln 2 in two parts, so that the product with a whole number is exact.
    const LN2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    const TAYLOR: [f32; 6] = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0];
    let x = s.max(x, s.splat(-87.0));
    let n = s.round(s.mul(x, s.splat(std::f32::consts::LOG2_E)));
    let r = s.fma(n, s.splat(-LN2[0]), x);
    let r = s.fma(n, s.splat(-LN2[1]), r);
    let mut sum = s.splat(TAYLOR[0]);
    for c in &TAYLOR[1..] {
        sum = s.fma(sum, r, s.splat(*c));
    }
    let sum = s.fma(sum, r, s.splat(1.0));
    s.times_power(sum, n)
}
