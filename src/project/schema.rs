//! The project file, format 1, as it stands in JSON, and the way between it and the document.

use std::sync::Arc;

use super::media::Media;
use crate::base::{BoxXyxy, Click, FrameIndex, FramePrompts, FrameRange, ObjectId, Rle, RleError, Size};
use crate::session::{Change, Class, Object, Patch, Session, SessionError, TrackResult};

/// Longest side of pictures, in pixels: their number of pixels fits 32 bits.
const LONGEST: u32 = u16::MAX as u32;

/// The whole file.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    masklet: u64,
    /// Which masklet wrote it.
    app: String,
    pub(super) video: StoredVideo,
    last_id: u32,
    #[serde(default)]
    classes: Vec<Class>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<FrameRange>,
    objects: Vec<StoredObject>,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredVideo {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) frames: u32,
    pub(super) media: Media,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredObject {
    id: ObjectId,
    name: String,
    class: String,
    colour: [u8; 3],
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    locked: bool,
    #[serde(default)]
    prompts: Vec<StoredPrompts>,
    #[serde(default)]
    results: Vec<StoredResult>,
    #[serde(default)]
    verified: Vec<FrameIndex>,
    #[serde(default)]
    not_here: Vec<FrameIndex>,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredPrompts {
    frame: FrameIndex,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    clicks: Vec<Click>,
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "box")]
    bounds: Option<BoxXyxy>,
    /// Run lengths as COCO compresses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mask: Option<String>,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredResult {
    frame: FrameIndex,
    score: f32,
    /// Run lengths as COCO compresses them.
    mask: String,
}

/// Why a file that is JSON of the right shape is no project.
#[derive(Debug, thiserror::Error)]
pub(super) enum SchemaError {
    #[error("pictures of {0} pixels")]
    Size(Size),
    #[error("object {object}, frame {frame}: {source}")]
    Mask { object: ObjectId, frame: FrameIndex, source: RleError },
    #[error("object {object}, frame {frame} is there twice")]
    Twice { object: ObjectId, frame: FrameIndex },
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl Stored {
    /// The file for `session`.
    pub(super) fn of(session: &Session, media: Media) -> Self {
        let Size { width, height } = session.size();
        Self {
            masklet: super::migrate::NEWEST,
            app: env!("CARGO_PKG_VERSION").into(),
            video: StoredVideo { width, height, frames: session.frames(), media },
            last_id: session.last_id(),
            classes: session.schema().to_vec(),
            range: session.range(),
            objects: session.objects().iter().map(|object| StoredObject::of(session, object)).collect(),
        }
    }

    /// The document in the file, checked throughout.
    pub(super) fn session(&self) -> Result<Session, SchemaError> {
        let size = Size::new(self.video.width, self.video.height);
        if size.width.max(size.height) > LONGEST || size.area() == 0 {
            return Err(SchemaError::Size(size));
        }
        let mut session = Session::new(size, self.video.frames);
        let objects = self.objects.iter().map(StoredObject::object).collect();
        let mut patches = vec![
            Patch::Objects(objects),
            Patch::Classes(self.classes.clone().into()),
            Patch::Range(self.range),
        ];
        for object in &self.objects {
            object.patches(size, &mut patches)?;
        }
        session.replay(&Change(patches))?;
        session.reserve_ids(self.last_id);
        Ok(session)
    }
}

impl StoredObject {
    fn of(session: &Session, object: &Object) -> Self {
        let Object { id, name, class, colour, hidden, locked } = object.clone();
        let prompts = session.prompts_of(id).map(|(frame, said)| StoredPrompts {
            frame,
            clicks: said.clicks.clone(),
            bounds: said.bounds,
            mask: said.mask.as_ref().map(Rle::to_coco_text),
        });
        let results = session.results_of(id).map(|(frame, result)| StoredResult {
            frame,
            score: result.score,
            mask: result.mask.to_coco_text(),
        });
        Self {
            id,
            name,
            class,
            colour,
            hidden,
            locked,
            prompts: prompts.collect(),
            results: results.collect(),
            verified: session.verified_frames(id).collect(),
            not_here: session.absent_frames(id).collect(),
        }
    }

    fn object(&self) -> Object {
        let Self { id, colour, hidden, locked, .. } = *self;
        Object { id, name: self.name.clone(), class: self.class.clone(), colour, hidden, locked }
    }

    fn patches(&self, size: Size, patches: &mut Vec<Patch>) -> Result<(), SchemaError> {
        let object = self.id;
        let mask = |frame, text: &str| {
            Rle::from_coco_text(size, text).map_err(|source| SchemaError::Mask { object, frame, source })
        };
        for frames in [
            self.prompts.iter().map(|p| p.frame).collect::<Vec<_>>(),
            self.results.iter().map(|r| r.frame).collect(),
        ] {
            let mut seen = std::collections::BTreeSet::new();
            if let Some(&frame) = frames.iter().find(|frame| !seen.insert(**frame)) {
                return Err(SchemaError::Twice { object, frame });
            }
        }
        for StoredPrompts { frame, clicks, bounds, mask: text } in &self.prompts {
            let mask = text.as_deref().map(|text| mask(*frame, text)).transpose()?;
            let said = FramePrompts { clicks: clicks.clone(), bounds: *bounds, mask };
            patches.push(Patch::Prompts(object, *frame, Some(Arc::new(said))));
        }
        for StoredResult { frame, score, mask: text } in &self.results {
            let result = TrackResult { mask: mask(*frame, text)?, score: *score };
            patches.push(Patch::Result(object, *frame, Some(Arc::new(result))));
        }
        patches.extend(self.verified.iter().map(|&frame| Patch::Verified(object, frame, true)));
        patches.extend(self.not_here.iter().map(|&frame| Patch::Absent(object, frame, true)));
        Ok(())
    }
}
