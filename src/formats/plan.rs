//! What an export is told: once about the whole, then about each frame; and what it tells at the end.

use std::path::PathBuf;

use super::{ExportError, Stamp};
use crate::base::{ExportOptions, Format, FrameIndex, ObjectId, Pts, Rational, RgbFrame, Rle, Size};
use crate::session::{Object, class_list};

/// The whole of an export.
#[derive(Clone, Debug)]
pub struct ExportPlan {
    /// Folder that gets the files; made when missing.
    pub out: PathBuf,
    /// What to write.
    pub formats: Vec<Format>,
    /// What was set.
    pub options: ExportOptions,
    /// Size of the pictures and masks.
    pub size: Size,
    /// Number of frames of the whole video, exported or not.
    pub frames: u32,
    /// Average frames a second; 0/0 when unknown.
    pub frame_rate: Rational,
    /// Name of the video without its folder.
    pub video: String,
    /// The objects in list order: they are numbered 1..N, and where masks overlap the smaller number wins.
    pub objects: Vec<Object>,
    /// How the masks were made.
    pub stamp: Stamp,
}

/// One object's mask on a frame.
#[derive(Clone, Copy, Debug)]
pub struct ExportMask<'a> {
    /// Whose.
    pub object: ObjectId,
    /// The mask, of the video's size; may be empty.
    pub mask: &'a Rle,
    /// Object score logit.
    pub score: f32,
}

/// One finished frame.
#[derive(Clone, Copy, Debug)]
pub struct ExportFrame<'a> {
    /// Which frame.
    pub index: FrameIndex,
    /// File name without folder, for picture folders: outputs take its stem.
    pub file_name: Option<&'a str>,
    /// When it is shown, where known.
    pub pts: Option<Pts>,
    /// The picture; needed by formats of which [`Format::needs_picture`] says so.
    pub picture: Option<&'a RgbFrame>,
    /// The masks in any order; an object without one counts as absent.
    pub masks: &'a [ExportMask<'a>],
}

/// What one format wrote.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ExportSummary {
    /// Which format.
    pub format: Format,
    /// Its file or folder.
    pub path: PathBuf,
    /// Frames in it. 0: nothing was finished and nothing was written.
    pub frames: u32,
    /// Files written.
    pub files: u32,
    /// Masks that were written, one an object and frame where it is visible; 0 for pictures and videos.
    pub annotations: u64,
    /// Pixels, over all frames, where masks overlapped and the order of the list decided; 0 for formats that keep both.
    pub overlapping_pixels: u64,
    /// Name of the video encoder; `None` for other formats.
    pub encoder: Option<String>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

impl ExportSummary {
    /// A summary of nothing yet.
    pub(super) fn new(format: Format, path: PathBuf) -> Self {
        let (encoder, warnings) = (None, Vec::new());
        Self { format, path, frames: 0, files: 0, annotations: 0, overlapping_pixels: 0, encoder, warnings }
    }

    /// Warns of files of an earlier export that lie between the new ones.
    pub(super) fn left_files(&mut self, left: u32) {
        if left > 0 {
            let path = self.path.display();
            self.warnings
                .push(format!("{path} already held {left} files of other names: they were left there"));
        }
    }
}

impl ExportMask<'_> {
    /// The score as a probability between 0 and 1, where there is one.
    pub(super) fn probability(&self) -> Option<f32> {
        self.score.is_finite().then(|| 1.0 / (1.0 + (-self.score).exp()))
    }
}

impl ExportPlan {
    /// Number of `object` in the exports, from 1.
    pub(super) fn number(&self, object: ObjectId) -> Option<usize> {
        self.objects.iter().position(|o| o.id == object).map(|at| at + 1)
    }

    /// Category of an object, counted from 1: its class's place among the classes.
    pub(super) fn category(&self, object: &Object) -> usize {
        class_list(&self.objects).iter().position(|class| *class == object.class).map_or(0, |at| at + 1)
    }

    /// Whether the options take `frame` into formats other than videos.
    pub(super) fn picks(&self, frame: &ExportFrame<'_>) -> bool {
        let every = self.options.number(None, "every").max(1);
        frame.index.0.is_multiple_of(every)
            && (self.options.get(None, "annotated") == "no" || frame.masks.iter().any(|m| m.mask.area() > 0))
    }

    /// The masks of `frame` by object number minus 1. The frame must have passed [`ExportPlan::check`].
    pub(super) fn in_list_order<'a>(&self, frame: &ExportFrame<'a>) -> Vec<Option<ExportMask<'a>>> {
        let find = |id| frame.masks.iter().find(|mask| mask.object == id).copied();
        self.objects.iter().map(|object| find(object.id)).collect()
    }

    /// Checks what every exporter relies on: known objects, one mask each, all of the video's size.
    pub(super) fn check(&self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let at = frame.index;
        let size = |what, found| {
            let expected = self.size;
            if found == expected {
                Ok(())
            } else {
                Err(ExportError::Size { frame: at, what, found, expected })
            }
        };
        for (i, mask) in frame.masks.iter().enumerate() {
            let object = mask.object;
            if self.number(object).is_none() {
                return Err(ExportError::UnknownObject { frame: at, object });
            }
            if frame.masks[..i].iter().any(|other| other.object == object) {
                return Err(ExportError::TwoMasks { frame: at, object });
            }
            size("mask", mask.mask.size())?;
        }
        frame.picture.map_or(Ok(()), |picture| size("picture", picture.size()))
    }
}
