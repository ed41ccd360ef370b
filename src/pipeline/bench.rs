//! How fast the engine is on this machine: the drawn clip tracked, with the time of each stage.

use std::time::{Duration, Instant};

use crossbeam_channel::Sender;

use super::PipelineError;
use super::factory::Tools;
use super::facts::EngineFacts;
use super::job::{EngineOptions, Input, TrackJob};
use super::masks::object_mask;
use super::message::Event;
use super::prompts::document;
use super::token::Token;
use crate::base::{FrameIndex, Stage, Timings, Traffic};
use crate::engine::masks::MaskResizer;
use crate::engine::{Direction, VideoEngine, VideoShape};
use crate::session::Session;

/// What is measured.
#[derive(Clone, Debug)]
pub struct BenchJob {
    /// How the engine is set up.
    pub engine: EngineOptions,
    /// Number of frames that count; a few more run first to warm up.
    pub frames: u32,
    /// Number of objects that are tracked, 1 to 4.
    pub objects: usize,
}

/// Time of one stage.
#[derive(Clone, Debug, serde::Serialize)]
pub struct StageTime {
    /// Which stage.
    pub stage: Stage,
    /// Mean milliseconds of a run.
    pub mean_ms: f64,
    /// Number of runs.
    pub runs: u32,
}

/// What crosses between the program and the device on a frame. On the processor crossing is only a copy.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct FrameTraffic {
    /// Bytes to the device.
    pub bytes_up: f64,
    /// Bytes from it.
    pub bytes_down: f64,
    /// Graphs that are started.
    pub graphs: f64,
    /// Operations in them.
    pub operations: f64,
}

impl FrameTraffic {
    fn between(before: Traffic, after: Traffic, frames: u32) -> Self {
        let each = |before: u64, after: u64| after.saturating_sub(before) as f64 / f64::from(frames.max(1));
        Self {
            bytes_up: each(before.bytes_up, after.bytes_up),
            bytes_down: each(before.bytes_down, after.bytes_down),
            graphs: each(before.graphs, after.graphs),
            operations: each(before.operations, after.operations),
        }
    }
}

/// What was measured.
#[derive(Clone, Debug, serde::Serialize)]
pub struct BenchReport {
    /// What computed.
    pub engine: EngineFacts,
    /// Number of frames that count.
    pub frames: u32,
    /// Number of objects.
    pub objects: usize,
    /// Frames a second, one after the other, without decoding.
    pub frames_per_second: f64,
    /// Milliseconds to build the engine.
    pub load_ms: f64,
    /// Milliseconds from a picture to its masks, without decoding: the middle one and the slowest.
    pub frame_ms: [f64; 2],
    /// Milliseconds from a click to its answer on a frame that is encoded already: the middle of five.
    pub click_ms: f64,
    /// What crossed between the program and the device, a frame.
    pub traffic: FrameTraffic,
    /// Each kind of work and what computes it.
    pub choices: Vec<(&'static str, String)>,
    /// The stages in the order of the work.
    pub stages: Vec<StageTime>,
    /// Largest amount of memory that the process held, in bytes; `None` where the system does not say.
    pub peak_memory: Option<u64>,
}

/// Pictures that are held at once.
const PICTURES: u32 = 24;

/// Frames that run before those that count: the memory bank is full after seven.
const WARM_UP: u32 = 8;

/// Measures.
///
/// # Errors
/// The engine cannot be built or fails; a cancel.
pub(super) fn run(
    job: &BenchJob,
    tools: &Tools,
    token: &Token,
    tell: &Sender<Event>,
) -> Result<BenchReport, PipelineError> {
    let mut source = tools.videos.open(&Input::Demo)?;
    let info = source.info().clone();
    let mut subject = TrackJob::demo();
    subject.objects.truncate(job.objects.max(1));
    let session = document(&subject, info.size, info.frames)?;
    let shape = VideoShape { size: info.size, frames: info.frames };
    let start = Instant::now();
    let mut engine = tools.engines.open(shape, &job.engine)?;
    let load = start.elapsed();
    for frame in session.prompted_frames() {
        engine.encode(frame, &source.frame(frame)?)?;
        for (object, _, prompts) in session.all_prompts().filter(|(_, at, _)| *at == frame) {
            engine.prompt(frame, object, prompts)?;
        }
    }
    let total = job.frames.max(1).saturating_add(WARM_UP);
    let mut timings = Timings::default();
    let mut before = engine.traffic();
    let (mut times, mut resizer) = (Vec::new(), MaskResizer::new());
    // Decoded beforehand: in the pauses between frames a graphics card would slow its clocks.
    let kept = info.frames.min(PICTURES);
    let mut decoding = Timings::default();
    let pictures: Vec<_> = (0..kept)
        .map(|at| decoding.measure(Stage::Decode, || source.frame(FrameIndex(at))))
        .collect::<Result<_, _>>()?;
    for step in 0..total {
        if token.cancelled() {
            return Err(PipelineError::Cancelled);
        }
        if step == WARM_UP {
            let _ = engine.take_timings();
            timings = Timings::default();
            times.clear();
            before = engine.traffic();
        }
        let frame = there_and_back(step + 1, kept);
        let start = Instant::now();
        engine.encode(frame, &pictures[frame.0 as usize])?;
        let outputs = engine.track(frame, Direction::Forward)?;
        timings.measure(Stage::Masks, || {
            let masks = outputs.iter().map(|o| object_mask(&mut resizer, o, info.size));
            masks.fold(0, |sum, o| sum + o.mask.counts().len())
        });
        times.push(start.elapsed());
        let what = "measuring".into();
        let _ = tell.send(Event::Progress { generation: token.generation(), what, done: step + 1, total });
    }
    timings.merge(&engine.take_timings());
    timings.merge(&decoding);
    let traffic = FrameTraffic::between(before, engine.traffic(), job.frames.max(1));
    let click_ms = clicks(engine.as_mut(), &session, there_and_back(total, kept))?;
    let sum: Duration = times.iter().sum();
    times.sort();
    let ms = |at: usize| times.get(at).map_or(0.0, |t| t.as_secs_f64() * 1e3);
    let stages = Stage::ALL.into_iter().map(|stage| {
        let (mean_ms, runs) = timings.mean_ms(stage);
        StageTime { stage, mean_ms, runs }
    });
    Ok(BenchReport {
        engine: engine.report().into(),
        frames: times.len() as u32,
        objects: session.objects().len(),
        frames_per_second: times.len() as f64 / sum.as_secs_f64().max(1e-9),
        load_ms: load.as_secs_f64() * 1e3,
        frame_ms: [ms(times.len() / 2), ms(times.len() - 1)],
        click_ms,
        traffic,
        choices: engine.explain(),
        stages: stages.filter(|s| s.runs > 0).collect(),
        peak_memory: peak_memory(),
    })
}

/// Milliseconds of the middle one of five clicks on `frame`, which is the engine's current one.
fn clicks(engine: &mut dyn VideoEngine, session: &Session, frame: FrameIndex) -> Result<f64, PipelineError> {
    let Some((object, _, prompts)) = session.all_prompts().next() else { return Ok(0.0) };
    let mut times = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        engine.prompt(frame, object, prompts)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Frame of step `step` for a walk that turns round at both ends of the clip, so that there is no jump.
fn there_and_back(step: u32, frames: u32) -> FrameIndex {
    let last = frames.saturating_sub(1).max(1);
    let at = step % (2 * last);
    FrameIndex(if at <= last { at } else { 2 * last - at })
}

/// Largest resident set so far, in bytes.
pub(super) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_never_jumps() {
        let frames: Vec<_> = (0..20).map(|step| there_and_back(step, 5).0).collect();
        assert!(frames.windows(2).all(|pair| pair[0].abs_diff(pair[1]) == 1), "{frames:?}");
        assert!(frames.iter().all(|&f| f < 5));
    }
}
