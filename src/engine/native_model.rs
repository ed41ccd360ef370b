//! A model ready to work: its file checked, its weights on a device.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::devices::{self, Opened, StepDown};
use super::port::EngineReport;
use crate::base::{DeviceChoice, DeviceFamily, Preprocess, Transport};
use crate::ggml::gguf::{Gguf, GgufError};
use crate::ggml::{Backend, Found, GgmlError};
use crate::model::{Config, Lowering, ModelError, Weights};

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelOptions {
    /// Threads of the CPU backend; 0 means one for each core.
    pub threads: usize,
    /// What is to compute.
    pub device: DeviceChoice,
    /// Devices that were tried already and failed, with the reasons.
    pub refused: Vec<StepDown>,
}

impl ModelOptions {
    /// The processor with `threads` threads.
    pub const fn cpu(threads: usize) -> Self {
        Self { threads, device: DeviceChoice::CPU, refused: Vec::new() }
    }
}

/// An immutable model, shared by any number of trackers: `Arc<Model>`.
pub struct Model {
    weights: Arc<Weights>,
    backend: Backend,
    device: Found,
    skipped: Vec<StepDown>,
    asked: DeviceChoice,
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
        let mut refused = options.refused.clone();
        loop {
            // It holds the weights; what computes is each tracker's own (see `new_backend`).
            let Opened { found, backend, skipped } = devices::open(options.device, 1, &refused)?;
            let weights = match Weights::load(file, &backend) {
                Ok(weights) => Arc::new(weights),
                Err(ModelError::Device(error)) if found.family != DeviceFamily::Cpu => {
                    let (family, index) = (found.family, Some(found.index));
                    refused.push(StepDown { family, index, reason: error.to_string() });
                    continue;
                }
                Err(error) => return Err(error),
            };
            let hash = Sha256::digest(file.file_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
            let (device, asked) = (found, options.device);
            return Ok(Arc::new(Self { weights, backend, device, skipped, asked, threads, hash }));
        }
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
        Backend::open(&self.device, self.threads)
    }

    /// The choices for the device.
    pub fn lowering(&self) -> Lowering {
        match self.device.family {
            DeviceFamily::Cpu => Lowering::cpu(),
            DeviceFamily::Cuda => Lowering::cuda(),
            DeviceFamily::Vulkan | DeviceFamily::Metal => Lowering::stock(),
        }
    }

    /// How memories get to tracked frames: on a graphics card they stay there; on the processor the stages are apart.
    pub fn transport(&self) -> Option<Transport> {
        (self.device.family != DeviceFamily::Cpu).then_some(Transport::Device)
    }

    /// Where pictures are brought to the network's size.
    pub fn preprocess(&self) -> Preprocess {
        if self.device.family == DeviceFamily::Cpu { Preprocess::Cpu } else { Preprocess::Device }
    }

    /// This model's device as one that failed with `error`; `None` when the device is not to blame, and for the processor,
    /// behind which there is nothing.
    pub fn step_down(&self, error: &ModelError) -> Option<StepDown> {
        let ModelError::Device(error) = error else { return None };
        let (family, index) = (self.device.family, Some(self.device.index));
        (family != DeviceFamily::Cpu).then(|| StepDown { family, index, reason: error.to_string() })
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
            device: match self.device.family {
                DeviceFamily::Cpu => format!("{}, {} threads", self.backend.name(), self.threads),
                _ => self.backend.name().to_owned(),
            },
            kind: self.device.family.to_string(),
            fallback: self.fallback(),
            precision: self.lowering().precision().into(),
            model: self.config().name.clone(),
            model_hash: self.hash.clone(),
            image_size: size,
        }
    }

    /// Why a better device does not compute, or the one that was asked for. A kind that this build or this machine simply
    /// does not have is no reason, unless it was asked for.
    fn fallback(&self) -> Vec<String> {
        let wanted = match self.asked {
            DeviceChoice::Only(family, _) => Some(family),
            DeviceChoice::Auto => None,
        };
        let told = self.skipped.iter().filter(|step| step.index.is_some() || wanted == Some(step.family));
        told.map(|step| format!("{}: {}", step.family, step.reason)).collect()
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
