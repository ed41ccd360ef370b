//! Owns the few decoded frames that are kept, bounded in number and bytes.
//! May import: nothing of this crate.
//! Must not: convert or decode.

use std::collections::VecDeque;

use ffmpeg_next::frame;

/// Frames kept while reading forward: enough to step back a little without decoding.
const FORWARD_FRAMES: usize = 3;
/// Most frames kept after a jump or a step back.
const MOST_FRAMES: usize = 250;
/// Most bytes of frames kept after a jump or a step back.
const MOST_BYTES: usize = 128 << 20;

/// The decoded frames just before the decoder's place, in display order.
#[derive(Default)]
pub(super) struct FrameCache {
    frames: VecDeque<(u32, frame::Video, usize)>,
    bytes: usize,
    wide: bool,
}

/// Bytes of the picture in `frame`.
fn bytes_of(frame: &frame::Video) -> usize {
    (0..frame.planes()).map(|p| frame.stride(p) * frame.plane_height(p) as usize).sum()
}

impl FrameCache {
    /// Forgets all frames. `wide`: keep up to [`MOST_BYTES`] from now on, because somebody goes back and forth.
    pub(super) fn restart(&mut self, wide: bool) {
        self.frames.clear();
        (self.bytes, self.wide) = (0, wide);
    }

    /// Reading goes on forward: keep little from now on.
    pub(super) fn narrow(&mut self) {
        self.wide = false;
    }

    /// Adds a frame behind the others and drops the oldest that no longer fit.
    pub(super) fn push(&mut self, number: u32, frame: frame::Video) {
        let bytes = bytes_of(&frame);
        self.bytes += bytes;
        self.frames.push_back((number, frame, bytes));
        let (most_frames, most_bytes) =
            if self.wide { (MOST_FRAMES, MOST_BYTES) } else { (FORWARD_FRAMES, usize::MAX) };
        while self.frames.len() > 1 && (self.frames.len() > most_frames || self.bytes > most_bytes) {
            if let Some((_, _, bytes)) = self.frames.pop_front() {
                self.bytes -= bytes;
            }
        }
    }

    /// Frame `number`, if it is kept.
    pub(super) fn get(&self, number: u32) -> Option<&frame::Video> {
        self.frames.iter().find(|(n, _, _)| *n == number).map(|(_, frame, _)| frame)
    }

    /// Number of the newest frame.
    pub(super) fn newest(&self) -> Option<u32> {
        self.frames.back().map(|(n, _, _)| *n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ffmpeg_next::format::Pixel;

    #[test]
    fn bounds_hold() {
        let mut cache = FrameCache::default();
        for n in 0..10 {
            cache.push(n, frame::Video::new(Pixel::YUV420P, 64, 64));
        }
        assert_eq!((cache.get(6).is_none(), cache.get(7).is_some(), cache.newest()), (true, true, Some(9)));
        cache.restart(true);
        for n in 0..300 {
            cache.push(n, frame::Video::new(Pixel::GRAY8, 1_024, 1_024));
        }
        assert!(cache.get(300 - 128).is_some() && cache.get(100).is_none());
        assert!(cache.bytes <= MOST_BYTES);
        cache.narrow();
        cache.push(300, frame::Video::new(Pixel::GRAY8, 16, 16));
        assert_eq!(cache.frames.len(), FORWARD_FRAMES);
    }
}
