//! A video and an engine that are made up: every test needs the same pictures and the same masks on every machine.

use std::sync::Arc;
use std::time::Duration;

use masklet::base::{FrameIndex, Pts, Rational, RgbFrame, Size};
use masklet::engine::{FakeEngine, VideoEngine, VideoShape};
use masklet::pipeline::{
    DeviceLine, EngineFactory, EngineOptions, Input, PipelineError, Tools, VideoFactory,
};
use masklet::video::{VideoError, VideoInfo, VideoSource};

/// Size of the pictures.
pub const SIZE: Size = Size::new(160, 90);

/// Makes both.
pub struct Made {
    pub frames: u32,
    pub size: Size,
    pub step: Duration,
    pub decode: Duration,
    pub broken_engine: bool,
}

impl Default for Made {
    fn default() -> Self {
        Self { frames: 24, size: SIZE, step: Duration::ZERO, decode: Duration::ZERO, broken_engine: false }
    }
}

impl Made {
    pub fn tools(self) -> Tools {
        let made = Arc::new(self);
        let engines: Arc<dyn EngineFactory> = made.clone();
        Tools { engines, videos: made }
    }
}

impl EngineFactory for Made {
    fn open(&self, shape: VideoShape, _: &EngineOptions) -> Result<Box<dyn VideoEngine>, PipelineError> {
        if self.broken_engine {
            return Err(PipelineError::Model("m.gguf: this is no model".into()));
        }
        Ok(Box::new(FakeEngine::new(shape, self.step)))
    }

    fn devices(&self) -> Vec<DeviceLine> {
        Vec::new()
    }
}

impl VideoFactory for Made {
    fn open(&self, input: &Input) -> Result<Box<dyn VideoSource>, PipelineError> {
        let path = match input {
            Input::Path(path) => path.clone(),
            Input::Demo => "demo".into(),
        };
        if path.to_string_lossy().contains("missing") {
            return Err(PipelineError::Input(format!("{} does not exist", path.display())));
        }
        let info = VideoInfo {
            path,
            size: self.size,
            frames: self.frames,
            frame_rate: Rational::new(25, 1),
            duration: None,
            format: "made up".into(),
            rotation: 0,
            sample_aspect: Rational::new(1, 1),
            variable_frame_rate: false,
            warnings: Vec::new(),
        };
        Ok(Box::new(Pictures { info, decode: self.decode }))
    }
}

struct Pictures {
    info: VideoInfo,
    decode: Duration,
}

impl VideoSource for Pictures {
    fn info(&self) -> &VideoInfo {
        &self.info
    }

    fn frame(&mut self, frame: FrameIndex) -> Result<RgbFrame, VideoError> {
        std::thread::sleep(self.decode);
        Ok(picture(self.info.size, frame))
    }

    fn pts(&self, frame: FrameIndex) -> Option<Pts> {
        Some(Pts { ticks: i64::from(frame.0), time_base: Rational::new(1, 25) })
    }

    fn file_name(&self, _: FrameIndex) -> Option<&str> {
        None
    }
}

/// A quiet gradient with a bar that moves on by 4 pixels a frame.
fn picture(size: Size, frame: FrameIndex) -> RgbFrame {
    let mut picture = RgbFrame::filled(size, [0; 3]);
    let width = size.width as usize;
    for (i, pixel) in picture.data_mut().chunks_exact_mut(3).enumerate() {
        let (x, y) = (i % width, i / width);
        let bar = x / 4 == frame.0 as usize;
        let shade = (40 + x * 60 / width) as u8;
        pixel.copy_from_slice(&if bar {
            [220, 220, 90]
        } else {
            [shade, shade.saturating_add((y / 4) as u8), 110]
        });
    }
    picture
}
