//! The weights of a model, checked and placed on a device.

use std::sync::Arc;

use super::{Config, ModelError, layout};
use crate::ggml::gguf::Gguf;
use crate::ggml::{Backend, Kind, Store, StoreBuilder};

/// A loaded model: configuration and weights. Immutable and shared.
pub struct Weights {
    config: Config,
    store: Arc<Store>,
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
        Ok(Self { config, store: Arc::new(store) })
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
}
