//! Results kept between passes, small: run lengths as text, about a third of their size as numbers.

use std::collections::BTreeMap;

use super::hop::ObjectMask;
use crate::base::{FrameIndex, ObjectId, Rle, Size};

struct Kept {
    object: ObjectId,
    size: Size,
    text: Box<str>,
    score: f32,
    iou: f32,
}

/// Results by frame.
#[derive(Default)]
pub(super) struct Store {
    frames: BTreeMap<FrameIndex, Vec<Kept>>,
}

impl Store {
    /// Keeps `objects` of `frame`.
    pub fn keep(&mut self, frame: FrameIndex, objects: &[ObjectMask]) {
        if objects.is_empty() {
            return;
        }
        self.frames.entry(frame).or_default().extend(objects.iter().map(|o| Kept {
            object: o.object,
            size: o.mask.size(),
            text: o.mask.to_coco_text().into(),
            score: o.score,
            iou: o.iou,
        }));
    }

    /// Whether something of `frame` is kept.
    pub fn has(&self, frame: FrameIndex) -> bool {
        self.frames.contains_key(&frame)
    }

    /// Takes the results of `frame` out.
    pub fn take(&mut self, frame: FrameIndex) -> Vec<ObjectMask> {
        let kept = self.frames.remove(&frame).unwrap_or_default();
        kept.into_iter()
            .filter_map(|k| {
                let mask = Rle::from_coco_text(k.size, &k.text).ok()?;
                Some(ObjectMask { object: k.object, mask, score: k.score, iou: k.iou })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Mask;

    #[test]
    fn there_and_back() {
        let mut mask = Mask::empty(Size::new(9, 7));
        mask.set(4, 4, true);
        let result = ObjectMask { object: ObjectId(3), mask: Rle::encode(&mask), score: 1.5, iou: 0.5 };
        let mut store = Store::default();
        store.keep(FrameIndex(2), std::slice::from_ref(&result));
        store.keep(FrameIndex(3), &[]);
        assert!(store.has(FrameIndex(2)) && !store.has(FrameIndex(3)));
        assert_eq!(store.take(FrameIndex(2)), [result]);
        assert!(!store.has(FrameIndex(2)));
    }
}
