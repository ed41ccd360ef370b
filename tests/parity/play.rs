//! Owns playing a scenario through the engine: frames of the demo clip in, answers and intermediate tensors out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use masklet::base::{FrameIndex, ObjectId, RgbFrame, Size};
use masklet::demo::DemoClip;
use masklet::engine::{
    Direction, Model, ObjectOutput, Policy, ProbeSink, Tracker, TrackerOptions, VideoEngine, VideoShape,
};
use masklet::model::Lowering;

use super::golden::{Scenario, Step};

/// Frame `i` of the parity tests is frame `STRIDE * i` of the demo clip, so that 24 frames hold motion, an occlusion and
/// an absence.
const STRIDE: u32 = 3;

/// Frame `i` of the parity tests.
pub fn frame(i: FrameIndex) -> RgbFrame {
    DemoClip.frame(FrameIndex(STRIDE * i.0))
}

/// How the engine is to work.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Side of the network's picture.
    pub side: u32,
    /// Number of frames.
    pub frames: u32,
    /// The rules of memory.
    pub policy: Policy,
    /// The backend's choices.
    pub lowering: Lowering,
    /// Whether to collect the network's points.
    pub probing: bool,
}

/// Latest values of the network's points, by name.
pub type Points = BTreeMap<&'static str, Vec<f32>>;

/// What the engine answered.
#[derive(Default)]
pub struct Played {
    /// The last answer for each frame and object.
    pub outputs: BTreeMap<(FrameIndex, ObjectId), ObjectOutput>,
    /// Points on each tracked frame, when probing: all that was computed since the frame before.
    pub points: BTreeMap<FrameIndex, Points>,
}

/// A sink, and what it has collected so far.
pub fn collector() -> (ProbeSink, Arc<Mutex<Points>>) {
    let points = Arc::new(Mutex::new(Points::new()));
    let kept = points.clone();
    let sink = move |name, values: &[f32]| {
        kept.lock().expect("no test thread panics with the lock").insert(name, values.to_vec());
    };
    (Box::new(sink), points)
}

/// Plays `scenario` with `model`.
pub fn play(model: &Arc<Model>, setting: &Setting, scenario: &Scenario) -> Played {
    let video = VideoShape { size: DemoClip::SIZE, frames: setting.frames };
    let (sink, collected) = collector();
    let options = TrackerOptions {
        size: Some(setting.side),
        policy: setting.policy,
        lowering: Some(setting.lowering),
        probe: setting.probing.then_some(sink),
        ..TrackerOptions::default()
    };
    let mut tracker = Tracker::new(model, video, options).expect("the model works at this size");
    for step in &scenario.steps {
        if let Step::Prompt(_, object, _) = step {
            tracker.register(*object);
        }
    }
    let mut played = Played::default();
    let mut current = None;
    for step in &scenario.steps {
        match step {
            Step::Prompt(at, object, prompts) => {
                // Leaving a frame ends its prompts: two objects that are prompted on one frame share its encoding.
                if current != Some(*at) {
                    tracker.encode(*at, &frame(*at)).expect("frames have the video's size");
                    current = Some(*at);
                }
                tracker.prompt(*at, *object, prompts).expect("the scenario's prompts fit");
            }
            Step::Track { from, backward } => {
                let (direction, order): (_, Vec<u32>) = match backward {
                    false => (Direction::Forward, (from.0..setting.frames).collect()),
                    true => (Direction::Backward, (0..=from.0).rev().collect()),
                };
                for at in order.into_iter().map(FrameIndex) {
                    tracker.encode(at, &frame(at)).expect("frames have the video's size");
                    let outputs = tracker.track(at, direction).expect("there is something to track");
                    played.outputs.extend(outputs.into_iter().map(|o| ((at, o.object), o)));
                    let points = std::mem::take(&mut *collected.lock().expect("as above"));
                    played.points.insert(at, points);
                    current = Some(at);
                }
            }
        }
    }
    played
}

/// Neighbours and the weight of the second for each of `to` places over `from` values: bilinear, corners not aligned.
fn taps(from: usize, to: usize) -> Vec<(usize, usize, f32)> {
    let scale = from as f32 / to as f32;
    let place = |i| (scale * (i as f32 + 0.5) - 0.5).max(0.0);
    (0..to).map(|i| (place(i) as usize, (place(i) as usize + 1).min(from - 1), place(i).fract())).collect()
}

/// `logits` resized bilinearly to `size`, row by row.
pub fn resized(logits: &[f32], side: usize, size: Size) -> Vec<f32> {
    let columns = taps(side, size.width as usize);
    let rows = taps(side, size.height as usize);
    let at = |y: usize, x: usize| logits[y * side + x];
    let row = |&(a, b, w): &(usize, usize, f32)| {
        let columns = columns.iter();
        let mix = move |y: usize, l: usize, r: usize, v: f32| at(y, l) * (1.0 - v) + at(y, r) * v;
        columns.map(move |&(l, r, v)| mix(a, l, r, v) * (1.0 - w) + mix(b, l, r, v) * w).collect::<Vec<_>>()
    };
    rows.iter().flat_map(row).collect()
}
