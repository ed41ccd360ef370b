//! One model, several trackers, several threads: they must neither wait for nor disturb each other.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use masklet::base::{Click, FrameIndex, FramePrompts, Label, ObjectId, Point, Pts, RgbFrame};
use masklet::convert::{ConvertOptions, random_checkpoint, to_gguf_bytes};
use masklet::demo::DemoClip;
use masklet::engine::{Direction, Model, ModelOptions, Tracker, TrackerOptions, VideoEngine, VideoShape};
use masklet::pipeline::{Command, Event, Files, Input, PipelineError, Runner, Tools, TrackJob, VideoFactory};
use masklet::video::{VideoError, VideoInfo, VideoSource};

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
    let model = Model::from_bytes(bytes.into(), &ModelOptions::cpu(1)).expect("it loads");
    let alone = work(&model);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(|| work(&model))).collect();
        for worker in workers {
            assert_eq!(worker.join().expect("no panic"), alone, "the same bytes, whoever works beside");
        }
    });
}

/// A video that writes down on which cores its reader may run.
struct Watched(Box<dyn VideoSource>, Arc<Mutex<BTreeSet<String>>>);

/// The cores that this thread may run on.
fn cores() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("Linux says");
    status.lines().find(|line| line.starts_with("Cpus_allowed_list")).expect("the line is there").to_owned()
}

impl VideoSource for Watched {
    fn info(&self) -> &VideoInfo {
        self.0.info()
    }

    fn frame(&mut self, frame: FrameIndex) -> Result<RgbFrame, VideoError> {
        if std::thread::current().name() == Some("masklet-decode") {
            self.1.lock().expect("no panic").insert(cores());
        }
        self.0.frame(frame)
    }

    fn pts(&self, frame: FrameIndex) -> Option<Pts> {
        self.0.pts(frame)
    }

    fn file_name(&self, frame: FrameIndex) -> Option<&str> {
        self.0.file_name(frame)
    }
}

struct Videos(Arc<Mutex<BTreeSet<String>>>);

impl VideoFactory for Videos {
    fn open(&self, input: &Input) -> Result<Box<dyn VideoSource>, PipelineError> {
        Ok(Box::new(Watched(Files.open(input)?, self.0.clone())))
    }
}

/// The engine holds its threads to their cores; the decoder must stay free.
#[test]
#[cfg(target_os = "linux")]
fn the_decoder_is_not_held_to_the_engines_core() {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let tools = Tools { videos: Arc::new(Videos(seen.clone())), ..Tools::native() };
    let runner = Runner::start(tools).expect("threads");
    for _ in 0..2 {
        let mut job = TrackJob::demo();
        (job.engine.size, job.to, job.ahead) = (Some(256), Some(FrameIndex(2)), 1);
        runner.send(Command::Track(Box::new(job))).expect("room for a job");
        let last = runner.events().iter().find(Event::is_last).expect("it ends");
        assert!(matches!(last, Event::Finished(_)), "{last:?}");
    }
    let seen: Vec<_> = seen.lock().expect("no panic").iter().cloned().collect();
    assert_eq!(seen, [cores()], "the decoder may run wherever the process may");
}
