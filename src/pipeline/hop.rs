//! What travels between the stages: one struct per hop.

use std::sync::Arc;

use crate::base::{FrameIndex, Generation, ObjectId, Pts, RgbFrame, Rle};

/// What the track stage does with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Encode it and follow the objects onto it.
    Track,
    /// Hand on the results kept from an earlier pass.
    Replay,
}

/// decode -> track: one picture, or only its place where no one needs the picture.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// Of which generation.
    pub generation: Generation,
    /// Which frame.
    pub frame: FrameIndex,
    /// When it is shown.
    pub pts: Option<Pts>,
    /// Its file name without folder, for picture folders.
    pub file_name: Option<String>,
    /// The picture; always there for [`Work::Track`].
    pub picture: Option<Arc<RgbFrame>>,
    /// What to do with it.
    pub work: Work,
}

/// One object on one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectMask {
    /// Whose.
    pub object: ObjectId,
    /// The mask, of the picture's size.
    pub mask: Rle,
    /// Object score logit; above 0 the object is on the frame.
    pub score: f32,
    /// Predicted IoU of the mask, 0 to 1.
    pub iou: f32,
}

/// track -> export: all objects of one frame, in the order of their ids.
#[derive(Clone, Debug)]
pub struct Tracked {
    /// Of which generation.
    pub generation: Generation,
    /// Which frame.
    pub frame: FrameIndex,
    /// When it is shown.
    pub pts: Option<Pts>,
    /// Its file name without folder, for picture folders.
    pub file_name: Option<String>,
    /// The picture, where an export draws on it.
    pub picture: Option<Arc<RgbFrame>>,
    /// The masks.
    pub objects: Arc<[ObjectMask]>,
}
