//! Edits of what is said and known on frames: prompts, results, marks.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Plan;
use crate::base::{FrameIndex, FramePrompts, FrameRange, ObjectId, Rle};
use crate::session::patch::Patch;
use crate::session::state::{Session, SessionError, TrackResult};

/// Object score logit of a mask that a person made: certain. The engine gives mask prompts the same.
const CERTAIN: f32 = 10.0;

/// All that is known of one object on one frame.
#[derive(Clone, Default)]
pub(super) struct Known {
    pub(super) prompts: Option<Arc<FramePrompts>>,
    pub(super) result: Option<Arc<TrackResult>>,
    pub(super) verified: bool,
    pub(super) absent: bool,
}

impl Session {
    pub(super) fn plan_prompts(&self, id: ObjectId, frame: FrameIndex, prompts: FramePrompts) -> Plan {
        let name = &self.open_object(id)?.name;
        self.check_frame(frame)?;
        if prompts.is_empty() {
            let mut patches = vec![Patch::Prompts(id, frame, None)];
            if self.prompts(id, frame).is_some() {
                patches.extend([Patch::Result(id, frame, None), Patch::Verified(id, frame, false)]);
            }
            return Ok(patches);
        }
        prompts.validate(self.size).map_err(|source| SessionError::Prompt {
            name: name.clone(),
            frame,
            source,
        })?;
        // Who points at an object takes back that it is not there.
        Ok(vec![
            Patch::Absent(id, frame, false),
            Patch::Verified(id, frame, false),
            Patch::Prompts(id, frame, Some(Arc::new(prompts))),
        ])
    }

    pub(super) fn plan_result(&self, id: ObjectId, frame: FrameIndex, result: TrackResult) -> Plan {
        self.open_object(id)?;
        self.check_result(id, frame, &result)?;
        Ok(vec![Patch::Verified(id, frame, false), Patch::Result(id, frame, Some(Arc::new(result)))])
    }

    /// Whether `result` fits the frame.
    pub(in crate::session) fn check_result(
        &self,
        id: ObjectId,
        frame: FrameIndex,
        result: &TrackResult,
    ) -> Result<(), SessionError> {
        let name = &self.known(id)?.name;
        self.check_frame(frame)?;
        let (mask, picture) = (result.mask.size(), self.size);
        if mask == picture {
            return Ok(());
        }
        Err(SessionError::ResultSize { name: name.clone(), frame, mask, picture })
    }

    pub(super) fn plan_mask(&self, id: ObjectId, frame: FrameIndex, mask: Rle) -> Plan {
        let prompts = FramePrompts { mask: Some(mask.clone()), ..FramePrompts::default() };
        let mut patches = self.plan_prompts(id, frame, prompts)?;
        patches.push(Patch::Result(id, frame, Some(Arc::new(by_hand(mask)))));
        Ok(patches)
    }

    pub(super) fn plan_clear(&self, id: ObjectId, gone: impl Fn(FrameIndex) -> bool) -> Plan {
        self.open_object(id)?;
        Ok(self.cleared(id, gone))
    }

    /// The patches that take away what is known of `id` on the frames that are `gone`.
    pub(super) fn cleared(&self, id: ObjectId, gone: impl Fn(FrameIndex) -> bool) -> Vec<Patch> {
        let known = self.frames_of(id);
        known
            .into_iter()
            .filter(|frame| gone(*frame))
            .flat_map(|frame| self.becomes(id, frame, Known::default()))
            .collect()
    }

    /// The frames on which something is known of `id`, ascending.
    pub(super) fn frames_of(&self, id: ObjectId) -> BTreeSet<FrameIndex> {
        let results = self.results.keys().filter(|(_, object)| *object == id).map(|(frame, _)| *frame);
        let prompts = self.prompts_of(id).map(|(frame, _)| frame);
        results.chain(prompts).chain(self.absent_frames(id)).collect()
    }

    /// What is known of `id` on `frame`.
    pub(super) fn known_on(&self, id: ObjectId, frame: FrameIndex) -> Known {
        Known {
            prompts: self.prompts.get(&(id, frame)).cloned(),
            result: self.results.get(&(frame, id)).cloned(),
            verified: self.verified(id, frame),
            absent: self.absent(id, frame),
        }
    }

    /// The patches after which `known` is what is known of `id` on `frame`: only of what differs.
    pub(super) fn becomes(&self, id: ObjectId, frame: FrameIndex, known: Known) -> Vec<Patch> {
        let now = self.known_on(id, frame);
        let mut patches = Vec::new();
        if known.prompts != now.prompts {
            patches.push(Patch::Prompts(id, frame, known.prompts));
        }
        if known.result != now.result {
            patches.push(Patch::Result(id, frame, known.result));
        }
        if known.verified != now.verified {
            patches.push(Patch::Verified(id, frame, known.verified));
        }
        if known.absent != now.absent {
            patches.push(Patch::Absent(id, frame, known.absent));
        }
        patches
    }

    pub(super) fn plan_verify(&self, id: ObjectId, range: FrameRange, verified: bool) -> Plan {
        self.known(id)?;
        self.check_frame(range.last)?;
        let with_result = self.results.range((range.first, ObjectId(0))..=(range.last, ObjectId(u32::MAX)));
        let frames = with_result.filter(|((_, object), _)| *object == id).map(|((frame, _), _)| *frame);
        let changed = frames.filter(|frame| self.verified(id, *frame) != verified);
        Ok(changed.map(|frame| Patch::Verified(id, frame, verified)).collect())
    }

    pub(super) fn plan_absent(&self, id: ObjectId, range: FrameRange, absent: bool) -> Plan {
        self.open_object(id)?;
        self.check_frame(range.last)?;
        let frames = (range.first.0..=range.last.0).map(FrameIndex);
        let changed = frames.filter(|frame| self.absent(id, *frame) != absent);
        if !absent {
            return Ok(changed
                .flat_map(|frame| [Patch::Absent(id, frame, false), Patch::Result(id, frame, None)])
                .collect());
        }
        let nothing = Arc::new(TrackResult { mask: Rle::empty(self.size), score: -CERTAIN });
        Ok(changed
            .flat_map(|frame| {
                [
                    Patch::Prompts(id, frame, None),
                    Patch::Verified(id, frame, false),
                    Patch::Absent(id, frame, true),
                    Patch::Result(id, frame, Some(nothing.clone())),
                ]
            })
            .collect())
    }

    pub(super) fn plan_range(&self, range: Option<FrameRange>) -> Plan {
        if let Some(range) = range {
            self.check_frame(range.last)?;
        }
        Ok(vec![Patch::Range(range)])
    }
}

/// A result that a person made.
pub(super) fn by_hand(mask: Rle) -> TrackResult {
    let score = if mask.area() > 0 { CERTAIN } else { -CERTAIN };
    TrackResult { mask, score }
}
