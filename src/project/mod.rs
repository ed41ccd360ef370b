//! Owns what is on the disk of a person's work: the project file, its versions, the journal of what was not saved yet.
//! May import: base, session.
//! Must not: read pictures, know an engine or a window, or trust a file before it is checked.

mod error;
mod file;
mod folders;
mod journal;
mod leftovers;
mod media;
mod migrate;
mod record;
mod schema;

pub use error::ProjectError;
pub use file::Project;
pub use folders::{cache_folder, journal_folder};
pub use journal::{Journal, JournalHeader, Recovered, parse_journal, read_journal};
pub use leftovers::{Leftover, leftovers};
pub use media::{Fingerprint, Media, MediaFile};
