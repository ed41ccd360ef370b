//! Opens videos, picture folders, single pictures and the drawn clip.

use std::path::PathBuf;

use super::PipelineError;
use super::demo::DemoSource;
use super::factory::VideoFactory;
use super::job::Input;
use crate::base::{FrameIndex, RgbFrame};
use crate::video::{self, OpenOptions, VideoSource};

/// Where the indices of long videos are kept between runs; `None` when the system names no home.
fn index_folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Caches"))
    } else {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
    };
    base.map(|base| base.join("masklet").join("index"))
}

/// Opens what lies on the disk, and the drawn clip.
pub struct Files;

impl VideoFactory for Files {
    fn open(&self, input: &Input) -> Result<Box<dyn VideoSource>, PipelineError> {
        match input {
            Input::Path(path) => {
                let cache = index_folder();
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
