//! What every part of the network is written with: a graph builder that finds weights by name.

use std::sync::Arc;

use super::{Config, Gelu, Kernels, Lowering, Stem, Weights};
use crate::ggml::{Addition, Builder, Conv, GgmlError, Graph, Kind, Picture, Store, Tensor};
use crate::kernels::{Activation, Angles, Panels};

/// A named intermediate tensor, for comparison with the reference.
pub type Probe = (&'static str, Tensor);

/// A graph of the network being written down.
pub struct Net {
    graph: Builder,
    weights: Arc<Weights>,
    lowering: Lowering,
    probes: Option<Vec<Probe>>,
}

impl Net {
    /// An empty graph over `weights`. With `probing`, intermediate tensors are kept as outputs (slower, larger).
    ///
    /// # Errors
    /// No memory.
    pub fn new(weights: &Arc<Weights>, lowering: Lowering, probing: bool) -> Result<Self, GgmlError> {
        let mut graph = Builder::new()?;
        if let Kernels::Own(level) = lowering.kernels {
            graph.compute_at(level);
        }
        Ok(Self { graph, weights: weights.clone(), lowering, probes: probing.then(Vec::new) })
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        self.weights.config()
    }

    /// The choices for this backend.
    pub fn lowering(&self) -> &Lowering {
        &self.lowering
    }

    /// The bare graph.
    pub fn graph(&mut self) -> &mut Builder {
        &mut self.graph
    }

    /// Ends the description; gives the graph and the probes.
    pub fn finish(self) -> (Graph, Vec<Probe>) {
        (self.graph.finish(), self.probes.unwrap_or_default())
    }

    /// Names an intermediate tensor for the comparison with the reference.
    pub fn probe(&mut self, name: &'static str, tensor: Tensor) {
        if self.probes.is_some() {
            // A copy: the tensor itself may be a view, or be overwritten in place.
            let kept = self.graph.cont(tensor);
            self.graph.output(kept);
            self.probes.get_or_insert_default().push((name, kept));
        }
    }

    /// A weight by its full name. `layout` guarantees that it is there.
    pub(super) fn weight(&mut self, name: &str) -> Tensor {
        let found = self.graph.resident(self.weights.store(), name);
        found.unwrap_or_else(|| panic!("{name} is in the layout that every model file is checked against"))
    }

    fn maybe_weight(&mut self, name: &str) -> Option<Tensor> {
        self.graph.resident(self.weights.store(), name)
    }

    /// A tensor of `store`, which the engine made together with this graph.
    pub fn resident(&mut self, store: &Arc<Store>, name: &str) -> Tensor {
        let found = self.graph.resident(store, name);
        found.unwrap_or_else(|| panic!("{name} was made together with its graphs"))
    }

    /// An f32 input.
    pub fn input(&mut self, ne: [i64; 4]) -> Tensor {
        self.graph.input(Kind::F32, ne)
    }

    /// `p.weight` applied to `[in, n]`, plus `p.bias` where there is one: `[out, n]`.
    pub(super) fn linear(&mut self, p: &str, x: Tensor) -> Tensor {
        self.linear_then(p, x, Activation::None, Addition::Nothing)
    }

    /// [`Self::linear`], then `other` added.
    pub(super) fn linear_add(&mut self, p: &str, x: Tensor, other: Tensor) -> Tensor {
        self.linear_then(p, x, Activation::None, Addition::After(other))
    }

    /// [`Self::linear`], then `activation`.
    pub(super) fn linear_act(&mut self, p: &str, x: Tensor, activation: Activation) -> Tensor {
        self.linear_then(p, x, activation, Addition::Nothing)
    }

    fn linear_then(&mut self, p: &str, x: Tensor, activation: Activation, addition: Addition) -> Tensor {
        if self.own() {
            let panels = self.panels(p, 1);
            let (fused, left) = self.fused(activation);
            if left.is_none() || addition == Addition::Nothing {
                let y = self.graph.own_linear(&panels, x, fused, addition);
                return self.activate(y, left.unwrap_or(Activation::None));
            }
        }
        let weight = self.weight(&format!("{p}.weight"));
        let mut y = self.graph.mul_mat(weight, x);
        if let Some(bias) = self.maybe_weight(&format!("{p}.bias")) {
            y = self.graph.add(y, bias);
        }
        if let Addition::Before(other) = addition {
            y = self.graph.add(y, other);
        }
        y = self.activate(y, activation);
        match addition {
            Addition::After(other) => self.graph.add(y, other),
            _ => y,
        }
    }

    /// Whether our own kernels compute.
    pub(super) fn own(&self) -> bool {
        matches!(self.lowering.kernels, Kernels::Own(_))
    }

    /// The layer `p` as our kernels want it.
    pub(super) fn panels(&self, p: &str, copies: usize) -> Arc<Panels> {
        let found = self.weights.panels(p, copies);
        found.unwrap_or_else(|| panic!("{p} is in the layout that every model file is checked against"))
    }

    /// The rotary angles as our kernels want them.
    pub(super) fn angles(&self) -> Arc<Angles> {
        self.weights.angles()
    }

    /// `activation` as far as our kernels have it, and what is left to be applied after.
    fn fused(&self, activation: Activation) -> (Activation, Option<Activation>) {
        match (activation, self.lowering.variant.gelu) {
            (Activation::Gelu, Gelu::Tanh) => (Activation::None, Some(activation)),
            _ => (activation, None),
        }
    }

    fn activate(&mut self, x: Tensor, activation: Activation) -> Tensor {
        match activation {
            Activation::None => x,
            Activation::Relu => self.graph.relu(x),
            Activation::Gelu => self.gelu(x),
        }
    }

    /// Rows `rows` of `p.weight` alone.
    pub(super) fn linear_rows(&mut self, p: &str, rows: std::ops::Range<i64>, x: Tensor) -> Tensor {
        let weight = self.weight(&format!("{p}.weight"));
        let weight = self.graph.slice(weight, 1, rows.start, rows.end - rows.start);
        self.graph.mul_mat(weight, x)
    }

    /// Normalisation over the fastest dimension with `p.weight` and `p.bias`.
    pub(super) fn norm(&mut self, p: &str, x: Tensor, eps: f32) -> Tensor {
        let (weight, bias) = (self.weight(&format!("{p}.weight")), self.weight(&format!("{p}.bias")));
        if self.own() {
            return self.graph.own_norm(x, (weight, bias), eps, false);
        }
        let x = self.graph.norm(x, eps);
        let x = self.graph.mul(x, weight);
        self.graph.add(x, bias)
    }

    /// LayerNorm over the channels of a map, then GELU.
    pub(super) fn layer_norm_2d_gelu(&mut self, p: &str, x: Tensor) -> Tensor {
        if self.own() && self.lowering.variant.gelu == Gelu::Erf {
            let (weight, bias) = (self.weight(&format!("{p}.weight")), self.weight(&format!("{p}.bias")));
            let eps = self.config().layer_norm_2d_eps;
            return self.graph.own_norm(x, (weight, bias), eps, true);
        }
        let x = self.layer_norm_2d(p, x);
        self.gelu(x)
    }

    /// LayerNorm of tokens.
    pub(super) fn layer_norm(&mut self, p: &str, x: Tensor) -> Tensor {
        let eps = self.config().layer_norm_eps;
        self.norm(p, x, eps)
    }

    /// LayerNorm over the channels of a map.
    pub(super) fn layer_norm_2d(&mut self, p: &str, x: Tensor) -> Tensor {
        let eps = self.config().layer_norm_2d_eps;
        self.norm(p, x, eps)
    }

    /// The network's GELU.
    pub(super) fn gelu(&mut self, x: Tensor) -> Tensor {
        match self.lowering.variant.gelu {
            Gelu::Erf => self.graph.gelu_erf(x),
            Gelu::Tanh => self.graph.gelu_tanh(x),
        }
    }

    /// Dense convolution of a planar `[W, H, C]` picture: channel-fastest `[OC, OW, OH]`.
    pub(super) fn conv(&mut self, p: &str, picture: Tensor, conv: Conv) -> Tensor {
        if self.own() {
            return self.own_conv(p, picture, conv, true, Activation::None);
        }
        let kernel = self.weight(&format!("{p}.weight"));
        let bias = self.weight(&format!("{p}.bias"));
        if self.lowering.stem == Stem::DirectF16 {
            let y = self.graph.convolve_f16(kernel, picture, conv);
            let [width, height, channels, _] = self.graph.shape(y);
            // As a plain transposition, which backends are fast at.
            let y = self.graph.reshape(y, [width * height, channels, 1, 1]);
            let y = self.graph.transpose(y);
            let y = self.graph.cont(y);
            let y = self.graph.reshape(y, [channels, width, height, 1]);
            return self.graph.add(y, bias);
        }
        let patches = self.graph.im2col(kernel, picture, conv);
        let [width, height, channels, outputs] = self.graph.shape(kernel);
        let flat = self.graph.reshape(kernel, [width * height * channels, outputs, 1, 1]);
        let y = self.graph.mul_mat(flat, patches);
        self.graph.add(y, bias)
    }

    /// Dense convolution of a planar picture, then GELU.
    pub(super) fn conv_gelu(&mut self, p: &str, picture: Tensor, conv: Conv) -> Tensor {
        if self.own() && self.lowering.variant.gelu == Gelu::Erf {
            return self.own_conv(p, picture, conv, true, Activation::Gelu);
        }
        let x = self.conv(p, picture, conv);
        self.gelu(x)
    }

    /// Dense convolution of a channel-fastest map `[C, W, H]`: `[OC, OW, OH]`.
    pub(super) fn conv_map(&mut self, p: &str, x: Tensor, conv: Conv) -> Tensor {
        if self.own() {
            return self.own_conv(p, x, conv, false, Activation::None);
        }
        let x = self.planar(x);
        self.conv(p, x, conv)
    }

    fn own_conv(&mut self, p: &str, x: Tensor, conv: Conv, planar: bool, activation: Activation) -> Tensor {
        let kernel = self.weight(&format!("{p}.weight"));
        let size = |n: i64| usize::try_from(n).expect("sizes are not negative");
        let side = size(self.graph.shape(kernel)[0]);
        let picture = Picture { planar, side, step: size(conv.stride.into()), pad: size(conv.pad.into()) };
        let panels = self.weights.patches(p);
        let panels =
            panels.unwrap_or_else(|| panic!("{p} is in the layout that every model file is checked against"));
        self.graph.own_conv(&panels, x, picture, activation)
    }

    /// Depthwise convolution of a channel-fastest map `[C, W, H]`; the kernel is stored channel-fastest.
    pub(super) fn depthwise(&mut self, p: &str, x: Tensor, conv: Conv) -> Tensor {
        let kernel = self.weight(&format!("{p}.weight"));
        let bias = self.weight(&format!("{p}.bias"));
        if self.own() {
            let size = |n: i32| usize::try_from(n).expect("sizes are not negative");
            return self.graph.own_depthwise(x, (kernel, bias), size(conv.stride), size(conv.pad));
        }
        let [channels, width, height, _] = self.graph.shape(kernel);
        let kernel = self.graph.reshape(kernel, [1, channels, width, height]);
        let kernel = self.graph.permute(kernel, [2, 3, 0, 1]);
        let planar = self.graph.permute(x, [2, 0, 1, 3]);
        let y = self.graph.depthwise(kernel, planar, conv);
        let y = self.graph.permute(y, [1, 2, 0, 3]);
        self.graph.add(y, bias)
    }

    /// Channel-fastest `[C, W, H]` to planar `[W, H, C]`.
    pub(super) fn planar(&mut self, x: Tensor) -> Tensor {
        let [channels, width, height, _] = self.graph.shape(x);
        let x = self.tokens(x);
        let x = self.graph.transpose(x);
        let x = self.graph.cont(x);
        self.graph.reshape(x, [width, height, channels, 1])
    }

    /// A map `[C, W, H]` from `[C, W * H]`, square.
    pub(super) fn map(&mut self, x: Tensor) -> Tensor {
        let [channels, width, height, _] = self.graph.shape(x);
        let side = (width * height).isqrt();
        self.graph.reshape(x, [channels, side, side, 1])
    }

    /// Tokens `[C, W * H]` from a map.
    pub(super) fn tokens(&mut self, x: Tensor) -> Tensor {
        let [channels, width, height, _] = self.graph.shape(x);
        self.graph.reshape(x, [channels, width * height, 1, 1])
    }

    /// Three linear layers with ReLU between.
    pub(super) fn mlp(&mut self, p: &str, x: Tensor) -> Tensor {
        let x = self.linear_act(&format!("{p}.layers.0"), x, Activation::Relu);
        let x = self.linear_act(&format!("{p}.layers.1"), x, Activation::Relu);
        self.linear(&format!("{p}.layers.2"), x)
    }
}
