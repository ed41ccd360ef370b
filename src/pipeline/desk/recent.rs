//! The pictures that were decoded last, shared between display and engine: a click on the frame that is shown needs no
//! second decoding, and stepping back a little needs none at all.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::shared::Epoch;
use crate::base::{FrameIndex, RgbFrame};

/// Most pictures kept.
const MOST: usize = 32;
/// Most bytes of them; the newest stays, whatever its size.
const MOST_BYTES: usize = 192 << 20;

/// The newest last.
#[derive(Default)]
pub(super) struct Recent(Mutex<VecDeque<(Epoch, FrameIndex, Arc<RgbFrame>)>>);

impl Recent {
    /// The picture of `frame`, if it is kept.
    pub(super) fn get(&self, epoch: Epoch, frame: FrameIndex) -> Option<Arc<RgbFrame>> {
        let pictures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pictures
            .iter()
            .rev()
            .find(|(e, f, _)| (*e, *f) == (epoch, frame))
            .map(|(.., picture)| picture.clone())
    }

    /// Keeps a picture; those of other openings and the oldest make room.
    pub(super) fn put(&self, epoch: Epoch, frame: FrameIndex, picture: Arc<RgbFrame>) {
        let mut pictures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pictures.retain(|(e, f, _)| *e == epoch && *f != frame);
        pictures.push_back((epoch, frame, picture));
        let bytes = |pictures: &VecDeque<(_, _, Arc<RgbFrame>)>| -> usize {
            pictures.iter().map(|(.., picture)| picture.data().len()).sum()
        };
        while pictures.len() > MOST || (pictures.len() > 1 && bytes(&pictures) > MOST_BYTES) {
            pictures.pop_front();
        }
    }

    /// Lets all pictures go.
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Size;

    #[test]
    fn the_newest_pictures_of_what_is_open_are_kept() {
        let recent = Recent::default();
        let picture = |side| Arc::new(RgbFrame::filled(Size::new(side, side), [1, 2, 3]));
        (0..40).for_each(|f| recent.put(Epoch(1), FrameIndex(f), picture(2)));
        let kept = |e, f| recent.get(Epoch(e), FrameIndex(f)).is_some();
        assert!(!kept(1, 7) && kept(1, 8) && kept(1, 39));
        recent.put(Epoch(2), FrameIndex(0), picture(6_000));
        assert!(!kept(1, 39) && kept(2, 0));
        recent.put(Epoch(2), FrameIndex(1), picture(6_000));
        assert!(!kept(2, 0) && kept(2, 1), "two are too many bytes");
    }
}
