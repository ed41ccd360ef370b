//! From what a job says about its objects to a checked document: files read, names unique, prompts inside the picture.

use std::collections::BTreeMap;
use std::path::Path;

use super::PipelineError;
use super::job::{ObjectSpec, PromptSpec, TrackJob};
use super::plan::Prompted;
use crate::base::{FramePrompts, Mask, Rle, Size};
use crate::session::{Change, Object, Patch, PromptsFile, Session};
use crate::video::read_mask;

/// The document of `job` for a video of `frames` pictures of `size`.
///
/// # Errors
/// A file that cannot be read, objects without prompts or of one name, prompts that do not fit the video.
pub(super) fn document(job: &TrackJob, size: Size, frames: u32) -> Result<Session, PipelineError> {
    let mut objects = job.objects.clone();
    if let Some(path) = &job.prompts_file {
        objects.extend(from_file(path)?);
    }
    if objects.is_empty() {
        return Err(PipelineError::NothingToTrack);
    }
    let mut session = Session::new(size, frames);
    for object in objects {
        let id = session.add_object(&object.name, Some(&object.class))?;
        for (frame, spec) in object.prompts {
            let mask = spec.mask.as_deref().map(mask).transpose()?.map(|mask| Rle::encode(&mask));
            let prompts = FramePrompts { clicks: spec.clicks, bounds: spec.bounds, mask };
            session.set_prompts(id, frame, prompts)?;
        }
        if !session.all_prompts().any(|(object, ..)| object == id) {
            return Err(PipelineError::Unprompted(object.name));
        }
    }
    Ok(session)
}

/// The objects of `session` that have prompts, without their results; and the names of the others.
///
/// # Errors
/// No object has prompts.
pub(super) fn prompted_only(session: &Session) -> Result<(Session, Vec<String>), PipelineError> {
    let (kept, left): (Vec<Object>, Vec<Object>) =
        session.objects().iter().cloned().partition(|object| session.prompts_of(object.id).next().is_some());
    if kept.is_empty() {
        return Err(PipelineError::NothingToTrack);
    }
    let said = session.objects().iter().flat_map(|object| {
        session
            .prompts_of(object.id)
            .map(|(frame, said)| Patch::Prompts(object.id, frame, Some(said.clone())))
    });
    let mut only = Session::new(session.size(), session.frames());
    only.replay(&Change([Patch::Objects(kept.into())].into_iter().chain(said).collect()))?;
    Ok((only, left.into_iter().map(|object| object.name).collect()))
}

/// Between which frames each object of `session` has prompts.
pub(super) fn prompted(session: &Session) -> Vec<Prompted> {
    let mut objects: Vec<Prompted> = Vec::new();
    // All prompts come by object and then by frame.
    for (object, frame, _) in session.all_prompts() {
        match objects.last_mut().filter(|o| o.object == object) {
            Some(known) => known.last = frame,
            None => objects.push(Prompted { object, first: frame, last: frame }),
        }
    }
    objects
}

fn mask(path: &Path) -> Result<Mask, PipelineError> {
    read_mask(path).map_err(|error| PipelineError::mask_file(path, error))
}

fn from_file(path: &Path) -> Result<Vec<ObjectSpec>, PipelineError> {
    let fail = |reason: String| PipelineError::PromptsFile { path: path.into(), reason };
    let text = std::fs::read_to_string(path).map_err(|e| fail(e.to_string()))?;
    let file = PromptsFile::parse(&text).map_err(|e| fail(e.to_string()))?;
    // Masks lie beside the file.
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(file
        .objects
        .into_iter()
        .map(|object| {
            let prompts = object.prompts.iter().map(|entry| {
                let FramePrompts { clicks, bounds, .. } = entry.frame_prompts(None);
                let mask = entry.mask.as_ref().map(|mask| folder.join(mask));
                (entry.frame, PromptSpec { clicks, bounds, mask })
            });
            let prompts: BTreeMap<_, _> = prompts.collect();
            ObjectSpec { name: object.name, class: object.class.unwrap_or_default(), prompts }
        })
        .collect())
}
