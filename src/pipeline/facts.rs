//! What a face may know of a video and an engine without importing their modules.

use std::path::PathBuf;

use crate::base::Size;
use crate::engine::EngineReport;
use crate::video::VideoInfo;

/// What a video is.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct VideoFacts {
    /// The file or folder.
    pub path: PathBuf,
    /// Size of the upright pictures, in stored pixels.
    pub size: Size,
    /// Number of frames that are displayed.
    pub frames: u32,
    /// Average frames a second, as written in the file: numerator, denominator; `null` when unknown.
    pub frame_rate: Option<[i32; 2]>,
    /// Length in seconds, where there are times.
    pub duration: Option<f64>,
    /// Container and codec in words.
    pub format: String,
    /// Clockwise turn that makes the picture upright, in degrees.
    pub rotation: u16,
    /// Width of a pixel divided by its height: numerator, denominator.
    pub sample_aspect: [i32; 2],
    /// Frames are not evenly spaced in time.
    pub variable_frame_rate: bool,
    /// What a person should know.
    pub warnings: Vec<String>,
}

impl From<&VideoInfo> for VideoFacts {
    fn from(info: &VideoInfo) -> Self {
        let rate = info.frame_rate;
        Self {
            path: info.path.clone(),
            size: info.size,
            frames: info.frames,
            frame_rate: (rate.den != 0 && rate.num != 0).then_some([rate.num, rate.den]),
            duration: info.duration,
            format: info.format.clone(),
            rotation: info.rotation,
            sample_aspect: [info.sample_aspect.num, info.sample_aspect.den],
            variable_frame_rate: info.variable_frame_rate,
            warnings: info.warnings.clone(),
        }
    }
}

/// What computes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct EngineFacts {
    /// Device in words.
    pub device: String,
    /// Its kind: "CPU", "CUDA", "Vulkan" or "Metal".
    pub kind: String,
    /// Why a better device does not compute, a sentence each; empty when the first choice does.
    pub fallback: Vec<String>,
    /// Arithmetic, e.g. "f32".
    pub precision: String,
    /// Model name.
    pub model: String,
    /// SHA-256 of the model file, in hex.
    pub model_hash: String,
    /// Side of the square picture that the network sees, in pixels.
    pub image_size: u32,
}

impl From<EngineReport> for EngineFacts {
    fn from(report: EngineReport) -> Self {
        let EngineReport { device, kind, fallback, precision, model, model_hash, image_size } = report;
        Self { device, kind, fallback, precision, model, model_hash, image_size }
    }
}
