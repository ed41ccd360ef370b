//! Which writer and which check belong to a format: one line each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::findings::Findings;
use super::sink::OpenSink;
use super::{
    ExportError, ExportPlan, Exporter, alpha_video, binary_png, coco, csv, cutout, cvat, exr_layers, frames,
    indexed_png, label_studio, luma_matte, matte_png, mots_png, mots_txt, overlay, yolo, youtube_vis,
};
use crate::base::Format;

/// What a writer is opened with.
pub struct Opening<'a> {
    /// The whole of the export.
    pub plan: Arc<ExportPlan>,
    /// Which format: one writer may do for several.
    pub format: Format,
    /// Its file or folder.
    pub target: PathBuf,
    /// Where videos come from.
    pub sink: &'a OpenSink,
}

type Opened = Result<Box<dyn Exporter>, ExportError>;

/// A format's writer and check.
pub struct Entry {
    open: fn(Opening<'_>) -> Opened,
    check: fn(&Path, &mut Findings),
}

impl Entry {
    /// Starts the writer.
    ///
    /// # Errors
    /// What the format cannot hold, or a place that cannot be written.
    pub fn open(&self, opening: Opening<'_>) -> Opened {
        (self.open)(opening)
    }

    /// Looks through a file or folder of the format and notes what a reader would trip over.
    pub fn check(&self, path: &Path, findings: &mut Findings) {
        (self.check)(path, findings);
    }
}

/// The entry of `format`.
pub fn entry(format: Format) -> Entry {
    let of = |open, check| Entry { open, check };
    match format {
        Format::Png => of(indexed_png::open, indexed_png::validate),
        Format::PngBinary => of(binary_png::open, binary_png::validate),
        Format::Matte => of(matte_png::open, binary_png::validate),
        Format::Cutout => of(cutout::open, cutout::validate),
        Format::Exr => of(exr_layers::open, exr_layers::validate),
        Format::Coco => of(coco::open, coco::validate),
        Format::YoutubeVis => of(youtube_vis::open, youtube_vis::validate),
        Format::YoutubeVisResults => of(youtube_vis::open, youtube_vis::validate_results),
        Format::MotsPng => of(mots_png::open, mots_png::validate),
        Format::MotsTxt => of(mots_txt::open, mots_txt::validate),
        Format::YoloSeg => of(yolo::open, yolo::validate),
        Format::Cvat => of(cvat::open, cvat::validate),
        Format::LabelStudio => of(label_studio::open, label_studio::validate),
        Format::Csv => of(csv::open, csv::validate),
        Format::Frames => of(frames::open, frames::validate),
        Format::Overlay => of(overlay::open, overlay::validate),
        Format::LumaMatte => of(luma_matte::open, overlay::validate),
        Format::Prores | Format::Vp9Alpha | Format::Ffv1 => of(alpha_video::open, alpha_video::validate),
    }
}
