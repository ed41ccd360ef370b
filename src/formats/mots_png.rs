//! MOTS as pictures: 16-bit grey, value = class x 1000 + object, names of six digits. Overlaps go to the earlier object.

use std::path::{Path, PathBuf};

use super::findings::Findings;
use super::folder::FrameFolder;
use super::indexed_png::labels;
use super::png_file::{Pixels, check, encode};
use super::png_lint::{self, Kind};
use super::registry::Opening;
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter};
use crate::base::Format;
use crate::session::Object;

/// Most objects: their numbers have three digits.
pub const MOST_OBJECTS: usize = 999;

/// Writes `mots-png/<frame>.png`.
struct MotsPng {
    folder: FrameFolder,
    /// Value of each label; 0 for the background.
    values: Vec<u16>,
}

/// Starts the writer.
///
/// # Errors
/// More than [`MOST_OBJECTS`] objects; a folder that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let Opening { plan, format, target, .. } = opening;
    let values = values(&plan, format)?;
    Ok(Box::new(MotsPng { folder: FrameFolder::new(plan, target)?, values }))
}

/// Looks through a folder of MOTS pictures.
pub fn validate(path: &Path, findings: &mut Findings) {
    png_lint::folder(path, Kind::Mots, findings);
}

/// The value of each label: class x 1000 + number; 0 for the background.
///
/// # Errors
/// More than [`MOST_OBJECTS`] objects.
pub fn values(plan: &ExportPlan, format: Format) -> Result<Vec<u16>, ExportError> {
    let objects = plan.objects.len();
    if objects > MOST_OBJECTS {
        return Err(ExportError::TooManyObjects { objects, most: MOST_OBJECTS, format });
    }
    let value = |(number, object): (u16, &Object)| class(plan, format, object) * 1_000 + number;
    Ok(std::iter::once(0).chain((1u16..).zip(&plan.objects).map(value)).collect())
}

/// MOTS knows two classes.
pub fn class(plan: &ExportPlan, format: Format, object: &Object) -> u16 {
    match plan.options.get(format, "class") {
        "car" => 1,
        "pedestrian" => 2,
        _ if object.class.eq_ignore_ascii_case("car") => 1,
        _ => 2,
    }
}

/// What a person should know of classes that MOTS does not have.
pub fn class_warning(plan: &ExportPlan, format: Format) -> Option<String> {
    let known = |class: &str| ["car", "pedestrian", "person"].iter().any(|c| class.eq_ignore_ascii_case(c));
    let strange = plan.objects.iter().find(|object| !known(&object.class))?;
    (plan.options.get(format, "class") == "name").then(|| {
        format!(
            "MOTS knows only cars and pedestrians: class \"{}\" was written as pedestrian (2)",
            strange.class
        )
    })
}

impl Exporter for MotsPng {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let Self { folder, values } = self;
        let size = folder.plan.size;
        let (labels, shared) = labels(&folder.plan, frame);
        let pixels: Vec<u8> =
            labels.iter().flat_map(|&label| values[usize::from(label)].to_be_bytes()).collect();
        let name = PathBuf::from(format!("{:06}.png", frame.index.0));
        let (software, comment) = (folder.plan.stamp.software(), folder.plan.stamp.to_line());
        let texts = [("Software", software.as_str()), ("Comment", comment.as_str())];
        let bytes =
            encode(Pixels::Grey16, size, &pixels, &texts).map_err(|reason| folder.invalid(&name, reason))?;
        folder.put(&name, &bytes, |back| check(Pixels::Grey16, size, &pixels, back))?;
        folder.done(frame, 1, 0, shared);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let warning = class_warning(&self.folder.plan, Format::MotsPng);
        let mut summary = self.folder.finish(Format::MotsPng)?;
        summary.warnings.extend(warning);
        Ok(summary)
    }
}
