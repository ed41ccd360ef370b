//! Corrections that stick: an answer that obeys its clicks, and a corrected frame that leads what is tracked after it.
//!
//! Two things make a model hold on to an error: the memories around a correction still show it, and an answer that is
//! conditioned on them keeps to the wrong object, whatever is clicked. So an answer that leaves clicks unobeyed is given
//! up for one without memory, and where a corrected frame leads, everything that contradicts it is forgotten.

use super::{Image, Tracker};
use crate::base::{Direction, FrameIndex, FramePrompts, Label, ObjectId, Size};
use crate::engine::bank::{Attended, SpatialEntry};
use crate::engine::policy::Corrections;
use crate::engine::port::EngineError;
use crate::engine::spill::Record;
use crate::engine::stages::Dense;

/// IoU below which what a memory predicts for a corrected frame contradicts the correction.
const CONTRADICTION: f64 = 0.3;

impl Tracker {
    /// See [`VideoEngine::lead`](crate::engine::VideoEngine::lead).
    pub(super) fn lead_from(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        direction: Direction,
    ) -> Result<Vec<FrameIndex>, EngineError> {
        self.require(frame)?;
        self.commit()?;
        if self.policy.corrections == Corrections::Official {
            return Ok(Vec::new());
        }
        let Some(memory) = self.objects.get_mut(&object) else { return Ok(Vec::new()) };
        let Some(corrected) = memory.conditioned(frame).map(|(_, record)| record.clone()) else {
            return Ok(Vec::new());
        };
        for side in [Direction::Forward, Direction::Backward] {
            memory.forget_after(frame, side);
        }
        // What was said of frames that are still to come is not to be forgotten before they are reached.
        let behind = |f: &FrameIndex| match direction {
            Direction::Forward => *f < frame,
            Direction::Backward => *f > frame,
        };
        let mut others: Vec<FrameIndex> =
            memory.conditioning.iter().map(|(f, ..)| *f).filter(behind).collect();
        // Farther ones are not attended to.
        others.sort_by_key(|f| f.0.abs_diff(frame.0));
        others.truncate(self.policy.bank.conditioning.map_or(usize::MAX, |most| most as usize));
        let mut dropped = Vec::new();
        for other in others {
            let predicted = self.predict(object, other)?;
            if overlap(&predicted.logits, &corrected.logits) < CONTRADICTION {
                self.memory(object).uncover(other);
                self.memory(object).tracked.remove(other);
                dropped.push(other);
            }
        }
        Ok(dropped)
    }

    /// What the memory of one conditioning frame alone makes of the current frame.
    fn predict(&mut self, object: ObjectId, from: FrameIndex) -> Result<Record, EngineError> {
        let slot = self.policy.bank.slots.saturating_sub(1);
        let alone = Attended { spatial: vec![SpatialEntry { frame: from, slot }], pointers: vec![from] };
        let looked = self.look_at(object, &alone);
        self.attend(&looked)?;
        let sparse = self.no_prompt(true);
        let answer = self.decode(Image::Conditioned, &sparse.tokens, Dense::NoMask)?;
        Ok(self.decide(&answer, sparse.multi))
    }

    /// An answer without memory in place of one that leaves clicks unobeyed, if it obeys more of them.
    pub(super) fn without_memory(
        &mut self,
        given: &FramePrompts,
        answer: &Record,
    ) -> Result<Option<Record>, EngineError> {
        let obeyed = self.obeyed(given, answer);
        if self.policy.corrections == Corrections::Official || obeyed == given.clicks.len() {
            return Ok(None);
        }
        let sparse = self.prompts.sparse(given, self.video.size, self.stages.size());
        let fresh = self.decode(Image::Initial, &sparse.tokens, Dense::NoMask)?;
        let fresh = self.decide(&fresh, sparse.multi);
        Ok((self.obeyed(given, &fresh) > obeyed).then_some(fresh))
    }

    /// How many clicks lie where `answer` says they should: the positive ones in its mask, the negative ones outside.
    fn obeyed(&self, given: &FramePrompts, answer: &Record) -> usize {
        let (side, size) = (self.stages.size() / 4, self.video.size);
        let logit = |x: f32, y: f32| {
            let place = |at: f32, length: u32| {
                let place = (at + 0.5) / length as f32 * side as f32;
                (place.max(0.0) as usize).min(side as usize - 1)
            };
            let Size { width, height } = size;
            answer.logits.get(place(y, height) * side as usize + place(x, width)).copied().unwrap_or(-1.0)
        };
        let obeys = |(at, label): (crate::base::Point, Label)| {
            (logit(at.x, at.y) > 0.0) == (label == Label::Positive)
        };
        given.clicks.iter().filter(|click| obeys((click.at, click.label))).count()
    }
}

/// IoU of the masks of two lots of logits; 1 when both are empty.
fn overlap(a: &[f32], b: &[f32]) -> f64 {
    let (mut both, mut either) = (0u32, 0u32);
    for (a, b) in a.iter().zip(b) {
        both += u32::from(*a > 0.0 && *b > 0.0);
        either += u32::from(*a > 0.0 || *b > 0.0);
    }
    if either == 0 { 1.0 } else { f64::from(both) / f64::from(either) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_that_of_the_masks() {
        assert_eq!(overlap(&[1.0, 1.0, -1.0, -1.0], &[2.0, -1.0, 3.0, -5.0]), 1.0 / 3.0);
        assert_eq!(overlap(&[-1.0], &[-2.0]), 1.0);
        assert_eq!(overlap(&[1.0], &[-2.0]), 0.0);
    }
}
