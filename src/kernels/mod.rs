//! Owns our own loops over slices where the processor's vector units matter, each with a portable twin.
//! May import: base.
//! Must not: know ggml, start threads, or give other numbers on another processor without saying so.
//!
//! Float kernels run at a [`Level`]; levels differ in rounding only, within the bounds that the tests state.
// Calling code that was compiled for a processor feature is unsafe; here it is asked for first.
#![allow(unsafe_code)]

mod attention;
mod depthwise;
mod heads;
mod linear;
mod math;
mod part;
mod rope;
mod rows;
mod simd;
mod taps;

pub use attention::{Rows, attention, pack_keys, pack_values, packed_keys};
pub use depthwise::{Depthwise, depthwise};
pub use heads::heads_attention;
pub use linear::{Activation, Added, Input, Layer, Panels, Patches, Placement, linear};
pub use part::{Output, Part};
pub use rope::{Angles, rotate};
pub use rows::{Norm, channel_means, norm, scale_channels};
pub use simd::Level;
pub use taps::{TAP_PRECISION, weighted_sums};

#[cfg(test)]
mod tests;
