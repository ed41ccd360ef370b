//! Edits of the masks that there are.

use std::sync::Arc;

use super::Plan;
use crate::base::{FrameRange, ObjectId};
use crate::session::patch::Patch;
use crate::session::shape::Reshape;
use crate::session::state::{Session, TrackResult};

impl Session {
    pub(super) fn plan_reshape(&self, id: ObjectId, range: FrameRange, how: Reshape) -> Plan {
        self.open_object(id)?;
        self.check_frame(range.last)?;
        let mut patches = Vec::new();
        let span = (range.first, ObjectId(0))..=(range.last, ObjectId(u32::MAX));
        for (&(frame, _), old) in self.results.range(span).filter(|((_, object), _)| *object == id) {
            let mask = how.apply(&old.mask);
            if mask == old.mask {
                continue;
            }
            patches.push(Patch::Result(id, frame, Some(Arc::new(TrackResult { mask, score: old.score }))));
            if self.verified(id, frame) {
                patches.push(Patch::Verified(id, frame, false));
            }
        }
        Ok(patches)
    }
}
