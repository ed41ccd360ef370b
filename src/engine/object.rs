//! What one object remembers: its answers on prompted frames and on tracked frames.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::port::{Direction, ObjectOutput};
use super::spill::{Record, SpillStore};
use crate::base::{FrameIndex, Logits, ObjectId};

/// How a prompted frame is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Without memory: the object's first word on it.
    Initial,
    /// With the memories of the track that passed in this direction.
    Corrected(Direction),
    /// Not at all: under the official rules the object counts as absent where only others were prompted.
    Absent,
}

/// An answer to prompts whose memory is not encoded yet.
pub(super) struct Pending {
    pub(super) start: Start,
    pub(super) answer: Record,
}

/// The memory of one object.
pub(super) struct ObjectMemory {
    /// Conditioning frames in the order in which they became such.
    pub(super) conditioning: Vec<(FrameIndex, Start, Arc<Record>)>,
    /// Tracked frames.
    pub(super) tracked: SpillStore,
    /// What was tracked on frames that became conditioning ones: it is back when their prompts are taken back.
    pub(super) covered: BTreeMap<FrameIndex, Arc<Record>>,
    /// Official rules only: corrected frames that are not tracked again.
    pub(super) frozen: BTreeSet<FrameIndex>,
    /// Official rules only: the directions in which conditioning frames were passed.
    pub(super) passed: Vec<(FrameIndex, Direction)>,
    /// Direction of the last track.
    pub(super) direction: Direction,
    /// The answer on the current frame.
    pub(super) pending: Option<Pending>,
}

impl ObjectMemory {
    pub(super) fn new(tracked: SpillStore) -> Self {
        Self {
            conditioning: Vec::new(),
            tracked,
            covered: BTreeMap::new(),
            frozen: BTreeSet::new(),
            passed: Vec::new(),
            direction: Direction::Forward,
            pending: None,
        }
    }

    pub(super) fn conditioned(&self, frame: FrameIndex) -> Option<(Start, &Arc<Record>)> {
        self.conditioning.iter().find(|(f, ..)| *f == frame).map(|(_, start, record)| (*start, record))
    }

    /// Stores `record` as a conditioning frame, in its old place where there was one.
    pub(super) fn condition(&mut self, frame: FrameIndex, start: Start, record: Arc<Record>) {
        match self.conditioning.iter_mut().find(|(f, ..)| *f == frame) {
            Some(entry) => *entry = (frame, start, record),
            None => self.conditioning.push((frame, start, record)),
        }
    }

    /// Takes what was tracked on `frame` out of sight; see [`Self::uncover`].
    pub(super) fn cover(&mut self, frame: FrameIndex) {
        if let Some(record) = self.tracked.get(frame) {
            self.covered.insert(frame, record);
        }
        self.tracked.remove(frame);
    }

    /// Drops the answer to prompts on `frame`; what was tracked there before is back.
    pub(super) fn uncover(&mut self, frame: FrameIndex) {
        self.conditioning.retain(|(f, ..)| *f != frame);
        if let Some(record) = self.covered.remove(&frame) {
            self.tracked.insert(frame, Arc::unwrap_or_clone(record));
        }
    }

    /// Drops what was tracked after `frame` in the direction of travel.
    pub(super) fn forget_after(&mut self, frame: FrameIndex, direction: Direction) {
        let stale = |f: &FrameIndex| match direction {
            Direction::Forward => *f > frame,
            Direction::Backward => *f < frame,
        };
        for frame in self.tracked.frames().into_iter().filter(stale) {
            self.tracked.remove(frame);
        }
        self.covered.retain(|f, _| !stale(f));
    }

    /// Whether a conditioning frame lies on `frame` or behind it in the direction of travel.
    pub(super) fn has_begun(&self, frame: FrameIndex, direction: Direction) -> bool {
        self.conditioning.iter().any(|(f, ..)| match direction {
            Direction::Forward => *f <= frame,
            Direction::Backward => *f >= frame,
        })
    }
}

/// The answer as the caller sees it.
pub(super) fn output(object: ObjectId, record: &Record, side: u32) -> ObjectOutput {
    ObjectOutput {
        object,
        logits: Logits { width: side, height: side, data: record.logits.clone() },
        score: record.score,
        iou: record.iou,
        chosen: record.chosen,
    }
}
