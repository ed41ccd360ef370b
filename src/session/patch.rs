//! The smallest changes of the document: each puts one value in one place and gives back what was there.
//!
//! Undo, redo and the journal are made of them. They are absolute: putting a list of them twice ends as putting it once.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::classes::{Class, cleaned};
use super::object::Object;
use super::state::{HIGHEST_ID, Session, SessionError, TrackResult};
use crate::base::{FrameIndex, FramePrompts, FrameRange, ObjectId};

/// One value for one place.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Patch {
    /// All objects, in order.
    Objects(Arc<[Object]>),
    /// The whole schema.
    Classes(Arc<[Class]>),
    /// The in and out marks.
    Range(Option<FrameRange>),
    /// An object's prompts on a frame.
    Prompts(ObjectId, FrameIndex, Option<Arc<FramePrompts>>),
    /// An object's result on a frame.
    Result(ObjectId, FrameIndex, Option<Arc<TrackResult>>),
    /// Whether an object's result on a frame was looked at.
    Verified(ObjectId, FrameIndex, bool),
    /// Whether an object is said not to be on a frame.
    Absent(ObjectId, FrameIndex, bool),
}

/// A step as the journal keeps it: the values that it left.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Change(pub Vec<Patch>);

/// A place that a patch sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Objects,
    Classes,
    Range,
    Prompts(ObjectId, FrameIndex),
    Result(ObjectId, FrameIndex),
    Verified(ObjectId, FrameIndex),
    Absent(ObjectId, FrameIndex),
}

impl Patch {
    pub(super) fn place(&self) -> Place {
        match *self {
            Self::Objects(_) => Place::Objects,
            Self::Classes(_) => Place::Classes,
            Self::Range(_) => Place::Range,
            Self::Prompts(object, frame, _) => Place::Prompts(object, frame),
            Self::Result(object, frame, _) => Place::Result(object, frame),
            Self::Verified(object, frame, _) => Place::Verified(object, frame),
            Self::Absent(object, frame, _) => Place::Absent(object, frame),
        }
    }
}

/// What a change was about, so that a face can draw it anew and have stale memories forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// The object that was added.
    pub added: Option<ObjectId>,
    /// Objects whose prompts, results or marks changed, or that came or went: what an engine remembers of them may be
    /// stale.
    pub objects: BTreeSet<ObjectId>,
    /// The frames between which prompts, results or marks changed.
    pub frames: Option<FrameRange>,
}

impl Touched {
    /// Notes the objects that are in one list only.
    pub(super) fn note_objects(&mut self, old: &[Object], new: &[Object]) {
        let ids = |list: &[Object]| list.iter().map(|o| o.id).collect::<BTreeSet<_>>();
        let (old, new) = (ids(old), ids(new));
        self.added = new.difference(&old).next().copied().or(self.added);
        self.objects.extend(old.symmetric_difference(&new));
    }

    pub(super) fn note(&mut self, place: Place) {
        let (Place::Prompts(object, frame)
        | Place::Result(object, frame)
        | Place::Verified(object, frame)
        | Place::Absent(object, frame)) = place
        else {
            return;
        };
        self.objects.insert(object);
        let range = self.frames.get_or_insert(FrameRange { first: frame, last: frame });
        range.first = range.first.min(frame);
        range.last = range.last.max(frame);
    }
}

impl Session {
    /// Plays a change of the journal, which may come from a damaged or foreign file.
    ///
    /// # Errors
    /// What in it does not fit; nothing is changed then.
    pub fn replay(&mut self, change: &Change) -> Result<(), SessionError> {
        change.0.iter().try_for_each(|patch| self.check_patch(patch))?;
        for patch in &change.0 {
            self.put(patch.clone());
        }
        Ok(())
    }

    /// Whether a patch of unknown origin keeps the document's rules. Its object need not be known: within a change the
    /// list of objects may come later.
    fn check_patch(&self, patch: &Patch) -> Result<(), SessionError> {
        match patch {
            Patch::Objects(objects) => check_objects(objects),
            Patch::Classes(classes) => check_classes(classes),
            Patch::Range(None) => Ok(()),
            Patch::Range(Some(range)) if range.first > range.last => {
                Err(SessionError::EmptyRange { first: range.first, last: range.last })
            }
            Patch::Range(Some(range)) => self.check_frame(range.last),
            Patch::Prompts(object, frame, prompts) => {
                self.check_frame(*frame)?;
                let Some(prompts) = prompts else { return Ok(()) };
                let name = object.to_string();
                prompts.validate(self.size).map_err(|source| SessionError::Prompt {
                    name,
                    frame: *frame,
                    source,
                })
            }
            Patch::Result(object, frame, result) => {
                self.check_frame(*frame)?;
                match result {
                    Some(result) if !result.score.is_finite() => {
                        Err(SessionError::Score { object: *object, frame: *frame })
                    }
                    Some(result) if result.mask.size() != self.size => Err(SessionError::ResultSize {
                        name: object.to_string(),
                        frame: *frame,
                        mask: result.mask.size(),
                        picture: self.size,
                    }),
                    _ => Ok(()),
                }
            }
            Patch::Verified(_, frame, _) | Patch::Absent(_, frame, _) => self.check_frame(*frame),
        }
    }

    /// Puts `patch` in its place; the patch that is returned puts back what was there.
    pub(super) fn put(&mut self, patch: Patch) -> Patch {
        match patch {
            Patch::Objects(objects) => {
                let newest = objects.iter().map(|o| o.id.0).max().unwrap_or(0);
                self.last_id = self.last_id.max(newest);
                Patch::Objects(std::mem::replace(&mut self.objects, objects))
            }
            Patch::Classes(classes) => Patch::Classes(std::mem::replace(&mut self.classes, classes)),
            Patch::Range(range) => Patch::Range(std::mem::replace(&mut self.range, range)),
            Patch::Prompts(object, frame, prompts) => {
                let old = match prompts {
                    Some(prompts) => self.prompts.insert((object, frame), prompts),
                    None => self.prompts.remove(&(object, frame)),
                };
                Patch::Prompts(object, frame, old)
            }
            Patch::Result(object, frame, result) => {
                let old = match result {
                    Some(result) => self.results.insert((frame, object), result),
                    None => self.results.remove(&(frame, object)),
                };
                Patch::Result(object, frame, old)
            }
            Patch::Verified(object, frame, on) => {
                Patch::Verified(object, frame, mark(&mut self.verified, (object, frame), on))
            }
            Patch::Absent(object, frame, on) => {
                Patch::Absent(object, frame, mark(&mut self.absent, (object, frame), on))
            }
        }
    }
}

/// Sets a mark; says whether it was set before.
fn mark(marks: &mut BTreeSet<(ObjectId, FrameIndex)>, at: (ObjectId, FrameIndex), on: bool) -> bool {
    if on { !marks.insert(at) } else { marks.remove(&at) }
}

/// Whether a list of objects keeps the rules: ids from 1 and not twice, names neither blank nor twice.
fn check_objects(objects: &[Object]) -> Result<(), SessionError> {
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    for object in objects {
        if !(1..=HIGHEST_ID).contains(&object.id.0) || !ids.insert(object.id) {
            return Err(SessionError::IdTaken(object.id));
        }
        if cleaned(&object.name)? != object.name || cleaned(&object.class)? != object.class {
            return Err(SessionError::BlankName);
        }
        if !names.insert(object.name.as_str()) {
            return Err(SessionError::NameTaken(object.name.clone()));
        }
    }
    Ok(())
}

/// Whether a schema keeps the rules: names neither blank nor twice.
fn check_classes(classes: &[Class]) -> Result<(), SessionError> {
    let mut names = BTreeSet::new();
    for class in classes {
        if !names.insert(cleaned(&class.name)?) {
            return Err(SessionError::ClassTaken(class.name.clone()));
        }
    }
    Ok(())
}
