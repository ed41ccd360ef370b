//! What is tracked: a name, a class, a colour.

use crate::base::ObjectId;

/// Class of an object that was given none.
pub const DEFAULT_CLASS: &str = "object";

/// One thing that is tracked.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Object {
    /// Its identity, never re-used within a session; counted from 1.
    pub id: ObjectId,
    /// What the user calls it; unique within a session, never blank.
    pub name: String,
    /// What kind of thing it is; exports turn classes into categories.
    pub class: String,
    /// R, G, B.
    pub colour: [u8; 3],
    /// Not drawn.
    #[serde(default)]
    pub hidden: bool,
    /// Its prompts and masks are not changed.
    #[serde(default)]
    pub locked: bool,
}

/// The classes of `objects` without repetition, in the order of their first object. A class's category id is its
/// position here plus 1.
pub fn class_list(objects: &[Object]) -> Vec<&str> {
    let mut classes: Vec<&str> = Vec::new();
    for object in objects {
        if !classes.contains(&object.class.as_str()) {
            classes.push(&object.class);
        }
    }
    classes
}
