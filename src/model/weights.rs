//! The weights of a model, checked and placed on a device.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Config, ModelError, layout};
use crate::ggml::gguf::Gguf;
use crate::ggml::{Backend, Kind, Store, StoreBuilder};
use crate::kernels::{Angles, Panels};

/// A loaded model: configuration and weights. Immutable and shared.
pub struct Weights {
    config: Config,
    store: Arc<Store>,
    /// Layers packed for our own kernels, made when a graph first wants them.
    panels: Mutex<HashMap<String, Arc<Panels>>>,
    angles: OnceLock<Arc<Angles>>,
}

impl Weights {
    /// Checks `file` (kind, configuration, every tensor's shape, finite values) and places it on `backend` as f32.
    ///
    /// # Errors
    /// Whatever is wrong with the file, named; or the device's memory.
    pub fn load(file: &Gguf, backend: &Backend) -> Result<Self, ModelError> {
        let config = Config::read(file)?;
        let expected = layout::tensors(&config);
        let mut wanted = StoreBuilder::new();
        for (name, shape) in &expected {
            let found = file.tensor(name).map(|view| view.ne.map(|n| i64::try_from(n).unwrap_or(i64::MAX)));
            if found != Some(*shape) {
                let found = found.map_or("missing".into(), |shape| format!("{shape:?}"));
                return Err(ModelError::Tensor { name: name.clone(), found, expected: *shape });
            }
            wanted.add(name, Kind::F32, *shape);
        }
        file.check_finite()?;
        let mut store = wanted.allocate(backend)?;
        for (name, _) in &expected {
            if let Some(view) = file.tensor(name) {
                store.set_f32(name, &view.to_f32());
            }
        }
        Ok(Self { config, store: Arc::new(store), panels: Mutex::default(), angles: OnceLock::new() })
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The tensors on the device.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// A whole tensor as f32, for arithmetic on the host; `None` when there is no such tensor.
    pub fn host(&self, name: &str) -> Option<Vec<f32>> {
        self.store.get_f32(name)
    }

    /// The rotary angles of memory attention for our own kernels.
    pub(super) fn angles(&self) -> Arc<Angles> {
        let width = usize::try_from(self.config.hidden).expect("the configuration bounds the width");
        self.angles.get_or_init(|| Arc::new(Angles::new(width, self.config.rope_theta))).clone()
    }

    /// The linear layer `p` packed for our own kernels; `copies` is how many times the bias is repeated. `None` when there
    /// is no such weight.
    pub(super) fn panels(&self, p: &str, copies: usize) -> Option<Arc<Panels>> {
        self.packed(p, copies, |weight, [inputs, ..]| (weight, inputs))
    }

    /// The dense convolution `p` packed for our own kernels, as patches in the order (ky, kx, channel). `None` when there
    /// is no such weight.
    pub(super) fn patches(&self, p: &str) -> Option<Arc<Panels>> {
        self.packed(p, 1, |weight, [w, h, c, _]| (channels_last(&weight, w * h, c), w * h * c))
    }

    /// The layer `p` as `turn` lays out its rows and counts their inputs, packed once.
    fn packed(
        &self,
        p: &str,
        copies: usize,
        turn: impl FnOnce(Vec<f32>, [usize; 4]) -> (Vec<f32>, usize),
    ) -> Option<Arc<Panels>> {
        let mut known = self.panels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(panels) = known.get(p) {
            return Some(panels.clone());
        }
        let name = format!("{p}.weight");
        let shape = self.store.shape(&name)?.map(|n| usize::try_from(n).unwrap_or(0));
        let (weight, inputs) = turn(self.host(&name)?, shape);
        let bias = self.host(&format!("{p}.bias")).unwrap_or_default().repeat(copies);
        let panels = Arc::new(Panels::pack(&weight, &bias, inputs));
        known.insert(p.to_owned(), panels.clone());
        Some(panels)
    }
}

/// Kernels of `channels` planes of `area` taps each, with channels made the fastest dimension.
fn channels_last(weight: &[f32], area: usize, channels: usize) -> Vec<f32> {
    let mut turned = Vec::with_capacity(weight.len());
    for kernel in weight.chunks_exact(area * channels) {
        for tap in 0..area {
            turned.extend((0..channels).map(|c| kernel[c * area + tap]));
        }
    }
    turned
}
