//! Opens videos, picture folders, single pictures and the drawn clip.

use super::PipelineError;
use super::demo::DemoSource;
use super::factory::VideoFactory;
use super::job::Input;
use crate::video::{self, VideoSource};

/// Opens what lies on the disk, and the drawn clip.
pub struct Files;

impl VideoFactory for Files {
    fn open(&self, input: &Input) -> Result<Box<dyn VideoSource>, PipelineError> {
        match input {
            Input::Path(path) => Ok(video::open(path)?),
            Input::Demo => Ok(Box::new(DemoSource::new())),
        }
    }
}
