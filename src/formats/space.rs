//! How much room an export will need, roughly, and whether the disk has it.

use std::path::Path;

use super::ExportError;
use crate::base::{ExportOptions, Format, Size};

/// Part of a frame that masks usually fill, and so on: figures that lie on the safe side for footage from cameras.
fn bytes_a_frame(format: Format, size: Size, objects: u64, options: &ExportOptions) -> u64 {
    let pixels = size.area() as u64;
    // Run lengths and outlines grow with the edge of a mask, which grows with the side of the picture.
    let edge = 4 * (u64::from(size.width) + u64::from(size.height));
    match format {
        Format::Png | Format::Matte | Format::MotsPng => 1_000 + edge,
        Format::PngBinary => objects * (1_000 + edge),
        Format::Cutout if options.get(Format::Cutout, "objects") == "each" => objects * pixels * 2,
        Format::Cutout => pixels * 2,
        Format::Exr => (objects + 1) * (1_000 + 2 * edge),
        Format::Coco | Format::YoutubeVis | Format::YoutubeVisResults => 200 + objects * (300 + 2 * edge),
        Format::MotsTxt | Format::Csv => objects * (200 + edge),
        Format::YoloSeg => 500 + objects * 6 * edge,
        Format::Cvat => objects * (200 + 3 * edge),
        Format::LabelStudio => 300 + objects * 12 * edge,
        Format::Frames if options.get(None, "picture") == "jpg" => pixels / 2,
        Format::Frames => pixels * 2,
        Format::Overlay | Format::LumaMatte => pixels / 8,
        Format::Prores => pixels,
        Format::Vp9Alpha => pixels / 8,
        Format::Ffv1 => pixels * 2,
    }
}

/// Bytes that `frames` frames of `size` with `objects` objects will need in `formats`: a rough figure.
pub fn estimate(formats: &[Format], size: Size, frames: u32, objects: usize, options: &ExportOptions) -> u64 {
    let taken = u64::from(frames).div_ceil(u64::from(options.number(None, "every").max(1)));
    formats
        .iter()
        .map(|&format| {
            let frames = if format.needs_order() { u64::from(frames) } else { taken };
            frames.saturating_mul(bytes_a_frame(format, size, objects as u64, options))
        })
        .fold(0, u64::saturating_add)
}

/// Whether the disk of `folder` (or of what is there of its path) has `needed` bytes left. A system that does not say
/// counts as one that has.
///
/// # Errors
/// [`ExportError::NoSpace`].
pub fn check_space(folder: &Path, needed: u64) -> Result<(), ExportError> {
    let there = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    match fs4::available_space(there) {
        Ok(free) if free < needed => Err(ExportError::NoSpace {
            path: folder.into(),
            needed: bytes_in_words(needed),
            free: bytes_in_words(free),
        }),
        _ => Ok(()),
    }
}

/// "12.3 MB".
pub fn bytes_in_words(bytes: u64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 999.95 && unit + 1 < units.len() {
        value /= 1_000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_grow_and_too_much_is_refused() {
        let options = ExportOptions::default();
        let of = |formats: &[Format], frames| estimate(formats, Size::new(1920, 1080), frames, 3, &options);
        assert!(Format::ALL.iter().all(|&format| of(&[format], 10) > 0));
        assert_eq!(of(&Format::ALL, 20), 2 * of(&Format::ALL, 10));
        let folder = tempfile::tempdir().unwrap();
        check_space(&folder.path().join("not yet/there"), 1).unwrap();
        let error = check_space(folder.path(), u64::MAX).unwrap_err().to_string();
        assert!(error.contains("EB") && error.contains("free some space"), "{error}");
        assert_eq!((bytes_in_words(999), bytes_in_words(1_234_567)), ("999 bytes".into(), "1.2 MB".into()));
    }
}
