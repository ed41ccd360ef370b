//! The schema: which classes there are, in which colours.

use super::state::SessionError;

/// A kind of thing, the category of exports.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Class {
    /// Unique within a document, never blank.
    pub name: String,
    /// R, G, B.
    pub colour: [u8; 3],
}

/// `name` without white space around it.
///
/// # Errors
/// [`SessionError::BlankName`].
pub(super) fn cleaned(name: &str) -> Result<String, SessionError> {
    let name = name.trim();
    if name.is_empty() { Err(SessionError::BlankName) } else { Ok(name.to_owned()) }
}
