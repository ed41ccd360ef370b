//! The ways that memories and pictures take to a device must not show in the results. The processor stands in for a
//! graphics card: it has every operation that one needs.

use std::sync::{Arc, LazyLock};

use masklet::base::{
    Click, DeviceChoice, DeviceFamily, FrameIndex, FramePrompts, Label, ObjectId, Point, Preprocess, Traffic,
    Transport,
};
use masklet::convert::{ConvertOptions, random_checkpoint, to_gguf_bytes};
use masklet::demo::DemoClip;
use masklet::engine::{
    Direction, Model, ModelOptions, ObjectOutput, Tracker, TrackerOptions, VideoEngine, VideoShape,
};

static MODEL: LazyLock<Arc<Model>> = LazyLock::new(|| {
    let bytes = to_gguf_bytes(&random_checkpoint(), &ConvertOptions::default()).expect("a model");
    Model::from_bytes(bytes.into(), &ModelOptions::cpu(1)).expect("it loads")
});

/// Two objects over four frames, with a correction on the third.
fn work(transport: Option<Transport>, preprocess: Preprocess) -> (Vec<ObjectOutput>, Traffic) {
    let video = VideoShape { size: DemoClip::SIZE, frames: 4 };
    let preprocess = Some(preprocess);
    let options = TrackerOptions { size: Some(256), transport, preprocess, ..TrackerOptions::default() };
    let mut tracker = Tracker::new(&MODEL, video, options).expect("a tracker");
    let click = |x, y| FramePrompts {
        clicks: vec![Click { at: Point { x, y }, label: Label::Positive }],
        ..FramePrompts::default()
    };
    let mut outputs = Vec::new();
    for frame in (0..4).map(FrameIndex) {
        tracker.encode(frame, &DemoClip.frame(frame)).expect("features");
        match frame.0 {
            0 => {
                for (object, x) in [(1, 150.0), (2, 400.0)] {
                    outputs
                        .push(tracker.prompt(frame, ObjectId(object), &click(x, 276.0)).expect("an answer"));
                }
            }
            2 => outputs.push(tracker.prompt(frame, ObjectId(1), &click(160.0, 270.0)).expect("an answer")),
            _ => {}
        }
        outputs.extend(tracker.track(frame, Direction::Forward).expect("masks"));
    }
    (outputs, tracker.traffic())
}

#[test]
fn memories_on_the_device_give_the_same_bytes() {
    let (host, by_host) = work(Some(Transport::Host), Preprocess::Cpu);
    let (device, by_device) = work(Some(Transport::Device), Preprocess::Cpu);
    assert_eq!(host, device);
    let saved = by_host.bytes_up - by_device.bytes_up;
    // Each of the five tracked answers looks at 512 tokens or more, each with its position: 64 floats.
    assert!(saved > 5 * 512 * 64 * 4, "{by_host:?} {by_device:?}");
}

#[test]
fn one_graph_a_frame_agrees_with_the_stages_apart() {
    let (apart, by_stages) = work(None, Preprocess::Cpu);
    let (together, by_frames) = work(Some(Transport::Device), Preprocess::Cpu);
    assert_eq!(apart.len(), together.len());
    for (a, b) in apart.iter().zip(&together) {
        assert_eq!((a.object, a.chosen), (b.object, b.chosen));
        let far = a.logits.data.iter().zip(&b.logits.data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 1e-2, "object {}: {far}", a.object);
    }
    assert!(by_frames.graphs < by_stages.graphs + 3, "{by_frames:?} {by_stages:?}");
}

#[test]
fn pictures_may_be_prepared_on_the_device() {
    let (_, by_cpu) = work(None, Preprocess::Cpu);
    let (verified, _) = work(None, Preprocess::Verify);
    let (device, by_device) = work(None, Preprocess::Device);
    assert_eq!(verified, device, "verifying changes nothing");
    assert!(by_device.bytes_up < by_cpu.bytes_up, "bytes go up, not floats");
}

#[test]
fn a_device_that_is_not_there_is_passed_over() {
    let bytes = to_gguf_bytes(&random_checkpoint(), &ConvertOptions::default()).expect("a model");
    let device = DeviceChoice::Only(DeviceFamily::Cuda, Some(7));
    let options = ModelOptions { threads: 1, device, refused: Vec::new() };
    let model = Model::from_bytes(bytes.into(), &options).expect("the next device does it");
    let report = model.report(256);
    assert!(!report.fallback.is_empty(), "it says why");
    assert!(report.fallback[0].starts_with("CUDA: "), "{:?}", report.fallback);
}
