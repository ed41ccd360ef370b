//! The adapter between the pipeline and the native engine.

use std::sync::{Arc, Mutex, PoisonError};

use super::PipelineError;
use super::factory::{DeviceLine, EngineFactory};
use super::job::{EngineOptions, ModelChoice};
use crate::engine::{Habit, Model, ModelOptions, StepDown, Tracker, TrackerOptions, VideoEngine, VideoShape};

/// Makes engines that run EdgeTAM on ggml. The last model is kept, so that several videos in turn load it once.
#[derive(Default)]
pub struct NativeFactory {
    kept: Mutex<Option<(ModelChoice, ModelOptions, Arc<Model>)>>,
}

impl NativeFactory {
    fn model(&self, options: &EngineOptions, refused: &[StepDown]) -> Result<Arc<Model>, PipelineError> {
        let refused = refused.to_vec();
        let how = ModelOptions { threads: options.threads.unwrap_or(0), device: options.device, refused };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((choice, with, model)) = &*kept
            && *choice == options.model
            && *with == how
        {
            return Ok(model.clone());
        }
        let model = match &options.model {
            ModelChoice::Embedded => Model::built_in(&how),
            ModelChoice::File(path) => Model::load(path, &how),
        };
        let model = model.map_err(|error| PipelineError::Model(error.to_string()))?;
        *kept = Some((options.model.clone(), how, model.clone()));
        Ok(model)
    }
}

impl EngineFactory for NativeFactory {
    fn open(
        &self,
        shape: VideoShape,
        options: &EngineOptions,
    ) -> Result<Box<dyn VideoEngine>, PipelineError> {
        let habit = if shape.frames == 1 { Habit::Picture } else { Habit::Video };
        let mut refused = Vec::new();
        loop {
            let model = self.model(options, &refused)?;
            let EngineOptions { size, transport, preprocess, .. } = *options;
            let spill = options.spill.clone();
            let settings =
                TrackerOptions { size, habit, spill, transport, preprocess, ..TrackerOptions::default() };
            match Tracker::new(&model, shape, settings) {
                Ok(tracker) => return Ok(Box::new(tracker)),
                // A device that cannot hold or compute the network: the next one, with the reason kept.
                Err(error) => match model.step_down(&error) {
                    Some(step) => refused.push(step),
                    None => return Err(PipelineError::Model(error.to_string())),
                },
            }
        }
    }

    fn devices(&self) -> Vec<DeviceLine> {
        crate::engine::devices()
            .into_iter()
            .map(|device| DeviceLine {
                kind: device.kind,
                name: device.name,
                chosen: device.chosen,
                note: device.note,
            })
            .collect()
    }
}
