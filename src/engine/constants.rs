//! Position encodings: computed once on the host for a model and a size, then resident on the device.

use super::positions;
use crate::ggml::{Backend, GgmlError, Kind, Store, StoreBuilder};
use crate::model::Weights;

/// `sine` `[hidden, T]`, `memory_sine` `[memory, T]`, `dense` `[hidden, T]`, `grid` i32 `[2 T]`.
pub(super) fn place(weights: &Weights, backend: &Backend, size: u32) -> Result<Store, GgmlError> {
    let config = weights.config();
    let grid = size as usize / 16;
    let tokens = i64::from(size / 16).pow(2);
    let mut wanted = StoreBuilder::new();
    wanted.add("sine", Kind::F32, [config.hidden, tokens, 1, 1]);
    wanted.add("memory_sine", Kind::F32, [config.memory, tokens, 1, 1]);
    wanted.add("dense", Kind::F32, [config.hidden, tokens, 1, 1]);
    wanted.add("grid", Kind::I32, [2 * tokens, 1, 1, 1]);
    let mut store = wanted.allocate(backend)?;
    let gaussian = weights.host("prompt_encoder.gaussian").expect("in the layout");
    let (hidden, memory) = (config.hidden as usize, config.memory as usize);
    let placed = store.set_f32("sine", &positions::sine_pe(hidden, grid, grid))
        && store.set_f32("memory_sine", &positions::sine_pe(memory, grid, grid))
        && store.set_f32("dense", &positions::dense_pe(&gaussian, grid))
        && store.set_i32("grid", &positions::rope_positions(grid));
    assert!(placed, "the encodings have the shapes of their tensors");
    Ok(store)
}
