//! Masks back from files: as results of a document or as prompts in it.
//!
//! Masks are kept as run lengths, so that a long video fits. What a file does not say (names, frame numbers) is made up
//! from what it does say, and a warning tells so.

mod coco;
mod frames;
mod png;
mod video_objects;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use frames::FrameNames;

use crate::base::{Format, FrameIndex, FramePrompts, ObjectId, Rle, Size};
use crate::session::{Edit, Session, SessionError, TrackResult};

/// Score logit of a mask whose file names none: surely there.
const SURE: f32 = 10.0;

/// Masks that were read, object by object.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// Size of the pictures.
    pub size: Size,
    /// The objects in the order of the file.
    pub tracks: Vec<ImportedTrack>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// One object with its masks; none of them is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedTrack {
    /// Its name; no two are the same.
    pub name: String,
    /// Its class.
    pub class: String,
    /// Its masks by frame.
    pub masks: BTreeMap<FrameIndex, TrackResult>,
}

/// Why masks could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file that cannot be opened or read.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Not what it should be.
    #[error("{path}: {reason}", path = .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A format that is written and not read.
    #[error("{0} cannot be read back: export png, png-binary, coco or youtube-vis instead")]
    NotRead(Format),
    /// Masks that do not fit the document.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// The formats that can be read back.
pub const READ: [Format; 5] =
    [Format::Png, Format::PngBinary, Format::Coco, Format::YoutubeVis, Format::YoutubeVisResults];

/// Reads the masks in `path`; `names` tells which frame a file's name means.
///
/// # Errors
/// What cannot be read, with the place in the file.
pub fn import(path: &Path, format: Format, names: &FrameNames) -> Result<Imported, ImportError> {
    let mut imported = match format {
        Format::Png => png::indexed(path, names)?,
        Format::PngBinary => png::binary(path, names)?,
        Format::Coco => coco::read(path, names)?,
        Format::YoutubeVis => video_objects::truth(path, names)?,
        Format::YoutubeVisResults => video_objects::results(path)?,
        other => return Err(ImportError::NotRead(other)),
    };
    imported.tracks.retain(|track| !track.masks.is_empty());
    if imported.tracks.is_empty() {
        return Err(unreadable(path, "there is no mask in it"));
    }
    imported.name_apart();
    Ok(imported)
}

impl Imported {
    /// Puts the masks into `session` as results, each track as a new object; gives the objects' ids in order.
    ///
    /// # Errors
    /// A name that is taken, a frame that the video does not have, a mask of another size than its pictures. Objects added
    /// before stay.
    pub fn put_results(&self, session: &mut Session) -> Result<Vec<ObjectId>, ImportError> {
        self.put(session, |session, id, track| {
            track.masks.iter().try_for_each(|(&frame, result)| {
                session.change(Edit::SetResult { object: id, frame, result: result.clone() })
            })
        })
    }

    /// Puts the first mask of each track into `session` as a prompt of a new object; gives the objects' ids in order.
    ///
    /// # Errors
    /// As [`Imported::put_results`].
    pub fn put_prompts(&self, session: &mut Session) -> Result<Vec<ObjectId>, ImportError> {
        self.put(session, |session, id, track| {
            let Some((frame, result)) = track.masks.first_key_value() else { return Ok(()) };
            let prompts = FramePrompts { mask: Some(result.mask.clone()), ..FramePrompts::default() };
            session.set_prompts(id, *frame, prompts)
        })
    }

    fn put(
        &self,
        session: &mut Session,
        fill: impl Fn(&mut Session, ObjectId, &ImportedTrack) -> Result<(), SessionError>,
    ) -> Result<Vec<ObjectId>, ImportError> {
        let mut ids = Vec::with_capacity(self.tracks.len());
        for track in &self.tracks {
            let id = session.add_object(&track.name, Some(&track.class))?;
            fill(session, id, track)?;
            ids.push(id);
        }
        Ok(ids)
    }

    /// Gives tracks of one name names of their own.
    fn name_apart(&mut self) {
        for at in 0..self.tracks.len() {
            let (before, rest) = self.tracks.split_at_mut(at);
            let track = &mut rest[0];
            let wanted = if track.name.trim().is_empty() { "object" } else { track.name.trim() }.to_owned();
            let mut name = wanted.clone();
            for number in 2.. {
                if before.iter().all(|other| other.name != name) {
                    break;
                }
                name = format!("{wanted} {number}");
            }
            track.name = name;
        }
    }
}

fn unreadable(path: &Path, reason: impl Into<String>) -> ImportError {
    ImportError::Unreadable { path: path.into(), reason: reason.into() }
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> ImportError + '_ {
    move |source| ImportError::Io { path: path.into(), source }
}

/// A result from a mask and the probability that the file gives it.
fn result(mask: Rle, probability: Option<f64>) -> TrackResult {
    let logit = |p: f64| {
        let p = p.clamp(1e-6, 1.0 - 1e-6);
        (p / (1.0 - p)).ln() as f32
    };
    TrackResult { mask, score: probability.filter(|p| p.is_finite()).map_or(SURE, logit) }
}
