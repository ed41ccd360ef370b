//! Owns the comparison: how far an answer of the engine is from the golden one, and whether that is near enough.

use masklet::base::FrameIndex;
use masklet::demo::DemoClip;
use masklet::engine::masks::MaskResizer;

use super::golden::{Digest, Golden, SAMPLES, positions};
use super::play::{Played, Points};

/// How near is near enough.
#[derive(Clone, Copy, Debug)]
pub struct Gates {
    /// Largest difference of a mask logit.
    pub logits: f32,
    /// Least IoU of a mask with the golden one.
    pub iou: f64,
    /// Largest root mean square of a point's differences, in standard deviations of the point.
    pub points: fn(&str, FrameIndex) -> f64,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Everything outside the gates, in words.
    pub faults: Vec<String>,
    /// Largest difference of a logit.
    pub logits: f32,
    /// Least IoU.
    pub iou: f64,
    /// Masks compared.
    pub masks: usize,
    /// Points compared.
    pub points: usize,
    /// Largest deviation of a point, and which.
    pub point: (f64, String),
}

/// Channels of a point that PyTorch keeps planar while the engine keeps channels together; 0: the memory is the same.
fn channels(point: &str) -> usize {
    match point {
        "stem" | "stage0" => 48,
        "stage1" => 96,
        "stage2" => 192,
        "stage3" => 384,
        "fpn2" | "mask_ds" => 256,
        "conv_s0" => 32,
        "conv_s1" | "memenc" => 64,
        _ => 0,
    }
}

/// Deviation of `own` from `golden` in standard deviations.
pub fn deviation(point: &str, own: &[f32], golden: &Digest) -> f64 {
    let channels = channels(point);
    let place = |i: usize| match channels {
        0 => i,
        c => (i % (own.len() / c)) * c + i / (own.len() / c),
    };
    let at = positions(own.len(), SAMPLES);
    if at.len() != golden.values.len() {
        return f64::INFINITY;
    }
    let squares = at.iter().zip(&golden.values).map(|(&i, &g)| f64::from(own[place(i)] - g).powi(2));
    let rms = (squares.sum::<f64>() / at.len() as f64).sqrt();
    // Scores and IoUs are a few numbers that hardly spread: their size is the measure then.
    let scale = f64::from(if golden.values.len() < 8 { golden.largest } else { golden.std }).max(1e-6);
    // The whole tensor counts too, through its moments.
    let mean = own.iter().map(|&v| f64::from(v)).sum::<f64>() / own.len() as f64;
    let moment = (mean - f64::from(golden.mean)).abs();
    if rms.is_nan() { f64::INFINITY } else { rms.max(moment) / scale }
}

/// Compares what was played of `scenario` with the golden.
pub fn compare(golden: &Golden, scenario: &str, played: &Played, gates: &Gates) -> Findings {
    let mut found = Findings { iou: 1.0, ..Findings::default() };
    let mut resizer = MaskResizer::new();
    for (frame, object, answer) in golden.answers(scenario) {
        let at = format!("{scenario}, frame {frame}, object {object}");
        let Some(own) = played.outputs.get(&(frame, object)) else {
            found.faults.push(format!("{at}: no answer"));
            continue;
        };
        if let Some(chosen) = answer.chosen
            && chosen != own.chosen
        {
            found.faults.push(format!("{at}: mask {} was chosen, not {chosen}", own.chosen));
        }
        let sample = positions(own.logits.data.len(), SAMPLES);
        let apart = |own: f32, golden: f32| if own.is_nan() { f32::INFINITY } else { (own - golden).abs() };
        let pairs = sample.iter().zip(&answer.logits.values).map(|(&i, &g)| apart(own.logits.data[i], g));
        let worst = pairs.fold(apart(own.score, answer.score), f32::max);
        let iou = answer.mask.iou(&resizer.mask(&own.logits, DemoClip::SIZE));
        if worst > gates.logits {
            found.faults.push(format!("{at}: logits or score differ by {worst}"));
        }
        if iou < gates.iou {
            found.faults.push(format!("{at}: mask IoU {iou}"));
        }
        found.logits = found.logits.max(worst);
        found.iou = found.iou.min(iou);
        found.masks += 1;
    }
    for (frame, points) in &played.points {
        let chosen =
            golden.answers(scenario).iter().find(|(f, ..)| f == frame).and_then(|(_, _, a)| a.chosen);
        compare_points(golden, scenario, *frame, chosen, points, gates, &mut found);
    }
    found
}

/// Compares the points of one frame that the engine has; `chosen` says whose pointer the golden one is.
pub fn compare_points(
    golden: &Golden,
    scenario: &str,
    frame: FrameIndex,
    chosen: Option<u8>,
    points: &Points,
    gates: &Gates,
    found: &mut Findings,
) {
    for (name, digest) in golden.points(scenario, frame) {
        // A constant, folded into the decoder's inputs; its parts are compared where they are made.
        if name == "dense_pe" {
            continue;
        }
        let own = match name.as_str() {
            "obj_ptr" => points.get("obj_ptrs").map(|all| pointer(all, scenario, chosen)),
            other => points.get(other).map(Vec::as_slice),
        };
        let Some(own) = own else { continue };
        found.points += 1;
        let far = deviation(&name, own, &digest);
        if far > (gates.points)(&name, frame) {
            found.faults.push(format!("{scenario}, frame {frame}: {name} is {far:.1e} deviations away"));
        }
        if far > found.point.0 {
            found.point = (far, format!("{name} on frame {frame}"));
        }
    }
}

/// The pointer that was used, out of those of all four mask tokens: the best mask's after one click, else the first's.
fn pointer<'a>(all: &'a [f32], scenario: &str, chosen: Option<u8>) -> &'a [f32] {
    const WIDTH: usize = 256;
    let tracked_or_clicked = !matches!(scenario, "click3" | "boxclick");
    let token = if tracked_or_clicked { chosen.unwrap_or(0) } else { 0 };
    &all[usize::from(token) * WIDTH..][..WIDTH]
}
