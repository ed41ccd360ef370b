//! Cut-outs: one PNG a frame with straight alpha. Colours stay below transparent pixels, so that edges can be feathered.

use std::path::{Path, PathBuf};

use super::binary_png::matte;
use super::findings::Findings;
use super::folder::FrameFolder;
use super::names::folder_name;
use super::png_file::{Pixels, check, encode};
use super::png_lint::{self, Kind};
use super::registry::Opening;
use super::{ExportError, ExportFrame, ExportSummary, Exporter};
use crate::base::{Format, RgbFrame};

/// Writes `cutouts/<stem>.png`, or `cutouts/<number>_<name>/<stem>.png`.
struct Cutout {
    folder: FrameFolder,
    each: bool,
}

/// Starts the writer.
///
/// # Errors
/// A folder that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let each = opening.plan.options.get(Format::Cutout, "objects") == "each";
    let folder = FrameFolder::new(opening.plan, opening.target)?;
    if each {
        for (number, object) in (1..).zip(&folder.plan.objects) {
            folder.make(&folder_name(number, &object.name))?;
        }
    }
    Ok(Box::new(Cutout { folder, each }))
}

/// Looks through a folder of cut-outs, or of folders of them.
pub fn validate(path: &Path, findings: &mut Findings) {
    png_lint::folder(path, Kind::Cutout, findings);
}

/// `picture` with `alpha` (one value a pixel): R, G, B, A.
pub fn with_alpha(picture: &RgbFrame, alpha: &[u8]) -> Vec<u8> {
    let pixels = picture.data().chunks_exact(3).zip(alpha);
    pixels.flat_map(|(rgb, &alpha)| [rgb[0], rgb[1], rgb[2], alpha]).collect()
}

impl Cutout {
    fn put(&mut self, name: &Path, pixels: &[u8]) -> Result<(), ExportError> {
        let folder = &mut self.folder;
        let size = folder.plan.size;
        let (software, comment) = (folder.plan.stamp.software(), folder.plan.stamp.to_line());
        let texts = [("Software", software.as_str()), ("Comment", comment.as_str())];
        let bytes =
            encode(Pixels::Rgba, size, pixels, &texts).map_err(|reason| folder.invalid(name, reason))?;
        folder.put(name, &bytes, |back| check(Pixels::Rgba, size, pixels, back))
    }
}

impl Exporter for Cutout {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let format = Format::Cutout;
        let picture = frame.picture.ok_or(ExportError::NoPicture { frame: frame.index, format })?;
        let size = self.folder.plan.size;
        let file = PathBuf::from(format!("{}.png", self.folder.stems.stem(frame)));
        if !self.each {
            let alpha = matte(size, frame.masks.iter().map(|mask| mask.mask));
            self.put(&file, &with_alpha(picture, &alpha))?;
            self.folder.done(frame, 1, 0, 0);
            return Ok(());
        }
        let masks = self.folder.plan.in_list_order(frame);
        let names: Vec<_> =
            (1..).zip(&self.folder.plan.objects).map(|(number, o)| folder_name(number, &o.name)).collect();
        for (name, mask) in names.iter().zip(masks) {
            let alpha = matte(size, mask.iter().map(|mask| mask.mask));
            self.put(&Path::new(name).join(&file), &with_alpha(picture, &alpha))?;
        }
        self.folder.done(frame, names.len() as u32, 0, 0);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        self.folder.finish(Format::Cutout)
    }
}
