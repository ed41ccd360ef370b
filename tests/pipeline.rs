//! The whole track job, from a video to files, with an engine and videos that are made up.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use masklet::base::{BoxXyxy, Click, Format, FrameIndex, Label, Point, Pts, Rational, RgbFrame, Size};
use masklet::engine::{EngineError, FakeCall, FakeEngine, VideoEngine, VideoShape};
use masklet::pipeline::{
    Command, DeviceLine, EngineFactory, EngineOptions, Event, ExportPlan, Failure, Input, ObjectSpec,
    PipelineError, PromptSpec, Reach, Runner, Summary, Tools, TrackJob, VideoFactory,
};
use masklet::video::{VideoError, VideoInfo, VideoSource};

const SIZE: Size = Size::new(48, 32);

/// What goes wrong, and on which frame.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    Panic(u32),
    Device(u32),
    Decode(u32),
    NoModel,
}

struct Made {
    frames: u32,
    fault: Fault,
    step: Duration,
    opened: Arc<AtomicU32>,
}

impl EngineFactory for Made {
    fn open(&self, shape: VideoShape, _: &EngineOptions) -> Result<Box<dyn VideoEngine>, PipelineError> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        if self.fault == Fault::NoModel {
            return Err(PipelineError::Model("m.gguf: this is no model".into()));
        }
        let (fault, step) = (self.fault, self.step);
        Ok(Box::new(FakeEngine::with(shape, move |call| {
            match call {
                FakeCall::Encode(_) => std::thread::sleep(step),
                FakeCall::Track(frame, _) if fault == Fault::Device(frame.0) => {
                    return Err(EngineError::Device("made up".into()));
                }
                FakeCall::Track(frame, _) => assert!(fault != Fault::Panic(frame.0), "made up"),
                _ => {}
            }
            Ok(())
        })))
    }

    fn devices(&self) -> Vec<DeviceLine> {
        Vec::new()
    }
}

struct Pictures {
    info: VideoInfo,
    fault: Fault,
}

impl VideoFactory for Made {
    fn open(&self, input: &Input) -> Result<Box<dyn VideoSource>, PipelineError> {
        let Input::Path(path) = input else { return Err(PipelineError::Input("no demo".into())) };
        let info = VideoInfo {
            path: path.clone(),
            size: SIZE,
            frames: self.frames,
            frame_rate: Rational::new(25, 1),
            duration: None,
            format: "made up".into(),
            rotation: 0,
            sample_aspect: Rational::new(1, 1),
            variable_frame_rate: false,
            warnings: Vec::new(),
        };
        Ok(Box::new(Pictures { info, fault: self.fault }))
    }
}

impl VideoSource for Pictures {
    fn info(&self) -> &VideoInfo {
        &self.info
    }

    fn frame(&mut self, frame: FrameIndex) -> Result<RgbFrame, VideoError> {
        if self.fault == Fault::Decode(frame.0) {
            let reason = "made up".into();
            return Err(VideoError::Frame { path: self.info.path.clone(), frame, reason });
        }
        assert!(frame.0 < self.info.frames, "frame {frame} was never promised");
        Ok(RgbFrame::filled(SIZE, [frame.0 as u8, 0, 0]))
    }

    fn pts(&self, frame: FrameIndex) -> Option<Pts> {
        Some(Pts { ticks: i64::from(frame.0), time_base: Rational::new(1, 25) })
    }

    fn file_name(&self, _: FrameIndex) -> Option<&str> {
        None
    }
}

fn tools(frames: u32, fault: Fault) -> (Tools, Arc<AtomicU32>) {
    let opened = Arc::new(AtomicU32::new(0));
    let made = Arc::new(Made { frames, fault, step: Duration::from_millis(1), opened: Arc::clone(&opened) });
    let (engines, videos) = (Arc::clone(&made), made);
    (Tools { engines, videos }, opened)
}

fn object(name: &str, clicks: &[(u32, f32, f32)]) -> ObjectSpec {
    let mut object = ObjectSpec { name: name.into(), ..ObjectSpec::default() };
    for &(frame, x, y) in clicks {
        let click = Click { at: Point { x, y }, label: Label::Positive };
        object.prompts.entry(FrameIndex(frame)).or_default().clicks.push(click);
    }
    object
}

fn job(objects: Vec<ObjectSpec>, dir: &Path) -> TrackJob {
    let export = ExportPlan {
        dir: dir.join("out"),
        formats: vec![Format::Png, Format::Coco],
        ..ExportPlan::default()
    };
    TrackJob { objects, export, ..TrackJob::new(Input::Path("made/клип.mp4".into())) }
}

/// Runs `job` to its end: what happened to which frame, and how it ended.
fn run(job: TrackJob, frames: u32, fault: Fault) -> (Vec<(u32, Vec<u32>)>, Event) {
    let runner = Runner::start(tools(frames, fault).0).expect("threads");
    runner.send(Command::Track(Box::new(job))).expect("an idle worker");
    listen(&runner, |_| {})
}

fn listen(runner: &Runner, mut tracked: impl FnMut(u32)) -> (Vec<(u32, Vec<u32>)>, Event) {
    let mut seen = Vec::new();
    loop {
        let event = runner.events().recv_timeout(Duration::from_secs(60)).expect("the job goes on");
        match event {
            Event::Tracked { frame, objects, .. } => {
                seen.push((frame.0, objects.iter().map(|o| o.object.0).collect()));
                tracked(frame.0);
            }
            event if event.is_last() => return (seen, event),
            _ => {}
        }
    }
}

fn finished(event: Event) -> Summary {
    match event {
        Event::Finished(summary) => summary,
        other => panic!("{other:?}"),
    }
}

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(dir).expect("below").to_string_lossy().into_owned();
                found.push((name, std::fs::read(&path).expect("a file")));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn forward_from_the_first_prompt() {
    let dir = tempfile::tempdir().expect("a folder");
    let job = job(vec![object("a", &[(2, 10.0, 10.0)]), object("b", &[(4, 30.0, 20.0)])], dir.path());
    let (seen, end) = run(job, 7, Fault::None);
    let expected = [(2, vec![1]), (3, vec![1]), (4, vec![1, 2]), (5, vec![1, 2]), (6, vec![1, 2])];
    assert_eq!(seen, expected);
    let summary = finished(end);
    assert_eq!((summary.tracked, summary.total, summary.interrupted), (5, 5, false));
    let names: Vec<_> = files(&dir.path().join("out")).into_iter().map(|(name, _)| name).collect();
    for name in ["coco.json", "masklet.json", "masks/00002.png", "masks/00006.png"] {
        assert!(names.iter().any(|n| n == name), "{name} in {names:?}");
    }
    assert!(!names.iter().any(|n| n.contains("part") || n.contains("00001")), "{names:?}");
}

#[test]
fn every_way_gives_the_same_bytes_in_one_thread_and_in_several() {
    for reach in [Reach::Forward, Reach::Backward, Reach::Both] {
        let results = [0, 1, 4].map(|ahead| {
            let dir = tempfile::tempdir().expect("a folder");
            let objects =
                vec![object("a", &[(3, 10.0, 10.0)]), object("b", &[(1, 30.0, 20.0), (5, 20.0, 20.0)])];
            let job = TrackJob { reach, ahead, ..job(objects, dir.path()) };
            let (seen, end) = run(job, 8, Fault::None);
            finished(end);
            (seen, files(&dir.path().join("out")))
        });
        assert_eq!(results[0], results[1], "{reach:?}");
        assert_eq!(results[0], results[2], "{reach:?}");
        assert!(results[0].1.len() > 4, "{reach:?}");
    }
}

#[test]
fn backward_and_both_reach_the_start() {
    let dir = tempfile::tempdir().expect("a folder");
    let objects = || vec![object("a", &[(3, 10.0, 10.0)])];
    let back = TrackJob { reach: Reach::Backward, ..job(objects(), dir.path()) };
    let (seen, end) = run(back, 6, Fault::None);
    assert_eq!(seen.iter().map(|(f, _)| *f).collect::<Vec<_>>(), [3, 2, 1, 0]);
    assert_eq!(finished(end).tracked, 4);
    let names = |dir: &Path| files(dir).iter().filter(|(n, _)| n.ends_with(".png")).count();
    assert_eq!(names(&dir.path().join("out")), 4);

    let dir = tempfile::tempdir().expect("a folder");
    let both = TrackJob { reach: Reach::Both, ..job(objects(), dir.path()) };
    let (seen, _) = run(both, 6, Fault::None);
    assert_eq!(seen.iter().map(|(f, _)| *f).collect::<Vec<_>>(), [2, 1, 0, 3, 4, 5]);
    assert_eq!(names(&dir.path().join("out")), 6);
}

#[test]
fn a_cancel_keeps_what_is_finished() {
    for (reach, ahead) in [(Reach::Forward, 4), (Reach::Forward, 0), (Reach::Both, 4), (Reach::Backward, 0)] {
        let dir = tempfile::tempdir().expect("a folder");
        let objects = vec![object("a", &[(400, 10.0, 10.0)])];
        let job = TrackJob { reach, ahead, ..job(objects, dir.path()) };
        let runner = Runner::start(tools(5000, Fault::None).0).expect("threads");
        runner.send(Command::Track(Box::new(job))).expect("an idle worker");
        let canceller = runner.canceller();
        let mut count = 0;
        let (seen, end) = listen(&runner, |_| {
            count += 1;
            if count == 5 {
                canceller.cancel();
            }
        });
        let summary = finished(end);
        assert!(summary.interrupted, "{reach:?}");
        assert!(seen.len() >= 5 && seen.len() < 400, "{reach:?}: {}", seen.len());
        let pictures = files(&dir.path().join("out")).iter().filter(|(n, _)| n.ends_with(".png")).count();
        assert_eq!(pictures, seen.len(), "{reach:?}");
    }
}

#[test]
fn who_stops_twice_gets_nothing_and_no_rest_stays() {
    for (reach, ahead) in [(Reach::Forward, 4), (Reach::Both, 4), (Reach::Backward, 0)] {
        let dir = tempfile::tempdir().expect("a folder");
        let objects = vec![object("a", &[(400, 10.0, 10.0)])];
        let job = TrackJob { reach, ahead, ..job(objects, dir.path()) };
        let runner = Runner::start(tools(5000, Fault::None).0).expect("threads");
        runner.send(Command::Track(Box::new(job.clone()))).expect("an idle worker");
        let canceller = runner.canceller();
        let mut count = 0;
        let (seen, end) = listen(&runner, |_| {
            count += 1;
            if count == 5 {
                canceller.cancel();
                canceller.abandon();
            }
        });
        let summary = finished(end);
        assert!(summary.interrupted && summary.written.is_empty(), "{summary:?}");
        assert!(summary.notes.iter().any(|note| note.contains("nothing was kept")), "{summary:?}");
        assert!(seen.len() >= 5 && seen.len() < 400, "{reach:?}: {}", seen.len());
        assert!(!dir.path().join("out").exists(), "{:?}", files(dir.path()));
        // The face is told what becomes of later wishes.
        runner.send(Command::Track(Box::new(job))).expect("an idle worker");
        let (_, end) = listen(&runner, |_| {});
        assert!(matches!(end, Event::Failed { error: PipelineError::Cancelled, .. }), "{end:?}");
    }
}

#[test]
fn a_new_job_ends_the_old_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let runner = Runner::start(tools(5000, Fault::None).0).expect("threads");
    let long =
        TrackJob { export: ExportPlan::default(), ..job(vec![object("a", &[(0, 1.0, 1.0)])], dir.path()) };
    let short = TrackJob { to: Some(FrameIndex(2)), ..long.clone() };
    let first = runner.send(Command::Track(Box::new(long))).expect("an idle worker");
    let second = runner.send(Command::Track(Box::new(short))).expect("a place to wait");
    assert!(second > first);
    let ends = [0; 2].map(|_| finished(listen(&runner, |_| {}).1));
    assert_eq!(ends.each_ref().map(|s| s.generation), [first, second]);
    assert!(ends[0].interrupted && !ends[1].interrupted);
    assert_eq!(ends[1].tracked, 3);
}

#[test]
fn faults_are_told_and_what_was_finished_is_kept() {
    for (fault, kind) in [
        (Fault::Panic(3), Failure::Internal),
        (Fault::Device(3), Failure::Device),
        (Fault::Decode(3), Failure::Input),
    ] {
        for ahead in [0, 4] {
            let dir = tempfile::tempdir().expect("a folder");
            let job = TrackJob { ahead, ..job(vec![object("a", &[(0, 10.0, 10.0)])], dir.path()) };
            let (_, end) = run(job, 6, fault);
            let Event::Failed { error, kept: Some(kept), .. } = end else { panic!("{end:?}") };
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains("made up"), "{error}");
            assert_eq!(kept.tracked, 3);
            let pictures = files(&dir.path().join("out")).iter().filter(|(n, _)| n.ends_with(".png")).count();
            assert_eq!(pictures, 3);
        }
    }
}

#[test]
fn a_fault_before_the_first_frame_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let clicked = || vec![object("a", &[(0, 10.0, 10.0)])];
    for fault in [Fault::NoModel, Fault::Decode(0), Fault::Device(0)] {
        let (_, end) = run(job(clicked(), dir.path()), 6, fault);
        assert!(matches!(end, Event::Failed { kept: None, .. }), "{end:?}");
        assert!(!dir.path().join("out").exists());
    }
}

#[test]
fn what_cannot_work_is_said_before_a_model_is_loaded() {
    let dir = tempfile::tempdir().expect("a folder");
    let boxed = |x0, y0, x1, y1| {
        let bounds = Some(BoxXyxy { x0, y0, x1, y1 });
        let prompts = [(FrameIndex(0), PromptSpec { bounds, ..PromptSpec::default() })];
        vec![ObjectSpec { name: "a".into(), class: String::new(), prompts: prompts.into() }]
    };
    let masked = |path: &str| {
        let prompts = [(FrameIndex(0), PromptSpec { mask: Some(path.into()), ..PromptSpec::default() })];
        vec![ObjectSpec { name: "a".into(), class: String::new(), prompts: prompts.into() }]
    };
    let cases = [
        (vec![], "nothing to track"),
        (vec![object("a", &[])], "no prompt"),
        (vec![object("a", &[(0, 1.0, 1.0)]), object("a", &[(0, 1.0, 1.0)])], "\"a\""),
        (vec![object("a", &[(0, 49.0, 1.0)])], "outside"),
        (vec![object("a", &[(0, f32::NAN, 1.0)])], "not a number"),
        (vec![object("a", &[(6, 1.0, 1.0)])], "0 to 5"),
        (boxed(1.0, 1.0, 1.0, 9.0), "covers nothing"),
        (boxed(1.0, f32::INFINITY, 2.0, 9.0), "not a number"),
        (masked("missing.png"), "missing.png"),
    ];
    for (objects, expected) in cases {
        let (tools, opened) = tools(6, Fault::None);
        let runner = Runner::start(tools).expect("threads");
        runner.send(Command::Track(Box::new(job(objects, dir.path())))).expect("an idle worker");
        let (_, end) = listen(&runner, |_| {});
        let Event::Failed { error, kept: None, .. } = end else { panic!("{expected}: {end:?}") };
        assert!(error.to_string().contains(expected), "{expected}: {error}");
        assert_eq!(error.kind(), Failure::Input, "{error}");
        assert_eq!(opened.load(Ordering::SeqCst), 0, "{expected}");
        assert!(!dir.path().join("out").exists());
    }
}

#[test]
fn results_are_only_replaced_when_told_to() {
    let dir = tempfile::tempdir().expect("a folder");
    let first = job(vec![object("a", &[(0, 10.0, 10.0)])], dir.path());
    finished(run(first.clone(), 3, Fault::None).1);
    let (_, end) = run(first.clone(), 3, Fault::None);
    let Event::Failed { error, .. } = end else { panic!("{end:?}") };
    assert_eq!(error.kind(), Failure::Output);
    assert!(error.to_string().contains("--overwrite"), "{error}");
    let mut again = first;
    again.export.overwrite = true;
    finished(run(again, 3, Fault::None).1);
}

#[test]
fn a_dropped_runner_stops_its_workers() {
    let dir = tempfile::tempdir().expect("a folder");
    let runner = Runner::start(tools(5000, Fault::None).0).expect("threads");
    runner
        .send(Command::Track(Box::new(job(vec![object("a", &[(0, 1.0, 1.0)])], dir.path()))))
        .expect("idle");
    let event = runner.events().recv_timeout(Duration::from_secs(60)).expect("an event");
    assert!(matches!(event, Event::Opened { total: 5000, .. }), "{event:?}");
    drop(runner);
    // Temporary results vanish once the worker has noticed.
    for _ in 0..600 {
        if !dir.path().join("out").exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the worker never stopped: {:?}", files(dir.path()));
}
