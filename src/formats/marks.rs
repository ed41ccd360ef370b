//! One object's mask on a frame as the spools keep it.

use serde::{Deserialize, Serialize};

use super::names::Stems;
use super::{ExportFrame, ExportPlan};
use crate::base::{Rle, Size};

/// A frame as it lies in a spool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FrameMarks {
    /// Path of its picture, as annotations name it.
    pub name: String,
    /// When it is shown, in seconds.
    pub pts: Option<f64>,
    /// The masks that are not empty, by object number.
    pub marks: Vec<Mark>,
}

/// One object's mask on a frame; never empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mark {
    /// Number of the object, from 1.
    pub number: usize,
    /// COCO's compressed run lengths.
    pub counts: String,
    /// Set pixels.
    pub area: u64,
    /// Left, top, width, height.
    pub bounds: [u32; 4],
    /// Probability that the object is on the frame.
    pub score: Option<f32>,
}

impl Mark {
    /// The mask.
    ///
    /// # Errors
    /// In words, when the spool was damaged.
    pub fn rle(&self, size: Size) -> std::io::Result<Rle> {
        Rle::from_coco_text(size, &self.counts).map_err(std::io::Error::other)
    }
}

impl FrameMarks {
    /// What is kept of `frame`. An absent object has no mark: loaders trip over empty masks.
    pub fn new(plan: &ExportPlan, stems: &mut Stems, frame: &ExportFrame<'_>) -> Self {
        let marks = (1..).zip(plan.in_list_order(frame)).filter_map(|(number, mask)| {
            let mask = mask?;
            Some(Mark {
                number,
                bounds: mask.mask.bounding_box()?,
                counts: mask.mask.to_coco_text(),
                area: mask.mask.area(),
                score: mask.probability(),
            })
        });
        let pts = frame.pts.map(|pts| pts.seconds()).filter(|seconds| seconds.is_finite());
        Self { marks: marks.collect(), name: stems.path(frame), pts }
    }
}
