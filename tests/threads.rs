//! One model, several trackers, several threads: they must neither wait for nor disturb each other.

use std::sync::Arc;

use masklet::base::{Click, FrameIndex, FramePrompts, Label, ObjectId, Point};
use masklet::convert::{ConvertOptions, random_checkpoint, to_gguf_bytes};
use masklet::demo::DemoClip;
use masklet::engine::{Direction, Model, ModelOptions, Tracker, TrackerOptions, VideoEngine, VideoShape};

/// Logits of two frames.
fn work(model: &Arc<Model>) -> Vec<f32> {
    let video = VideoShape { size: DemoClip::SIZE, frames: 2 };
    let options = TrackerOptions { size: Some(256), ..TrackerOptions::default() };
    let mut tracker = Tracker::new(model, video, options).expect("a tracker");
    let click = Click { at: Point { x: 150.0, y: 276.0 }, label: Label::Positive };
    let prompts = FramePrompts { clicks: vec![click], ..FramePrompts::default() };
    tracker.encode(FrameIndex(0), &DemoClip.frame(FrameIndex(0))).expect("features");
    let mut logits = tracker.prompt(FrameIndex(0), ObjectId(1), &prompts).expect("an answer").logits.data;
    tracker.encode(FrameIndex(1), &DemoClip.frame(FrameIndex(1))).expect("features");
    for output in tracker.track(FrameIndex(1), Direction::Forward).expect("a mask") {
        logits.extend(output.logits.data);
    }
    logits
}

#[test]
fn trackers_share_a_model_across_threads() {
    let bytes = to_gguf_bytes(&random_checkpoint(), &ConvertOptions::default()).expect("a model");
    let model = Model::from_bytes(bytes.into(), &ModelOptions { threads: 1 }).expect("it loads");
    let alone = work(&model);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(|| work(&model))).collect();
        for worker in workers {
            assert_eq!(worker.join().expect("no panic"), alone, "the same bytes, whoever works beside");
        }
    });
}
