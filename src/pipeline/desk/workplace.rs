//! The engine with its video and what it was told: opened when it is first needed, thrown away when it fails inside.

use std::sync::Arc;

use super::inbox::Scene;
use super::mirror::{Mirror, Say, mask_of};
use super::recent::Recent;
use super::request::{ObjectPrompts, Seed};
use crate::base::{Direction, FrameIndex, ObjectId, RgbFrame};
use crate::engine::masks::MaskResizer;
use crate::engine::{ObjectOutput, VideoEngine};
use crate::pipeline::PipelineError;
use crate::pipeline::factory::Tools;
use crate::pipeline::facts::EngineFacts;
use crate::pipeline::masks::object_mask;
use crate::session::TrackResult;
use crate::video::VideoSource;

/// Engine, video, and what the engine knows.
pub(super) struct Workplace {
    scene: Scene,
    engine: Box<dyn VideoEngine>,
    source: Box<dyn VideoSource>,
    recent: Arc<Recent>,
    mirror: Mirror,
    /// The frame whose features the engine holds.
    encoded: Option<FrameIndex>,
    resizer: MaskResizer,
}

impl Workplace {
    /// Makes the engine and opens the video a second time: display and engine read at two places.
    pub(super) fn open(tools: &Tools, scene: &Scene, recent: Arc<Recent>) -> Result<Self, PipelineError> {
        let source = tools.videos.open(&scene.input)?;
        let engine = tools.engines.open(scene.shape, &scene.options)?;
        Ok(Self {
            scene: scene.clone(),
            engine,
            source,
            recent,
            mirror: Mirror::default(),
            encoded: None,
            resizer: MaskResizer::new(),
        })
    }

    /// What computes.
    pub(super) fn facts(&self) -> EngineFacts {
        self.engine.report().into()
    }

    /// The picture of `frame`.
    pub(super) fn picture(&mut self, frame: FrameIndex) -> Result<Arc<RgbFrame>, PipelineError> {
        if let Some(picture) = self.recent.get(self.scene.epoch, frame) {
            return Ok(picture);
        }
        Ok(Arc::new(self.source.frame(frame)?))
    }

    /// Has `frame` encoded, unless it is.
    fn encode(&mut self, frame: FrameIndex) -> Result<(), PipelineError> {
        if self.encoded != Some(frame) {
            let picture = self.picture(frame)?;
            self.encode_picture(frame, &picture)?;
        }
        Ok(())
    }

    /// Has `frame` encoded from its picture, unless it is.
    pub(super) fn encode_picture(
        &mut self,
        frame: FrameIndex,
        picture: &RgbFrame,
    ) -> Result<(), PipelineError> {
        if self.encoded != Some(frame) {
            self.encoded = None;
            self.engine.encode(frame, picture)?;
            self.encoded = Some(frame);
        }
        Ok(())
    }

    /// The answer to `object`'s prompts on `frame`; `None` where it has none.
    pub(super) fn answer(
        &mut self,
        object: &ObjectPrompts,
        frame: FrameIndex,
    ) -> Result<Option<TrackResult>, PipelineError> {
        let output = self.sync(object, Some(frame))?;
        Ok(output.map(|output| self.result(&output)))
    }

    /// What the prompts on `frame` would give; the engine remembers nothing of it.
    pub(super) fn preview(
        &mut self,
        object: &ObjectPrompts,
        frame: FrameIndex,
    ) -> Result<Option<TrackResult>, PipelineError> {
        let Some(said) = object.prompts.get(&frame) else { return Ok(None) };
        self.encode(frame)?;
        let output = self.engine.preview(frame, object.object, said)?;
        Ok(Some(self.result(&output)))
    }

    /// Tells the engine what it does not know of `object`'s prompts; gives the answer on the frame that is `asked` about.
    pub(super) fn sync(
        &mut self,
        object: &ObjectPrompts,
        asked: Option<FrameIndex>,
    ) -> Result<Option<ObjectOutput>, PipelineError> {
        let id = object.object;
        let steps = self.mirror.steps(object, asked, |frame| self.engine.knows(id, frame));
        let mut last = None;
        for step in steps {
            match self.say(id, step) {
                Ok(output) => last = output,
                Err(error) => {
                    // Half of it is told: the whole is told again next time.
                    self.forget(id);
                    return Err(error);
                }
            }
        }
        self.mirror.told(object);
        let answered = asked.is_some_and(|frame| object.prompts.contains_key(&frame));
        Ok(last.filter(|_| answered))
    }

    fn say(&mut self, id: ObjectId, say: Say) -> Result<Option<ObjectOutput>, PipelineError> {
        match say {
            Say::Unprompt(frame) => {
                self.engine.unprompt(id, frame);
                Ok(None)
            }
            Say::Prompt(frame, said) => {
                self.encode(frame)?;
                Ok(Some(self.engine.prompt(frame, id, &said)?))
            }
        }
    }

    /// Makes the engine remember results that the document has and the engine does not, so that a run goes on where an
    /// earlier one ended. An object without any prompt is given the nearest one as if it were a mask by hand.
    /// An object that was corrected on the run's first frame is given none: what lies behind is what was corrected.
    pub(super) fn seed(
        &mut self,
        objects: &[ObjectPrompts],
        seeds: &[Seed],
        from: FrameIndex,
    ) -> Result<(), PipelineError> {
        // The nearest comes first; memories are made in the order of a track, so that the nearest is the newest.
        for seed in seeds.iter().rev() {
            let Some(object) = objects.iter().find(|o| o.object == seed.object) else { continue };
            if object.prompts.contains_key(&from) || self.engine.knows(seed.object, seed.frame) {
                continue;
            }
            let nearest =
                seeds.iter().find(|s| s.object == seed.object).is_some_and(|s| s.frame == seed.frame);
            if object.prompts.is_empty() && nearest {
                let said = mask_of(&seed.result.mask);
                self.say(seed.object, Say::Prompt(seed.frame, said.clone()))?;
                self.mirror.told_besides(seed.object, seed.frame, said);
            } else {
                self.encode(seed.frame)?;
                self.engine.recall(seed.frame, seed.object, &seed.result.mask.decode())?;
            }
        }
        Ok(())
    }

    /// Prepares a run of `object` from `frame` on: where it was corrected there, the correction leads; else what was
    /// tracked after it is stale.
    pub(super) fn start(
        &mut self,
        object: &ObjectPrompts,
        frame: FrameIndex,
        direction: Direction,
    ) -> Result<(), PipelineError> {
        self.sync(object, None)?;
        let id = object.object;
        if !object.prompts.contains_key(&frame) {
            self.engine.forget_after(id, frame, direction);
            return Ok(());
        }
        self.encode(frame)?;
        // What the engine forgot is told again when it is next asked for more than this run.
        for contradicted in self.engine.lead(frame, id, direction)? {
            self.mirror.untold(id, contradicted);
        }
        Ok(())
    }

    /// Follows `objects` onto `frame`, which is encoded.
    pub(super) fn track(
        &mut self,
        frame: FrameIndex,
        direction: Direction,
        objects: &[ObjectId],
    ) -> Result<Vec<(ObjectId, TrackResult)>, PipelineError> {
        let outputs = self.engine.track_only(frame, direction, objects)?;
        Ok(outputs.iter().map(|output| (output.object, self.result(output))).collect())
    }

    /// Forgets `object` altogether.
    pub(super) fn forget(&mut self, object: ObjectId) {
        self.engine.remove(object);
        self.mirror.forget(object);
    }

    fn result(&mut self, output: &ObjectOutput) -> TrackResult {
        let found = object_mask(&mut self.resizer, output, self.scene.shape.size);
        TrackResult { mask: found.mask, score: found.score }
    }
}
