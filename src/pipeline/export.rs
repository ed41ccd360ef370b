//! The export stage: hands tracked frames, in ascending order, to the formats of the job.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::PipelineError;
use super::hop::Tracked;
use super::job::{ExportPlan, Input, Reach, TrackJob};
use super::plan::Plan;
use crate::engine::EngineReport;
use crate::formats::{self, ExportFrame, ExportJob, ExportMask, Pass, Stamp};
use crate::session::Session;
use crate::video::VideoInfo;

/// Writes the formats of one job; with none it only counts.
pub(super) struct ExportStage {
    job: Option<ExportJob>,
    frames: u32,
}

/// What the exports must know before the first frame.
pub(super) struct Setting<'a> {
    pub job: &'a TrackJob,
    pub info: &'a VideoInfo,
    pub report: EngineReport,
    pub session: &'a Session,
    pub plan: &'a Plan,
}

impl ExportStage {
    /// Whether results may be put where `plan` says, before any work is done.
    ///
    /// # Errors
    /// Results are there already, or the folder cannot be written.
    pub fn check(plan: &ExportPlan) -> Result<(), PipelineError> {
        if plan.formats.is_empty() {
            return Ok(());
        }
        let made = !plan.dir.exists();
        if let Some(target) = plan.existing().filter(|_| !plan.overwrite) {
            return Err(PipelineError::Exists(target));
        }
        let refuse = |error: std::io::Error| {
            let dir = plan.dir.display();
            PipelineError::Output(format!("{dir} cannot be written: {error}; choose a folder that can be"))
        };
        std::fs::create_dir_all(&plan.dir).map_err(refuse)?;
        // Permission bits do not say everything (read-only mounts, quotas): only writing does.
        let probe = tempfile::Builder::new().prefix(".masklet-").tempfile_in(&plan.dir).map_err(refuse);
        if made {
            // The folder is made again when the work starts.
            drop(probe?);
            let _ = std::fs::remove_dir(&plan.dir);
            return Ok(());
        }
        probe.map(drop)
    }

    /// Starts every format under a temporary name.
    ///
    /// # Errors
    /// A format cannot hold the objects, the disk is too small, or the folder cannot be written.
    pub fn open(setting: &Setting<'_>) -> Result<Self, PipelineError> {
        let export = &setting.job.export;
        let info = setting.info;
        if export.formats.is_empty() {
            return Ok(Self { job: None, frames: 0 });
        }
        let wanted = setting.plan.passes.last().map_or(0, |pass| pass.range.count());
        let name = info.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let plan = formats::ExportPlan {
            out: export.dir.clone(),
            formats: export.formats.clone(),
            options: export.options.clone(),
            size: info.size,
            frames: info.frames,
            frame_rate: info.frame_rate,
            video: name.unwrap_or_else(|| info.path.to_string_lossy().into_owned()),
            objects: setting.session.objects().to_vec(),
            stamp: stamp(setting),
        };
        Self::start(plan, wanted)
    }

    /// Starts every format of `plan` under a temporary name; `wanted` frames will come.
    ///
    /// # Errors
    /// A format cannot hold the objects, the disk is too small, or the folder cannot be written.
    pub fn start(plan: formats::ExportPlan, wanted: u32) -> Result<Self, PipelineError> {
        let needed = formats::estimate(&plan.formats, plan.size, wanted, plan.objects.len(), &plan.options);
        formats::check_space(&plan.out, needed).map_err(output)?;
        let job = ExportJob::new(plan).map_err(output)?;
        Ok(Self { job: Some(job), frames: 0 })
    }

    /// Whether some format draws on the pictures.
    pub fn wants_pictures(&self) -> bool {
        self.job.as_ref().is_some_and(|job| job.needs_picture(Pass::Single))
    }

    /// Number of frames taken.
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// Writes one tracked frame.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn take(&mut self, tracked: &Tracked) -> Result<(), PipelineError> {
        let objects = tracked.objects.iter();
        let masks: Vec<_> =
            objects.map(|o| ExportMask { object: o.object, mask: &o.mask, score: o.score }).collect();
        self.write(&ExportFrame {
            index: tracked.frame,
            file_name: tracked.file_name.as_deref(),
            pts: tracked.pts,
            picture: tracked.picture.as_deref(),
            masks: &masks,
        })
    }

    /// Writes one frame.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, frame: &ExportFrame<'_>) -> Result<(), PipelineError> {
        if let Some(job) = &mut self.job {
            job.frame(frame, Pass::Single).map_err(output)?;
        }
        self.frames += 1;
        Ok(())
    }

    /// Validates and renames what was written, as long as it is `wanted`; also says what a person should know.
    ///
    /// # Errors
    /// A file cannot be written; nothing is left of it.
    pub fn finish(self, wanted: impl Fn() -> bool) -> Result<(Vec<PathBuf>, Vec<String>), PipelineError> {
        let Some(job) = self.job else { return Ok(Default::default()) };
        let (mut written, mut notes) = (Vec::new(), Vec::new());
        for summary in job.finish_while(wanted).map_err(output)? {
            let name = summary.format.name();
            if summary.overlapping_pixels > 0 {
                notes.push(format!(
                    "{name}: {} pixels belonged to several objects; the earlier object has them",
                    summary.overlapping_pixels
                ));
            }
            notes.extend(summary.warnings.iter().map(|warning| format!("{name}: {warning}")));
            notes.extend(summary.encoder.map(|encoder| format!("{name}: encoded with {encoder}")));
            if summary.frames > 0 {
                written.push(summary.path);
            }
        }
        Ok((written, notes))
    }

    /// Takes everything back.
    pub fn discard(self) {
        drop(self.job);
    }
}

fn output(error: formats::ExportError) -> PipelineError {
    PipelineError::Output(error.to_string())
}

fn stamp(setting: &Setting<'_>) -> Stamp {
    let EngineReport { device, precision, model, model_hash, image_size, .. } = setting.report.clone();
    let reach = match setting.plan.reach {
        Reach::Forward => "forward",
        Reach::Backward => "backward",
        Reach::Both => "both",
    };
    let ranges = setting.plan.passes.iter().map(|pass| pass.range);
    let (first, last) =
        ranges.fold((u32::MAX, 0), |(low, high), range| (low.min(range.first.0), high.max(range.last.0)));
    let mut prompts: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (object, frame, said) in setting.session.all_prompts() {
        let name = setting.session.object(object).map(|o| o.name.clone()).unwrap_or_default();
        prompts.entry(name).or_default().push(json!({
            "frame": frame,
            "clicks": said.clicks,
            "box": said.bounds,
            "mask": said.mask.is_some(),
        }));
    }
    let settings = json!({
        "image_size": image_size,
        "direction": reach,
        "from": first,
        "to": last,
        "prompts": prompts,
        "demo": setting.job.input == Input::Demo,
    });
    let Value::Object(settings) = settings else { return Stamp::default() };
    Stamp { version: env!("CARGO_PKG_VERSION").into(), model, model_hash, device, precision, settings }
}
