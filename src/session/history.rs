//! Undo and redo: steps of patches that put back what was there.

use std::collections::{BTreeSet, VecDeque};

use super::patch::{Patch, Place};
use crate::base::{FrameIndex, ObjectId};

/// Most steps that can be undone.
const MOST_STEPS: usize = 1_000;
/// Most bytes of masks that only the history holds. The newest step stays, whatever its size.
const MOST_BYTES: usize = 256 << 20;

/// One step, as the way back or, after an undo, as the way forward.
pub(super) struct Step {
    pub(super) label: String,
    /// In the order in which they were made; the way back is from the last to the first.
    pub(super) back: Vec<Patch>,
    serial: u64,
}

/// A tracking run whose frames still arrive.
struct Run {
    label: String,
    /// Highest object id at its beginning: undoing what came later must not leave masks of nobody behind.
    last_id: u32,
    /// Its step; there is none before its first frame.
    serial: Option<u64>,
    /// Places that later steps set: there the run comes too late.
    taken: BTreeSet<Place>,
}

/// The steps that can be undone and those that can be redone.
#[derive(Default)]
pub(super) struct History {
    done: VecDeque<Step>,
    undone: Vec<Step>,
    bytes: usize,
    last_serial: u64,
    run: Option<Run>,
}

impl History {
    /// Adds a step; what was undone can no longer be redone.
    pub(super) fn push(&mut self, label: String, back: Vec<Patch>) {
        if let Some(run) = self.run.as_mut().filter(|run| run.serial.is_some()) {
            run.taken.extend(back.iter().map(Patch::place));
        }
        self.undone.clear();
        self.add(label, back);
    }

    fn add(&mut self, label: String, back: Vec<Patch>) {
        self.last_serial += 1;
        self.bytes += bytes_of(&back);
        self.done.push_back(Step { label, back, serial: self.last_serial });
        while self.done.len() > MOST_STEPS || (self.bytes > MOST_BYTES && self.done.len() > 1) {
            if let Some(gone) = self.done.pop_front() {
                self.bytes -= bytes_of(&gone.back);
            }
        }
    }

    /// The step to take back, which leaves the list.
    pub(super) fn pop(&mut self) -> Option<Step> {
        let step = self.done.pop_back()?;
        self.bytes -= bytes_of(&step.back);
        Some(step)
    }

    /// A step was taken back; `forward` makes it again.
    pub(super) fn push_undone(&mut self, label: String, forward: Vec<Patch>) {
        self.undone.push(Step { label, back: forward, serial: 0 });
    }

    pub(super) fn pop_undone(&mut self) -> Option<Step> {
        self.undone.pop()
    }

    /// A step was made again; others may still be redone.
    pub(super) fn push_redone(&mut self, label: String, back: Vec<Patch>) {
        self.add(label, back);
    }

    pub(super) fn undo_label(&self) -> Option<&str> {
        self.done.back().map(|step| step.label.as_str())
    }

    pub(super) fn redo_label(&self) -> Option<&str> {
        self.undone.last().map(|step| step.label.as_str())
    }

    pub(super) fn begin_run(&mut self, label: String, last_id: u32) {
        self.run = Some(Run { label, last_id, serial: None, taken: BTreeSet::new() });
    }

    pub(super) fn end_run(&mut self) {
        self.run = None;
    }

    pub(super) fn running(&self) -> bool {
        self.run.is_some()
    }

    /// Whether the run may still set the result of `object` on `frame`.
    pub(super) fn run_may_set(&self, object: ObjectId, frame: FrameIndex) -> bool {
        let place = Place::Result(object, frame);
        self.run.as_ref().is_some_and(|run| object.0 <= run.last_id && !run.taken.contains(&place))
    }

    /// Adds to the run's step, which is made at its first frame.
    pub(super) fn extend_run(&mut self, back: Vec<Patch>) {
        let Some(run) = &self.run else { return };
        match run.serial {
            Some(serial) => {
                self.extend(|step| step.serial == serial, back);
            }
            None => {
                let label = run.label.clone();
                self.undone.clear();
                self.add(label, back);
                let serial = self.last_serial;
                if let Some(run) = &mut self.run {
                    run.serial = Some(serial);
                }
            }
        }
    }

    /// Adds `back` to the newest step that `is_it`, as long as no later step set one of its places. Says whether it was
    /// added: if not, nothing may be changed.
    pub(super) fn extend(&mut self, is_it: impl Fn(&Step) -> bool, back: Vec<Patch>) -> bool {
        let Some(at) = self.done.iter().rposition(is_it) else { return false };
        self.bytes += bytes_of(&back);
        self.done[at].back.extend(back);
        true
    }

    /// Whether a step that `is_it` exists and no later one set one of `places`.
    pub(super) fn can_extend(&self, is_it: impl Fn(&Step) -> bool, places: &BTreeSet<Place>) -> bool {
        let Some(at) = self.done.iter().rposition(is_it) else { return false };
        let later = self.done.iter().skip(at + 1).flat_map(|step| &step.back);
        !later.map(Patch::place).any(|place| places.contains(&place))
    }

    /// Number of steps that can be undone, and bytes of masks that the history holds at most.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.done.len(), self.bytes)
    }
}

/// Bytes of the masks that patches hold.
fn bytes_of(patches: &[Patch]) -> usize {
    let of = |patch: &Patch| match patch {
        Patch::Result(_, _, Some(result)) => result.mask.counts().len() * 4,
        Patch::Prompts(_, _, Some(prompts)) => {
            prompts.mask.as_ref().map_or(0, |mask| mask.counts().len() * 4)
        }
        _ => 0,
    };
    patches.iter().map(|patch| size_of::<Patch>() + of(patch)).sum()
}
