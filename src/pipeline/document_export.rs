//! Exports a document: the masks that it holds, frame by frame, without an engine.

use std::path::PathBuf;

use serde_json::json;

use super::PipelineError;
use super::export::ExportStage;
use super::facts::EngineFacts;
use super::job::ExportPlan;
use crate::base::{FrameIndex, FrameRange};
use crate::formats::{self, ExportFrame, ExportMask, Stamp};
use crate::session::Session;
use crate::video::VideoSource;

/// Writes the masks of `session` on the frames of `range`, all of them: a frame without masks is a frame. `progress` is
/// told the frames done and in all, and says whether to go on.
///
/// # Errors
/// The video is another than the document's, results are there already or cannot be written, or `progress` said no:
/// nothing is left then.
pub(super) fn write_document(
    source: &mut dyn VideoSource,
    session: &Session,
    range: FrameRange,
    plan: &ExportPlan,
    engine: Option<&EngineFacts>,
    progress: &mut dyn FnMut(u32, u32) -> bool,
) -> Result<(Vec<PathBuf>, Vec<String>), PipelineError> {
    let info = source.info().clone();
    if info.size != session.size() || range.last.0 >= info.frames.min(session.frames()) {
        let last = info.frames.saturating_sub(1);
        let reason = format!("the video has frames 0 to {last} of {} pixels", info.size);
        return Err(PipelineError::Range { from: range.first, to: range.last, reason });
    }
    ExportStage::check(plan)?;
    let name = info.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let export = formats::ExportPlan {
        out: plan.dir.clone(),
        formats: plan.formats.clone(),
        options: plan.options.clone(),
        size: info.size,
        frames: info.frames,
        frame_rate: info.frame_rate,
        video: name.unwrap_or_else(|| info.path.to_string_lossy().into_owned()),
        objects: session.objects().to_vec(),
        stamp: stamp(session, range, engine),
    };
    let total = range.count();
    let mut stage = ExportStage::start(export, total)?;
    let pictures = stage.wants_pictures();
    for frame in (range.first.0..=range.last.0).map(FrameIndex) {
        if !progress(frame.0 - range.first.0, total) {
            stage.discard();
            return Err(PipelineError::Cancelled);
        }
        let picture = if pictures { Some(source.frame(frame)?) } else { None };
        let results = session.results_on(frame);
        let masks: Vec<_> = results
            .iter()
            .map(|(object, result)| ExportMask { object: *object, mask: &result.mask, score: result.score })
            .collect();
        stage.write(&ExportFrame {
            index: frame,
            file_name: source.file_name(frame),
            pts: source.pts(frame),
            picture: picture.as_ref(),
            masks: &masks,
        })?;
    }
    progress(total, total);
    stage.finish(|| true)
}

fn stamp(session: &Session, range: FrameRange, engine: Option<&EngineFacts>) -> Stamp {
    let prompts: std::collections::BTreeMap<String, Vec<_>> = session
        .objects()
        .iter()
        .map(|object| {
            let said = session.prompts_of(object.id).map(|(frame, said)| {
                json!({
                    "frame": frame,
                    "clicks": said.clicks,
                    "box": said.bounds,
                    "mask": said.mask.is_some(),
                })
            });
            (object.name.clone(), said.collect())
        })
        .collect();
    let settings = json!({
        "image_size": engine.map(|engine| engine.image_size),
        "from": range.first,
        "to": range.last,
        "prompts": prompts,
    });
    let serde_json::Value::Object(settings) = settings else { return Stamp::default() };
    let word = |of: fn(&EngineFacts) -> &String| engine.map(of).cloned().unwrap_or_default();
    Stamp {
        version: env!("CARGO_PKG_VERSION").into(),
        model: word(|e| &e.model),
        model_hash: word(|e| &e.model_hash),
        device: word(|e| &e.device),
        precision: word(|e| &e.precision),
        settings,
    }
}
