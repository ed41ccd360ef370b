//! Named tensors that stay on a device: weights, constants, features between graphs.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::NonNull;

use super::{Backend, GgmlError, sys};

/// Element type of a resident tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 32-bit float.
    F32,
    /// 32-bit integer.
    I32,
}

impl Kind {
    pub(super) fn raw(self) -> sys::ggml_type {
        match self {
            Self::F32 => sys::GGML_TYPE_F32,
            Self::I32 => sys::GGML_TYPE_I32,
        }
    }
}

/// A ggml context that holds descriptions only, no data.
pub(super) struct Context(pub(super) NonNull<sys::ggml_context>);

impl Context {
    /// Room for `tensors` tensors and `graph_nodes` graph nodes (0: no graph).
    pub(super) fn new(tensors: usize, graph_nodes: usize) -> Result<Self, GgmlError> {
        // SAFETY: both functions only compute sizes.
        let bytes = unsafe {
            let graph = if graph_nodes > 0 { sys::ggml_graph_overhead_custom(graph_nodes, false) } else { 0 };
            sys::ggml_tensor_overhead() * tensors + graph
        };
        let params =
            sys::ggml_init_params { mem_size: bytes, mem_buffer: std::ptr::null_mut(), no_alloc: true };
        // SAFETY: with a null buffer ggml allocates `mem_size` bytes itself.
        let raw = unsafe { sys::ggml_init(params) };
        NonNull::new(raw).map(Self).ok_or(GgmlError::Memory { device: "CPU".into(), bytes })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by ggml_init, freed once.
        unsafe { sys::ggml_free(self.0.as_ptr()) }
    }
}

/// Describes the tensors of a [`Store`].
#[derive(Default)]
pub struct StoreBuilder {
    wanted: Vec<(String, Kind, [i64; 4])>,
}

impl StoreBuilder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tensor of shape `ne` (ggml order, fastest dimension first). A name that is there already is replaced.
    pub fn add(&mut self, name: impl Into<String>, kind: Kind, ne: [i64; 4]) -> &mut Self {
        let name = name.into();
        self.wanted.retain(|(other, ..)| *other != name);
        self.wanted.push((name, kind, ne));
        self
    }

    /// Allocates everything on `backend`. The contents are zero.
    ///
    /// # Errors
    /// [`GgmlError::Memory`].
    pub fn allocate(self, backend: &Backend) -> Result<Store, GgmlError> {
        let context = Context::new(self.wanted.len().max(1), 0)?;
        let mut tensors = HashMap::new();
        let mut bytes = 0usize;
        for (name, kind, ne) in self.wanted {
            bytes += ne.iter().map(|&n| usize::try_from(n).unwrap_or(0)).product::<usize>() * 4;
            // SAFETY: the context is alive and has room for this many tensors; `ne` holds four dimensions.
            let raw = unsafe { sys::ggml_new_tensor(context.0.as_ptr(), kind.raw(), 4, ne.as_ptr()) };
            let raw = NonNull::new(raw).ok_or(GgmlError::Memory { device: "CPU".into(), bytes: 0 })?;
            tensors.insert(name, (raw, kind));
        }
        let failed = || GgmlError::Memory { device: backend.name().into(), bytes };
        // SAFETY: context and backend are alive; null is handled.
        let buffer = unsafe { sys::ggml_backend_alloc_ctx_tensors(context.0.as_ptr(), backend.raw()) };
        let buffer = NonNull::new(buffer).ok_or_else(failed)?;
        // SAFETY: the buffer was just made.
        unsafe { sys::ggml_backend_buffer_clear(buffer.as_ptr(), 0) };
        Ok(Store { tensors, buffer, _context: context, backend: backend.clone() })
    }
}

/// Tensors that keep their place on a device and their contents between graphs.
pub struct Store {
    tensors: HashMap<String, (NonNull<sys::ggml_tensor>, Kind)>,
    buffer: NonNull<sys::ggml_backend_buffer>,
    _context: Context,
    // Last, so that the device outlives the buffer.
    backend: Backend,
}

// SAFETY: the pointers lead to memory that this value owns; ggml has no thread-local state for it.
unsafe impl Send for Store {}
// SAFETY: writing takes `&mut self` or happens inside a graph run, which the owning engine serialises by `&mut self`.
unsafe impl Sync for Store {}

impl Drop for Store {
    fn drop(&mut self) {
        // SAFETY: made by ggml_backend_alloc_ctx_tensors, freed once, before the context and the backend.
        unsafe { sys::ggml_backend_buffer_free(self.buffer.as_ptr()) }
    }
}

impl Store {
    /// Writes a whole f32 tensor. False when there is no such tensor or the length differs.
    pub fn set_f32(&mut self, name: &str, values: &[f32]) -> bool {
        self.write(name, Kind::F32, values.as_ptr().cast(), values.len())
    }

    /// Writes a whole i32 tensor. False when there is no such tensor or the length differs.
    pub fn set_i32(&mut self, name: &str, values: &[i32]) -> bool {
        self.write(name, Kind::I32, values.as_ptr().cast(), values.len())
    }

    fn write(&mut self, name: &str, kind: Kind, data: *const c_void, elements: usize) -> bool {
        let Some(&(tensor, _)) = self.tensors.get(name).filter(|(_, k)| *k == kind) else { return false };
        if element_count(tensor) != elements {
            return false;
        }
        // SAFETY: the tensor is allocated, 4 bytes an element, and `data` holds as many elements.
        unsafe { sys::ggml_backend_tensor_set(tensor.as_ptr(), data, 0, elements * 4) };
        true
    }

    /// Writes row `row` of an f32 tensor `[w, rows]`. False when there is no such tensor or row or the length differs.
    /// Waits for a graph that computes on the store's backend.
    pub fn set_row(&self, name: &str, row: usize, values: &[f32]) -> bool {
        let Some(&(tensor, _)) = self.tensors.get(name).filter(|(_, k)| *k == Kind::F32) else {
            return false;
        };
        // SAFETY: the tensor lives as long as the context that this value owns.
        let [width, rows, ..] = unsafe { tensor.as_ref() }.ne.map(|n| usize::try_from(n).unwrap_or(0));
        if values.len() != width || row >= rows {
            return false;
        }
        let _turn = self.backend.turn();
        self.backend.count_up(width * 4);
        // SAFETY: the row lies inside the tensor, 4 bytes an element; whatever else touches it has its turn.
        unsafe {
            let (data, at) = (values.as_ptr().cast(), row * width * 4);
            sys::ggml_backend_tensor_set(tensor.as_ptr(), data, at, width * 4);
        }
        true
    }

    /// [`Self::set_row`] of a whole f32 tensor.
    pub fn put(&self, name: &str, values: &[f32]) -> bool {
        let Some(&(tensor, _)) = self.tensors.get(name).filter(|(_, k)| *k == Kind::F32) else {
            return false;
        };
        if element_count(tensor) != values.len() {
            return false;
        }
        let _turn = self.backend.turn();
        self.backend.count_up(values.len() * 4);
        // SAFETY: the tensor is allocated and has as many elements; whatever else touches it has its turn.
        unsafe {
            sys::ggml_backend_tensor_set(tensor.as_ptr(), values.as_ptr().cast(), 0, values.len() * 4);
        }
        true
    }

    /// Reads a whole f32 tensor, or `None` when there is no such tensor.
    pub fn get_f32(&self, name: &str) -> Option<Vec<f32>> {
        let &(tensor, _) = self.tensors.get(name).filter(|(_, k)| *k == Kind::F32)?;
        let mut values = vec![0f32; element_count(tensor)];
        // SAFETY: the tensor is allocated and `values` has its size.
        unsafe {
            sys::ggml_backend_tensor_get(tensor.as_ptr(), values.as_mut_ptr().cast(), 0, values.len() * 4)
        };
        Some(values)
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> usize {
        // SAFETY: the buffer is alive.
        unsafe { sys::ggml_backend_buffer_get_size(self.buffer.as_ptr()) }
    }

    /// Shape of a tensor in ggml order.
    pub fn shape(&self, name: &str) -> Option<[i64; 4]> {
        // SAFETY: the pointers live as long as the context that this value owns.
        self.tensors.get(name).map(|(tensor, _)| unsafe { tensor.as_ref() }.ne)
    }

    pub(super) fn raw(&self, name: &str) -> Option<NonNull<sys::ggml_tensor>> {
        self.tensors.get(name).map(|(tensor, _)| *tensor)
    }
}

pub(super) fn element_count(tensor: NonNull<sys::ggml_tensor>) -> usize {
    // SAFETY: callers pass tensors of a context that is alive.
    unsafe { tensor.as_ref() }.ne.iter().map(|&n| usize::try_from(n).unwrap_or(0)).product()
}
