//! What the lanes of the timeline show, one column of the screen at a time.

use std::collections::BTreeMap;

use crate::base::{FrameIndex, ObjectId};
use crate::session::Session;

/// What one column says of one object.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Column {
    /// The lowest score of its frames (a logit); `None` without results.
    pub score: Option<f32>,
    /// Some frame of it has prompts.
    pub prompted: bool,
    /// Every result in it was looked at.
    pub verified: bool,
    /// The object is said not to be there.
    pub absent: bool,
    /// The mask is empty: nothing to see, tracked all the same.
    pub empty: bool,
}

/// The part of the video that the timeline shows, in frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// First frame, and a part of one.
    pub start: f64,
    /// Behind the last one.
    pub end: f64,
}

impl Window {
    /// The whole of a video.
    pub fn whole(frames: u32) -> Self {
        Self { start: 0.0, end: f64::from(frames.max(1)) }
    }

    /// Where a frame begins, from 0 at the left to 1 at the right.
    pub fn place(&self, frame: f64) -> f64 {
        (frame - self.start) / (self.end - self.start)
    }

    /// The frame at a place.
    pub fn frame(&self, place: f64) -> f64 {
        self.start + place * (self.end - self.start)
    }

    /// Makes it `factor` times as long about `place`; never longer than the video nor shorter than 8 frames.
    pub fn zoom(&mut self, place: f64, factor: f64, frames: u32) {
        let whole = f64::from(frames.max(1));
        let held = self.frame(place);
        let length = ((self.end - self.start) * factor).clamp(8f64.min(whole), whole);
        self.start = held - place * length;
        self.end = self.start + length;
        self.hold(frames);
    }

    /// Moves it by a number of frames.
    pub fn pan(&mut self, by: f64, frames: u32) {
        self.start += by;
        self.end += by;
        self.hold(frames);
    }

    /// Moves it so that `frame` is in it.
    pub fn show(&mut self, frame: u32, frames: u32) {
        let (frame, length) = (f64::from(frame), self.end - self.start);
        if frame < self.start {
            self.pan(frame - self.start - length * 0.1, frames);
        } else if frame + 1.0 > self.end {
            self.pan(frame + 1.0 - self.end + length * 0.1, frames);
        }
    }

    fn hold(&mut self, frames: u32) {
        let (whole, length) = (f64::from(frames.max(1)), self.end - self.start);
        self.start = self.start.clamp(0.0, (whole - length).max(0.0));
        self.end = self.start + length;
    }
}

/// The columns of every object over a window, made anew when something of it changed.
#[derive(Default)]
pub struct Lanes {
    key: Option<(std::path::PathBuf, u64, usize, [u64; 2])>,
    columns: BTreeMap<ObjectId, Vec<Column>>,
}

impl Lanes {
    /// The columns of `session` over `window` on `width` columns of the screen.
    pub fn of(
        &mut self,
        (path, revision): (&std::path::Path, u64),
        session: &Session,
        window: Window,
        width: usize,
    ) -> &BTreeMap<ObjectId, Vec<Column>> {
        let key = (path.to_owned(), revision, width, [window.start.to_bits(), window.end.to_bits()]);
        if self.key.as_ref() != Some(&key) {
            self.columns = columns(session, window, width);
            self.key = Some(key);
        }
        &self.columns
    }
}

fn columns(session: &Session, window: Window, width: usize) -> BTreeMap<ObjectId, Vec<Column>> {
    let mut all: BTreeMap<ObjectId, Vec<Column>> =
        session.objects().iter().map(|o| (o.id, vec![Column::default(); width])).collect();
    // A frame fills the columns from its own place to the next one's; several frames may share one.
    let span = |frame: FrameIndex| {
        let from = window.place(f64::from(frame.0)) * width as f64;
        let to = window.place(f64::from(frame.0) + 1.0) * width as f64;
        let (from, to) = (from.floor().max(0.0) as usize, (to.ceil().max(0.0) as usize).min(width));
        from.min(to)..to
    };
    for (frame, id, result) in session.all_results() {
        let Some(lane) = all.get_mut(&id) else { continue };
        let verified = session.verified(id, frame);
        let empty = result.mask.counts().len() <= 1;
        for column in &mut lane[span(frame)] {
            column.verified = verified && (column.score.is_none() || column.verified);
            column.empty = empty && (column.score.is_none() || column.empty);
            column.score = Some(column.score.map_or(result.score, |score| score.min(result.score)));
        }
    }
    for (id, frame, _) in session.all_prompts() {
        if let Some(lane) = all.get_mut(&id) {
            lane[span(frame)].iter_mut().for_each(|column| column.prompted = true);
        }
    }
    for object in session.objects() {
        if let Some(lane) = all.get_mut(&object.id) {
            for frame in session.absent_frames(object.id) {
                lane[span(frame)].iter_mut().for_each(|column| column.absent = true);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Rle, Size};
    use crate::session::{Edit, TrackResult};

    #[test]
    fn a_column_says_the_worst_of_its_frames() {
        let mut session = Session::new(Size::new(2, 2), 100);
        let id = session.add_object("a", None).unwrap();
        for frame in 0..50 {
            let score = if frame == 7 { -3.0 } else { 4.0 };
            let result = TrackResult { mask: Rle::empty(Size::new(2, 2)), score };
            session.change(Edit::SetResult { object: id, frame: FrameIndex(frame), result }).unwrap();
        }
        let lanes = columns(&session, Window::whole(100), 20);
        let lane = &lanes[&id];
        assert_eq!(
            (lane[0].score, lane[1].score, lane[9].score, lane[10].score),
            (Some(4.0), Some(-3.0), Some(4.0), None)
        );
        assert!(lane[0].empty && !lane[0].verified);
        // A window of 4 frames on 20 columns: each frame fills 5.
        let lanes = columns(&session, Window { start: 48.0, end: 52.0 }, 20);
        assert!(lanes[&id][9].score.is_some() && lanes[&id][10].score.is_none());
    }

    #[test]
    fn the_window_stays_within_the_video() {
        let mut window = Window::whole(1000);
        window.zoom(0.0, 0.01, 1000);
        assert_eq!((window.start, window.end), (0.0, 10.0));
        window.show(500, 1000);
        assert!(window.start <= 500.0 && window.end >= 501.0);
        window.pan(1e9, 1000);
        assert_eq!((window.start, window.end), (990.0, 1000.0));
        window.zoom(0.5, 1e9, 1000);
        assert_eq!((window.start, window.end), (0.0, 1000.0));
        assert_eq!(Window::whole(1), Window { start: 0.0, end: 1.0 });
    }
}
