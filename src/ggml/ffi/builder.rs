//! Writing down a graph, op by op.

use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::Arc;

use super::custom::{Kernel, Op};
use super::graph::Graph;
use super::store::{Context, Kind};
use super::{GgmlError, Store, sys};
use crate::kernels::Level;

/// A tensor of a graph that is being built: an index into its [`Builder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tensor(u32);

impl Tensor {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Stride and padding of a convolution, the same in both directions.
#[derive(Clone, Copy, Debug)]
pub struct Conv {
    /// Step in pixels.
    pub stride: i32,
    /// Zeros around the picture.
    pub pad: i32,
}

/// Bytes of a block of ggml's 8-bit type, which lead with a scale of two bytes.
pub(super) const BLOCK: usize = 32;

/// Most tensors that one graph may describe. The largest stage has about 900.
const CAPACITY: usize = 4096;

/// Builds one graph. Shapes that do not fit are a fault of this crate and stop the program inside ggml; the shapes of
/// foreign model files are checked when the file is loaded.
pub struct Builder {
    context: Context,
    tensors: Vec<NonNull<sys::ggml_tensor>>,
    ends: Vec<Tensor>,
    kept: Vec<Arc<Store>>,
    // Each at its own address, which ggml holds.
    ops: Vec<Arc<Op>>,
    level: Level,
}

impl Builder {
    /// An empty graph.
    ///
    /// # Errors
    /// [`GgmlError::Memory`].
    pub fn new() -> Result<Self, GgmlError> {
        Ok(Self {
            context: Context::new(CAPACITY, CAPACITY)?,
            tensors: Vec::new(),
            ends: Vec::new(),
            kept: Vec::new(),
            ops: Vec::new(),
            level: Level::best(),
        })
    }

    /// From here on, our own kernels compute at `level`; without this, at the fastest that the processor can run.
    ///
    /// # Panics
    /// The processor cannot run it.
    pub fn compute_at(&mut self, level: Level) {
        assert!(Level::usable().contains(&level), "a level that the processor can run");
        self.level = level;
    }

    pub(super) fn keep(&mut self, raw: *mut sys::ggml_tensor) -> Tensor {
        let raw = NonNull::new(raw).expect("the context has room: CAPACITY covers the largest graph");
        self.tensors.push(raw);
        Tensor(u32::try_from(self.tensors.len() - 1).expect("fewer tensors than CAPACITY"))
    }

    pub(super) fn ctx(&self) -> *mut sys::ggml_context {
        self.context.0.as_ptr()
    }

    /// The address of `kernel` as an op, which the graph keeps; for reading only.
    pub(super) fn keep_op(&mut self, kernel: Kernel) -> *mut Op {
        let op = Arc::new(Op { kernel, level: self.level });
        let address = Arc::as_ptr(&op).cast_mut();
        self.ops.push(op);
        address
    }

    pub(super) fn raw(&self, tensor: Tensor) -> *mut sys::ggml_tensor {
        self.tensors[tensor.index()].as_ptr()
    }

    /// Shape in ggml order, fastest dimension first.
    pub fn shape(&self, tensor: Tensor) -> [i64; 4] {
        // SAFETY: all tensors of this builder live as long as its context or a store it keeps.
        unsafe { (*self.raw(tensor)).ne }
    }

    /// A tensor that stays on the device: the graph reads (or, through [`Self::write`], writes) it in place.
    pub fn resident(&mut self, store: &Arc<Store>, name: &str) -> Option<Tensor> {
        let raw = store.raw(name)?;
        if !self.kept.iter().any(|kept| Arc::ptr_eq(kept, store)) {
            self.kept.push(store.clone());
        }
        Some(self.keep(raw.as_ptr()))
    }

    /// A tensor to be filled before each run.
    pub fn input(&mut self, kind: Kind, ne: [i64; 4]) -> Tensor {
        // SAFETY: the context is alive; `ne` holds four dimensions.
        let raw = unsafe {
            let raw = sys::ggml_new_tensor(self.ctx(), kind.raw(), 4, ne.as_ptr());
            if !raw.is_null() {
                sys::ggml_set_input(raw);
            }
            raw
        };
        self.keep(raw)
    }

    /// A tensor to be filled with `count` bytes before each run (see [`Run::set_bytes`](super::Run::set_bytes)). As f32 it
    /// has each byte less 128, and zeros up to a multiple of 32.
    pub fn bytes(&mut self, count: usize) -> Tensor {
        let count = i64::try_from(count.next_multiple_of(BLOCK)).expect("fewer bytes than memory has");
        // SAFETY: the context is alive.
        let raw = unsafe {
            let raw = sys::ggml_new_tensor_1d(self.ctx(), sys::GGML_TYPE_Q8_0, count);
            if !raw.is_null() {
                sys::ggml_set_input(raw);
            }
            raw
        };
        self.keep(raw)
    }

    /// Marks a result that will be read after each run.
    pub fn output(&mut self, tensor: Tensor) -> Tensor {
        // SAFETY: the tensor is alive.
        unsafe { sys::ggml_set_output(self.raw(tensor)) };
        self.ends.push(tensor);
        tensor
    }

    /// Copies `value` into the resident tensor `target` at the end of each run.
    pub fn write(&mut self, value: Tensor, target: Tensor) {
        let copied = self.two(value, target, sys::ggml_cpy);
        self.ends.push(copied);
    }

    /// Ends the description.
    pub fn finish(self) -> Graph {
        // SAFETY: the context was made with room for a graph of CAPACITY nodes; the ends are its tensors.
        let raw = unsafe {
            let raw = sys::ggml_new_graph_custom(self.ctx(), CAPACITY, false);
            for &end in &self.ends {
                sys::ggml_build_forward_expand(raw, self.raw(end));
            }
            raw
        };
        let raw = NonNull::new(raw).expect("the context has room for its graph");
        Graph::new(raw, self.context, self.tensors, (self.kept, self.ops))
    }

    fn one(
        &mut self,
        a: Tensor,
        op: unsafe extern "C" fn(*mut sys::ggml_context, *mut sys::ggml_tensor) -> *mut sys::ggml_tensor,
    ) -> Tensor {
        // SAFETY: context and operand are alive; ggml's ops only describe, they compute nothing here.
        let raw = unsafe { op(self.ctx(), self.raw(a)) };
        self.keep(raw)
    }

    fn two(
        &mut self,
        a: Tensor,
        b: Tensor,
        op: unsafe extern "C" fn(
            *mut sys::ggml_context,
            *mut sys::ggml_tensor,
            *mut sys::ggml_tensor,
        ) -> *mut sys::ggml_tensor,
    ) -> Tensor {
        // SAFETY: as in `one`.
        let raw = unsafe { op(self.ctx(), self.raw(a), self.raw(b)) };
        self.keep(raw)
    }

    /// `[k, m]` times `[k, n]` gives `[m, n]`: rows of `a` against rows of `b`; further dimensions are a batch.
    pub fn mul_mat(&mut self, a: Tensor, b: Tensor) -> Tensor {
        self.two(a, b, sys::ggml_mul_mat)
    }

    /// Sum; `b` is repeated where it is smaller.
    pub fn add(&mut self, a: Tensor, b: Tensor) -> Tensor {
        self.two(a, b, sys::ggml_add)
    }

    /// Element-wise product; `b` is repeated where it is smaller.
    pub fn mul(&mut self, a: Tensor, b: Tensor) -> Tensor {
        self.two(a, b, sys::ggml_mul)
    }

    /// Normalises over the fastest dimension: zero mean, unit (biased) variance.
    pub fn norm(&mut self, a: Tensor, eps: f32) -> Tensor {
        // SAFETY: as in `one`.
        let raw = unsafe { sys::ggml_norm(self.ctx(), self.raw(a), eps) };
        self.keep(raw)
    }

    /// Exact GELU, `x * (1 + erf(x / sqrt 2)) / 2`.
    pub fn gelu_erf(&mut self, a: Tensor) -> Tensor {
        self.one(a, sys::ggml_gelu_erf)
    }

    /// GELU by the tanh formula. The network does not use it: it exists for the test that shows why.
    pub fn gelu_tanh(&mut self, a: Tensor) -> Tensor {
        self.one(a, sys::ggml_gelu)
    }

    /// `max(x, 0)`.
    pub fn relu(&mut self, a: Tensor) -> Tensor {
        self.one(a, sys::ggml_relu)
    }

    /// `1 / (1 + exp(-x))`.
    pub fn sigmoid(&mut self, a: Tensor) -> Tensor {
        self.one(a, sys::ggml_sigmoid)
    }

    /// `softmax(scale * x)` over the fastest dimension.
    pub fn soft_max(&mut self, a: Tensor, scale: f32) -> Tensor {
        // SAFETY: as in `one`; a null mask means none.
        let raw =
            unsafe { sys::ggml_soft_max_ext(self.ctx(), self.raw(a), std::ptr::null_mut(), scale, 0.0) };
        self.keep(raw)
    }

    /// Mean over the fastest dimension.
    pub fn mean(&mut self, a: Tensor) -> Tensor {
        self.one(a, sys::ggml_mean)
    }

    /// `scale * x`.
    pub fn scale(&mut self, a: Tensor, scale: f32) -> Tensor {
        // SAFETY: as in `one`.
        let raw = unsafe { sys::ggml_scale(self.ctx(), self.raw(a), scale) };
        self.keep(raw)
    }

    /// A contiguous copy.
    pub fn cont(&mut self, a: Tensor) -> Tensor {
        self.one(a, sys::ggml_cont)
    }

    /// Swaps the two fastest dimensions (a view).
    pub fn transpose(&mut self, a: Tensor) -> Tensor {
        self.one(a, sys::ggml_transpose)
    }

    /// A view in which dimension `i` of `a` becomes dimension `axes[i]`.
    pub fn permute(&mut self, a: Tensor, axes: [i32; 4]) -> Tensor {
        // SAFETY: as in `one`.
        let raw = unsafe { sys::ggml_permute(self.ctx(), self.raw(a), axes[0], axes[1], axes[2], axes[3]) };
        self.keep(raw)
    }

    /// The same elements in another shape; `a` must be contiguous.
    pub fn reshape(&mut self, a: Tensor, ne: [i64; 4]) -> Tensor {
        // SAFETY: as in `one`.
        let raw = unsafe { sys::ggml_reshape_4d(self.ctx(), self.raw(a), ne[0], ne[1], ne[2], ne[3]) };
        self.keep(raw)
    }

    /// Elements `start .. start + length` along dimension `axis` (a view).
    pub fn slice(&mut self, a: Tensor, axis: usize, start: i64, length: i64) -> Tensor {
        let raw = self.raw(a);
        // SAFETY: `raw` is alive; the view stays inside it, which is asserted.
        let raw = unsafe {
            let (mut ne, nb) = ((*raw).ne, (*raw).nb);
            assert!(start >= 0 && length > 0 && start + length <= ne[axis], "a slice lies inside its tensor");
            ne[axis] = length;
            let offset = nb[axis] * usize::try_from(start).expect("start is not negative");
            sys::ggml_view_4d(self.ctx(), raw, ne[0], ne[1], ne[2], ne[3], nb[1], nb[2], nb[3], offset)
        };
        self.keep(raw)
    }

    /// `a` then `b` along dimension `axis`.
    pub fn concat(&mut self, a: Tensor, b: Tensor, axis: usize) -> Tensor {
        // SAFETY: as in `one`.
        let raw = unsafe { sys::ggml_concat(self.ctx(), self.raw(a), self.raw(b), axis as c_int) };
        self.keep(raw)
    }

    /// Repeats `a` until it has shape `ne`.
    pub fn repeat(&mut self, a: Tensor, ne: [i64; 4]) -> Tensor {
        // SAFETY: as in `one`.
        let raw = unsafe { sys::ggml_repeat_4d(self.ctx(), self.raw(a), ne[0], ne[1], ne[2], ne[3]) };
        self.keep(raw)
    }

    /// Patches of `picture` `[W, H, C]` under `kernel` `[KW, KH, C, OC]`, f32: `[KW * KH * C, OW, OH]`.
    pub fn im2col(&mut self, kernel: Tensor, picture: Tensor, conv: Conv) -> Tensor {
        let Conv { stride, pad } = conv;
        // SAFETY: as in `one`.
        let raw = unsafe {
            let (kernel, picture) = (self.raw(kernel), self.raw(picture));
            let kind = sys::GGML_TYPE_F32;
            sys::ggml_im2col(self.ctx(), kernel, picture, stride, stride, pad, pad, 1, 1, true, kind)
        };
        self.keep(raw)
    }

    /// Dense convolution of `picture` `[W, H, C]` with `kernel` `[KW, KH, C, OC]`, rounded to f16: `[OW, OH, OC]`.
    pub fn convolve_f16(&mut self, kernel: Tensor, picture: Tensor, conv: Conv) -> Tensor {
        let Conv { stride, pad } = conv;
        // SAFETY: as in `one`.
        let raw = unsafe {
            let (kernel, picture) = (self.raw(kernel), self.raw(picture));
            let kernel = sys::ggml_cast(self.ctx(), kernel, sys::GGML_TYPE_F16);
            sys::ggml_conv_2d_direct(self.ctx(), kernel, picture, stride, stride, pad, pad, 1, 1)
        };
        self.keep(raw)
    }

    /// Depthwise convolution of `picture`, a `[W, H, C]` view of channel-fastest memory, with `kernel` `[KW, KH, 1, C]`,
    /// likewise; the result has the picture's layout.
    pub fn depthwise(&mut self, kernel: Tensor, picture: Tensor, conv: Conv) -> Tensor {
        let Conv { stride, pad } = conv;
        // SAFETY: as in `one`.
        let raw = unsafe {
            let (kernel, picture) = (self.raw(kernel), self.raw(picture));
            sys::ggml_conv_2d_dw_direct(self.ctx(), kernel, picture, stride, stride, pad, pad, 1, 1)
        };
        self.keep(raw)
    }

    /// Rows `indices` (i32 `[n]`) of `a` `[w, rows]`: `[w, n]`.
    pub fn get_rows(&mut self, a: Tensor, indices: Tensor) -> Tensor {
        self.two(a, indices, sys::ggml_get_rows)
    }

    /// Writes `value` `[w, n]` into the rows `indices` (i32 `[n]`) of the resident tensor `target` `[w, rows]` in each run.
    pub fn write_rows(&mut self, value: Tensor, indices: Tensor, target: Tensor) {
        // SAFETY: as in `one`.
        let raw =
            unsafe { sys::ggml_set_rows(self.ctx(), self.raw(target), self.raw(value), self.raw(indices)) };
        let written = self.keep(raw);
        self.ends.push(written);
    }

    /// Index of the largest of each row: i32.
    pub fn argmax(&mut self, a: Tensor) -> Tensor {
        self.one(a, sys::ggml_argmax)
    }

    /// 1 where `a` is above 0, else 0.
    pub fn step(&mut self, a: Tensor) -> Tensor {
        self.one(a, sys::ggml_step)
    }

    /// `scale * x + bias`.
    pub fn scale_bias(&mut self, a: Tensor, scale: f32, bias: f32) -> Tensor {
        // SAFETY: as in `one`.
        let raw = unsafe { sys::ggml_scale_bias(self.ctx(), self.raw(a), scale, bias) };
        self.keep(raw)
    }

    /// `a` `[W, H]` resized bilinearly to `width` x `height`, corners not aligned.
    pub fn resize(&mut self, a: Tensor, width: i64, height: i64) -> Tensor {
        let [.., channels, batch] = self.shape(a);
        let mode = sys::GGML_SCALE_MODE_BILINEAR;
        // SAFETY: as in `one`.
        let raw =
            unsafe { sys::ggml_interpolate(self.ctx(), self.raw(a), width, height, channels, batch, mode) };
        self.keep(raw)
    }

    /// `a` rounded to bf16, as f32.
    pub fn round_bf16(&mut self, a: Tensor) -> Tensor {
        // SAFETY: as in `one`.
        let raw = unsafe {
            let rounded = sys::ggml_cast(self.ctx(), self.raw(a), sys::GGML_TYPE_BF16);
            sys::ggml_cast(self.ctx(), rounded, sys::GGML_TYPE_F32)
        };
        self.keep(raw)
    }

    /// The largest whole number that is not above `x`.
    pub fn floor(&mut self, a: Tensor) -> Tensor {
        self.one(a, sys::ggml_floor)
    }

    /// `x` held between `low` and `high`.
    pub fn clamp(&mut self, a: Tensor, low: f32, high: f32) -> Tensor {
        // SAFETY: as in `one`.
        let raw = unsafe { sys::ggml_clamp(self.ctx(), self.raw(a), low, high) };
        self.keep(raw)
    }

    /// i32 numbers or bytes as f32.
    pub fn to_f32(&mut self, a: Tensor) -> Tensor {
        // SAFETY: as in `one`.
        let raw = unsafe { sys::ggml_cast(self.ctx(), self.raw(a), sys::GGML_TYPE_F32) };
        self.keep(raw)
    }

    /// Rotates adjacent pairs of the `dims` fastest elements by `position * base^(-2 j / dims)`; `positions` is i32 with
    /// one entry for each index of dimension 2 of `a`.
    pub fn rope(&mut self, a: Tensor, positions: Tensor, dims: i32, base: f32) -> Tensor {
        // SAFETY: as in `one`; a null third operand means no extra frequency factors.
        let raw = unsafe {
            let (a, positions) = (self.raw(a), self.raw(positions));
            let none = std::ptr::null_mut();
            sys::ggml_rope_ext(self.ctx(), a, positions, none, dims, 0, 0, base, 1.0, 0.0, 1.0, 0.0, 0.0)
        };
        self.keep(raw)
    }
}
