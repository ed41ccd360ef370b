//! Edits of the schema.

use super::Plan;
use crate::session::classes::{Class, cleaned};
use crate::session::palette::label_colour;
use crate::session::patch::Patch;
use crate::session::state::{Session, SessionError};

impl Session {
    pub(super) fn plan_add_class(&self, class: Class) -> Plan {
        let name = self.free_class(&class.name)?;
        let new = Class { name, ..class };
        Ok(vec![Patch::Classes(self.classes.iter().cloned().chain([new]).collect())])
    }

    pub(super) fn plan_rename_class(&self, class: &str, name: &str) -> Plan {
        let at = self.class_at(class)?;
        if name.trim() == class {
            return Ok(Vec::new());
        }
        let name = self.free_class(name)?;
        let mut classes = self.classes.to_vec();
        let mut objects = self.objects.to_vec();
        for object in objects.iter_mut().filter(|o| o.class == class) {
            object.class.clone_from(&name);
        }
        classes[at].name = name;
        Ok(vec![Patch::Classes(classes.into()), Patch::Objects(objects.into())])
    }

    pub(super) fn plan_recolour_class(&self, class: &str, colour: [u8; 3]) -> Plan {
        let at = self.class_at(class)?;
        let mut classes = self.classes.to_vec();
        classes[at].colour = colour;
        Ok(vec![Patch::Classes(classes.into())])
    }

    pub(super) fn plan_remove_class(&self, class: &str) -> Plan {
        let at = self.class_at(class)?;
        if let Some(object) = self.objects.iter().find(|o| o.class == class) {
            let (class, object) = (class.to_owned(), object.name.clone());
            return Err(SessionError::ClassInUse { class, object });
        }
        let mut classes = self.classes.to_vec();
        classes.remove(at);
        Ok(vec![Patch::Classes(classes.into())])
    }

    pub(super) fn plan_import(&self, imported: Vec<Class>) -> Plan {
        let mut classes = self.classes.to_vec();
        for class in imported {
            let name = cleaned(&class.name)?;
            match classes.iter_mut().find(|c| c.name == name) {
                Some(known) => known.colour = class.colour,
                None => classes.push(Class { name, ..class }),
            }
        }
        Ok(vec![Patch::Classes(classes.into())])
    }

    /// The colour of the palette for one more class.
    pub(super) fn next_class_colour(&self) -> [u8; 3] {
        label_colour((self.classes.len() % 255) as u8 + 1)
    }

    fn class_at(&self, class: &str) -> Result<usize, SessionError> {
        let at = self.classes.iter().position(|c| c.name == class);
        at.ok_or_else(|| SessionError::NoSuchClass(class.to_owned()))
    }

    fn free_class(&self, name: &str) -> Result<String, SessionError> {
        let name = cleaned(name)?;
        if self.classes.iter().any(|c| c.name == name) {
            Err(SessionError::ClassTaken(name))
        } else {
            Ok(name)
        }
    }
}
