//! An engine without a network, for tests of everything around the engine.

use std::collections::BTreeMap;

use super::port::{Direction, EngineError, EngineReport, ObjectOutput, VideoEngine, VideoShape};
use crate::base::{BoxXyxy, FrameIndex, FramePrompts, Logits, Mask, ObjectId, RgbFrame, Timings};

/// Answers every prompt with a disc around the prompt's centre and "tracks" it by standing still: a tracked frame has the
/// disc of the frame before it in the direction of travel, or else of the nearest prompted one behind.
pub struct FakeEngine {
    video: VideoShape,
    current: Option<FrameIndex>,
    objects: BTreeMap<ObjectId, Remembered>,
    before: Box<dyn FnMut(FakeCall) -> Result<(), EngineError> + Send>,
}

/// What a [`FakeEngine`] is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FakeCall {
    /// Encode a frame.
    Encode(FrameIndex),
    /// Answer prompts.
    Prompt(FrameIndex, ObjectId),
    /// Try prompts.
    Preview(FrameIndex, ObjectId),
    /// Follow an object.
    Track(FrameIndex, ObjectId),
    /// Remember a mask.
    Recall(FrameIndex, ObjectId),
}

/// Centres of discs by frame.
#[derive(Default)]
struct Remembered {
    prompted: BTreeMap<FrameIndex, (f32, f32)>,
    tracked: BTreeMap<FrameIndex, (f32, f32)>,
}

/// Side of the fake's low-resolution logits.
const SIDE: u32 = 64;

impl Remembered {
    fn follow(&self, frame: FrameIndex, direction: Direction) -> Option<(f32, f32)> {
        let (prompted, before) = match direction {
            Direction::Forward => (self.prompted.range(..=frame).next_back(), frame.0.checked_sub(1)),
            Direction::Backward => (self.prompted.range(frame..).next(), frame.0.checked_add(1)),
        };
        let (nearest, centre) = prompted?;
        let before = before.map(FrameIndex).filter(|_| *nearest != frame);
        Some(before.and_then(|f| self.prompted.get(&f).or(self.tracked.get(&f))).copied().unwrap_or(*centre))
    }
}

impl FakeEngine {
    /// A fake whose `encode` takes `step`.
    pub fn new(video: VideoShape, step: std::time::Duration) -> Self {
        Self::with(video, move |call| {
            if matches!(call, FakeCall::Encode(_)) {
                std::thread::sleep(step);
            }
            Ok(())
        })
    }

    /// A fake that calls `before` first, whatever it does: to be slow, to fail, to panic, to take notes.
    pub fn with(
        video: VideoShape,
        before: impl FnMut(FakeCall) -> Result<(), EngineError> + Send + 'static,
    ) -> Self {
        Self { video, current: None, objects: BTreeMap::new(), before: Box::new(before) }
    }

    fn disc(object: ObjectId, (x, y): (f32, f32)) -> ObjectOutput {
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

    /// The middle of what was said, in the fake's logits.
    fn centre(
        &self,
        frame: FrameIndex,
        object: ObjectId,
        prompts: &FramePrompts,
    ) -> Result<(f32, f32), EngineError> {
        prompts.validate(self.video.size).map_err(|source| EngineError::Prompt { frame, object, source })?;
        let bounds = prompts.bounds.or_else(|| prompts.mask.as_ref().and_then(|m| m.decode().bounding_box()));
        Ok(match (prompts.clicks.last(), bounds) {
            (Some(click), _) => self.scaled(click.at.x, click.at.y),
            (None, Some(b)) => self.middle(b),
            (None, None) => (0.0, 0.0),
        })
    }

    fn middle(&self, b: BoxXyxy) -> (f32, f32) {
        self.scaled(f32::midpoint(b.x0, b.x1), f32::midpoint(b.y0, b.y1))
    }

    fn scaled(&self, x: f32, y: f32) -> (f32, f32) {
        let (size, scale) = (self.video.size, SIDE as f32);
        (x / size.width as f32 * scale, y / size.height as f32 * scale)
    }
}

impl VideoEngine for FakeEngine {
    fn report(&self) -> EngineReport {
        EngineReport {
            device: "fake".into(),
            kind: "CPU".into(),
            fallback: Vec::new(),
            precision: "f32".into(),
            model: "fake".into(),
            model_hash: "0".repeat(64),
            image_size: SIDE * 4,
        }
    }

    fn encode(&mut self, frame: FrameIndex, picture: &RgbFrame) -> Result<(), EngineError> {
        self.video.check(frame, picture)?;
        (self.before)(FakeCall::Encode(frame))?;
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
        let centre = self.centre(frame, object, prompts)?;
        (self.before)(FakeCall::Prompt(frame, object))?;
        self.objects.entry(object).or_default().prompted.insert(frame, centre);
        Ok(Self::disc(object, centre))
    }

    fn preview(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        prompts: &FramePrompts,
    ) -> Result<ObjectOutput, EngineError> {
        self.require(frame)?;
        let centre = self.centre(frame, object, prompts)?;
        (self.before)(FakeCall::Preview(frame, object))?;
        Ok(Self::disc(object, centre))
    }

    fn track(&mut self, frame: FrameIndex, direction: Direction) -> Result<Vec<ObjectOutput>, EngineError> {
        let all: Vec<_> = self.objects.keys().copied().collect();
        self.track_only(frame, direction, &all)
    }

    fn track_only(
        &mut self,
        frame: FrameIndex,
        direction: Direction,
        objects: &[ObjectId],
    ) -> Result<Vec<ObjectOutput>, EngineError> {
        self.require(frame)?;
        let prompted =
            self.objects.iter_mut().filter(|(id, m)| objects.contains(id) && !m.prompted.is_empty());
        let mut outputs = Vec::new();
        let mut any = false;
        for (&object, memory) in prompted {
            any = true;
            let Some(centre) = memory.follow(frame, direction) else { continue };
            (self.before)(FakeCall::Track(frame, object))?;
            if !memory.prompted.contains_key(&frame) {
                memory.tracked.insert(frame, centre);
            }
            outputs.push(Self::disc(object, centre));
        }
        if any { Ok(outputs) } else { Err(EngineError::NoPrompts) }
    }

    fn knows(&self, object: ObjectId, frame: FrameIndex) -> bool {
        let memory = self.objects.get(&object);
        memory.is_some_and(|m| m.prompted.contains_key(&frame) || m.tracked.contains_key(&frame))
    }

    fn unprompt(&mut self, object: ObjectId, frame: FrameIndex) {
        if let Some(memory) = self.objects.get_mut(&object) {
            memory.prompted.remove(&frame);
        }
    }

    fn forget_after(&mut self, object: ObjectId, frame: FrameIndex, direction: Direction) {
        if let Some(memory) = self.objects.get_mut(&object) {
            memory.tracked.retain(|f, _| match direction {
                Direction::Forward => *f <= frame,
                Direction::Backward => *f >= frame,
            });
        }
    }

    fn lead(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        _: Direction,
    ) -> Result<Vec<FrameIndex>, EngineError> {
        self.require(frame)?;
        if let Some(memory) = self.objects.get_mut(&object) {
            memory.tracked.clear();
        }
        Ok(Vec::new())
    }

    fn recall(&mut self, frame: FrameIndex, object: ObjectId, mask: &Mask) -> Result<(), EngineError> {
        self.require(frame)?;
        self.video.check_mask(frame, object, mask)?;
        (self.before)(FakeCall::Recall(frame, object))?;
        let centre = mask.bounding_box().map_or((0.0, 0.0), |b| self.middle(b));
        self.objects.entry(object).or_default().tracked.insert(frame, centre);
        Ok(())
    }

    fn remove(&mut self, object: ObjectId) {
        self.objects.remove(&object);
    }

    fn take_timings(&mut self) -> Timings {
        Timings::default()
    }
}
