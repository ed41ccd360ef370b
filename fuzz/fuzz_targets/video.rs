//! Any bytes are a video or an error; what opens has the frames that it says, in the order of time.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use masklet::base::FrameIndex;
use masklet::video::{first_picture, open};

fuzz_target!(|data: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("the temporary folder can be written");
    file.write_all(data).expect("the temporary folder has room");
    let _ = first_picture(file.path());
    let Ok(mut source) = open(file.path()) else { return };
    let last = source.info().frames.checked_sub(1).expect("a video has a frame");
    for frame in [0, last, last / 2] {
        let _ = source.frame(FrameIndex(frame));
        assert!(source.pts(FrameIndex(0)) .map(|p| p.ticks) <= source.pts(FrameIndex(frame)).map(|p| p.ticks));
    }
    assert!(source.frame(FrameIndex(last + 1)).is_err());
});
