//! Where a person should look: the frames on which an object's mask is doubtful.

use super::state::Session;
use crate::base::{FrameIndex, ObjectId};

impl Session {
    /// The next frame after `from` on which a visible object's result has a score below `threshold` and was neither
    /// verified nor marked as "not here", with that object; the search goes on at the first frame.
    pub fn next_doubtful(&self, from: FrameIndex, threshold: f32) -> Option<(FrameIndex, ObjectId)> {
        let doubtful = |&(frame, id): &(FrameIndex, ObjectId)| {
            let low = self.result(id, frame).is_some_and(|result| result.score < threshold);
            let visible = self.object(id).is_some_and(|object| !object.hidden);
            low && visible && !self.verified(id, frame) && !self.absent(id, frame)
        };
        let after = (from, ObjectId(u32::MAX));
        let ahead = self.results.range(after..).map(|(at, _)| at);
        let behind = self.results.range(..=after).map(|(at, _)| at);
        ahead.chain(behind).find(|at| doubtful(at)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{FrameRange, Rle, Size};
    use crate::session::{Edit, TrackResult};

    #[test]
    fn the_next_doubtful_frame_is_found_round_the_end() {
        let mut s = Session::new(Size::new(2, 2), 9);
        let a = s.add_object("a", None).unwrap();
        for (frame, score) in [(1, -1.0), (4, 3.0), (6, 0.5), (8, -4.0)] {
            let result = TrackResult { mask: Rle::empty(s.size()), score };
            s.change(Edit::SetResult { object: a, frame: FrameIndex(frame), result }).unwrap();
        }
        let next = |s: &Session, from| s.next_doubtful(FrameIndex(from), 1.0).map(|(frame, _)| frame.0);
        assert_eq!([next(&s, 0), next(&s, 1), next(&s, 6), next(&s, 8)], [1, 6, 8, 1].map(Some));
        let range = FrameRange::new(FrameIndex(5), FrameIndex(8)).unwrap();
        s.change(Edit::Verify { object: a, range, verified: true }).unwrap();
        assert_eq!(next(&s, 1), Some(1));
        s.change(Edit::Hide { object: a, hidden: true }).unwrap();
        assert_eq!(next(&s, 1), None);
    }
}
