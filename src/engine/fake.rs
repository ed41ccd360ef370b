//! An engine without a network, for tests of everything around the engine.

use std::collections::BTreeMap;

use super::port::{Direction, EngineError, EngineReport, ObjectOutput, VideoEngine, VideoShape};
use crate::base::{FrameIndex, FramePrompts, Logits, ObjectId, RgbFrame, Timings};

/// Answers every prompt with a disc around the prompt's centre and "tracks" it by standing still.
pub struct FakeEngine {
    video: VideoShape,
    current: Option<FrameIndex>,
    centres: BTreeMap<ObjectId, (f32, f32)>,
    step: std::time::Duration,
}

/// Side of the fake's low-resolution logits.
const SIDE: u32 = 64;

impl FakeEngine {
    /// A fake whose `encode` takes `step`.
    pub fn new(video: VideoShape, step: std::time::Duration) -> Self {
        Self { video, current: None, centres: BTreeMap::new(), step }
    }

    fn disc(&self, object: ObjectId, (x, y): (f32, f32)) -> ObjectOutput {
        let mut logits = Logits::constant(SIDE, SIDE, -8.0);
        for (i, value) in logits.data.iter_mut().enumerate() {
            let (dx, dy) = ((i as u32 % SIDE) as f32 + 0.5 - x, (i as u32 / SIDE) as f32 + 0.5 - y);
            *value = 8.0 - dx.hypot(dy);
        }
        ObjectOutput { object, logits, score: 5.0, iou: 0.9, chosen: 1 }
    }

    fn require(&self, wanted: FrameIndex) -> Result<(), EngineError> {
        if self.current == Some(wanted) {
            Ok(())
        } else {
            Err(EngineError::NotEncoded { wanted, encoded: self.current })
        }
    }
}

impl VideoEngine for FakeEngine {
    fn report(&self) -> EngineReport {
        EngineReport {
            device: "fake".into(),
            precision: "f32".into(),
            model: "fake".into(),
            model_hash: "0".repeat(64),
            image_size: SIDE * 4,
        }
    }

    fn encode(&mut self, frame: FrameIndex, picture: &RgbFrame) -> Result<(), EngineError> {
        self.video.check(frame, picture)?;
        std::thread::sleep(self.step);
        self.current = Some(frame);
        Ok(())
    }

    fn prompt(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        prompts: &FramePrompts,
    ) -> Result<ObjectOutput, EngineError> {
        self.require(frame)?;
        let size = self.video.size;
        prompts.validate(size).map_err(|source| EngineError::Prompt { frame, object, source })?;
        let bounds = prompts.bounds.or_else(|| prompts.mask.as_ref().and_then(|m| m.decode().bounding_box()));
        let (x, y) = match (prompts.clicks.last(), bounds) {
            (Some(click), _) => (click.at.x, click.at.y),
            (None, Some(b)) => (f32::midpoint(b.x0, b.x1), f32::midpoint(b.y0, b.y1)),
            (None, None) => (0.0, 0.0),
        };
        let scale = SIDE as f32;
        let centre = (x / size.width as f32 * scale, y / size.height as f32 * scale);
        self.centres.insert(object, centre);
        Ok(self.disc(object, centre))
    }

    fn track(&mut self, frame: FrameIndex, _: Direction) -> Result<Vec<ObjectOutput>, EngineError> {
        self.require(frame)?;
        if self.centres.is_empty() {
            return Err(EngineError::NoPrompts);
        }
        Ok(self.centres.iter().map(|(&object, &centre)| self.disc(object, centre)).collect())
    }

    fn remove(&mut self, object: ObjectId) {
        self.centres.remove(&object);
    }

    fn take_timings(&mut self) -> Timings {
        Timings::default()
    }
}
