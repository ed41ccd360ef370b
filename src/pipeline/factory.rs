//! How engines and videos are made: the seams that tests put fakes behind.

use std::sync::Arc;

use super::files::Files;
use super::job::{EngineOptions, Input};
use super::{PipelineError, native};
use crate::base::{FrameIndex, RgbFrame};
use crate::engine::{VideoEngine, VideoShape};
use crate::video::VideoSource;

/// Makes engines.
pub trait EngineFactory: Send + Sync {
    /// An engine for one video.
    ///
    /// # Errors
    /// A model file that cannot be used, or the device.
    fn open(&self, shape: VideoShape, options: &EngineOptions)
    -> Result<Box<dyn VideoEngine>, PipelineError>;

    /// The devices of this machine, best first, each in words.
    fn devices(&self) -> Vec<DeviceLine>;
}

/// One device, for a list that a person reads.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DeviceLine {
    /// Kind, e.g. "CPU".
    pub kind: String,
    /// Name in words.
    pub name: String,
    /// Whether it would be used.
    pub chosen: bool,
    /// Why not, or what it can do.
    pub note: String,
}

/// Opens videos.
pub trait VideoFactory: Send + Sync {
    /// The video at `input`.
    ///
    /// # Errors
    /// It cannot be read.
    fn open(&self, input: &Input) -> Result<Box<dyn VideoSource>, PipelineError>;

    /// The first picture of `input`, to be shown while [`VideoFactory::open`] still reads through a long file.
    ///
    /// # Errors
    /// It cannot be read.
    fn first_picture(&self, input: &Input) -> Result<RgbFrame, PipelineError> {
        Ok(self.open(input)?.frame(FrameIndex(0))?)
    }
}

/// Everything that jobs need from outside.
#[derive(Clone)]
pub struct Tools {
    /// Makes engines.
    pub engines: Arc<dyn EngineFactory>,
    /// Opens videos.
    pub videos: Arc<dyn VideoFactory>,
}

impl Tools {
    /// The real ones: the native engine, files and folders.
    pub fn native() -> Self {
        Self { engines: Arc::new(native::NativeFactory::default()), videos: Arc::new(Files) }
    }
}
