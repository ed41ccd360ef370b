//! How close tracked masks come to given ones: J, F and their mean over sequences, as DAVIS counts them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crossbeam_channel::Sender;

use super::PipelineError;
use super::computing::computing;
use super::factory::Tools;
use super::job::{EngineOptions, Input};
use super::message::Event;
use super::token::Token;
use crate::base::{FrameIndex, FramePrompts, Mask, ObjectId, Rle};
use crate::engine::masks::MaskResizer;
use crate::engine::{Direction, VideoEngine, VideoShape};
use crate::metrics::{Evaluation, MetricError, Score, SequenceMeter, SequenceScore, next_click};
use crate::video::{VideoSource, read_labels};

/// What the first frame is prompted with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvalPrompt {
    /// Its given mask.
    #[default]
    Mask,
    /// One click in the middle of the object.
    Click,
    /// Three clicks, each in the middle of the largest error that is left.
    Click3,
}

/// What is evaluated.
#[derive(Clone, Debug)]
pub struct EvalJob {
    /// A folder of pictures, or a folder of such folders, or of `NAME/frames` with `NAME/masks`.
    pub frames: PathBuf,
    /// The masks of `frames`, in the same layout; left out when they lie at `NAME/masks`.
    pub masks: Option<PathBuf>,
    /// How the first frame is prompted.
    pub prompt: EvalPrompt,
    /// How the engine is set up.
    pub engine: EngineOptions,
}

struct Sequence {
    name: String,
    frames: PathBuf,
    masks: PathBuf,
}

/// Evaluates.
///
/// # Errors
/// Folders that hold no sequence, files that cannot be read, the engine, a cancel.
pub(super) fn run(
    job: &EvalJob,
    tools: &Tools,
    token: &Token,
    tell: &Sender<Event>,
) -> Result<Evaluation, PipelineError> {
    let mut scores = Vec::new();
    for sequence in sequences(job)? {
        let score = computing(|| evaluate(&sequence, job, tools, token, tell))?;
        scores.push(SequenceScore { name: sequence.name, score });
    }
    Evaluation::new(scores).map_err(judged)
}

fn judged(error: MetricError) -> PipelineError {
    PipelineError::Input(error.to_string())
}

fn sequences(job: &EvalJob) -> Result<Vec<Sequence>, PipelineError> {
    let folders = subfolders(&job.frames)?;
    let found: Vec<_> = match &job.masks {
        Some(masks) if folders.is_empty() => {
            let frames = job.frames.clone();
            vec![Sequence { name: sequence_name(&frames), frames, masks: masks.clone() }]
        }
        Some(masks) => folders
            .into_iter()
            .map(|frames| {
                let name = last_name(&frames);
                Sequence { masks: masks.join(&name), name, frames }
            })
            .filter(|s| s.masks.is_dir())
            .collect(),
        None if job.frames.join("frames").is_dir() => vec![pair(&job.frames)],
        None => folders.iter().map(|folder| pair(folder)).filter(|s| s.frames.is_dir()).collect(),
    };
    if found.is_empty() {
        let folder = job.frames.display();
        return Err(PipelineError::Input(format!(
            "{folder} holds no sequence: give a folder of pictures and one of masks, or a folder of NAME/frames with \
             NAME/masks"
        )));
    }
    Ok(found)
}

fn pair(folder: &Path) -> Sequence {
    Sequence { name: last_name(folder), frames: folder.join("frames"), masks: folder.join("masks") }
}

fn last_name(folder: &Path) -> String {
    folder
        .file_name()
        .map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// `dog` for `dog/frames`, else the folder's own name.
fn sequence_name(frames: &Path) -> String {
    let name = last_name(frames);
    let above = frames.parent().and_then(Path::file_name);
    match above {
        Some(above) if name == "frames" => above.to_string_lossy().into_owned(),
        _ => name,
    }
}

fn listing(folder: &Path) -> Result<Vec<PathBuf>, PipelineError> {
    let fail = |e: std::io::Error| PipelineError::Input(format!("{} cannot be read: {e}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(fail)?;
    let paths: Result<Vec<_>, PipelineError> = entries.map(|entry| Ok(entry.map_err(fail)?.path())).collect();
    let mut paths = paths?;
    paths.retain(|path| !last_name(path).starts_with('.'));
    paths.sort();
    Ok(paths)
}

fn subfolders(folder: &Path) -> Result<Vec<PathBuf>, PipelineError> {
    let mut paths = listing(folder)?;
    paths.retain(|path| path.is_dir());
    Ok(paths)
}

/// The mask file of each frame that has one: of the frame's stem, or of its number where frames have no names.
fn mask_files(
    source: &dyn VideoSource,
    folder: &Path,
) -> Result<BTreeMap<FrameIndex, PathBuf>, PipelineError> {
    let mut files = listing(folder)?;
    files.retain(|path| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png")));
    let stem = |path: &Path| path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let by_stem: BTreeMap<_, _> = files.iter().filter_map(|path| Some((stem(path)?, path))).collect();
    let by_number: BTreeMap<u32, _> =
        by_stem.iter().filter_map(|(stem, path)| Some((stem.parse().ok()?, *path))).collect();
    Ok((0..source.info().frames)
        .map(FrameIndex)
        .filter_map(|frame| {
            let path = match source.file_name(frame) {
                Some(name) => by_stem.get(&stem(Path::new(name))?),
                None => by_number.get(&frame.0),
            };
            Some((frame, (*path?).clone()))
        })
        .collect())
}

fn evaluate(
    sequence: &Sequence,
    job: &EvalJob,
    tools: &Tools,
    token: &Token,
    tell: &Sender<Event>,
) -> Result<Score, PipelineError> {
    let mut source = tools.videos.open(&Input::Path(sequence.frames.clone()))?;
    let (size, frames) = (source.info().size, source.info().frames);
    let files = mask_files(source.as_ref(), &sequence.masks)?;
    let read = |path: &PathBuf| {
        let picture = read_labels(path).map_err(|error| PipelineError::mask_file(path, error))?;
        if picture.size() == size {
            return Ok(picture);
        }
        let reason = format!("{} pixels, but the frames have {size}", picture.size());
        Err(PipelineError::MaskFile { path: path.clone(), reason })
    };
    let Some((&first, path)) = files.iter().next() else {
        let folder = sequence.masks.display();
        return Err(PipelineError::Input(format!(
            "{folder} holds no mask for the frames: names must match theirs"
        )));
    };
    let truth = read(path)?;
    // 255 means "not to be judged" in DAVIS where other labels are there; alone it is the white of a binary mask.
    let mut labels = truth.present();
    if labels.len() > 1 {
        labels.retain(|&label| label != 255);
    }
    if labels.is_empty() {
        return Err(PipelineError::MaskFile { path: path.clone(), reason: "no object is on it".into() });
    }
    let objects: Vec<(ObjectId, u16)> = (1..).map(ObjectId).zip(labels).collect();
    let mut engine = tools.engines.open(VideoShape { size, frames }, &job.engine)?;
    engine.encode(first, &source.frame(first)?)?;
    let mut resizer = MaskResizer::new();
    for &(object, label) in &objects {
        prompt(engine.as_mut(), &mut resizer, first, object, &truth.of(label), job.prompt)?;
    }
    let mut meters = vec![SequenceMeter::new(&sequence.name); objects.len()];
    // Once through the prompted frame too, as the reference does.
    for frame in (first.0..frames).map(FrameIndex) {
        if token.cancelled() {
            return Err(PipelineError::Cancelled);
        }
        // The prompted frame is encoded already.
        if frame > first {
            engine.encode(frame, &source.frame(frame)?)?;
        }
        let outputs = engine.track(frame, Direction::Forward)?;
        if let Some(path) = files.get(&frame).filter(|_| frame > first) {
            let truth = read(path)?;
            for (&(object, label), meter) in objects.iter().zip(&mut meters) {
                let found = outputs.iter().find(|o| o.object == object);
                let found = found.map_or_else(|| Mask::empty(size), |o| resizer.mask(&o.logits, size));
                // A binary mask's white may be any value.
                let truth = if objects.len() == 1 { truth.any() } else { truth.of(label) };
                // The meter leaves the prompted frame out, which for it is frame 0.
                meter.add(FrameIndex(frame.0 - first.0), &found, &truth).map_err(judged)?;
            }
        }
        let (what, generation) = (sequence.name.clone(), token.generation());
        let _ = tell.send(Event::Progress { generation, what, done: frame.0 + 1, total: frames });
    }
    let objects: Result<Vec<_>, _> = meters.into_iter().map(SequenceMeter::finish).collect();
    Ok(objects.and_then(Evaluation::new).map_err(judged)?.mean)
}

fn prompt(
    engine: &mut dyn VideoEngine,
    resizer: &mut MaskResizer,
    frame: FrameIndex,
    object: ObjectId,
    truth: &Mask,
    kind: EvalPrompt,
) -> Result<(), PipelineError> {
    let rounds = match kind {
        EvalPrompt::Mask => {
            let prompts = FramePrompts { mask: Some(Rle::encode(truth)), ..FramePrompts::default() };
            engine.prompt(frame, object, &prompts)?;
            return Ok(());
        }
        EvalPrompt::Click => 1,
        EvalPrompt::Click3 => 3,
    };
    let mut prompts = FramePrompts::default();
    let mut found = Mask::empty(truth.size());
    for _ in 0..rounds {
        // None when nothing is wrong any more.
        let Some(click) = next_click(&found, truth).map_err(judged)? else { break };
        prompts.clicks.push(click);
        found = resizer.mask(&engine.prompt(frame, object, &prompts)?.logits, truth.size());
    }
    Ok(())
}
