//! A model ready to work: its file checked, its weights on a device.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::port::EngineReport;
use crate::ggml::gguf::{Gguf, GgufError};
use crate::ggml::{Backend, GgmlError};
use crate::model::{Config, ModelError, Weights};

/// Why a model cannot be loaded, with its file.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file cannot be read or is no sound model file; the error names it.
    #[error(transparent)]
    Unsound(#[from] GgufError),
    /// A sound file cannot be used.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which file.
        path: std::path::PathBuf,
        /// Why.
        source: ModelError,
    },
    /// The built-in model cannot be used.
    #[error("the built-in model: {0}")]
    BuiltIn(ModelError),
    /// A build without built-in weights.
    #[error("this build has no built-in model: give one with --model FILE")]
    NoBuiltIn,
}

/// How a model is to be loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelOptions {
    /// Threads of the CPU backend; 0 means one for each core.
    pub threads: usize,
}

/// An immutable model, shared by any number of trackers: `Arc<Model>`.
pub struct Model {
    weights: Arc<Weights>,
    backend: Backend,
    threads: usize,
    hash: String,
}

#[cfg(feature = "embedded-model")]
static BUILT_IN: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/edgetam-default-512-f16.gguf"));

impl Model {
    /// Loads a GGUF file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn load(path: &Path, options: &ModelOptions) -> Result<Arc<Self>, LoadError> {
        let file = Gguf::open(path)?;
        Self::from_gguf(&file, options).map_err(|error| match error {
            ModelError::File(error) => LoadError::Unsound(error),
            source => LoadError::File { path: path.to_owned(), source },
        })
    }

    /// The model that is compiled in.
    ///
    /// # Errors
    /// [`LoadError::NoBuiltIn`] in builds without it.
    pub fn built_in(options: &ModelOptions) -> Result<Arc<Self>, LoadError> {
        #[cfg(feature = "embedded-model")]
        return Self::from_bytes(Cow::Borrowed(BUILT_IN), options).map_err(LoadError::BuiltIn);
        #[cfg(not(feature = "embedded-model"))]
        {
            let _ = options;
            Err(LoadError::NoBuiltIn)
        }
    }

    /// Loads a GGUF file from memory.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_bytes(bytes: Cow<'static, [u8]>, options: &ModelOptions) -> Result<Arc<Self>, ModelError> {
        Self::from_gguf(&Gguf::parse(bytes)?, options)
    }

    fn from_gguf(file: &Gguf, options: &ModelOptions) -> Result<Arc<Self>, ModelError> {
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            given => given,
        };
        // It holds the weights; what computes is each tracker's own (see `new_backend`).
        let backend = Backend::cpu(1)?;
        let weights = Arc::new(Weights::load(file, &backend)?);
        let hash = Sha256::digest(file.file_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Arc::new(Self { weights, backend, threads, hash }))
    }

    /// The network's configuration.
    pub fn config(&self) -> &Config {
        self.weights.config()
    }

    /// The weights, for tests of single stages.
    pub fn weights(&self) -> &Arc<Weights> {
        &self.weights
    }

    /// The device with threads and scratch memory of its own, so that trackers on several threads do not wait for each
    /// other.
    ///
    /// # Errors
    /// The device.
    pub fn new_backend(&self) -> Result<Backend, GgmlError> {
        Backend::cpu(self.threads)
    }

    /// The device that holds the weights; it computes with one thread.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Threads of the CPU backend.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// What computes, at pictures of `size`.
    pub fn report(&self, size: u32) -> EngineReport {
        EngineReport {
            device: format!("{}, {} threads", self.backend.name(), self.threads),
            precision: "f32".into(),
            model: self.config().name.clone(),
            model_hash: self.hash.clone(),
            image_size: size,
        }
    }

    /// `size` if the network can work at it, else why not. `None` is the model's own size.
    ///
    /// # Errors
    /// [`ModelError::Size`].
    pub fn check_size(&self, size: Option<u32>) -> Result<u32, ModelError> {
        let size = size.unwrap_or(self.config().image_size);
        if size.is_multiple_of(256) && (256..=1024).contains(&size) {
            Ok(size)
        } else {
            Err(ModelError::Size(size))
        }
    }
}

impl From<GgmlError> for super::EngineError {
    fn from(error: GgmlError) -> Self {
        Self::Device(error.to_string())
    }
}

/// The input's normalisation.
pub(super) fn normalisation(config: &Config) -> super::resample::Normalisation {
    super::resample::Normalisation { mean: config.image_mean, std: config.image_std }
}
