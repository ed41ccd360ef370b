//! Owns our own loops over slices where the processor's vector units matter, each with a portable twin.
//! May import: base.
//! Must not: allocate, know ggml, or give other numbers on another processor without saying so.
// Calling code that was compiled for a processor feature is unsafe; here it is asked for first.
#![allow(unsafe_code)]

mod taps;

pub use taps::{TAP_PRECISION, weighted_sums};
