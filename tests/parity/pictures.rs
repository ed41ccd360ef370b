//! Owns the comparison with the official image predictor on one picture (make_pictures.py).

use std::sync::Arc;

use masklet::base::{BoxXyxy, Click, FrameIndex, FramePrompts, Label, ObjectId, Point, Rle};
use masklet::demo::DemoClip;
use masklet::engine::masks::MaskResizer;
use masklet::engine::{Habit, Model, Tracker, TrackerOptions, VideoEngine, VideoShape};

use super::golden::{SAMPLES, positions};
use super::play;

#[derive(serde::Deserialize)]
struct Goldens {
    size: u32,
    model_sha256: String,
    answers: Vec<Answer>,
}

#[derive(serde::Deserialize)]
struct Answer {
    name: String,
    #[serde(default)]
    points: Vec<[f32; 2]>,
    #[serde(default)]
    labels: Vec<u8>,
    #[serde(rename = "box")]
    bounds: Option<[f32; 4]>,
    iou: f32,
    mask: String,
    logits: Vec<f32>,
}

impl Answer {
    fn prompts(&self) -> FramePrompts {
        let click = |(&[x, y], &label): (&[f32; 2], &u8)| Click {
            at: Point { x, y },
            label: if label == 1 { Label::Positive } else { Label::Negative },
        };
        FramePrompts {
            clicks: self.points.iter().zip(&self.labels).map(click).collect(),
            bounds: self.bounds.map(|[x0, y0, x1, y1]| BoxXyxy { x0, y0, x1, y1 }),
            mask: None,
        }
    }
}

/// Differences from the golden answers, in words, and how many prompts were compared.
pub fn check(model: &Arc<Model>) -> (Vec<String>, usize) {
    let goldens: Goldens =
        serde_json::from_str(include_str!("goldens/pictures.json")).expect("goldens are JSON");
    let video = VideoShape { size: DemoClip::SIZE, frames: 1 };
    let mut faults = Vec::new();
    if model.report(goldens.size).model_hash != goldens.model_sha256 {
        faults.push("the goldens are of another model file: run ./dev weights".to_owned());
    }
    for answer in &goldens.answers {
        let options =
            TrackerOptions { size: Some(goldens.size), habit: Habit::Picture, ..TrackerOptions::default() };
        let mut tracker = Tracker::new(model, video, options).expect("the model works at this size");
        let first = FrameIndex(0);
        tracker.encode(first, &play::frame(first)).expect("frames have the video's size");
        let own = tracker.prompt(first, ObjectId(1), &answer.prompts()).expect("the prompts fit");
        let places = positions(own.logits.data.len(), SAMPLES);
        let apart = |(&i, &golden): (&usize, &f32)| (own.logits.data[i].clamp(-32.0, 32.0) - golden).abs();
        let worst = places.iter().zip(&answer.logits).map(apart).fold((own.iou - answer.iou).abs(), f32::max);
        let golden = Rle::from_coco_text(DemoClip::SIZE, &answer.mask).expect("whole run lengths").decode();
        let mask = MaskResizer::new().mask(&own.logits, DemoClip::SIZE);
        let flipped = mask.data().iter().zip(golden.data()).filter(|(a, b)| a != b).count();
        if worst > 5e-4 || flipped > 10 {
            faults.push(format!("{}: logits or IoU differ by {worst}, {flipped} pixels", answer.name));
        }
    }
    (faults, goldens.answers.len())
}
