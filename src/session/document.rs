//! The document that a window edits: a session with its history.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::edit::Edit;
use super::history::{History, Step};
use super::patch::{Change, Patch, Place, Touched};
use super::state::{Session, SessionError, TrackResult};
use crate::base::{FrameIndex, FramePrompts, ObjectId, Size};

/// A session that can be edited, with undo and redo of everything, and a list of changes for the journal.
///
/// Whoever makes changes calls [`take_changes`](Self::take_changes) now and then: until then they are kept.
pub struct Document {
    session: Session,
    history: History,
    revision: u64,
    changes: Vec<Change>,
}

impl Document {
    /// An empty document about a video of `frames` pictures of `size`.
    pub fn new(size: Size, frames: u32) -> Self {
        Self::of(Session::new(size, frames))
    }

    /// A document that begins as `session`; there is nothing to undo.
    pub fn of(session: Session) -> Self {
        Self { session, history: History::default(), revision: 0, changes: Vec::new() }
    }

    /// The state.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Grows with every change, undo and redo included: what was saved at this revision is what is there.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Makes `edit`, as one step of undo. An edit that changes nothing is no step.
    ///
    /// # Errors
    /// Why the edit does not fit; nothing is changed then.
    pub fn apply(&mut self, edit: Edit) -> Result<Touched, SessionError> {
        let label = edit.label();
        let patches = self.session.plan(edit)?;
        let (back, touched) = self.put(patches);
        if !back.is_empty() {
            self.history.push(label.to_owned(), back);
        }
        Ok(touched)
    }

    /// Takes the newest step back; `None` when there is none. A run whose frames still arrive ends with it.
    pub fn undo(&mut self) -> Option<Touched> {
        self.history.end_run();
        let Step { label, back, .. } = self.history.pop()?;
        let (mut forward, touched) = self.put(back.into_iter().rev().collect());
        forward.reverse();
        self.history.push_undone(label, forward);
        Some(touched)
    }

    /// Makes the step again that was taken back last; `None` when there is none.
    pub fn redo(&mut self) -> Option<Touched> {
        self.history.end_run();
        let Step { label, back: forward, .. } = self.history.pop_undone()?;
        let (back, touched) = self.put(forward);
        self.history.push_redone(label, back);
        Some(touched)
    }

    /// What [`undo`](Self::undo) would take back, e.g. "add object".
    pub fn undo_label(&self) -> Option<&str> {
        self.history.undo_label()
    }

    /// What [`redo`](Self::redo) would make again.
    pub fn redo_label(&self) -> Option<&str> {
        self.history.redo_label()
    }

    /// The engine's answer to `prompts` of `object` on `frame`: it joins the step that set the prompts, so that one undo
    /// takes both back. An answer that comes too late (other prompts by now, the step undone, a mask set since) is
    /// dropped; says whether it was taken.
    pub fn answer(
        &mut self,
        object: ObjectId,
        frame: FrameIndex,
        prompts: &FramePrompts,
        result: TrackResult,
    ) -> bool {
        let place = Place::Prompts(object, frame);
        let is_it = |step: &Step| step.back.iter().any(|patch| patch.place() == place);
        let fits = self.session.prompts(object, frame) == Some(prompts)
            && self.session.check_result(object, frame, &result).is_ok()
            && self.history.can_extend(is_it, &BTreeSet::from([Place::Result(object, frame)]));
        if fits {
            let (back, _) = self.put(vec![Patch::Result(object, frame, Some(Arc::new(result)))]);
            self.history.extend(is_it, back);
        }
        fits
    }

    /// From now on [`add_run_results`](Self::add_run_results) makes one step, called `label`. An earlier run ends.
    pub fn begin_run(&mut self, label: &str) {
        self.history.begin_run(label.to_owned(), self.session.last_id());
    }

    /// Adds one frame of the run that began last. Objects that are gone, new or locked, verified frames and frames marked
    /// "not here" stay as they are, and so does whatever was edited since the run began. Without a run nothing happens.
    pub fn add_run_results(&mut self, frame: FrameIndex, results: Vec<(ObjectId, TrackResult)>) -> Touched {
        let wanted = results.into_iter().filter(|(object, result)| {
            let known = self.session.object(*object).is_some_and(|o| !o.locked);
            known
                && self.session.check_result(*object, frame, result).is_ok()
                && !self.session.verified(*object, frame)
                && !self.session.absent(*object, frame)
                && self.history.run_may_set(*object, frame)
        });
        let patches: Vec<_> =
            wanted.map(|(object, result)| Patch::Result(object, frame, Some(Arc::new(result)))).collect();
        let (back, touched) = self.put(patches);
        if !back.is_empty() {
            self.history.extend_run(back);
        }
        touched
    }

    /// The run's frames have all arrived.
    pub fn end_run(&mut self) {
        self.history.end_run();
    }

    /// Whether a run's frames may still arrive.
    pub fn running(&self) -> bool {
        self.history.running()
    }

    /// The changes since the last call, for the journal.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Number of steps that can be undone, and bytes that the history holds besides the state (at most: masks that both
    /// hold count).
    pub fn history_size(&self) -> (usize, usize) {
        self.history.size()
    }

    /// Puts patches in their places; returns the way back, without what was so before.
    fn put(&mut self, patches: Vec<Patch>) -> (Vec<Patch>, Touched) {
        let (mut back, mut change, mut touched) = (Vec::new(), Vec::new(), Touched::default());
        for patch in patches {
            let old = self.session.put(patch.clone());
            if old == patch {
                continue;
            }
            if let (Patch::Objects(old), Patch::Objects(new)) = (&old, &patch) {
                touched.note_objects(old, new);
            }
            touched.note(patch.place());
            back.push(old);
            change.push(patch);
        }
        if !change.is_empty() {
            self.revision += 1;
            self.changes.push(Change(change));
        }
        (back, touched)
    }
}
