//! A finished graph and the memory it runs in.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{CStr, c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::builder::BLOCK;
use super::custom::Op;
use super::store::{Context, element_count};
use super::{Backend, GgmlError, Store, Tensor, log, sys};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A graph: built once for a shape, run as often as wanted in a [`Workspace`].
pub struct Graph {
    id: u64,
    raw: NonNull<sys::ggml_cgraph>,
    tensors: Vec<NonNull<sys::ggml_tensor>>,
    /// Tensors whose place the workspace decides; they are forgotten when another graph takes the workspace.
    placed: Vec<NonNull<sys::ggml_tensor>>,
    /// Bytes on their way up.
    packed: Vec<u8>,
    _context: Context,
    _kept: (Vec<Arc<Store>>, Vec<Arc<Op>>),
}

// SAFETY: the pointers lead into the context and the stores that the graph owns or keeps alive.
unsafe impl Send for Graph {}

impl Graph {
    pub(super) fn new(
        raw: NonNull<sys::ggml_cgraph>,
        context: Context,
        tensors: Vec<NonNull<sys::ggml_tensor>>,
        kept: (Vec<Arc<Store>>, Vec<Arc<Op>>),
    ) -> Self {
        let mut own = Vec::new();
        // SAFETY: the context is alive and ggml walks its own list.
        unsafe {
            let mut next = sys::ggml_get_first_tensor(context.0.as_ptr());
            while let Some(tensor) = NonNull::new(next) {
                own.push(tensor);
                next = sys::ggml_get_next_tensor(context.0.as_ptr(), next);
            }
        }
        let inside: HashSet<_> = own.iter().copied().collect();
        // Views of resident tensors keep their place: their data belongs to the store.
        own.retain(|tensor| {
            // SAFETY: the tensor is alive.
            NonNull::new(unsafe { tensor.as_ref() }.view_src).is_none_or(|source| inside.contains(&source))
        });
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, raw, tensors, placed: own, packed: Vec::new(), _context: context, _kept: kept }
    }

    /// Number of ops.
    pub fn nodes(&self) -> usize {
        // SAFETY: the graph is alive.
        usize::try_from(unsafe { sys::ggml_graph_n_nodes(self.raw.as_ptr()) }).unwrap_or(0)
    }

    /// Whether `backend` has every op of this graph.
    ///
    /// # Errors
    /// [`GgmlError::Unsupported`] with those that it lacks.
    pub fn check(&self, backend: &Backend) -> Result<(), GgmlError> {
        let mut lacking = BTreeSet::new();
        for at in 0..self.nodes() {
            // SAFETY: `at` is below the number of nodes; graph and backend are alive; ggml only reads the node.
            unsafe {
                let node = sys::ggml_graph_node(self.raw.as_ptr(), c_int::try_from(at).unwrap_or(0));
                if !sys::ggml_backend_supports_op(backend.raw(), node) {
                    let name = CStr::from_ptr(sys::ggml_op_desc(node)).to_string_lossy().into_owned();
                    lacking.insert(format!("{name} {:?}", (*node).ne));
                }
            }
        }
        if lacking.is_empty() {
            return Ok(());
        }
        let operations = lacking.into_iter().collect::<Vec<_>>().join(", ");
        Err(GgmlError::Unsupported { device: backend.name().to_owned(), operations })
    }

    fn forget_places(&mut self) {
        for tensor in &mut self.placed {
            // SAFETY: the tensor is alive and only this graph uses it.
            let tensor = unsafe { tensor.as_mut() };
            (tensor.data, tensor.buffer) = (std::ptr::null_mut(), std::ptr::null_mut());
        }
    }
}

/// Scratch memory on a device. Graphs take turns in it; it grows to the largest of them and is then re-used.
pub struct Workspace {
    raw: NonNull<sys::ggml_gallocr>,
    holds: u64,
    backend: Backend,
}

// SAFETY: owned memory without thread-local state.
unsafe impl Send for Workspace {}

impl Drop for Workspace {
    fn drop(&mut self) {
        // SAFETY: made by ggml_gallocr_new, freed once, before the backend.
        unsafe { sys::ggml_gallocr_free(self.raw.as_ptr()) }
    }
}

impl Workspace {
    /// An empty workspace on `backend`.
    ///
    /// # Errors
    /// [`GgmlError::Memory`].
    pub fn new(backend: &Backend) -> Result<Self, GgmlError> {
        // SAFETY: the backend is alive; null is handled.
        let raw = unsafe { sys::ggml_gallocr_new(sys::ggml_backend_get_default_buffer_type(backend.raw())) };
        let raw =
            NonNull::new(raw).ok_or_else(|| GgmlError::Memory { device: backend.name().into(), bytes: 0 })?;
        Ok(Self { raw, holds: 0, backend: backend.clone() })
    }

    /// Gives the workspace to `graph`. Cheap when the graph had it last.
    ///
    /// # Errors
    /// [`GgmlError::Memory`] when it must grow and cannot.
    pub fn begin<'a>(&'a mut self, graph: &'a mut Graph) -> Result<Run<'a>, GgmlError> {
        if self.holds != graph.id {
            self.holds = 0;
            graph.forget_places();
            // SAFETY: allocator and graph are alive; the graph's tensors have no place, so ggml gives them one.
            let placed = unsafe {
                sys::ggml_gallocr_reserve(self.raw.as_ptr(), graph.raw.as_ptr())
                    && sys::ggml_gallocr_alloc_graph(self.raw.as_ptr(), graph.raw.as_ptr())
            };
            if !placed {
                return Err(GgmlError::Memory { device: self.backend.name().into(), bytes: 0 });
            }
            self.holds = graph.id;
        }
        Ok(Run { graph, backend: &self.backend })
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> usize {
        // SAFETY: the allocator is alive and has one buffer.
        unsafe { sys::ggml_gallocr_get_buffer_size(self.raw.as_ptr(), 0) }
    }
}

/// A graph that has a place to run: fill the inputs, compute, read the outputs.
pub struct Run<'a> {
    graph: &'a mut Graph,
    backend: &'a Backend,
}

impl Run<'_> {
    fn placed(&self, tensor: Tensor, kind: sys::ggml_type, elements: usize) -> NonNull<sys::ggml_tensor> {
        let raw = self.graph.tensors[tensor.index()];
        // SAFETY: the tensor is alive.
        let (found, data) = unsafe { (raw.as_ref().type_, raw.as_ref().data) };
        assert!(
            found == kind && element_count(raw) == elements && !data.is_null(),
            "{tensor:?} is not such a tensor"
        );
        raw
    }

    fn fill(&mut self, raw: NonNull<sys::ggml_tensor>, data: *const c_void, elements: usize) {
        self.backend.count_up(elements * 4);
        // SAFETY: `placed` checked type, size and place; 4 bytes an element.
        unsafe { sys::ggml_backend_tensor_set(raw.as_ptr(), data, 0, elements * 4) };
    }

    /// Fills a whole f32 input. The length must be the tensor's.
    pub fn set_f32(&mut self, tensor: Tensor, values: &[f32]) {
        let raw = self.placed(tensor, sys::GGML_TYPE_F32, values.len());
        self.fill(raw, values.as_ptr().cast(), values.len());
    }

    /// Fills a whole i32 input. The length must be the tensor's.
    pub fn set_i32(&mut self, tensor: Tensor, values: &[i32]) {
        let raw = self.placed(tensor, sys::GGML_TYPE_I32, values.len());
        self.fill(raw, values.as_ptr().cast(), values.len());
    }

    /// Fills an input of bytes. No more than it was made for; the rest is zero.
    pub fn set_bytes(&mut self, tensor: Tensor, bytes: &[u8]) {
        const ONE: [u8; 2] = [0x00, 0x3c]; // as f16
        let elements = bytes.len().next_multiple_of(BLOCK);
        let raw = self.placed(tensor, sys::GGML_TYPE_Q8_0, elements);
        let packed = &mut self.graph.packed;
        packed.clear();
        for block in bytes.chunks(BLOCK) {
            let mut signed = [0; BLOCK];
            for (to, from) in signed.iter_mut().zip(block) {
                *to = from ^ 0x80;
            }
            packed.extend_from_slice(&ONE);
            packed.extend_from_slice(&signed);
        }
        self.backend.count_up(packed.len());
        // SAFETY: `placed` checked type, size and place; a block has its scale and its bytes.
        unsafe { sys::ggml_backend_tensor_set(raw.as_ptr(), packed.as_ptr().cast(), 0, packed.len()) };
    }

    /// Computes the graph.
    ///
    /// # Errors
    /// [`GgmlError::Compute`].
    pub fn compute(&mut self) -> Result<(), GgmlError> {
        let _turn = self.backend.turn();
        self.backend.count_graph(self.graph.nodes());
        // SAFETY: every tensor of the graph has a place.
        let status = unsafe { sys::ggml_backend_graph_compute(self.backend.raw(), self.graph.raw.as_ptr()) };
        if status == sys::GGML_STATUS_SUCCESS {
            return Ok(());
        }
        let device = self.backend.name().to_owned();
        Err(GgmlError::Compute { device, status, reason: log::last() })
    }

    /// Reads a whole f32 output into `values`, which must have its length.
    pub fn get_f32(&self, tensor: Tensor, values: &mut [f32]) {
        let raw = self.placed(tensor, sys::GGML_TYPE_F32, values.len());
        self.backend.count_down(values.len() * 4);
        // SAFETY: `placed` checked type, size and place.
        unsafe {
            sys::ggml_backend_tensor_get(raw.as_ptr(), values.as_mut_ptr().cast(), 0, values.len() * 4)
        };
    }

    /// Reads a whole f32 output.
    pub fn read_f32(&self, tensor: Tensor) -> Vec<f32> {
        let mut values = vec![0.0; element_count(self.graph.tensors[tensor.index()])];
        self.get_f32(tensor, &mut values);
        values
    }
}
