//! What every part of the network is written with: a graph builder that finds weights by name.

use std::sync::Arc;

use super::{Config, Gelu, Lowering, Weights};
use crate::ggml::{Builder, Conv, GgmlError, Graph, Kind, Store, Tensor};

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
        Ok(Self {
            graph: Builder::new()?,
            weights: weights.clone(),
            lowering,
            probes: probing.then(Vec::new),
        })
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
        let weight = self.weight(&format!("{p}.weight"));
        let y = self.graph.mul_mat(weight, x);
        match self.maybe_weight(&format!("{p}.bias")) {
            Some(bias) => self.graph.add(y, bias),
            None => y,
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
        let x = self.graph.norm(x, eps);
        let x = self.graph.mul(x, weight);
        self.graph.add(x, bias)
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
        let kernel = self.weight(&format!("{p}.weight"));
        let bias = self.weight(&format!("{p}.bias"));
        let patches = self.graph.im2col(kernel, picture, conv);
        let [width, height, channels, outputs] = self.graph.shape(kernel);
        let flat = self.graph.reshape(kernel, [width * height * channels, outputs, 1, 1]);
        let y = self.graph.mul_mat(flat, patches);
        self.graph.add(y, bias)
    }

    /// Depthwise convolution of a channel-fastest map `[C, W, H]`; the kernel is stored channel-fastest.
    pub(super) fn depthwise(&mut self, p: &str, x: Tensor, conv: Conv) -> Tensor {
        let kernel = self.weight(&format!("{p}.weight"));
        let bias = self.weight(&format!("{p}.bias"));
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
        let x = self.graph.permute(x, [2, 0, 1, 3]);
        self.graph.cont(x)
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
        let x = self.linear(&format!("{p}.layers.0"), x);
        let x = self.graph.relu(x);
        let x = self.linear(&format!("{p}.layers.1"), x);
        let x = self.graph.relu(x);
        self.linear(&format!("{p}.layers.2"), x)
    }
}
