//! From an edit to patches: every check is here, and nothing is changed before all of them are passed.

mod classes;
mod frames;
mod identity;
mod masks;
mod objects;

use super::edit::Edit;
use super::object::Object;
use super::patch::Patch;
use super::state::{Session, SessionError};
use crate::base::{FrameIndex, ObjectId};

/// What an edit comes to.
pub(super) type Plan = Result<Vec<Patch>, SessionError>;

impl Session {
    /// The patches that make `edit`.
    pub(super) fn plan(&self, edit: Edit) -> Plan {
        match edit {
            Edit::AddObject { name, class } => self.plan_add(name, class),
            Edit::RemoveObject(object) => self.plan_remove(object),
            Edit::Rename { object, name } => self.plan_rename(object, &name),
            Edit::Recolour { object, colour } => self.plan_object(object, |o| o.colour = colour),
            Edit::SetClass { object, class } => self.plan_class(object, &class),
            Edit::Hide { object, hidden } => self.plan_object(object, |o| o.hidden = hidden),
            Edit::Lock { object, locked } => self.plan_object(object, |o| o.locked = locked),
            Edit::Reorder { object, to } => self.plan_reorder(object, to),
            Edit::SetPrompts { object, frame, prompts } => self.plan_prompts(object, frame, prompts),
            Edit::SetResult { object, frame, result } => self.plan_result(object, frame, result),
            Edit::SetMask { object, frame, mask } => self.plan_mask(object, frame, mask),
            Edit::Reshape { object, range, how } => self.plan_reshape(object, range, how),
            Edit::ClearRange { object, range } => self.plan_clear(object, |frame| range.contains(frame)),
            Edit::Trim { object, range } => self.plan_clear(object, |frame| !range.contains(frame)),
            Edit::Swap { a, b, from } => self.plan_swap(a, b, from),
            Edit::Merge { object, into } => self.plan_merge(object, into),
            Edit::Split { object, from, name } => self.plan_split(object, from, name),
            Edit::Verify { object, range, verified } => self.plan_verify(object, range, verified),
            Edit::NotHere { object, range, absent } => self.plan_absent(object, range, absent),
            Edit::SetRange(range) => self.plan_range(range),
            Edit::AddClass(class) => self.plan_add_class(class),
            Edit::RenameClass { class, name } => self.plan_rename_class(&class, &name),
            Edit::RecolourClass { class, colour } => self.plan_recolour_class(&class, colour),
            Edit::RemoveClass(class) => self.plan_remove_class(&class),
            Edit::ImportClasses(classes) => self.plan_import(classes),
        }
    }

    pub(super) fn known(&self, id: ObjectId) -> Result<&Object, SessionError> {
        self.object(id).ok_or(SessionError::NoSuchObject(id))
    }

    /// An object whose prompts and masks may be changed.
    pub(super) fn open_object(&self, id: ObjectId) -> Result<&Object, SessionError> {
        let object = self.known(id)?;
        if object.locked { Err(SessionError::Locked(object.name.clone())) } else { Ok(object) }
    }

    pub(in crate::session) fn check_frame(&self, frame: FrameIndex) -> Result<(), SessionError> {
        if frame.0 < self.frames {
            return Ok(());
        }
        Err(SessionError::NoSuchFrame { frame, last: self.frames.saturating_sub(1) })
    }
}
