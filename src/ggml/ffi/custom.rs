//! Our own kernels as ops of a graph. Only ggml's CPU backend can run them.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::{Builder, Tensor, sys};
use crate::kernels::{
    self, Activation, Added, Angles, Depthwise, Input, Layer, Level, Norm, Output, Panels, Part, Patches,
    Placement, Rows,
};

/// What an op of ours computes. Operands are the op's sources, in the order stated.
pub(super) enum Kernel {
    /// Rows or a picture, then what is added.
    Linear {
        panels: Arc<Panels>,
        activation: Activation,
        addition: Addition,
        placement: Placement,
        picture: Option<Picture>,
    },
    /// Rows, weight, bias.
    Norm { eps: f32, gelu: bool },
    /// Picture, kernel, bias.
    Depthwise { side: usize, step: usize, pad: usize },
    /// Rows, gate.
    Scale,
    /// Rows.
    Means,
    /// Rows.
    PackKeys,
    /// Rows.
    PackValues,
    /// Queries, packed keys, packed values.
    Attention { keys: usize },
    /// Queries, keys, values.
    Heads { heads: usize },
    /// Rows, positions (i32).
    Rotate { angles: Arc<Angles> },
}

/// A kernel as an op of a graph.
pub(super) struct Op {
    pub(super) kernel: Kernel,
    pub(super) level: Level,
}

/// What a layer adds to its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addition {
    /// Nothing.
    Nothing,
    /// This, before the activation.
    Before(Tensor),
    /// This, after the activation.
    After(Tensor),
}

/// How a dense convolution reads its picture.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    /// Whether channels are the slowest dimension, `[W, H, C]`, instead of the fastest, `[C, W, H]`.
    pub planar: bool,
    /// Side of the kernel.
    pub side: usize,
    /// Step.
    pub step: usize,
    /// Zeros around.
    pub pad: usize,
}

/// Called by ggml on each of its threads.
unsafe extern "C" fn run(target: *mut sys::ggml_tensor, index: c_int, count: c_int, op: *mut c_void) {
    // SAFETY: `op` is the graph's own `Op`, which lives as long as the graph; the op's sources are the tensors that
    // its builder method checked, all computed and in memory; ggml gives the target no memory of its sources, and calls
    // once for each `index` below `count`, so that parts do not meet.
    unsafe {
        let (op, target) = (&*op.cast::<Op>(), &*target);
        let part = Part { index: index as usize, count: count as usize };
        let output = Output::shared(target.data.cast(), elements(target));
        compute(op, target, output, part);
    }
}

fn elements(tensor: &sys::ggml_tensor) -> usize {
    tensor.ne.iter().map(|&n| n as usize).product()
}

/// The floats from a tensor's first to its last, with any gaps between rows.
///
/// # Safety
/// The tensor must be f32, in memory, and its rows without gaps inside.
unsafe fn floats(tensor: &sys::ggml_tensor) -> &[f32] {
    let last: usize = (0..4).map(|i| (tensor.ne[i] as usize - 1) * tensor.nb[i]).sum();
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(tensor.data.cast(), last / 4 + 1) }
}

/// # Safety
/// As for [`run`].
unsafe fn compute(op: &Op, target: &sys::ggml_tensor, output: Output<'_>, part: Part) {
    let level = op.level;
    // SAFETY: the caller's.
    let source = |i: usize| unsafe { &*target.src[i] };
    // SAFETY: the caller's.
    let data = |i: usize| unsafe { floats(source(i)) };
    let rows = |i: usize| Rows {
        data: data(i),
        stride: source(i).nb[1] / 4,
        count: elements(source(i)) / source(i).ne[0] as usize,
    };
    match &op.kernel {
        Kernel::Linear { panels, activation, addition, placement, picture } => {
            let added = match addition {
                Addition::Nothing => Added::Nothing,
                Addition::Before(_) => Added::Before(data(1)),
                Addition::After(_) => Added::After(data(1)),
            };
            let input = match picture {
                None => {
                    let Rows { data, stride, count } = rows(0);
                    Input::Rows { data, stride, count }
                }
                Some(picture) => {
                    let ne = source(0).ne.map(|n| n as usize);
                    let (size, channels, strides) = if picture.planar {
                        ([ne[0], ne[1]], ne[2], [ne[0] * ne[1], 1])
                    } else {
                        ([ne[1], ne[2]], ne[0], [1, ne[0]])
                    };
                    let Picture { side, step, pad, .. } = *picture;
                    Input::Patches(Patches { data: data(0), size, channels, strides, side, step, pad })
                }
            };
            let layer = Layer { panels, activation: *activation, added, placement: *placement };
            kernels::linear(level, &layer, &input, output, part);
        }
        Kernel::Norm { eps, gelu } => {
            let layer = Norm { weight: data(1), bias: data(2), eps: *eps, gelu: *gelu };
            kernels::norm(level, &layer, data(0), output, part);
        }
        Kernel::Depthwise { side, step, pad } => {
            let size = [source(0).ne[1] as usize, source(0).ne[2] as usize];
            let layer =
                Depthwise { kernel: data(1), bias: data(2), size, side: *side, step: *step, pad: *pad };
            kernels::depthwise(level, &layer, data(0), output, part);
        }
        Kernel::Scale => kernels::scale_channels(level, data(1), data(0), output, part),
        Kernel::Means => kernels::channel_means(level, source(0).ne[0] as usize, data(0), output, part),
        Kernel::PackKeys => kernels::pack_keys(rows(0), source(0).ne[0] as usize, output, part),
        Kernel::PackValues => kernels::pack_values(rows(0), source(0).ne[0] as usize, output, part),
        Kernel::Heads { heads } => {
            let width = source(0).ne[0] as usize;
            kernels::heads_attention(level, (*heads, width), [rows(0), rows(1), rows(2)], output, part);
        }
        Kernel::Rotate { angles } => {
            let positions = source(1);
            // SAFETY: the builder method checked that these are i32 without gaps.
            let positions = unsafe { std::slice::from_raw_parts(positions.data.cast(), elements(positions)) };
            kernels::rotate(angles, rows(0), positions, output, part);
        }
        Kernel::Attention { keys } => {
            let memory = (data(1), data(2), *keys);
            kernels::attention(level, source(0).ne[0] as usize, rows(0), memory, output, part);
        }
    }
}

impl Builder {
    fn custom(&mut self, kernel: Kernel, sources: &[Tensor], ne: [i64; 4]) -> Tensor {
        for &source in sources {
            // SAFETY: tensors of this builder are alive.
            let tensor = unsafe { &*self.raw(source) };
            let kind = tensor.type_;
            assert!(kind == sys::GGML_TYPE_F32 || kind == sys::GGML_TYPE_I32, "our kernels read f32 and i32");
            assert!(tensor.nb[0] == 4, "rows without gaps");
        }
        let mut raws: Vec<_> = sources.iter().map(|&source| self.raw(source)).collect();
        let userdata = self.keep_op(kernel);
        // SAFETY: the context is alive; `raws` holds as many tensors as said; `run` fits what ggml calls, and the kernel is
        // kept by the graph.
        let raw = unsafe {
            let (kind, count) = (sys::GGML_TYPE_F32, raws.len() as c_int);
            let (op, all): (sys::ggml_custom_op_t, c_int) = (Some(run), -1);
            sys::ggml_custom_4d(
                self.ctx(),
                kind,
                ne[0],
                ne[1],
                ne[2],
                ne[3],
                raws.as_mut_ptr(),
                count,
                op,
                all,
                userdata.cast(),
            )
        };
        self.keep(raw)
    }

    fn whole(&self, tensor: Tensor) -> bool {
        // SAFETY: tensors of this builder are alive.
        unsafe { sys::ggml_is_contiguous(self.raw(tensor)) }
    }

    /// `panels` applied to rows `x` `[k, ..]`: `[m, ..]`. `x` may have gaps between rows when it has two dimensions.
    pub fn own_linear(
        &mut self,
        panels: &Arc<Panels>,
        x: Tensor,
        activation: Activation,
        addition: Addition,
    ) -> Tensor {
        let [k, n, a, b] = self.shape(x);
        assert!(self.whole(x) || (a, b) == (1, 1), "rows at even distances");
        assert_eq!(k, panels.inputs() as i64, "inputs of the layer");
        self.layer(
            panels,
            x,
            (activation, addition),
            Placement::Rows,
            None,
            [panels.outputs() as i64, n, a, b],
        )
    }

    /// A 2 x 2 transposed convolution of stride 2 of a map `[k, W, H]`: `[m / 4, 2 W, 2 H]`; see [`Placement::Doubled`].
    pub fn own_doubling(
        &mut self,
        panels: &Arc<Panels>,
        x: Tensor,
        activation: Activation,
        addition: Addition,
    ) -> Tensor {
        let [k, w, h, _] = self.shape(x);
        assert!(
            self.whole(x) && k == panels.inputs() as i64 && panels.outputs().is_multiple_of(128),
            "a whole map, whole panels"
        );
        let ne = [panels.outputs() as i64 / 4, 2 * w, 2 * h, 1];
        self.layer(panels, x, (activation, addition), Placement::Doubled(w as usize), None, ne)
    }

    /// Dense convolution of `x`, read as `picture` says: `[m, OW, OH]`. Rows of `panels` are patches (ky, kx, channel).
    pub fn own_conv(
        &mut self,
        panels: &Arc<Panels>,
        x: Tensor,
        picture: Picture,
        activation: Activation,
    ) -> Tensor {
        let [a, b, c, _] = self.shape(x);
        let ([w, h], channels) = if picture.planar { ([a, b], c) } else { ([b, c], a) };
        let Picture { side, step, pad, .. } = picture;
        assert!(
            self.whole(x) && panels.inputs() == side * side * channels as usize,
            "a whole picture, fitting patches"
        );
        let out = |n: i64| (n + 2 * pad as i64 - side as i64) / step as i64 + 1;
        let ne = [panels.outputs() as i64, out(w), out(h), 1];
        self.layer(panels, x, (activation, Addition::Nothing), Placement::Rows, Some(picture), ne)
    }

    fn layer(
        &mut self,
        panels: &Arc<Panels>,
        x: Tensor,
        (activation, addition): (Activation, Addition),
        placement: Placement,
        picture: Option<Picture>,
        ne: [i64; 4],
    ) -> Tensor {
        let mut sources = vec![x];
        if let Addition::Before(other) | Addition::After(other) = addition {
            let fits = self.shape(other).iter().product::<i64>() == ne.iter().product::<i64>();
            assert!(fits && self.whole(other), "something to add to each result");
            sources.push(other);
        }
        let kernel = Kernel::Linear { panels: panels.clone(), activation, addition, placement, picture };
        self.custom(kernel, &sources, ne)
    }

    /// Normalisation of rows with weight and bias, and GELU when asked for.
    pub fn own_norm(&mut self, x: Tensor, (weight, bias): (Tensor, Tensor), eps: f32, gelu: bool) -> Tensor {
        let ne = self.shape(x);
        assert!(
            self.whole(x) && [weight, bias].iter().all(|&t| self.shape(t) == [ne[0], 1, 1, 1]),
            "fitting rows"
        );
        self.custom(Kernel::Norm { eps, gelu }, &[x, weight, bias], ne)
    }

    /// Depthwise convolution of a map `[C, W, H]` with `kernel` `[C, side, side]`: `[C, OW, OH]`.
    pub fn own_depthwise(
        &mut self,
        x: Tensor,
        (kernel, bias): (Tensor, Tensor),
        step: usize,
        pad: usize,
    ) -> Tensor {
        let [channels, w, h, _] = self.shape(x);
        let [c, side, other, _] = self.shape(kernel);
        let fits = c == channels && side == other && self.shape(bias)[0] == c;
        assert!(fits && self.whole(x) && self.whole(kernel), "a kernel for each channel");
        let out = |n: i64| (n + 2 * pad as i64 - side) / step as i64 + 1;
        let description = Kernel::Depthwise { side: side as usize, step, pad };
        self.custom(description, &[x, kernel, bias], [channels, out(w), out(h), 1])
    }

    /// Each row of `x` times `gate` `[C]`.
    pub fn own_scale(&mut self, x: Tensor, gate: Tensor) -> Tensor {
        let ne = self.shape(x);
        assert!(self.whole(x) && self.shape(gate) == [ne[0], 1, 1, 1], "a gate for each channel");
        self.custom(Kernel::Scale, &[x, gate], ne)
    }

    /// Mean of each channel over all rows of `x`: `[C]`.
    pub fn own_means(&mut self, x: Tensor) -> Tensor {
        assert!(self.whole(x), "whole rows");
        let channels = self.shape(x)[0];
        self.custom(Kernel::Means, &[x], [channels, 1, 1, 1])
    }

    /// Single-head attention of `q` `[d, n]` over `k` and `v` `[d, m]`, `d` a multiple of 32: `[d, n]`.
    pub fn own_attention(&mut self, q: Tensor, k: Tensor, v: Tensor) -> Tensor {
        let ([d, n, ..], [.., m, _, _]) = (self.shape(q), self.shape(k));
        for (tensor, count) in [(q, n), (k, m), (v, m)] {
            assert!(
                self.shape(tensor) == [d, count, 1, 1] && d % 32 == 0,
                "rows of queries, keys and values"
            );
        }
        let padded = kernels::packed_keys(m as usize, d as usize) as i64;
        let keys = self.custom(Kernel::PackKeys, &[k], [padded, 1, 1, 1]);
        let values = self.custom(Kernel::PackValues, &[v], [d * m, 1, 1, 1]);
        self.custom(Kernel::Attention { keys: m as usize }, &[q, keys, values], [d, n, 1, 1])
    }
    /// Multi-head attention of `q` `[c, n]` over `k` and `v` `[c, m]`, heads of a multiple of 16: `[c, n]`.
    pub fn own_heads(&mut self, heads: usize, q: Tensor, k: Tensor, v: Tensor) -> Tensor {
        let ([c, n, ..], [_, m, ..]) = (self.shape(q), self.shape(k));
        for (tensor, count) in [(q, n), (k, m), (v, m)] {
            let fits = self.shape(tensor) == [c, count, 1, 1] && (c as usize).is_multiple_of(16 * heads);
            assert!(fits, "rows of queries, keys and values");
        }
        self.custom(Kernel::Heads { heads }, &[q, k, v], [c, n, 1, 1])
    }

    /// Rotates rows `x` `[c, n]`, each half by its position; `positions` is i32 `[2 n]`.
    pub fn own_rotate(&mut self, angles: &Arc<Angles>, x: Tensor, positions: Tensor) -> Tensor {
        let [c, n, ..] = self.shape(x);
        // SAFETY: tensors of this builder are alive.
        let kind = unsafe { (*self.raw(positions)).type_ };
        let fits = self.shape(x) == [c, n, 1, 1] && c as usize == angles.width();
        let placed = kind == sys::GGML_TYPE_I32 && self.shape(positions) == [2 * n, 1, 1, 1];
        assert!(fits && placed && self.whole(positions), "two positions for each row");
        self.custom(Kernel::Rotate { angles: angles.clone() }, &[x, positions], [c, n, 1, 1])
    }
}
