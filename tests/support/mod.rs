//! Owns what tests need to make their own inputs: numbered pictures and the ffmpeg program.
//! May import: masklet::base.
//! Must not: skip anything silently; a missing ffmpeg fails the test.
#![allow(dead_code)]

#[cfg(feature = "ffmpeg")]
pub mod hold;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use masklet::base::{RgbFrame, Size};

/// Pictures that carry their number in 12 black or white cells, 6 a row, so that any codec keeps it readable.
pub const NUMBERED: Size = Size::new(192, 96);

/// Ten bits of number and two to check them.
fn code(number: u32) -> u32 {
    number << 2 | (number % 3 + 1)
}

/// The picture with `number` (below 1024) in it.
pub fn numbered(number: u32) -> RgbFrame {
    let mut frame = RgbFrame::filled(NUMBERED, [0; 3]);
    let width = NUMBERED.width as usize;
    for (i, pixel) in frame.data_mut().chunks_exact_mut(3).enumerate() {
        let (x, y) = (i % width, i / width);
        let cell = y / 48 * 6 + x / 32;
        let shade = if code(number) >> cell & 1 == 1 { 225 } else { 30 };
        // A little texture, so that motion search has something to do.
        let texture = ((x * 7 + y * 13 + number as usize * 5) % 11) as u8;
        pixel.copy_from_slice(&[shade + texture, shade, shade + texture / 2]);
    }
    frame
}

/// The number in a picture of [`NUMBERED`] size (upright), or `None` when the check bits do not fit.
pub fn read_number(rgb: &[u8]) -> Option<u32> {
    let width = NUMBERED.width as usize;
    let mut code_read = 0;
    for cell in 0..12 {
        let (x0, y0) = (cell % 6 * 32 + 10, cell / 6 * 48 + 14);
        let sum: u32 = (y0..y0 + 20)
            .flat_map(|y| (x0..x0 + 12).map(move |x| u32::from(rgb[(y * width + x) * 3 + 1])))
            .sum();
        code_read |= u32::from(sum / 240 > 128) << cell;
    }
    (code(code_read >> 2) == code_read).then_some(code_read >> 2)
}

/// Runs `program`, feeding it `input`, and gives its output. Panics with its messages when it fails.
fn run(program: &str, arguments: &[&str], input: impl FnOnce(&mut dyn Write) + Send) -> Vec<u8> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{program}: {e}; these tests need it: install the package ffmpeg"));
    let mut stdin = child.stdin.take().expect("piped");
    std::thread::scope(|scope| {
        scope.spawn(move || input(&mut stdin));
        let output = child.wait_with_output().expect("it ran");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {messages}");
        output.stdout
    })
}

/// Runs ffmpeg with `arguments` split at spaces, then `output`.
pub fn ffmpeg(arguments: &str, output: &Path) {
    let mut all = vec!["-nostdin", "-v", "error", "-y"];
    all.extend(arguments.split_whitespace());
    all.push(output.to_str().expect("UTF-8"));
    run("ffmpeg", &all, |_| {});
}

/// Runs ffmpeg on `input` with `arguments` behind it, then `output`.
pub fn convert(before: &str, input: &Path, arguments: &str, output: &Path) {
    let mut all = vec!["-nostdin", "-v", "error", "-y"];
    all.extend(before.split_whitespace());
    all.extend(["-i", input.to_str().expect("UTF-8")]);
    all.extend(arguments.split_whitespace());
    all.push(output.to_str().expect("UTF-8"));
    run("ffmpeg", &all, |_| {});
}

/// Encodes `count` numbered pictures at `rate` frames a second with `arguments`.
pub fn encode_numbered(count: u32, rate: &str, arguments: &str, output: &Path) {
    let size = format!("{}x{}", NUMBERED.width, NUMBERED.height);
    let mut all =
        vec!["-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &size, "-r", rate, "-i", "-"];
    all.extend(arguments.split_whitespace());
    all.push(output.to_str().expect("UTF-8"));
    run("ffmpeg", &all, |stdin| {
        for number in 0..count {
            if stdin.write_all(numbered(number).data()).is_err() {
                // ffmpeg has enough (-frames:v) or failed, which its exit status tells.
                return;
            }
        }
    });
}

/// All pictures of `input` as ffmpeg itself shows and converts them: RGB bytes, one picture after the other.
pub fn decoded_by_ffmpeg(input: &Path) -> Vec<u8> {
    let input = input.to_str().expect("UTF-8");
    let arguments = [
        "-nostdin",
        "-v",
        "quiet",
        "-i",
        input,
        "-map",
        "0:V:0",
        "-vsync",
        "passthrough",
        "-sws_flags",
        "accurate_rnd+full_chroma_int",
        "-pix_fmt",
        "rgb24",
        "-f",
        "rawvideo",
        "-",
    ];
    run("ffmpeg", &arguments, |_| {})
}

/// Writes `matrix` (a, b, c, d of the display matrix) into the first track of an MP4.
pub fn set_matrix(file: &Path, [a, b, c, d]: [i32; 4]) {
    let mut bytes = std::fs::read(file).expect("readable");
    let at = bytes.windows(4).position(|w| w == b"tkhd").expect("an MP4 with a track") + 4;
    // Version 0: flags 4, times and ids 20, reserved 8, layer to volume 8, then the matrix a b u c d v x y w.
    let at = at + 4 + 20 + 8 + 8;
    for (slot, value) in [(0, a), (1, b), (3, c), (4, d)] {
        bytes[at + slot * 4..at + slot * 4 + 4].copy_from_slice(&(value << 16).to_be_bytes());
    }
    std::fs::write(file, bytes).expect("writable");
}
