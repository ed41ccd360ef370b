//! What a frame costs outside the network: drawing the clip, run lengths and their text, the demo's own truth.
//!
//! `cargo bench` prints the middle of many runs in microseconds. The network itself is measured by `masklet bench`.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use masklet::base::{FrameIndex, Mask, Rle, Size};
use masklet::demo::DemoClip;
use masklet::metrics::{contour_accuracy, region_similarity};

/// Runs `work` until half a second has passed and prints the middle time.
fn measure<T>(out: &mut impl Write, name: &str, mut work: impl FnMut() -> T) {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 5 || start.elapsed().as_millis() < 500 {
        let start = Instant::now();
        black_box(work());
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let middle = times[times.len() / 2];
    // Nobody listening is no reason to fail.
    let _ = writeln!(out, "{name:<32}{middle:>12.1} us  x {}", times.len());
}

/// An ellipse with a hole that covers about a third of the picture.
fn ring(size: Size) -> Mask {
    let mut mask = Mask::empty(size);
    let (cx, cy) = (size.width as f32 / 2.0, size.height as f32 / 2.0);
    for (x, y) in (0..size.height).flat_map(|y| (0..size.width).map(move |x| (x, y))) {
        let far = ((x as f32 - cx) / (cx * 0.7)).hypot((y as f32 - cy) / (cy * 0.7));
        mask.set(x, y, (0.3..1.0).contains(&far));
    }
    mask
}

fn main() {
    let mut out = std::io::stdout().lock();
    measure(&mut out, "draw demo frame", || DemoClip.frame(FrameIndex(30)));
    for size in [Size::new(640, 360), Size::new(1280, 720)] {
        let mask = ring(size);
        let rle = Rle::encode(&mask);
        measure(&mut out, &format!("encode run lengths, {size}"), || Rle::encode(&mask));
        measure(&mut out, &format!("decode run lengths, {size}"), || rle.decode());
        measure(&mut out, &format!("COCO text, {size}"), || rle.to_coco_text());
        measure(&mut out, &format!("J, {size}"), || region_similarity(&mask, &mask));
        measure(&mut out, &format!("F, {size}"), || contour_accuracy(&mask, &mask));
    }
}
