//! Owns how good masks are: region similarity J, contour accuracy F, their means, and where a patient user would click next.
//! May import: base.
//! Must not: do I/O, run a model, or keep masks.

mod click;
mod contour;
mod distance;
mod evaluate;
mod region;

pub use click::next_click;
pub use contour::contour_accuracy;
pub use evaluate::{Evaluation, Score, SequenceMeter, SequenceScore};
pub use region::region_similarity;

use crate::base::{Mask, Size};

/// Why masks cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetricError {
    /// Two masks of different sizes.
    #[error(
        "the mask has {predicted} pixels but the true one has {truth}: both must have the picture's size"
    )]
    Size {
        /// Size of the mask to judge.
        predicted: Size,
        /// Size of the true mask.
        truth: Size,
    },
    /// A sequence with nothing after its first frame.
    #[error("sequence \"{0}\" has no frame to judge: the first frame does not count, so give at least two")]
    NoFrames(String),
    /// No sequence at all.
    #[error("there is no sequence to judge")]
    NoSequences,
}

fn same_size(predicted: &Mask, truth: &Mask) -> Result<(), MetricError> {
    let (predicted, truth) = (predicted.size(), truth.size());
    if predicted == truth { Ok(()) } else { Err(MetricError::Size { predicted, truth }) }
}
