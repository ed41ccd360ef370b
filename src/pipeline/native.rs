//! The adapter between the pipeline and the native engine.

use super::PipelineError;
use super::factory::{DeviceLine, EngineFactory};
use super::job::EngineOptions;
use crate::engine::{VideoEngine, VideoShape};

/// Makes engines that run EdgeTAM on ggml.
pub struct NativeFactory;

impl EngineFactory for NativeFactory {
    fn open(&self, _: VideoShape, _: &EngineOptions) -> Result<Box<dyn VideoEngine>, PipelineError> {
        Err(PipelineError::Model("this build has no engine yet".into()))
    }

    fn devices(&self) -> Vec<DeviceLine> {
        Vec::new()
    }
}
