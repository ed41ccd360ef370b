//! Edits of the list of objects.

use super::Plan;
use crate::base::ObjectId;
use crate::session::classes::{Class, cleaned};
use crate::session::object::{DEFAULT_CLASS, Object};
use crate::session::palette::label_colour;
use crate::session::patch::Patch;
use crate::session::state::{Session, SessionError};

impl Session {
    pub(super) fn plan_add(&self, name: Option<String>, class: Option<String>) -> Plan {
        let name = match name {
            Some(name) => self.free_name(&name, None)?,
            None => self.made_up_name(),
        };
        let class = class.map(|c| c.trim().to_owned()).filter(|c| !c.is_empty());
        let object = self.new_object(name, class.unwrap_or_else(|| DEFAULT_CLASS.to_owned()));
        let mut patches = self.with_class(&object.class);
        patches.push(Patch::Objects(self.objects.iter().cloned().chain([object]).collect()));
        Ok(patches)
    }

    /// An object with the next id and that id's colour.
    pub(super) fn new_object(&self, name: String, class: String) -> Object {
        let id = self.last_id + 1;
        // Label 0 is the background's black; ids past 255 start the palette again.
        let colour = label_colour(((id - 1) % 255) as u8 + 1);
        Object { id: ObjectId(id), name, class, colour, hidden: false, locked: false }
    }

    /// "object N" with the next id, or the next free number after it.
    pub(super) fn made_up_name(&self) -> String {
        (self.last_id + 1..)
            .map(|n| format!("object {n}"))
            .find(|name| self.find(name).is_none())
            .expect("there are more numbers than objects")
    }

    pub(super) fn plan_remove(&self, id: ObjectId) -> Plan {
        self.open_object(id)?;
        let mut patches = self.cleared(id, |_| true);
        patches.push(self.without(id));
        Ok(patches)
    }

    /// The list without `id`.
    pub(super) fn without(&self, id: ObjectId) -> Patch {
        Patch::Objects(self.objects.iter().filter(|o| o.id != id).cloned().collect())
    }

    pub(super) fn plan_rename(&self, id: ObjectId, name: &str) -> Plan {
        let name = self.free_name(name, Some(id))?;
        self.plan_object(id, |o| o.name = name)
    }

    pub(super) fn plan_class(&self, id: ObjectId, class: &str) -> Plan {
        let class = cleaned(class)?;
        let mut patches = self.with_class(&class);
        patches.extend(self.plan_object(id, |o| o.class = class)?);
        Ok(patches)
    }

    /// Changes one entry of the list.
    pub(super) fn plan_object(&self, id: ObjectId, change: impl FnOnce(&mut Object)) -> Plan {
        self.known(id)?;
        let mut objects = self.objects.to_vec();
        if let Some(object) = objects.iter_mut().find(|o| o.id == id) {
            change(object);
        }
        Ok(vec![Patch::Objects(objects.into())])
    }

    pub(super) fn plan_reorder(&self, id: ObjectId, to: usize) -> Plan {
        let object = self.known(id)?.clone();
        let mut objects: Vec<_> = self.objects.iter().filter(|o| o.id != id).cloned().collect();
        objects.insert(to.min(objects.len()), object);
        Ok(vec![Patch::Objects(objects.into())])
    }

    pub(super) fn free_name(&self, name: &str, owner: Option<ObjectId>) -> Result<String, SessionError> {
        let name = cleaned(name)?;
        match self.find(&name) {
            Some(other) if Some(other.id) != owner => Err(SessionError::NameTaken(name)),
            _ => Ok(name),
        }
    }

    /// The patch that adds `class` to the schema, if it is not there.
    fn with_class(&self, class: &str) -> Vec<Patch> {
        if self.classes.iter().any(|c| c.name == class) {
            return Vec::new();
        }
        let new = Class { name: class.to_owned(), colour: self.next_class_colour() };
        vec![Patch::Classes(self.classes.iter().cloned().chain([new]).collect())]
    }
}
