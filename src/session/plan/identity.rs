//! Edits of who is who: two objects change places, become one, one becomes two.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Plan;
use super::frames::Known;
use crate::base::{FrameIndex, ObjectId};
use crate::session::patch::Patch;
use crate::session::shape::union;
use crate::session::state::{Session, SessionError, TrackResult};

impl Session {
    pub(super) fn plan_swap(&self, a: ObjectId, b: ObjectId, from: FrameIndex) -> Plan {
        let frames = self.frames_of_two(a, b)?;
        self.check_frame(from)?;
        let exchange = |frame| {
            let mut patches = self.becomes(a, frame, self.known_on(b, frame));
            patches.extend(self.becomes(b, frame, self.known_on(a, frame)));
            patches
        };
        Ok(frames.range(from..).copied().flat_map(exchange).collect())
    }

    pub(super) fn plan_merge(&self, id: ObjectId, into: ObjectId) -> Plan {
        let frames = self.frames_of_two(id, into)?;
        let joined = |frame: &FrameIndex| {
            let (gone, stays) = (self.known_on(id, *frame), self.known_on(into, *frame));
            self.becomes(into, *frame, joined(gone, stays))
        };
        let mut patches: Vec<Patch> = frames.iter().flat_map(joined).collect();
        patches.extend(self.cleared(id, |_| true));
        patches.push(self.without(id));
        Ok(patches)
    }

    pub(super) fn plan_split(&self, id: ObjectId, from: FrameIndex, name: Option<String>) -> Plan {
        let old = self.open_object(id)?;
        self.check_frame(from)?;
        let name = match name {
            Some(name) => self.free_name(&name, None)?,
            None => self.made_up_name(),
        };
        let new = self.new_object(name, old.class.clone());
        let to = new.id;
        let mut objects = self.objects.to_vec();
        let at = objects.iter().position(|o| o.id == id).map_or(objects.len(), |at| at + 1);
        objects.insert(at, new);
        let mut patches = vec![Patch::Objects(objects.into())];
        for frame in self.frames_of(id).range(from..) {
            patches.extend(self.becomes(to, *frame, self.known_on(id, *frame)));
            patches.extend(self.becomes(id, *frame, Known::default()));
        }
        Ok(patches)
    }

    /// The frames on which something is known of either of two different objects.
    fn frames_of_two(&self, a: ObjectId, b: ObjectId) -> Result<BTreeSet<FrameIndex>, SessionError> {
        let (name, _) = (self.open_object(a)?.name.clone(), self.open_object(b)?);
        if a == b {
            return Err(SessionError::SameObject(name));
        }
        Ok(self.frames_of(a).union(&self.frames_of(b)).copied().collect())
    }
}

/// What is known of an object that takes in another.
fn joined(gone: Known, stays: Known) -> Known {
    // Where one says "not here", the other's word counts alone.
    if gone.absent || gone.result.is_none() && gone.prompts.is_none() {
        return if stays.result.is_none() && stays.prompts.is_none() && !stays.absent { gone } else { stays };
    }
    if stays.absent || stays.result.is_none() && stays.prompts.is_none() {
        return gone;
    }
    let result = match (gone.result, stays.result) {
        (Some(a), Some(b)) => {
            Some(Arc::new(TrackResult { mask: union(&a.mask, &b.mask), score: a.score.max(b.score) }))
        }
        (a, b) => a.or(b),
    };
    Known {
        prompts: stays.prompts.or(gone.prompts),
        result,
        verified: gone.verified && stays.verified,
        absent: false,
    }
}
