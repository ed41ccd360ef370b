//! Owns how a kernel's work is shared between threads.
//! May import: nothing of this crate.
//! Must not: start threads.

use std::marker::PhantomData;
use std::ops::Range;

/// Which share of the work a call does.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// This thread.
    pub index: usize,
    /// Of so many.
    pub count: usize,
}

impl Part {
    /// All of it.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// This part of `0..total`, cut at multiples of `grain`. All parts together cover it, and none overlap.
    pub fn of(self, total: usize, grain: usize) -> Range<usize> {
        let grains = total.div_ceil(grain);
        let cut = |i: usize| (grains * i / self.count * grain).min(total);
        cut(self.index)..cut(self.index + 1)
    }
}

/// Memory that several threads write, each its part.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    pub(super) at: *mut f32,
    pub(super) len: usize,
    life: PhantomData<&'a mut [f32]>,
}

impl<'a> Output<'a> {
    /// A slice that one thread fills.
    pub fn new(slice: &'a mut [f32]) -> Self {
        Self { at: slice.as_mut_ptr(), len: slice.len(), life: PhantomData }
    }

    /// Shared memory.
    ///
    /// # Safety
    /// `at` must be valid for writing `len` floats for `'a`, and nothing else may touch it but calls of the same kernel
    /// with the same operands, each with another [`Part`] of the same count.
    pub unsafe fn shared(at: *mut f32, len: usize) -> Self {
        Self { at, len, life: PhantomData }
    }
}
