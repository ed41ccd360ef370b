//! Masks for compositing: one folder per object, one PNG a frame, 255 where the object is and 0 elsewhere.
//!
//! Every exported frame has a file in every folder, all black where the object is absent.

use std::path::Path;

use super::findings::Findings;
use super::folder::FrameFolder;
use super::names::folder_name;
use super::png_file::{Pixels, check, encode};
use super::png_lint::{self, Kind};
use super::registry::Opening;
use super::{ExportError, ExportFrame, ExportSummary, Exporter};
use crate::base::{Format, Rle, Size};

/// Writes `objects/<number>_<name>/<stem>.png`.
struct BinaryPng(FrameFolder);

/// Starts the writer.
///
/// # Errors
/// A folder that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let folder = FrameFolder::new(opening.plan, opening.target)?;
    for (number, object) in (1..).zip(&folder.plan.objects) {
        folder.make(&folder_name(number, &object.name))?;
    }
    Ok(Box::new(BinaryPng(folder)))
}

/// Looks through a folder of mattes, or of folders of them.
pub fn validate(path: &Path, findings: &mut Findings) {
    png_lint::folder(path, Kind::Matte, findings);
}

/// 255 where one of `masks` is, 0 elsewhere; row by row.
pub fn matte<'a>(size: Size, masks: impl Iterator<Item = &'a Rle>) -> Vec<u8> {
    let mut pixels = vec![0u8; size.area()];
    for (x, rows) in masks.flat_map(Rle::column_spans) {
        rows.for_each(|y| pixels[y as usize * size.width as usize + x as usize] = 255);
    }
    pixels
}

/// Writes `pixels` as a grey PNG called `name`.
///
/// # Errors
/// A file that cannot be written or does not read back.
pub fn put_matte(folder: &mut FrameFolder, name: &Path, pixels: &[u8]) -> Result<(), ExportError> {
    let size = folder.plan.size;
    let (software, comment) = (folder.plan.stamp.software(), folder.plan.stamp.to_line());
    let texts = [("Software", software.as_str()), ("Comment", comment.as_str())];
    let bytes = encode(Pixels::Grey, size, pixels, &texts).map_err(|reason| folder.invalid(name, reason))?;
    folder.put(name, &bytes, |back| check(Pixels::Grey, size, pixels, back))
}

impl Exporter for BinaryPng {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let Self(folder) = self;
        let file = format!("{}.png", folder.stems.stem(frame));
        let masks = folder.plan.in_list_order(frame);
        let names: Vec<_> =
            (1..).zip(&folder.plan.objects).map(|(number, o)| folder_name(number, &o.name)).collect();
        for (name, mask) in names.iter().zip(masks) {
            let pixels = matte(folder.plan.size, mask.iter().map(|mask| mask.mask));
            put_matte(folder, &Path::new(name).join(&file), &pixels)?;
        }
        folder.done(frame, names.len() as u32, 0, 0);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        self.0.finish(Format::PngBinary)
    }
}
