//! Owns holding a video source against what the ffmpeg program shows of the same file.
//! May import: masklet::base, masklet::video.
//! Must not: make files.

use std::path::Path;

use masklet::base::{FrameIndex, RgbFrame};
use masklet::video::{VideoError, VideoSource, open};

use super::{NUMBERED, decoded_by_ffmpeg, read_number};

/// Opens `path`, which must work.
pub fn open_ok(path: &Path) -> Box<dyn VideoSource> {
    open(path).unwrap_or_else(|e| panic!("{e}"))
}

/// Frame `n`, which must be there.
pub fn frame(source: &mut dyn VideoSource, n: u32) -> RgbFrame {
    source.frame(FrameIndex(n)).unwrap_or_else(|e| panic!("{e}"))
}

/// What is said of `path`, which must be refused.
pub fn refusal(path: &Path) -> String {
    open(path).err().unwrap_or_else(|| panic!("{} was accepted", path.display())).to_string()
}

/// A cheap fingerprint of a picture.
fn print_of(frame: &RgbFrame) -> u64 {
    frame.data().iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// Reads every frame forward, backward and in random order: each is the same picture by every path, within 1 level of what
/// ffmpeg shows at that place, and there are as many. Gives the numbers in the pictures.
pub fn hold_against_ffmpeg(path: &Path) -> Vec<Option<u32>> {
    let name = path.display();
    let mut source = open_ok(path);
    let (count, size) = (source.info().frames, source.info().size);
    let expected = decoded_by_ffmpeg(path);
    let bytes = size.area() * 3;
    assert_eq!(count as usize, expected.len() / bytes, "{name}: number of frames");
    let mut numbers = Vec::new();
    let mut prints = Vec::new();
    for (n, theirs) in (0..count).zip(expected.chunks_exact(bytes)) {
        let ours = frame(source.as_mut(), n);
        let worst = ours.data().iter().zip(theirs).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(worst <= Some(1), "{name}: frame {n} differs by {worst:?}");
        numbers.push((size == NUMBERED).then(|| read_number(ours.data())).flatten());
        prints.push(print_of(&ours));
    }
    for n in (0..count).rev() {
        assert_eq!(print_of(&frame(source.as_mut(), n)), prints[n as usize], "{name}: backward, frame {n}");
    }
    let mut state = 7u64;
    for _ in 0..60 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let n = ((state >> 33) % u64::from(count)) as u32;
        assert_eq!(print_of(&frame(source.as_mut(), n)), prints[n as usize], "{name}: random, frame {n}");
    }
    assert!(matches!(source.frame(FrameIndex(count)), Err(VideoError::NoSuchFrame { .. })), "{name}");
    let times: Vec<_> = (0..count).map(|n| source.pts(FrameIndex(n)).expect("a time").ticks).collect();
    assert!(times.windows(2).all(|w| w[0] <= w[1]), "{name}: times {times:?}");
    numbers
}
