//! The pictures that annotations name: PNG or JPEG, in the parts of a split where one is wanted.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageEncoder};

use super::findings::Findings;
use super::folder::FrameFolder;
use super::png_file::{Pixels, check, encode};
use super::registry::Opening;
use super::{ExportError, ExportFrame, ExportSummary, Exporter};
use crate::base::{Format, RgbFrame, Size};

/// Writes `frames/<name>` or `frames/<part>/<name>`.
struct Frames {
    folder: FrameFolder,
    quality: u8,
}

/// Starts the writer.
///
/// # Errors
/// A folder that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let Opening { plan, format, target, .. } = opening;
    let quality = plan.options.number(format, "quality").clamp(1, 100) as u8;
    let folder = FrameFolder::new(plan, target)?;
    for part in folder.stems.parts() {
        folder.make(part)?;
    }
    Ok(Box::new(Frames { folder, quality }))
}

impl Exporter for Frames {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let format = Format::Frames;
        let picture = frame.picture.ok_or(ExportError::NoPicture { frame: frame.index, format })?;
        let size = picture.size();
        let name = PathBuf::from(self.folder.stems.path(frame));
        if is_jpeg(&name) {
            let bytes = jpeg(picture, self.quality).map_err(|reason| self.folder.invalid(&name, reason))?;
            // JPEG changes pixels; that it can be read and has its size is what can be checked.
            self.folder.put(&name, &bytes, |back| jpeg_size(back, size))?;
        } else {
            let (software, comment) = (self.folder.plan.stamp.software(), self.folder.plan.stamp.to_line());
            let texts = [("Software", software.as_str()), ("Comment", comment.as_str())];
            let bytes = encode(Pixels::Rgb, size, picture.data(), &texts)
                .map_err(|reason| self.folder.invalid(&name, reason))?;
            self.folder.put(&name, &bytes, |back| check(Pixels::Rgb, size, picture.data(), back))?;
        }
        self.folder.done(frame, 1, 0, 0);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        self.folder.finish(Format::Frames)
    }
}

fn is_jpeg(name: &Path) -> bool {
    let extension = name.extension().and_then(|e| e.to_str()).unwrap_or_default();
    ["jpg", "jpeg", "jpe"].iter().any(|e| extension.eq_ignore_ascii_case(e))
}

fn jpeg(picture: &RgbFrame, quality: u8) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let size = picture.size();
    JpegEncoder::new_with_quality(&mut bytes, quality)
        .write_image(picture.data(), size.width, size.height, ExtendedColorType::Rgb8)
        .map_err(|e| e.to_string())?;
    Ok(bytes)
}

fn jpeg_size(bytes: &[u8], expected: Size) -> Result<(), String> {
    let picture =
        image::load_from_memory_with_format(bytes, image::ImageFormat::Jpeg).map_err(|e| e.to_string())?;
    let found = Size::new(picture.width(), picture.height());
    if found == expected { Ok(()) } else { Err(format!("it has {found} pixels instead of {expected}")) }
}

/// Looks through a folder of pictures.
pub fn validate(path: &Path, findings: &mut Findings) {
    let (mut files, mut size) = (0u64, None);
    let mut stack = vec![(path.to_owned(), 0)];
    while let Some((path, depth)) = stack.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            if depth < 4 {
                stack.extend(entries.map(|entry| (entry.path(), depth + 1)));
            }
            continue;
        }
        let read = std::fs::read(&path).map_err(|e| e.to_string()).and_then(|bytes| {
            let reader = image::ImageReader::new(Cursor::new(bytes)).with_guessed_format();
            reader.map_err(|e| e.to_string())?.into_dimensions().map_err(|e| e.to_string())
        });
        match read {
            Err(reason) => findings.error(path.display(), reason),
            Ok((width, height)) => {
                files += 1;
                let found = Size::new(width, height);
                let first = *size.get_or_insert(found);
                if found != first {
                    findings.error(path.display(), format!("it has {found} pixels but others have {first}"));
                }
            }
        }
    }
    if files == 0 {
        findings.error("", "there is no picture");
    }
    findings.count("pictures", files);
}
