//! Playback: which frame is due.

use std::time::Instant;

use super::{Opened, Work};
use crate::base::FrameIndex;

/// Playback since a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Play {
    /// Times the video's own speed; negative is backward.
    pub speed: f32,
    since: Instant,
    from: FrameIndex,
}

/// The fastest shuttle.
const FASTEST: f32 = 8.0;
/// Of picture folders.
const DEFAULT_RATE: f64 = 25.0;

impl Opened {
    /// Frames a second.
    pub fn rate(&self) -> f64 {
        let rate = self.video.frame_rate.map(|[num, den]| f64::from(num) / f64::from(den.max(1)));
        rate.filter(|rate| *rate > 0.0 && rate.is_finite()).unwrap_or(DEFAULT_RATE)
    }
}

impl Work {
    /// Plays, or stops playing.
    pub fn play_pause(&mut self) {
        if self.play.take().is_none() {
            self.play_at(1.0);
        }
    }

    /// Plays that way, twice as fast as before where it already does.
    pub fn shuttle(&mut self, way: f32) {
        let speed = self.play.map_or(0.0, |play| play.speed);
        let faster = if speed * way > 0.0 { (speed * 2.0).clamp(-FASTEST, FASTEST) } else { way };
        self.play_at(faster);
    }

    fn play_at(&mut self, speed: f32) {
        if let Some(run) = &mut self.run {
            run.follow = false;
        }
        let Some(open) = &mut self.open else { return };
        let last = FrameIndex(open.video.frames.saturating_sub(1));
        // At the end, playing starts over.
        let from = match (open.frame, speed > 0.0) {
            (frame, true) if frame >= last => FrameIndex(0),
            (FrameIndex(0), false) => last,
            (frame, _) => frame,
        };
        self.play = Some(Play { speed, since: Instant::now(), from });
        self.seek(from);
    }

    /// Shows the frame that is due; at the end playback stops. Gives the time until the next one.
    pub fn advance(&mut self, now: Instant) -> Option<std::time::Duration> {
        let (play, open) = (self.play?, self.open.as_ref()?);
        let steps =
            now.saturating_duration_since(play.since).as_secs_f64() * open.rate() * f64::from(play.speed);
        let last = open.video.frames.saturating_sub(1);
        let due = f64::from(play.from.0) + steps;
        let rate = open.rate() * f64::from(play.speed.abs());
        self.seek(FrameIndex(due.floor().clamp(0.0, f64::from(last)) as u32));
        if due >= f64::from(last) && play.speed > 0.0 || due <= 0.0 && play.speed < 0.0 {
            self.play = None;
            return None;
        }
        Some(std::time::Duration::from_secs_f64((1.0 / rate).clamp(0.004, 0.25)))
    }
}
