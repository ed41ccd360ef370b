//! From the network's low-resolution logits to a mask of the picture's size.

use super::hop::ObjectMask;
use crate::base::Size;
use crate::engine::ObjectOutput;
use crate::engine::masks::MaskResizer;

/// The picture-sized mask of `output`, as run lengths.
pub(super) fn object_mask(resizer: &mut MaskResizer, output: &ObjectOutput, size: Size) -> ObjectMask {
    let mask = resizer.rle(&output.logits, size);
    ObjectMask { object: output.object, mask, score: output.score, iou: output.iou }
}
