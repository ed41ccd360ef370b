//! Owns the teacher-forced checks: stages of the memory fed with what the reference had in memory, so that nothing
//! accumulates and every difference is the stage's own.

use std::sync::Arc;

use masklet::base::FrameIndex;
use masklet::demo::DemoClip;
use masklet::engine::{Dense, Image, Model, Stages, Tracker, TrackerOptions, VideoEngine, VideoShape};
use masklet::model::Lowering;

use super::compare::{Findings, Gates, compare_points};
use super::golden::Golden;
use super::play::{Points, collector, frame, resized};

const WIDTH: usize = 64;
const LATENTS: usize = 256;
const GRID: usize = 16;
const SLOTS: u32 = 7;

/// Checks memory attention and the decoder behind it wherever `golden` has the memories, and the memory encoder
/// wherever it has the mask.
pub fn check(model: &Arc<Model>, golden: &Golden, lowering: Lowering, gates: &Gates) -> Findings {
    let (sink, points) = collector();
    let side = golden.side();
    let mut stages = Stages::new(model.weights(), model.backend(), lowering, side, Some(sink))
        .expect("the model works at this size");
    let mut found = Findings { iou: 1.0, ..Findings::default() };
    for at in (0..golden.frames()).map(FrameIndex) {
        let (attended, logits) = (attends(golden, at), golden.teach("logits", at));
        if !attended && logits.is_none() {
            continue;
        }
        stages.encode(&pixels(model, golden, at)).expect("the stage runs");
        points.lock().expect("no test thread panics with the lock").clear();
        if attended {
            let (values, positions, rotary) = memories(model, golden, at);
            stages.attend(&values, &positions, &rotary).expect("the stage runs");
            let token = model.weights().host("prompt_encoder.not_a_point").expect("every model has it");
            stages
                .decode(Image::Conditioned, &[&token[..], &token[..]].concat(), Dense::NoMask)
                .expect("the stage runs");
        }
        if let Some(logits) = logits {
            let mask = resized(&logits, side as usize / 4, masklet::base::Size::new(side, side));
            // The prompted frame's memory is made of the mask, those of others of its probabilities.
            let share =
                |v: f32| if at.0 == 0 { f32::from(u8::from(v > 0.0)) } else { 1.0 / (1.0 + (-v).exp()) };
            let mask: Vec<f32> = mask.into_iter().map(|v| share(v) * 20.0 - 10.0).collect();
            stages.encode_memory(&mask).expect("the stage runs");
        }
        let points: Points = std::mem::take(&mut *points.lock().expect("as above"));
        let chosen =
            golden.answers("click").into_iter().find(|(f, ..)| *f == at).and_then(|(_, _, a)| a.chosen);
        compare_points(golden, "click", at, chosen, &points, gates, &mut found);
        found.masks += 1;
    }
    found
}

/// The network's picture of a frame.
fn pixels(model: &Arc<Model>, golden: &Golden, at: FrameIndex) -> Vec<f32> {
    let (sink, points) = collector();
    let video = VideoShape { size: DemoClip::SIZE, frames: golden.frames() };
    let options =
        TrackerOptions { size: Some(golden.side()), probe: Some(sink), ..TrackerOptions::default() };
    let mut tracker = Tracker::new(model, video, options).expect("the model works at this size");
    tracker.encode(at, &frame(at)).expect("frames have the video's size");
    let mut points = points.lock().expect("no test thread panics with the lock");
    points.remove("pixels").expect("the encoder shows its input")
}

/// Frames behind `at` whose memory it sees, with their slots: the prompted one, then the farthest first.
fn seen(at: FrameIndex) -> Vec<(FrameIndex, u32)> {
    let near = (1..SLOTS).rev().filter(|d| at.0 > *d).map(|d| (FrameIndex(at.0 - d), d - 1));
    std::iter::once((FrameIndex(0), SLOTS - 1)).chain(near).collect()
}

/// Whether the golden has all memories that `at` sees, and points to compare with.
fn attends(golden: &Golden, at: FrameIndex) -> bool {
    at.0 > 0
        && golden.points("click", at).contains_key("memattn")
        && seen(at).iter().all(|(f, _)| golden.teach("memory", *f).is_some())
        && (0..at.0).all(|f| golden.teach("pointer", FrameIndex(f)).is_some())
}

/// Memory tokens, their position encodings and their rotary positions, all put together anew.
fn memories(model: &Model, golden: &Golden, at: FrameIndex) -> (Vec<f32>, Vec<f32>, Vec<i32>) {
    let temporal = model.weights().host("maskmem_tpos_enc").expect("every model has it");
    let grid: Vec<[f32; WIDTH]> = (0..GRID * GRID).map(|i| sine(i % GRID, i / GRID)).collect();
    let (mut values, mut positions, mut rotary) = (Vec::new(), Vec::new(), Vec::new());
    for (frame, slot) in seen(at) {
        values.extend(golden.teach("memory", frame).expect("checked by the caller"));
        let temporal = &temporal[slot as usize * WIDTH..][..WIDTH];
        for token in 0..LATENTS + GRID * GRID {
            let place = token.checked_sub(LATENTS);
            let sine = place.map_or([0.0; WIDTH], |i| grid[i]);
            positions.extend(sine.iter().zip(temporal).map(|(s, t)| s + t));
            rotary.extend(place.map_or([0, 0], |i| [(i % GRID) as i32, (i / GRID) as i32]));
        }
    }
    for frame in std::iter::once(0).chain((1..at.0).rev()) {
        values.extend(golden.teach("pointer", FrameIndex(frame)).expect("checked by the caller"));
    }
    positions.resize(values.len(), 0.0);
    rotary.resize(values.len() / WIDTH * 2, 0);
    (values, positions, rotary)
}

/// Sine position encoding of a place in the grid of windowed latents.
fn sine(x: usize, y: usize) -> [f32; WIDTH] {
    const HALF: usize = WIDTH / 2;
    std::array::from_fn(|channel| {
        let (place, j) = if channel < HALF { (y, channel) } else { (x, channel - HALF) };
        let frequency = 10_000f32.powf((2 * (j / 2)) as f32 / HALF as f32);
        let angle = (place + 1) as f32 / (GRID as f32 + 1e-6) * std::f32::consts::TAU / frequency;
        if j % 2 == 0 { angle.sin() } else { angle.cos() }
    })
}
