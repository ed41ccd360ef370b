//! The engine against the official PyTorch code, through the goldens of `tests/parity/` (see the README there). No Python needed.

use std::path::PathBuf;

use masklet::base::FrameIndex;
use masklet::demo::DemoClip;

/// Frame `i` of the parity tests is frame `STRIDE * i` of the demo clip, so that 24 frames hold motion, an occlusion and an absence.
const STRIDE: u32 = 3;

/// Writes the 24 frames as PNG into the folder named by PARITY_FRAMES, for make_goldens.py.
#[test]
#[ignore = "writes files for make_goldens.py"]
fn write_frames() {
    let folder = PathBuf::from(std::env::var_os("PARITY_FRAMES").expect("PARITY_FRAMES names the folder"));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    for i in 0..24 {
        let picture = DemoClip.frame(FrameIndex(STRIDE * i));
        let size = picture.size();
        let image = image::RgbImage::from_raw(size.width, size.height, picture.into_data()).expect("whole frame");
        image.save(folder.join(format!("{i:05}.png"))).expect("the frame can be written");
    }
}
