//! The export job: hands each finished frame to every format and ends with all of them whole.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use super::atomic::AtomicFile;
use super::registry::{self, Opening};
use super::sink::OpenSink;
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, ascii_json, video_sink};
use crate::base::Format;
use crate::session::class_list;

/// One format being written. Nothing lies under its final name before [`Exporter::finish`]; dropping it instead takes
/// everything back.
pub trait Exporter: Send {
    /// Adds a frame. A frame given again replaces the earlier one. Formats of which [`Format::needs_order`] says so
    /// take increasing frames only, the others any order.
    ///
    /// # Errors
    /// What cannot be written; the exporter may still be finished with the frames before.
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError>;

    /// Ends with the frames that came so far, however few: valid files under their final names. Without a frame nothing
    /// is written.
    ///
    /// # Errors
    /// What cannot be written; nothing is left of it then.
    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError>;
}

/// Which formats a frame is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// All: frames come in increasing order and only once.
    Single,
    /// Those that take any order, while tracking runs backwards or both ways.
    AnyOrder,
    /// Those that need order, in a second run over the finished frames.
    Ordered,
}

/// All formats of one export.
pub struct ExportJob {
    plan: Arc<ExportPlan>,
    exporters: Vec<(Format, Box<dyn Exporter>)>,
    made_folder: bool,
}

impl ExportJob {
    /// Makes the output folder and a temporary place in it for every format, so that a folder that cannot be written is
    /// noticed before the work.
    ///
    /// # Errors
    /// No objects, no format, too many objects for a format, a folder that cannot be written, no video encoder.
    pub fn new(plan: ExportPlan) -> Result<Self, ExportError> {
        Self::with_sink(plan, &video_sink::open)
    }

    /// As [`ExportJob::new`], with another video writer.
    ///
    /// # Errors
    /// As there.
    pub fn with_sink(plan: ExportPlan, open: &OpenSink) -> Result<Self, ExportError> {
        if plan.objects.is_empty() {
            return Err(ExportError::NoObjects);
        }
        if plan.formats.is_empty() {
            return Err(ExportError::NoFormat);
        }
        let made_folder = !plan.out.exists();
        fs::create_dir_all(&plan.out).map_err(ExportError::io(&plan.out))?;
        let plan = Arc::new(plan);
        let mut job = Self { plan: Arc::clone(&plan), exporters: Vec::new(), made_folder };
        for &format in &plan.formats {
            let target = plan.out.join(format.output());
            let opening = Opening { plan: Arc::clone(&plan), format, target, sink: open };
            job.exporters.push((format, registry::entry(format).open(opening)?));
        }
        Ok(job)
    }

    /// Whether some format must get its frames in increasing order: a run in another order then needs a second one with
    /// [`Pass::Ordered`].
    pub fn needs_order(&self) -> bool {
        self.exporters.iter().any(|(format, _)| format.needs_order())
    }

    /// Whether some format of `pass` draws on the frames' pictures.
    pub fn needs_picture(&self, pass: Pass) -> bool {
        self.exporters.iter().any(|(format, _)| pass.takes(*format) && format.needs_picture())
    }

    /// Hands a finished frame to the formats of `pass`.
    ///
    /// # Errors
    /// A frame that does not fit the plan, or what cannot be written. The job may still be finished with the frames
    /// before, or dropped, which takes everything back.
    pub fn frame(&mut self, frame: &ExportFrame<'_>, pass: Pass) -> Result<(), ExportError> {
        self.plan.check(frame)?;
        let picked = self.plan.picks(frame);
        for (format, exporter) in &mut self.exporters {
            if pass.takes(*format) && (picked || format.needs_order()) {
                exporter.frame(frame)?;
            }
        }
        Ok(())
    }

    /// Ends with the frames that came so far and writes `masklet.json`, which says how the export was made. All formats
    /// are ended even when one fails; the first error is returned then, and what is whole stays.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn finish(self) -> Result<Vec<ExportSummary>, ExportError> {
        self.finish_while(|| true)
    }

    /// As [`ExportJob::finish`], but formats whose turn comes when `wanted` says no are taken back: ending can take long
    /// (every file is flushed, a video is read back), and whoever waits may change their mind.
    ///
    /// # Errors
    /// As there.
    pub fn finish_while(mut self, wanted: impl Fn() -> bool) -> Result<Vec<ExportSummary>, ExportError> {
        let exporters = self.exporters.drain(..);
        let results: Vec<_> =
            exporters.filter_map(|(_, exporter)| wanted().then(|| exporter.finish())).collect();
        let summaries: Vec<_> = results.into_iter().collect::<Result<_, _>>()?;
        if summaries.iter().any(|summary| summary.frames > 0) {
            self.write_sidecar(&summaries)?;
        }
        Ok(summaries)
    }

    fn write_sidecar(&self, summaries: &[ExportSummary]) -> Result<(), ExportError> {
        let target = self.plan.out.join("masklet.json");
        let mut file = AtomicFile::new(target.clone())?;
        let mut text = ascii_json::to_string(&Sidecar::new(&self.plan, summaries));
        text.push('\n');
        file.file().write_all(text.as_bytes()).map_err(ExportError::io(&target))?;
        file.commit()
    }
}

impl Drop for ExportJob {
    fn drop(&mut self) {
        self.exporters.clear();
        if self.made_folder {
            // Only succeeds when nothing was written: then the folder we made goes too.
            let _ = fs::remove_dir(&self.plan.out);
        }
    }
}

impl Pass {
    fn takes(self, format: Format) -> bool {
        match self {
            Self::Single => true,
            Self::AnyOrder => !format.needs_order(),
            Self::Ordered => format.needs_order(),
        }
    }
}

/// `masklet.json`: the stamp, which number is which object, and what was written.
#[derive(serde::Serialize)]
struct Sidecar<'a> {
    stamp: &'a super::Stamp,
    options: std::collections::BTreeMap<String, &'a str>,
    video: &'a str,
    width: u32,
    height: u32,
    objects: Vec<SidecarObject<'a>>,
    exports: Vec<SidecarExport<'a>>,
}

#[derive(serde::Serialize)]
struct SidecarObject<'a> {
    number: usize,
    name: &'a str,
    class: &'a str,
    category_id: usize,
    colour: [u8; 3],
    folder: String,
}

#[derive(serde::Serialize)]
struct SidecarExport<'a> {
    format: Format,
    path: PathBuf,
    frames: u32,
    overlapping_pixels: u64,
    warnings: &'a [String],
}

impl<'a> Sidecar<'a> {
    fn new(plan: &'a ExportPlan, summaries: &'a [ExportSummary]) -> Self {
        let classes = class_list(&plan.objects);
        let objects = plan.objects.iter().enumerate().map(|(at, object)| SidecarObject {
            number: at + 1,
            name: &object.name,
            class: &object.class,
            category_id: classes.iter().position(|class| *class == object.class).map_or(0, |at| at + 1),
            colour: object.colour,
            folder: super::names::folder_name(at + 1, &object.name),
        });
        let exports = summaries.iter().map(|summary| SidecarExport {
            format: summary.format,
            path: summary.format.output().into(),
            frames: summary.frames,
            overlapping_pixels: summary.overlapping_pixels,
            warnings: &summary.warnings,
        });
        Self {
            stamp: &plan.stamp,
            options: plan.options.given().collect(),
            video: &plan.video,
            width: plan.size.width,
            height: plan.size.height,
            objects: objects.collect(),
            exports: exports.collect(),
        }
    }
}
