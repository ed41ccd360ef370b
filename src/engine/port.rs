//! What the pipeline asks of an engine: the seam between the model and everything that is not the model.

pub use crate::base::Direction;
use crate::base::{
    FrameIndex, FramePrompts, Logits, Mask, ObjectId, PromptError, RgbFrame, Size, Timings, Traffic,
};

/// What an engine must know of a video before its first frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoShape {
    /// Size of the upright pictures.
    pub size: Size,
    /// Number of frames.
    pub frames: u32,
}

impl VideoShape {
    /// Whether `picture` can be `frame` of this video.
    ///
    /// # Errors
    /// [`EngineError::FrameSize`].
    pub fn check(&self, frame: FrameIndex, picture: &RgbFrame) -> Result<(), EngineError> {
        let (found, expected) = (picture.size(), self.size);
        if found == expected { Ok(()) } else { Err(EngineError::FrameSize { frame, found, expected }) }
    }
}

impl VideoShape {
    /// Whether `mask` can be a mask of this video.
    ///
    /// # Errors
    /// [`EngineError::Prompt`].
    pub fn check_mask(&self, frame: FrameIndex, object: ObjectId, mask: &Mask) -> Result<(), EngineError> {
        let (found, picture) = (mask.size(), self.size);
        let source = PromptError::MaskSize { mask: found, picture };
        if found == picture { Ok(()) } else { Err(EngineError::Prompt { frame, object, source }) }
    }
}

/// The model's answer for one object on one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectOutput {
    /// Whose.
    pub object: ObjectId,
    /// Low-resolution mask logits (a quarter of the network's side); the mask is where the logits, resized to the
    /// picture, are above 0.
    pub logits: Logits,
    /// Object score logit; the object is on the frame where it is above 0.
    pub score: f32,
    /// Predicted IoU of the mask, 0 to 1.
    pub iou: f32,
    /// Which of the decoder's masks was chosen: 0 is the single mask, 1 to 3 the candidates.
    pub chosen: u8,
}

/// What computes, for the stamp of exports and the status line.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct EngineReport {
    /// Device in words, e.g. "CPU, 2 threads".
    pub device: String,
    /// Its kind: "CPU", "CUDA", "Vulkan" or "Metal".
    pub kind: String,
    /// Why a better device does not compute, a sentence each; empty when the first choice does.
    pub fallback: Vec<String>,
    /// Arithmetic, e.g. "f32".
    pub precision: String,
    /// Model name.
    pub model: String,
    /// SHA-256 of the model file, in hex.
    pub model_hash: String,
    /// Side of the square picture that the network sees, in pixels.
    pub image_size: u32,
}

/// Why an engine could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The prompts do not fit the picture.
    #[error("frame {frame}, object {object}: {source}")]
    Prompt {
        /// On which frame.
        frame: FrameIndex,
        /// For which object.
        object: ObjectId,
        /// What is wrong.
        source: PromptError,
    },
    /// `prompt` or `track` was called for another frame than the one last encoded.
    #[error("frame {wanted} was asked for but {} is encoded: encode it first", .encoded.map_or("none".into(), |f| f.to_string()))]
    NotEncoded {
        /// The frame asked for.
        wanted: FrameIndex,
        /// The frame whose features are there.
        encoded: Option<FrameIndex>,
    },
    /// A picture of another size than the video's.
    #[error("frame {frame} has {found} pixels but the video has {expected}: all frames must have one size")]
    FrameSize {
        /// Which frame.
        frame: FrameIndex,
        /// Its size.
        found: Size,
        /// The video's.
        expected: Size,
    },
    /// Tracking without any prompt.
    #[error("nothing to track: give at least one object a click, a box or a mask first")]
    NoPrompts,
    /// The network gave no numbers.
    #[error("frame {frame}: the model's output is not finite; the model file may be damaged")]
    NotFinite {
        /// Which frame.
        frame: FrameIndex,
    },
    /// The device failed (memory, driver).
    #[error("the device failed: {0}")]
    Device(String),
}

/// One video being worked on. One call at a time; nothing here blocks on anything but arithmetic.
///
/// A frame is encoded once (`encode`), then prompted and tracked as often as wanted while it is the current one.
/// Objects are independent of each other: each has its own prompts and memory.
pub trait VideoEngine: Send {
    /// What computes.
    fn report(&self) -> EngineReport;

    /// What crossed between the program and the device since the engine was built.
    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    /// Each kind of work and what computes it, for a person who wants to know; empty when there is nothing to tell.
    fn explain(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Makes `picture` the current frame: computes its features, which all objects share.
    ///
    /// # Errors
    /// A picture of the wrong size, or the device.
    fn encode(&mut self, frame: FrameIndex, picture: &RgbFrame) -> Result<(), EngineError>;

    /// Replaces the prompts of `object` on the current frame and answers them. The frame becomes a conditioning frame
    /// of the object. The previous mask there, if any, is fed back, so a second click refines the first.
    ///
    /// # Errors
    /// `frame` is not the current one, prompts that do not fit, or the device.
    fn prompt(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        prompts: &FramePrompts,
    ) -> Result<ObjectOutput, EngineError>;

    /// Follows objects onto the current frame, in the order of their ids: those that have a conditioning frame on it or
    /// behind it in the direction of travel. On a conditioning frame of an object its stored answer is returned.
    ///
    /// # Errors
    /// `frame` is not the current one, no object has prompts, or the device.
    fn track(&mut self, frame: FrameIndex, direction: Direction) -> Result<Vec<ObjectOutput>, EngineError>;

    /// Like [`track`](Self::track), for `objects` alone: the others are not touched.
    ///
    /// # Errors
    /// `frame` is not the current one, none of `objects` has prompts, or the device.
    fn track_only(
        &mut self,
        frame: FrameIndex,
        direction: Direction,
        objects: &[ObjectId],
    ) -> Result<Vec<ObjectOutput>, EngineError>;

    /// What [`prompt`](Self::prompt) would answer; nothing is remembered.
    ///
    /// # Errors
    /// As `prompt`.
    fn preview(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        prompts: &FramePrompts,
    ) -> Result<ObjectOutput, EngineError>;

    /// Whether an answer of `object` on `frame` is remembered, to prompts or from tracking.
    fn knows(&self, object: ObjectId, frame: FrameIndex) -> bool;

    /// Takes the prompts of `object` on `frame` back. What was tracked there before them is remembered again.
    fn unprompt(&mut self, object: ObjectId, frame: FrameIndex);

    /// Forgets what was tracked of `object` after `frame` in the direction of travel: a correction made it stale. Prompted
    /// frames stay.
    fn forget_after(&mut self, object: ObjectId, frame: FrameIndex, direction: Direction);

    /// Lets the current frame, on which `object` has prompts, lead: what was tracked on either side is forgotten, and so are
    /// prompted frames behind it in the direction of travel whose memory contradicts what was said here; they are returned,
    /// the nearest first.
    ///
    /// # Errors
    /// `frame` is not the current one, or the device.
    fn lead(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        direction: Direction,
    ) -> Result<Vec<FrameIndex>, EngineError>;

    /// Remembers `mask`, of the picture's size, as if `object` had been tracked onto the current frame with it. A prompted
    /// frame stays as it is.
    ///
    /// # Errors
    /// `frame` is not the current one, a mask of another size, or the device.
    fn recall(&mut self, frame: FrameIndex, object: ObjectId, mask: &Mask) -> Result<(), EngineError>;

    /// Forgets `object` with its prompts and memory. The others are not touched.
    fn remove(&mut self, object: ObjectId);

    /// Time spent per stage since the last call.
    fn take_timings(&mut self) -> Timings;
}
