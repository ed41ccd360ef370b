//! Owns the vectors that the float kernels are written with: one source, compiled for each kind of processor.
//! May import: nothing of this crate.
//! Must not: hold a kernel.

/// A kind of vector unit that this build has code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// AVX-512 (F, DQ, VL).
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2 with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Arm's Advanced SIMD, which every 64-bit Arm processor has.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Whatever the compiler makes of plain arrays.
    Portable,
}

impl Level {
    /// All levels that this processor can run, the fastest first.
    pub fn usable() -> Vec<Self> {
        let levels = [
            #[cfg(target_arch = "x86_64")]
            Self::Avx512,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2,
            #[cfg(target_arch = "aarch64")]
            Self::Neon,
            Self::Portable,
        ];
        levels.into_iter().filter(|level| level.usable_here()).collect()
    }

    /// Whether this processor can run it. Cheap: the standard library remembers what the processor has.
    pub(super) fn usable_here(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let fused = has!("fma");
            match self {
                Self::Avx512 => fused && has!("avx512f") && has!("avx512dq") && has!("avx512vl"),
                Self::Avx2 => fused && has!("avx2"),
                Self::Portable => true,
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        true
    }

    /// The fastest that this processor can run.
    pub fn best() -> Self {
        Self::usable()[0]
    }
}

/// Vectors of `LANES` floats. A value of an implementing type is the proof that the processor has the instructions.
pub(super) trait Simd: Copy {
    /// One vector.
    type V: Copy;
    /// Floats in it.
    const LANES: usize;

    fn splat(self, x: f32) -> Self::V;
    /// # Safety
    /// `at` must be readable for `LANES` floats.
    unsafe fn load(self, at: *const f32) -> Self::V;
    /// # Safety
    /// `at` must be writable for `LANES` floats.
    unsafe fn store(self, at: *mut f32, v: Self::V);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c`; rounded once where the processor can.
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// To the nearest whole number.
    fn round(self, a: Self::V) -> Self::V;
    /// `a * 2^n` for whole `n` from -126 to 127.
    fn times_power(self, a: Self::V, n: Self::V) -> Self::V;

    /// The first `count` floats, at most `LANES`; the others are zero.
    ///
    /// # Safety
    /// `at` must be readable for `count` floats.
    #[inline(always)]
    unsafe fn load_some(self, at: *const f32, count: usize) -> Self::V {
        if count >= Self::LANES {
            // SAFETY: `LANES` floats are readable.
            return unsafe { self.load(at) };
        }
        let mut lanes = [0f32; 16];
        // SAFETY: `count` floats are readable, and fewer than the array's; the array holds a vector.
        unsafe {
            std::ptr::copy_nonoverlapping(at, lanes.as_mut_ptr(), count);
            self.load(lanes.as_ptr())
        }
    }

    /// Stores the first `count` floats, at most `LANES`.
    ///
    /// # Safety
    /// `at` must be writable for `count` floats.
    #[inline(always)]
    unsafe fn store_some(self, at: *mut f32, v: Self::V, count: usize) {
        if count >= Self::LANES {
            // SAFETY: `LANES` floats are writable.
            return unsafe { self.store(at, v) };
        }
        let lanes = self.lanes(v);
        // SAFETY: `count` floats are writable, and fewer than the array's.
        unsafe { std::ptr::copy_nonoverlapping(lanes.as_ptr(), at, count) };
    }

    /// The lanes, in the first `LANES` places.
    #[inline(always)]
    fn lanes(self, v: Self::V) -> [f32; 16] {
        let mut lanes = [0f32; 16];
        // SAFETY: no vector is longer than the array.
        unsafe { self.store(lanes.as_mut_ptr(), v) };
        lanes
    }

    #[inline(always)]
    fn sum(self, v: Self::V) -> f32 {
        let mut lanes = self.lanes(v);
        // By halves, which the compiler turns into vector additions.
        let mut half = Self::LANES / 2;
        while half > 0 {
            for i in 0..half {
                lanes[i] += lanes[i + half];
            }
            half /= 2;
        }
        lanes[0]
    }

    #[inline(always)]
    fn largest(self, v: Self::V) -> f32 {
        self.lanes(v)[..Self::LANES].iter().copied().fold(f32::NEG_INFINITY, f32::max)
    }
}

/// Four lanes in an array.
#[derive(Clone, Copy)]
pub(super) struct Portable;

impl Portable {
    #[inline(always)]
    fn each(a: [f32; 4], b: [f32; 4], op: impl Fn(f32, f32) -> f32) -> [f32; 4] {
        let mut out = [0.0; 4];
        for i in 0..4 {
            out[i] = op(a[i], b[i]);
        }
        out
    }
}

impl Simd for Portable {
    type V = [f32; 4];
    const LANES: usize = 4;
    #[inline(always)]
    fn splat(self, x: f32) -> [f32; 4] {
        [x; 4]
    }
    #[inline(always)]
    unsafe fn load(self, at: *const f32) -> [f32; 4] {
        // SAFETY: the caller's.
        unsafe { at.cast::<[f32; 4]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(self, at: *mut f32, v: [f32; 4]) {
        // SAFETY: the caller's.
        unsafe { at.cast::<[f32; 4]>().write_unaligned(v) }
    }
    #[inline(always)]
    fn add(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Self::each(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Self::each(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Self::each(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Self::each(a, b, |a, b| a / b)
    }
    #[inline(always)]
    fn min(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Self::each(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Self::each(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn fma(self, a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
        let mut out = c;
        for i in 0..4 {
            // Without the instruction, `mul_add` is a call into the C library.
            out[i] = if cfg!(any(target_arch = "aarch64", target_feature = "fma")) {
                a[i].mul_add(b[i], c[i])
            } else {
                a[i] * b[i] + c[i]
            };
        }
        out
    }
    #[inline(always)]
    fn round(self, a: [f32; 4]) -> [f32; 4] {
        // Adding and taking away 1.5 * 2^23 leaves no room for a fraction; `f32::round` may be a call.
        Self::each(a, [12_582_912.0; 4], |a, big| (a + big) - big)
    }
    #[inline(always)]
    fn times_power(self, a: [f32; 4], n: [f32; 4]) -> [f32; 4] {
        // SAFETY: `n` is a small whole number, see the trait.
        let power =
            |n: f32| f32::from_bits((unsafe { n.to_int_unchecked::<i32>() } + 127).cast_unsigned() << 23);
        Self::each(a, n, |a, n| a * power(n))
    }
}

/// Writes `LANES` and the operations that are one instruction each.
#[cfg(target_arch = "x86_64")]
macro_rules! x86 {
    ($name:ident, $v:ident, $lanes:literal, $splat:ident, $load:ident, $store:ident, $add:ident, $sub:ident, $mul:ident,
     $div:ident, $min:ident, $max:ident, $fma:ident, round: |$r:ident| $round:expr, power: |$a:ident, $n:ident| $power:expr) => {
        /// Proof that the processor has the instructions.
        #[derive(Clone, Copy)]
        pub(in crate::kernels) struct $name(());

        impl $name {
            /// # Safety
            /// The processor must have what [`Level`] says.
            #[inline(always)]
            pub(in crate::kernels) unsafe fn new() -> Self {
                Self(())
            }
        }

        // In each: SAFETY: `self` proves that the processor has the instruction; pointers are the caller's.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Simd for $name {
            type V = $v;
            const LANES: usize = $lanes;
            #[inline(always)]
            fn splat(self, x: f32) -> $v {
                unsafe { $splat(x) }
            }
            #[inline(always)]
            unsafe fn load(self, at: *const f32) -> $v {
                unsafe { $load(at) }
            }
            #[inline(always)]
            unsafe fn store(self, at: *mut f32, v: $v) {
                unsafe { $store(at, v) }
            }
            #[inline(always)]
            fn add(self, a: $v, b: $v) -> $v {
                unsafe { $add(a, b) }
            }
            #[inline(always)]
            fn sub(self, a: $v, b: $v) -> $v {
                unsafe { $sub(a, b) }
            }
            #[inline(always)]
            fn mul(self, a: $v, b: $v) -> $v {
                unsafe { $mul(a, b) }
            }
            #[inline(always)]
            fn div(self, a: $v, b: $v) -> $v {
                unsafe { $div(a, b) }
            }
            #[inline(always)]
            fn min(self, a: $v, b: $v) -> $v {
                unsafe { $min(a, b) }
            }
            #[inline(always)]
            fn max(self, a: $v, b: $v) -> $v {
                unsafe { $max(a, b) }
            }
            #[inline(always)]
            fn fma(self, a: $v, b: $v, c: $v) -> $v {
                unsafe { $fma(a, b, c) }
            }
            #[inline(always)]
            fn round(self, $r: $v) -> $v {
                unsafe { $round }
            }
            #[inline(always)]
            fn times_power(self, $a: $v, $n: $v) -> $v {
                unsafe { $power }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Simd;
    #[allow(clippy::wildcard_imports)] // the names say what they are, and there are many
    use std::arch::x86_64::*;

    x86!(
        Avx512, __m512, 16, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps, _mm512_sub_ps,
        _mm512_mul_ps, _mm512_div_ps, _mm512_min_ps, _mm512_max_ps, _mm512_fmadd_ps,
        round: |a| _mm512_roundscale_ps::<0>(a), power: |a, n| _mm512_scalef_ps(a, n)
    );
    x86!(
        Avx2, __m256, 8, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_add_ps, _mm256_sub_ps,
        _mm256_mul_ps, _mm256_div_ps, _mm256_min_ps, _mm256_max_ps, _mm256_fmadd_ps,
        round: |a| _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a),
        power: |a, n| {
            let bits = _mm256_slli_epi32::<23>(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)));
            _mm256_mul_ps(a, _mm256_castsi256_ps(bits))
        }
    );
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::Simd;
    #[allow(clippy::wildcard_imports)] // as for x86
    use std::arch::aarch64::*;

    /// Four lanes in a register.
    #[derive(Clone, Copy)]
    pub(in crate::kernels) struct Neon(());

    impl Neon {
        /// # Safety
        /// The processor must have Advanced SIMD.
        #[inline(always)]
        pub(in crate::kernels) unsafe fn new() -> Self {
            Self(())
        }
    }

    // In each: SAFETY: `self` proves that the processor has the instruction; pointers are the caller's.
    #[allow(clippy::undocumented_unsafe_blocks)]
    impl Simd for Neon {
        type V = float32x4_t;
        const LANES: usize = 4;
        #[inline(always)]
        fn splat(self, x: f32) -> float32x4_t {
            unsafe { vdupq_n_f32(x) }
        }
        #[inline(always)]
        unsafe fn load(self, at: *const f32) -> float32x4_t {
            unsafe { vld1q_f32(at) }
        }
        #[inline(always)]
        unsafe fn store(self, at: *mut f32, v: float32x4_t) {
            unsafe { vst1q_f32(at, v) }
        }
        #[inline(always)]
        fn add(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
            unsafe { vaddq_f32(a, b) }
        }
        #[inline(always)]
        fn sub(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
            unsafe { vsubq_f32(a, b) }
        }
        #[inline(always)]
        fn mul(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
            unsafe { vmulq_f32(a, b) }
        }
        #[inline(always)]
        fn div(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
            unsafe { vdivq_f32(a, b) }
        }
        #[inline(always)]
        fn min(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
            unsafe { vminq_f32(a, b) }
        }
        #[inline(always)]
        fn max(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
            unsafe { vmaxq_f32(a, b) }
        }
        #[inline(always)]
        fn fma(self, a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
            unsafe { vfmaq_f32(c, a, b) }
        }
        #[inline(always)]
        fn round(self, a: float32x4_t) -> float32x4_t {
            unsafe { vrndnq_f32(a) }
        }
        #[inline(always)]
        fn times_power(self, a: float32x4_t, n: float32x4_t) -> float32x4_t {
            unsafe {
                let bits = vshlq_n_s32::<23>(vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127)));
                vmulq_f32(a, vreinterpretq_f32_s32(bits))
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(super) use arm::Neon;

/// Makes `$name(level, ..)`, which runs `$body::<S, ROWS>(s, ..)` compiled for that level. `ROWS` is how many rows of two
/// vectors of sums fit in the registers.
macro_rules! levels {
    ($name:ident($($arg:ident: $ty:ty),* $(,)?) => $body:ident) => {
        /// # Safety
        /// The processor must be able to run `level`, and what the body asks for.
        unsafe fn $name(level: $crate::kernels::simd::Level, $($arg: $ty),*) {
            use $crate::kernels::simd::{Level, Portable};
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
            unsafe fn avx512($($arg: $ty),*) {
                // SAFETY: this function is compiled for these instructions; the rest is the caller's.
                unsafe { $body::<_, 8>($crate::kernels::simd::Avx512::new(), $($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2($($arg: $ty),*) {
                // SAFETY: as above.
                unsafe { $body::<_, 6>($crate::kernels::simd::Avx2::new(), $($arg),*) }
            }
            #[cfg(target_arch = "aarch64")]
            #[target_feature(enable = "neon")]
            unsafe fn neon($($arg: $ty),*) {
                // SAFETY: as above.
                unsafe { $body::<_, 8>($crate::kernels::simd::Neon::new(), $($arg),*) }
            }
            // SAFETY: the caller's.
            unsafe {
                match level {
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => avx512($($arg),*),
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => avx2($($arg),*),
                    #[cfg(target_arch = "aarch64")]
                    Level::Neon => neon($($arg),*),
                    Level::Portable => $body::<_, 4>(Portable, $($arg),*),
                }
            }
        }
    };
}
pub(super) use levels;
