//! Opens videos, picture folders, single pictures and the drawn clip.

use super::PipelineError;
use super::demo::DemoSource;
use super::factory::VideoFactory;
use super::job::Input;
use crate::base::{FrameIndex, RgbFrame};
use crate::project;
use crate::video::{self, OpenOptions, VideoSource};

/// Opens what lies on the disk, and the drawn clip.
pub struct Files;

impl VideoFactory for Files {
    fn open(&self, input: &Input) -> Result<Box<dyn VideoSource>, PipelineError> {
        match input {
            Input::Path(path) => {
                let cache = project::cache_folder().map(|folder| folder.join("index"));
                let options = OpenOptions { cache: cache.as_deref(), progress: &mut |_| true };
                Ok(video::open_with(path, options)?)
            }
            Input::Demo => Ok(Box::new(DemoSource::new())),
        }
    }

    fn first_picture(&self, input: &Input) -> Result<RgbFrame, PipelineError> {
        match input {
            Input::Path(path) => Ok(video::first_picture(path)?),
            Input::Demo => Ok(DemoSource::new().frame(FrameIndex(0))?),
        }
    }
}
