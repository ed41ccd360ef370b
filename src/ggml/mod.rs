//! Owns everything that touches ggml: devices, resident tensors, building and running graphs, model files.
//! May import: base, kernels.
//! Must not: know what the network looks like. All unsafe code is in `ffi`; what it offers is safe to call.

mod ffi;
pub mod gguf;
#[cfg(any(test, feature = "dynamic-backends"))]
mod plugin;

pub use ffi::{
    Addition, Backend, Builder, Conv, Found, GgmlError, Graph, Kind, Picture, Run, Store, StoreBuilder,
    Tensor, Workspace, found,
};
