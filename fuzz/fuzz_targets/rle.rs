//! Any text is run lengths or an error; what is accepted is written as the same mask again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use masklet::base::{Rle, Size};

fuzz_target!(|data: &[u8]| {
    let [width, height, text @ ..] = data else { return };
    let (size, text) = (Size::new((*width).into(), (*height).into()), String::from_utf8_lossy(text));
    if let Ok(rle) = Rle::from_coco_text(size, &text) {
        assert_eq!(rle.area(), rle.decode().area());
        assert_eq!(Rle::encode(&rle.decode()).decode(), rle.decode());
        assert_eq!(Rle::from_coco_text(size, &rle.to_coco_text()), Ok(rle));
    }
});
