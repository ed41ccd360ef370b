//! The track stage: encodes a picture, follows the objects onto it, makes masks of the picture's size.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::PipelineError;
use super::hop::{Decoded, ObjectMask, Tracked, Work};
use super::masks::object_mask;
use super::plan::{Pass, Plan};
use super::store::Store;
use super::token::Token;
use crate::base::{FrameIndex, RgbFrame, Stage, Timings};
use crate::engine::VideoEngine;
use crate::engine::masks::MaskResizer;

/// Works on the frames of one pass.
pub(super) struct TrackStage<'a> {
    pub engine: &'a mut dyn VideoEngine,
    pub store: &'a mut Store,
    pub plan: &'a Plan,
    pub pass: Pass,
    pub token: Token,
    pub timings: &'a mut Timings,
    pub resizer: MaskResizer,
    /// The frame whose features the engine holds.
    pub encoded: Option<FrameIndex>,
}

impl TrackStage<'_> {
    /// The masks of one frame; `None` when its generation has passed.
    ///
    /// # Errors
    /// The engine failed; a panic in it is caught and told as an error.
    pub fn take(&mut self, decoded: Decoded) -> Result<Option<Tracked>, PipelineError> {
        let Decoded { generation, frame, pts, file_name, picture, work } = decoded;
        if generation != self.token.generation() || (work == Work::Track && self.token.cancelled()) {
            return Ok(None);
        }
        let mut objects = match (work, &picture) {
            (Work::Track, Some(picture)) => {
                let picture = Arc::clone(picture);
                catch_unwind(AssertUnwindSafe(|| self.follow(frame, &picture)))
                    .unwrap_or_else(|payload| Err(PipelineError::panicked("track", payload.as_ref())))?
            }
            _ => Vec::new(),
        };
        if self.pass.emit {
            objects.extend(self.store.take(frame));
            objects.sort_by_key(|o| o.object);
        } else {
            self.store.keep(frame, &objects);
        }
        Ok(Some(Tracked { generation, frame, pts, file_name, picture, objects: objects.into() }))
    }

    fn follow(&mut self, frame: FrameIndex, picture: &RgbFrame) -> Result<Vec<ObjectMask>, PipelineError> {
        // The frame that was prompted last is often the first one of the pass.
        if self.encoded.take() != Some(frame) {
            self.engine.encode(frame, picture)?;
        }
        let outputs = self.engine.track(frame, self.pass.direction)?;
        let (plan, direction, resizer) = (self.plan, self.pass.direction, &mut self.resizer);
        Ok(self.timings.measure(Stage::Masks, || {
            let counted = outputs.iter().filter(|o| plan.counts(o.object, frame, direction));
            counted.map(|o| object_mask(resizer, o, picture.size())).collect()
        }))
    }
}
