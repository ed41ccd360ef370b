//! The desk with an engine and videos that are made up: what a window sees, whatever goes wrong and however it hurries.
#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use masklet::base::{
    Click, Direction, Format, FrameIndex, FramePrompts, FrameRange, Generation, Label, ObjectId, Point, Pts,
    Rational, RgbFrame, Size,
};
use masklet::engine::{EngineError, FakeCall, FakeEngine, VideoEngine, VideoShape};
use masklet::pipeline::{
    Desk, DeskCommand, DeskEvent, DeviceLine, EngineFactory, EngineOptions, ExportPlan, ExportRequest,
    Folders, Input, ObjectPrompts, OpenRequest, PauseReason, PauseRules, PipelineError, Recoverable, RunId,
    RunRequest, SaveRequest, Tools, VideoFactory, recoverable,
};
use masklet::session::{Document, Edit, Session, TrackResult};
use masklet::video::{VideoError, VideoInfo, VideoSource};
use proptest::prelude::*;

const SIZE: Size = Size::new(64, 48);
const FRAMES: u32 = 30;
/// Long enough for any answer on a busy machine; a test that waits so long fails.
const LONG: Duration = Duration::from_secs(20);

/// What the engine does before each call.
type Hook = Arc<dyn Fn(FakeCall) -> Result<(), EngineError> + Send + Sync>;

/// A world of made-up videos and engines that takes notes.
#[derive(Clone)]
struct World {
    hook: Hook,
    calls: Arc<Mutex<Vec<FakeCall>>>,
    decoded: Arc<AtomicU32>,
    decode_ms: u64,
    no_engine: Arc<AtomicU32>,
}

impl World {
    fn new() -> Self {
        Self::with(|_| Ok(()))
    }

    fn with(hook: impl Fn(FakeCall) -> Result<(), EngineError> + Send + Sync + 'static) -> Self {
        Self {
            hook: Arc::new(hook),
            calls: Arc::default(),
            decoded: Arc::default(),
            decode_ms: 0,
            no_engine: Arc::default(),
        }
    }

    fn desk(&self) -> Desk {
        self.desk_in(Folders::default())
    }

    fn desk_in(&self, folders: Folders) -> Desk {
        let tools = Tools { engines: Arc::new(self.clone()), videos: Arc::new(self.clone()) };
        Desk::start_in(folders, tools, Arc::new(|| {})).expect("threads start")
    }

    fn open(&self) -> Seen {
        let mut seen = Seen::new(self.desk());
        seen.open("clip");
        seen
    }

    fn count(&self, wanted: impl Fn(&FakeCall) -> bool) -> usize {
        self.calls.lock().unwrap().iter().filter(|call| wanted(call)).count()
    }

    fn encodes(&self) -> usize {
        self.count(|call| matches!(call, FakeCall::Encode(_)))
    }
}

impl EngineFactory for World {
    fn open(&self, shape: VideoShape, _: &EngineOptions) -> Result<Box<dyn VideoEngine>, PipelineError> {
        if self.no_engine.load(Ordering::SeqCst) > 0 {
            self.no_engine.fetch_sub(1, Ordering::SeqCst);
            return Err(PipelineError::Model("m.gguf: this is no model".into()));
        }
        let (hook, calls) = (self.hook.clone(), self.calls.clone());
        Ok(Box::new(FakeEngine::with(shape, move |call| {
            calls.lock().unwrap().push(call);
            hook(call)
        })))
    }

    fn devices(&self) -> Vec<DeviceLine> {
        Vec::new()
    }
}

impl VideoFactory for World {
    fn open(&self, input: &Input) -> Result<Box<dyn VideoSource>, PipelineError> {
        let Input::Path(path) = input else { return Err(PipelineError::Input("no demo".into())) };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == "broken" {
            return Err(VideoError::Unreadable { path: path.clone(), reason: "made up".into() }.into());
        }
        let info = VideoInfo {
            path: path.clone(),
            size: SIZE,
            frames: if name.starts_with("short") { FRAMES - 1 } else { FRAMES },
            frame_rate: Rational::new(25, 1),
            duration: Some(f64::from(FRAMES) / 25.0),
            format: "made up".into(),
            rotation: 0,
            sample_aspect: Rational::new(1, 1),
            variable_frame_rate: false,
            warnings: Vec::new(),
        };
        // A picture says which video and frame it is; it only cuts where the name says so.
        let mark = name.bytes().fold(0u8, u8::wrapping_add);
        let cut = name.strip_prefix("cut at ").and_then(|at| at.parse().ok());
        Ok(Box::new(Clip { info, mark, cut, decoded: self.decoded.clone(), decode_ms: self.decode_ms }))
    }
}

struct Clip {
    info: VideoInfo,
    mark: u8,
    cut: Option<u32>,
    decoded: Arc<AtomicU32>,
    decode_ms: u64,
}

impl VideoSource for Clip {
    fn info(&self) -> &VideoInfo {
        &self.info
    }

    fn frame(&mut self, frame: FrameIndex) -> Result<RgbFrame, VideoError> {
        if frame.0 >= FRAMES {
            return Err(VideoError::NoSuchFrame { path: self.info.path.clone(), frame, last: FRAMES - 1 });
        }
        assert!(self.info.path.as_os_str() != "panics" || frame.0 != 13, "a decoder's panic");
        std::thread::sleep(Duration::from_millis(self.decode_ms));
        self.decoded.fetch_add(1, Ordering::SeqCst);
        let light = if self.cut.is_some_and(|cut| frame.0 >= cut) { 200 } else { 0 };
        let mut picture = RgbFrame::filled(SIZE, [light; 3]);
        picture.data_mut()[..2].copy_from_slice(&[self.mark, frame.0 as u8]);
        Ok(picture)
    }

    fn pts(&self, frame: FrameIndex) -> Option<Pts> {
        Some(Pts { ticks: i64::from(frame.0), time_base: Rational::new(1, 25) })
    }

    fn file_name(&self, _: FrameIndex) -> Option<&str> {
        None
    }
}

/// A window: a desk, a document, and what was seen.
struct Seen {
    desk: Desk,
    document: Document,
    name: String,
    shown: Option<(FrameIndex, Generation)>,
    runs: BTreeMap<RunId, Run>,
    answers: u64,
    failures: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct Run {
    frames: Vec<u32>,
    total: u32,
    paused: Option<(u32, PauseReason)>,
    ended: Option<bool>,
}

impl Seen {
    fn new(desk: Desk) -> Self {
        let document = Document::new(SIZE, FRAMES);
        let (name, runs, failures) = (String::new(), BTreeMap::new(), Vec::new());
        Self { desk, document, name, shown: None, runs, answers: 0, failures }
    }

    fn send(&self, command: DeskCommand) {
        self.desk.send(command).expect("the queue has room");
    }

    fn open(&mut self, name: &str) {
        let what = OpenRequest::Video(Input::Path(name.into()));
        self.send(DeskCommand::Open { what, options: EngineOptions::default() });
        self.until("opened", |event| match event {
            DeskEvent::Opened { video, .. } => video.path.as_os_str() == name,
            DeskEvent::OpenFailed { .. } => true,
            _ => false,
        });
    }

    fn object(&mut self) -> ObjectId {
        self.document.apply(Edit::AddObject { name: None, class: None }).unwrap().added.unwrap()
    }

    fn click(&mut self, object: ObjectId, frame: u32, at: (f32, f32)) {
        let frame = FrameIndex(frame);
        let mut prompts = self.document.session().prompts(object, frame).cloned().unwrap_or_default();
        prompts.clicks.push(Click { at: Point { x: at.0, y: at.1 }, label: Label::Positive });
        self.document.apply(Edit::SetPrompts { object, frame, prompts }).unwrap();
        self.send(self.answer(object, frame));
    }

    fn answer(&self, object: ObjectId, frame: FrameIndex) -> DeskCommand {
        DeskCommand::Answer { object: ObjectPrompts::of(self.document.session(), object), frame }
    }

    fn clicked(&mut self, object: ObjectId, frame: u32, at: (f32, f32)) {
        self.click(object, frame, at);
        self.until("answered", |event| matches!(event, DeskEvent::Answered { .. }));
    }

    fn request(
        &self,
        objects: &[ObjectId],
        from: u32,
        range: (u32, u32),
        direction: Direction,
    ) -> RunRequest {
        let range = FrameRange { first: FrameIndex(range.0), last: FrameIndex(range.1) };
        RunRequest::of(self.document.session(), objects, FrameIndex(from), range, direction)
    }

    /// Tracks and waits for the end.
    fn track(&mut self, objects: &[ObjectId], from: u32, range: (u32, u32), direction: Direction) -> Run {
        self.send(DeskCommand::Track(self.request(objects, from, range, direction)));
        self.run_end()
    }

    fn run_end(&mut self) -> Run {
        self.until("the run's end", |event| matches!(event, DeskEvent::RunEnded { .. }));
        self.runs.values().last().cloned().unwrap_or_default()
    }

    /// Takes events until one is as wanted, and gives it back.
    fn until(&mut self, what: &str, wanted: impl Fn(&DeskEvent) -> bool) -> DeskEvent {
        let end = Instant::now() + LONG;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let event = self.desk.wait(left).unwrap_or_else(|| panic!("waited in vain: {what}"));
            let done = wanted(&event);
            self.take(&event);
            if done {
                return event;
            }
        }
    }

    /// What a window does with an event; everything that must always hold is checked here.
    fn take(&mut self, event: &DeskEvent) {
        match event {
            DeskEvent::Opened { video, session, .. } => {
                self.name = video.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                self.document = Document::of(Session::clone(session));
                self.runs.clear();
                self.shown = None;
            }
            DeskEvent::Picture { frame, picture, generation, .. } => {
                let mark = self.name.bytes().fold(0u8, u8::wrapping_add);
                assert_eq!(picture.data()[..2], [mark, frame.0 as u8], "a picture of another video or frame");
                assert!(self.shown.is_none_or(|(_, shown)| shown < *generation), "an older wish came later");
                self.shown = Some((*frame, *generation));
            }
            DeskEvent::Answered { object, frame, prompts, result } => {
                self.answers += 1;
                self.document.answer(*object, *frame, prompts, result.clone());
            }
            DeskEvent::RunStarted { run, total } => {
                let new = Run { total: *total, ..Run::default() };
                assert!(self.runs.insert(*run, new).is_none());
                self.document.begin_run("track");
            }
            DeskEvent::Tracked { run, frame, results, done, total } => {
                let known = self.runs.get_mut(run).expect("it started");
                assert!(known.ended.is_none(), "a frame after the end");
                known.frames.push(frame.0);
                assert_eq!((*done, *total), (known.frames.len() as u32, known.total), "a frame was lost");
                self.document.add_run_results(*frame, results.clone());
            }
            DeskEvent::Paused { run, frame, reason, .. } => {
                self.runs.get_mut(run).expect("it started").paused = Some((frame.0, *reason));
            }
            DeskEvent::RunEnded { run, cancelled } => {
                let known = self.runs.get_mut(run).expect("it started");
                assert!(known.ended.replace(*cancelled).is_none(), "it ended twice");
                self.document.end_run();
            }
            DeskEvent::Failed { what, error } => self.failures.push(format!("{what}: {error}")),
            DeskEvent::EngineFailed { error } => self.failures.push(error.to_string()),
            DeskEvent::Panicked { thread, text } => self.failures.push(format!("{thread}: {text}")),
            _ => {}
        }
    }

    fn result(&self, object: ObjectId, frame: u32) -> Option<&TrackResult> {
        self.document.session().result(object, FrameIndex(frame))
    }

    /// The middle of an object's mask.
    fn middle(&self, object: ObjectId, frame: u32) -> (u32, u32) {
        let [x, y, w, h] = self.result(object, frame).expect("a result").mask.bounding_box().expect("a mask");
        (x + w / 2, y + h / 2)
    }
}

#[test]
fn a_second_click_on_a_frame_costs_one_decoder_run_and_no_picture() {
    let world = World::new();
    let mut w = world.open();
    w.send(DeskCommand::Show(FrameIndex(7)));
    w.until("a picture", |event| matches!(event, DeskEvent::Picture { .. }));
    let a = w.object();
    w.clicked(a, 7, (20.0, 20.0));
    w.clicked(a, 7, (24.0, 24.0));
    assert_eq!((world.encodes(), world.count(|c| matches!(c, FakeCall::Prompt(..)))), (1, 2));
    assert_eq!(world.decoded.load(Ordering::SeqCst), 1, "display and engine share the picture");
    assert_eq!(w.middle(a, 7), (24, 24));
    w.document.undo();
    assert!(w.result(a, 7).is_some_and(|r| r.mask.bounding_box().is_some_and(|b| b[0] < 20)));
}

#[test]
fn undo_then_a_new_click_answers_what_the_document_says() {
    let world = World::new();
    let mut w = world.open();
    let a = w.object();
    w.clicked(a, 3, (10.0, 10.0));
    w.clicked(a, 3, (50.0, 40.0));
    for touched in w.document.undo().unwrap().objects {
        w.send(DeskCommand::Forget(touched));
    }
    w.clicked(a, 3, (20.0, 30.0));
    assert_eq!(w.middle(a, 3), (20, 30));
    assert_eq!(w.document.session().prompts(a, FrameIndex(3)).unwrap().clicks.len(), 2);
}

#[test]
fn a_hover_changes_nothing() {
    let world = World::new();
    let mut w = world.open();
    let a = w.object();
    w.clicked(a, 3, (20.0, 20.0));
    let before = w.document.session().clone();
    let at = Point { x: 50.0, y: 40.0 };
    let prompts =
        FramePrompts { clicks: vec![Click { at, label: Label::Positive }], ..FramePrompts::default() };
    let object = ObjectPrompts::of(w.document.session(), a).with(FrameIndex(3), prompts);
    w.send(DeskCommand::Preview { object, frame: FrameIndex(3) });
    let event = w.until("a preview", |event| matches!(event, DeskEvent::Previewed { .. }));
    let DeskEvent::Previewed { mask, .. } = event else { unreachable!() };
    assert!(mask.decode().get(50, 40));
    assert!(w.document.session().same_content(&before));
    let run = w.track(&[a], 3, (0, 5), Direction::Forward);
    assert_eq!(run.frames, [3, 4, 5]);
    assert_eq!(w.middle(a, 5), (20, 20), "the hover is forgotten");
    assert_eq!(world.encodes(), 3, "the frame was encoded once");
}

#[test]
fn runs_go_either_way_over_a_range_or_one_frame_and_end_at_the_video_s_end() {
    let mut w = World::new().open();
    let a = w.object();
    w.clicked(a, 10, (20.0, 20.0));
    assert_eq!(w.track(&[a], 10, (0, 13), Direction::Forward).frames, [10, 11, 12, 13]);
    assert_eq!(w.track(&[a], 10, (8, 29), Direction::Backward).frames, [10, 9, 8]);
    assert_eq!(w.track(&[a], 14, (14, 14), Direction::Forward).frames, [14]);
    let run = w.track(&[a], 28, (0, 99), Direction::Forward);
    assert_eq!((run.frames, run.total, run.ended), (vec![28, 29], 2, Some(false)));
    let run = w.track(&[a], 30, (0, 99), Direction::Forward);
    assert_eq!((run.frames, run.ended), (vec![], Some(false)), "past the end nothing happens, politely");
    assert!(w.failures.is_empty(), "{:?}", w.failures);
    assert!(w.result(a, 29).is_some() && w.result(a, 15).is_none());
}

#[test]
fn only_the_chosen_objects_are_tracked_and_the_others_stay_as_they_are() {
    let world = World::new();
    let mut w = world.open();
    let (a, b) = (w.object(), w.object());
    w.clicked(a, 0, (20.0, 20.0));
    w.clicked(b, 0, (40.0, 30.0));
    w.track(&[a, b], 0, (0, 9), Direction::Forward);
    let before = w.document.session().clone();
    world.calls.lock().unwrap().clear();
    w.clicked(a, 4, (50.0, 10.0));
    let run = w.track(&[a], 4, (0, 9), Direction::Forward);
    assert_eq!(run.frames, [4, 5, 6, 7, 8, 9]);
    assert_eq!(world.count(|c| matches!(c, FakeCall::Track(_, object) if *object == b)), 0);
    assert_eq!(world.count(|c| matches!(c, FakeCall::Recall(..))), 0, "what was wrong is not brought back");
    for frame in (0..FRAMES).map(FrameIndex) {
        assert_eq!(w.document.session().result(b, frame), before.result(b, frame));
    }
    assert_eq!((w.middle(a, 3), w.middle(a, 9)), ((20, 20), (50, 10)), "what follows obeys the correction");
}

#[test]
fn an_object_is_not_tracked_where_it_is_said_not_to_be() {
    let world = World::new();
    let mut w = world.open();
    let a = w.object();
    w.clicked(a, 0, (20.0, 20.0));
    let range = FrameRange { first: FrameIndex(3), last: FrameIndex(5) };
    w.document.apply(Edit::NotHere { object: a, range, absent: true }).unwrap();
    let run = w.track(&[a], 0, (0, 8), Direction::Forward);
    assert_eq!(run.frames.len(), 9);
    assert_eq!(world.count(|c| matches!(c, FakeCall::Track(f, _) if (3..=5).contains(&f.0))), 0);
    assert_eq!(w.result(a, 4).unwrap().mask.area(), 0);
    assert!(w.result(a, 8).unwrap().mask.area() > 0);
}

#[test]
fn a_cancel_acts_within_one_step_and_keeps_what_is_finished() {
    let world = World::with(|call| {
        if matches!(call, FakeCall::Encode(_)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    });
    let mut w = world.open();
    let a = w.object();
    w.clicked(a, 0, (20.0, 20.0));
    w.send(DeskCommand::Track(w.request(&[a], 0, (0, 29), Direction::Forward)));
    w.until("some frames", |event| matches!(event, DeskEvent::Tracked { done: 4, .. }));
    w.send(DeskCommand::Cancel);
    let run = w.run_end();
    assert_eq!(run.ended, Some(true));
    assert!((4..=6).contains(&run.frames.len()), "{:?}", run.frames);
    assert!(w.result(a, 3).is_some());
    w.document.undo();
    assert!(w.result(a, 3).is_none() && w.result(a, 0).is_some(), "the run is one step");
    assert_eq!(
        w.track(&[a], 0, (0, 2), Direction::Forward).ended,
        Some(false),
        "the next run is not cancelled"
    );
}

#[test]
fn a_click_during_a_run_is_answered_between_two_frames() {
    let world = World::with(|call| {
        if matches!(call, FakeCall::Encode(_)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    });
    let mut w = world.open();
    let (a, b) = (w.object(), w.object());
    w.clicked(a, 0, (20.0, 20.0));
    w.send(DeskCommand::Track(w.request(&[a], 0, (0, 29), Direction::Forward)));
    w.until("a frame", |event| matches!(event, DeskEvent::Tracked { done: 2, .. }));
    w.clicked(b, 25, (40.0, 30.0));
    let so_far = w.runs.values().last().unwrap().frames.len();
    assert!(so_far < 10, "{so_far} frames before the answer");
    assert_eq!(w.run_end().frames.len(), 30);
    assert!(w.failures.is_empty());
}

#[test]
fn an_object_removed_during_a_run_leaves_it() {
    let world = World::with(|call| {
        if matches!(call, FakeCall::Encode(_)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    });
    let mut w = world.open();
    let (a, b) = (w.object(), w.object());
    w.clicked(a, 0, (20.0, 20.0));
    w.clicked(b, 0, (40.0, 30.0));
    w.send(DeskCommand::Track(w.request(&[a, b], 0, (0, 29), Direction::Forward)));
    w.until("a frame", |event| matches!(event, DeskEvent::Tracked { done: 2, .. }));
    w.document.apply(Edit::RemoveObject(a)).unwrap();
    w.send(DeskCommand::Forget(a));
    assert_eq!(w.run_end().frames.len(), 30);
    assert!(world.count(|c| matches!(c, FakeCall::Track(_, object) if *object == a)) < 12);
    assert!(w.result(b, 29).is_some() && w.result(a, 1).is_none());
}

#[test]
fn a_run_goes_on_where_the_engine_remembers_nothing() {
    let world = World::new();
    let mut w = world.open();
    let a = w.object();
    w.clicked(a, 0, (20.0, 20.0));
    w.track(&[a], 0, (0, 9), Direction::Forward);
    let b =
        w.document.apply(Edit::Split { object: a, from: FrameIndex(5), name: None }).unwrap().added.unwrap();
    w.send(DeskCommand::Forget(a));
    let run = w.track(&[b], 10, (0, 12), Direction::Forward);
    assert_eq!(run.frames, [10, 11, 12]);
    assert_eq!(w.middle(b, 12), (20, 20), "an object without a prompt goes on from its masks");
    assert!(world.count(|c| matches!(c, FakeCall::Recall(..))) > 0);
    assert!(w.failures.is_empty(), "{:?}", w.failures);
}

#[test]
fn a_failed_open_keeps_the_open_work() {
    let world = World::new();
    let mut w = world.open();
    let a = w.object();
    w.clicked(a, 0, (20.0, 20.0));
    w.open("broken");
    assert_eq!(w.name, "clip");
    w.clicked(a, 0, (22.0, 20.0));
    assert_eq!(world.encodes(), 1, "even the engine's features are still there");
    w.send(DeskCommand::Show(FrameIndex(3)));
    w.until("a picture", |event| matches!(event, DeskEvent::Picture { .. }));
}

#[test]
fn nothing_of_the_old_video_is_heard_after_another_is_opened() {
    let world = World::with(|call| {
        if matches!(call, FakeCall::Encode(_)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    });
    let mut w = world.open();
    let a = w.object();
    w.clicked(a, 0, (20.0, 20.0));
    w.send(DeskCommand::Track(w.request(&[a], 0, (0, 29), Direction::Forward)));
    w.send(DeskCommand::Show(FrameIndex(5)));
    w.open("other");
    w.send(DeskCommand::Show(FrameIndex(6)));
    w.until("a picture", |event| matches!(event, DeskEvent::Picture { frame: FrameIndex(6), .. }));
    assert!(w.runs.is_empty());
    w.send(DeskCommand::Close);
    w.send(DeskCommand::Show(FrameIndex(7)));
    assert!(w.desk.wait(Duration::from_millis(50)).is_none());
}

#[test]
fn a_panic_in_the_engine_is_told_and_the_next_click_has_a_new_engine() {
    let bombs = AtomicU32::new(1);
    let world = World::with(move |call| {
        let bang = matches!(call, FakeCall::Track(FrameIndex(4), _)) && bombs.swap(0, Ordering::SeqCst) == 1;
        assert!(!bang, "made up");
        Ok(())
    });
    let mut w = world.open();
    let a = w.object();
    w.clicked(a, 0, (20.0, 20.0));
    let run = w.track(&[a], 0, (0, 9), Direction::Forward);
    assert_eq!((run.frames, run.ended), (vec![0, 1, 2, 3], Some(false)));
    assert_eq!(w.failures, ["masklet-desk: made up"]);
    assert_eq!(w.track(&[a], 0, (0, 9), Direction::Forward).frames.len(), 10);
}

#[test]
fn a_panic_in_the_decoder_is_told_and_other_frames_are_shown() {
    let mut w = Seen::new(World::new().desk());
    w.open("panics");
    w.send(DeskCommand::Show(FrameIndex(13)));
    w.until("the panic", |event| matches!(event, DeskEvent::Panicked { .. }));
    w.send(DeskCommand::Show(FrameIndex(14)));
    w.until("a picture", |event| matches!(event, DeskEvent::Picture { frame: FrameIndex(14), .. }));
    assert_eq!(w.failures, ["masklet-show: a decoder's panic"]);
    w.send(DeskCommand::Show(FrameIndex(99)));
    w.until("a failure", |event| matches!(event, DeskEvent::Failed { .. }));
    assert!(w.failures[1].contains("frame 99"), "{:?}", w.failures);
}

#[test]
fn a_missing_engine_is_told_and_tried_again() {
    let world = World::new();
    world.no_engine.store(2, Ordering::SeqCst);
    let mut w = world.open();
    let a = w.object();
    w.click(a, 0, (20.0, 20.0));
    w.until("no engine", |event| matches!(event, DeskEvent::EngineFailed { .. }));
    let run = w.track(&[a], 0, (0, 3), Direction::Forward);
    assert_eq!((run.frames.len(), run.ended), (0, Some(false)));
    assert_eq!(w.failures.len(), 2, "told once a wish: {:?}", w.failures);
    w.clicked(a, 0, (22.0, 20.0));
    assert!(w.result(a, 0).is_some());
}

#[test]
fn a_failing_device_ends_the_run_and_keeps_what_is_finished() {
    let world = World::with(|call| match call {
        FakeCall::Track(FrameIndex(6), _) => Err(EngineError::Device("made up".into())),
        _ => Ok(()),
    });
    let mut w = world.open();
    let a = w.object();
    w.clicked(a, 0, (20.0, 20.0));
    let run = w.track(&[a], 0, (0, 9), Direction::Forward);
    assert_eq!((run.frames.len(), run.ended), (6, Some(false)));
    assert_eq!(w.failures, ["tracking stopped: the device failed: made up"]);
    let never = w.object();
    w.track(&[never], 0, (0, 3), Direction::Forward);
    assert!(w.failures[1].contains("nothing to track"), "{:?}", w.failures);
}

#[test]
fn a_run_pauses_at_a_cut_unless_told_not_to() {
    let world = World::new();
    let mut w = Seen::new(world.desk());
    w.open("cut at 12");
    let a = w.object();
    w.clicked(a, 0, (20.0, 20.0));
    let run = w.track(&[a], 0, (0, 29), Direction::Forward);
    assert_eq!(run.paused, Some((12, PauseReason::SceneCut)));
    assert_eq!((run.frames.len(), run.ended), (13, Some(false)));
    assert_eq!(w.track(&[a], 13, (0, 29), Direction::Forward).paused, None, "going on does not pause again");
    let mut request = w.request(&[a], 0, (0, 29), Direction::Forward);
    request.pause = PauseRules { cut: false, ..PauseRules::default() };
    w.send(DeskCommand::Track(request));
    assert_eq!(w.run_end().frames.len(), 30);
}

#[test]
fn scrubbing_shows_the_newest_frame_and_decodes_few() {
    let world = World { decode_ms: 30, ..World::new() };
    let mut w = world.open();
    for i in 0..300 {
        w.send(DeskCommand::Show(FrameIndex(i % FRAMES)));
        if i % 50 == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    w.send(DeskCommand::Show(FrameIndex(17)));
    let newest = w.desk.newest_wish();
    w.until(
        "the newest",
        |event| matches!(event, DeskEvent::Picture { generation, .. } if *generation == newest),
    );
    assert_eq!(w.shown.map(|(frame, _)| frame), Some(FrameIndex(17)));
    assert!(world.decoded.load(Ordering::SeqCst) < 12, "what was no longer wished for was not decoded");
    let before = world.decoded.load(Ordering::SeqCst);
    w.send(DeskCommand::Show(FrameIndex(17)));
    w.until("it again", |event| matches!(event, DeskEvent::Picture { .. }));
    assert_eq!(world.decoded.load(Ordering::SeqCst), before, "a picture just decoded is kept");
}

#[test]
fn the_document_is_exported_without_an_engine_and_a_cancelled_export_leaves_nothing() {
    let world = World::new();
    let mut w = world.open();
    let a = w.object();
    w.clicked(a, 0, (20.0, 20.0));
    w.track(&[a], 0, (0, 9), Direction::Forward);
    let dir = tempfile::tempdir().unwrap();
    let export = |w: &Seen, name: &str| ExportRequest {
        session: Arc::new(w.document.session().clone()),
        range: None,
        plan: ExportPlan {
            dir: dir.path().join(name),
            formats: vec![Format::Coco, Format::Png],
            overwrite: false,
            ..ExportPlan::default()
        },
        engine: None,
    };
    w.send(DeskCommand::Export(export(&w, "a")));
    let event =
        w.until("the export", |e| matches!(e, DeskEvent::Exported { .. } | DeskEvent::ExportFailed { .. }));
    assert!(matches!(event, DeskEvent::Exported { written, .. } if written.len() == 2));
    let coco: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(dir.path().join("a/coco.json")).unwrap()).unwrap();
    assert_eq!(coco["images"].as_array().unwrap().len(), FRAMES as usize, "frames without masks are frames");
    assert_eq!(coco["annotations"].as_array().unwrap().len(), 10);
    w.send(DeskCommand::Export(export(&w, "b")));
    w.send(DeskCommand::Cancel);
    w.until("the end", |e| matches!(e, DeskEvent::Exported { .. } | DeskEvent::ExportFailed { .. }));
    let left = dir.path().join("b");
    assert!(!left.exists() || left.join("coco.json").exists(), "whole or nothing");
    w.send(DeskCommand::Export(export(&w, "a")));
    let event = w.until("the refusal", |e| matches!(e, DeskEvent::ExportFailed { .. }));
    assert!(matches!(event, DeskEvent::ExportFailed { error: PipelineError::Exists(_) }));
}

#[test]
fn a_full_queue_gives_the_command_back_and_dropping_the_desk_waits_for_nothing() {
    let world = World::with(|_| {
        std::thread::sleep(Duration::from_millis(300));
        Ok(())
    });
    let mut w = world.open();
    let a = w.object();
    w.click(a, 0, (20.0, 20.0));
    let refused = (0..200).find_map(|i| w.desk.send(w.answer(a, FrameIndex(i % 30))).err());
    assert!(matches!(refused.map(|back| *back), Some(DeskCommand::Answer { .. })));
    let start = Instant::now();
    drop(w);
    assert!(start.elapsed() < Duration::from_millis(200));
}

/// A window with folders of its own and a video that lies on the disk.
struct Work {
    dir: tempfile::TempDir,
    world: World,
}

impl Work {
    fn new() -> Self {
        let work = Self { dir: tempfile::tempdir().unwrap(), world: World::new() };
        std::fs::write(work.video(), b"the video's bytes").unwrap();
        work
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn video(&self) -> std::path::PathBuf {
        self.path("clip.mp4")
    }

    fn folders(&self) -> Folders {
        Folders { journals: Some(self.path("journals")), spill: None }
    }

    fn window(&self) -> Seen {
        Seen::new(self.world.desk_in(self.folders()))
    }

    /// A window on the video with one object tracked over four frames, all of it in the journal.
    fn begun(&self) -> Seen {
        let mut w = self.window();
        w.open_what(OpenRequest::Video(Input::Path(self.video())));
        let a = w.object();
        w.clicked(a, 0, (20.0, 20.0));
        w.track(&[a], 0, (0, 3), Direction::Forward);
        w.keep();
        w
    }

    fn recoverable(&self) -> Vec<Recoverable> {
        recoverable(&self.folders())
    }
}

impl Seen {
    /// Opens something; gives the event that answers.
    fn open_what(&mut self, what: OpenRequest) -> DeskEvent {
        self.send(DeskCommand::Open { what, options: EngineOptions::default() });
        self.until("an answer", |event| {
            use DeskEvent::{MediaMissing, OpenFailed, Opened};
            matches!(event, Opened { .. } | OpenFailed { .. } | MediaMissing { .. })
        })
    }

    /// Sends the document's changes to the journal and waits for them to be there.
    fn keep(&mut self) {
        let changes = self.document.take_changes();
        self.send(DeskCommand::Keep(changes));
        assert!(self.desk.settle(LONG));
    }

    fn save(&mut self, path: &std::path::Path) -> DeskEvent {
        let changes = self.document.take_changes();
        self.send(DeskCommand::Keep(changes));
        let (session, revision) = (Arc::new(self.document.session().clone()), self.document.revision());
        self.send(DeskCommand::Save(SaveRequest { session, revision, path: path.into() }));
        self.until("saved", |e| matches!(e, DeskEvent::Saved { .. } | DeskEvent::SaveFailed { .. }))
    }
}

#[test]
fn a_project_is_saved_and_opened_again_with_its_moved_video() {
    let work = Work::new();
    let mut w = work.begun();
    let project = work.path("p.masklet");
    let before = w.document.session().clone();
    assert!(
        matches!(w.save(&project), DeskEvent::Saved { revision, .. } if revision == w.document.revision())
    );
    assert!(work.recoverable().is_empty(), "all of it is saved");

    // Both move together: the video is found beside the project.
    let moved = work.path("moved");
    std::fs::create_dir(&moved).unwrap();
    std::fs::rename(&project, moved.join("p.masklet")).unwrap();
    std::fs::rename(work.video(), moved.join("clip.mp4")).unwrap();
    let mut w = work.window();
    let event = w.open_what(OpenRequest::Project { path: moved.join("p.masklet"), media: None });
    let DeskEvent::Opened { session, project: from, unsaved, notes, .. } = event else { panic!("{event:?}") };
    assert!(session.same_content(&before) && !unsaved);
    assert_eq!(from, Some(moved.join("p.masklet")));
    assert!(notes.iter().any(|note| note.contains("found at")), "{notes:?}");
    let a = w.document.session().objects()[0].id;
    assert_eq!(w.track(&[a], 4, (0, 6), Direction::Forward).frames, [4, 5, 6], "work goes on");
    assert_eq!(w.middle(a, 6), (20, 20));

    // The video moves away: it is asked for, another one is refused, the right one is taken.
    std::fs::rename(moved.join("clip.mp4"), work.path("elsewhere.mp4")).unwrap();
    let path = moved.join("p.masklet");
    let event = w.open_what(OpenRequest::Project { path: path.clone(), media: None });
    assert!(matches!(event, DeskEvent::MediaMissing { project, .. } if project == path));
    std::fs::write(work.path("short.mp4"), b"").unwrap();
    let event = w.open_what(OpenRequest::Project { path: path.clone(), media: Some(work.path("short.mp4")) });
    let DeskEvent::OpenFailed { error, .. } = event else { panic!("{event:?}") };
    assert!(error.to_string().contains("does not belong to"), "{error}");
    assert_eq!(w.name, "clip.mp4", "what was open still is");
    let media = Some(work.path("elsewhere.mp4"));
    assert!(matches!(w.open_what(OpenRequest::Project { path, media }), DeskEvent::Opened { .. }));
}

#[test]
fn unsaved_work_survives_a_crash_and_the_opening_of_another_file() {
    let work = Work::new();
    let w = work.begun();
    let before = w.document.session().clone();
    assert!(work.recoverable().is_empty(), "somebody works on it");
    // The process is gone without a word: nobody closes anything, and the lock goes with it.
    drop(w);
    let wait = |count: usize| {
        let end = Instant::now() + LONG;
        while work.recoverable().len() != count {
            assert!(Instant::now() < end, "{:?}", work.recoverable());
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait(1);
    let found = work.recoverable().remove(0);
    assert_eq!(found.video.as_deref(), Some(work.video().as_path()));

    let mut w = work.window();
    let event = w.open_what(OpenRequest::Journal(found.journal.clone()));
    let DeskEvent::Opened { session, unsaved, .. } = event else { panic!("{event:?}") };
    assert!(session.same_content(&before) && unsaved);
    let b = w.object();
    w.keep();
    w.open_what(OpenRequest::Video(Input::Path(work.video())));
    wait(1);
    assert_eq!(work.recoverable()[0].journal, found.journal, "the same journal went on");
    let event = w.open_what(OpenRequest::Journal(found.journal));
    let DeskEvent::Opened { session, .. } = event else { panic!("{event:?}") };
    assert!(session.object(b).is_some());
    w.send(DeskCommand::Discard);
    assert!(w.desk.settle(LONG));
    assert!(work.recoverable().is_empty(), "thrown away when told to");
}

#[test]
fn a_journal_goes_on_from_the_saved_project() {
    let work = Work::new();
    let mut w = work.begun();
    let project = work.path("p.masklet");
    w.save(&project);
    let a = w.document.session().objects()[0].id;
    w.document.apply(Edit::Rename { object: a, name: "dog".into() }).unwrap();
    w.document.undo();
    w.document.undo();
    w.keep();
    let before = w.document.session().clone();
    w.send(DeskCommand::Close);
    assert!(w.desk.settle(LONG));
    let journal = work.recoverable().remove(0);
    assert_eq!(journal.project.as_deref(), Some(project.as_path()));
    let event = w.open_what(OpenRequest::Journal(journal.journal.clone()));
    let DeskEvent::Opened { session, project: from, .. } = event else { panic!("{event:?}") };
    assert!(session.same_content(&before), "even undoing past the save");
    assert_eq!(from.as_deref(), Some(project.as_path()));
    assert!(matches!(w.save(&project), DeskEvent::Saved { .. }));
    w.send(DeskCommand::Close);
    assert!(w.desk.settle(LONG));
    assert!(work.recoverable().is_empty() && !journal.journal.exists());
}

#[test]
fn a_failed_save_is_told_and_the_work_stays_in_the_journal() {
    let work = Work::new();
    let mut w = work.begun();
    assert!(matches!(w.save(&work.path("no folder/p.masklet")), DeskEvent::SaveFailed { .. }));
    w.send(DeskCommand::Close);
    assert!(w.desk.settle(LONG));
    assert_eq!(work.recoverable().len(), 1);
}

#[test]
fn a_journal_that_cannot_be_written_is_told_once() {
    let work = Work::new();
    std::fs::write(work.path("journals"), b"a file in the way").unwrap();
    let mut w = work.window();
    w.open_what(OpenRequest::Video(Input::Path(work.video())));
    for _ in 0..3 {
        w.object();
        w.keep();
    }
    w.open_what(OpenRequest::Project { path: work.path("none.masklet"), media: None });
    assert_eq!(w.failures.len(), 1, "{:?}", w.failures);
    assert!(w.failures[0].contains("save it"), "{:?}", w.failures);
}

/// A thousand acts, which nobody wants to read when one fails.
#[derive(Clone)]
struct Acts(Vec<Act>);

impl std::fmt::Debug for Acts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} acts", self.0.len())
    }
}

#[derive(Clone, Debug)]
enum Act {
    Show(u32),
    Click(usize, u32, u8),
    Hover(usize, u32),
    Track(usize, u32, bool),
    Cancel,
    Undo,
    Redo,
    Remove(usize),
    Open(bool),
    Look(u8),
    Rest,
}

fn acts() -> impl Strategy<Value = Acts> {
    let frame = 0..FRAMES;
    let act = prop_oneof![
        20 => frame.clone().prop_map(Act::Show),
        10 => (0usize..4, frame.clone(), any::<u8>()).prop_map(|(o, f, at)| Act::Click(o, f, at)),
        6 => (0usize..4, frame.clone()).prop_map(|(o, f)| Act::Hover(o, f)),
        5 => (0usize..4, frame, any::<bool>()).prop_map(|(o, f, back)| Act::Track(o, f, back)),
        4 => Just(Act::Cancel),
        3 => Just(Act::Undo),
        2 => Just(Act::Redo),
        1 => (0usize..4).prop_map(Act::Remove),
        1 => any::<bool>().prop_map(Act::Open),
        12 => any::<u8>().prop_map(Act::Look),
        2 => Just(Act::Rest),
    ];
    proptest::collection::vec(act, 1_000..1_001).prop_map(Acts)
}

impl Seen {
    fn act(&mut self, act: &Act, sent: &mut u64) {
        let touched = match *act {
            Act::Show(frame) => return self.send(DeskCommand::Show(FrameIndex(frame))),
            Act::Click(at, frame, place) => {
                let object = self.pick(at);
                let at = (f32::from(place % 64), f32::from(place % 48));
                let frame = FrameIndex(frame);
                let mut prompts = self.document.session().prompts(object, frame).cloned().unwrap_or_default();
                prompts.clicks.push(Click { at: Point { x: at.0, y: at.1 }, label: Label::Positive });
                self.document.apply(Edit::SetPrompts { object, frame, prompts }).unwrap();
                *sent += u64::from(self.desk.send(self.answer(object, frame)).is_ok());
                return;
            }
            Act::Hover(at, frame) => {
                let object = self.pick(at);
                let object = ObjectPrompts::of(self.document.session(), object);
                let _ = self.desk.send(DeskCommand::Preview { object, frame: FrameIndex(frame) });
                return;
            }
            Act::Track(at, frame, back) => {
                let object = self.pick(at);
                let direction = if back { Direction::Backward } else { Direction::Forward };
                let _ =
                    self.desk.send(DeskCommand::Track(self.request(&[object], frame, (0, 29), direction)));
                return;
            }
            Act::Cancel => return self.send(DeskCommand::Cancel),
            Act::Undo => self.document.undo(),
            Act::Redo => self.document.redo(),
            Act::Remove(at) => {
                let object = self.pick(at);
                self.document.apply(Edit::RemoveObject(object)).ok()
            }
            Act::Open(well) => {
                let name = if well { "clip" } else { "other" };
                let what = OpenRequest::Video(Input::Path(name.into()));
                let _ = self.desk.send(DeskCommand::Open { what, options: EngineOptions::default() });
                return;
            }
            // A slow window: it looks rarely, and takes only some of what waits.
            Act::Look(most) => {
                let events: Vec<_> = self.desk.events().take(usize::from(most)).collect();
                return events.iter().for_each(|event| self.take(event));
            }
            Act::Rest => return std::thread::sleep(Duration::from_millis(2)),
        };
        for object in touched.map(|t| t.objects).unwrap_or_default() {
            let _ = self.desk.send(DeskCommand::Forget(object));
        }
    }

    fn pick(&mut self, at: usize) -> ObjectId {
        match self.document.session().objects().get(at) {
            Some(object) => object.id,
            None => self.object(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing stale is shown, nothing is lost, nothing hangs; the checks are in [`Seen::take`].
    #[test]
    fn a_thousand_hurried_acts_with_a_slow_window(acts in acts(), opens in any::<bool>()) {
        let world = World::with(|call| {
            if matches!(call, FakeCall::Encode(_)) {
                std::thread::sleep(Duration::from_micros(300));
            }
            Ok(())
        });
        let mut w = world.open();
        let mut sent = 0;
        for act in acts.0.iter().filter(|act| opens || !matches!(act, Act::Open(_))) {
            w.act(act, &mut sent);
        }
        // Whatever was going on, the newest wishes are met in the end.
        w.send(DeskCommand::Cancel);
        w.open("last");
        let marker = w.object();
        w.clicked(marker, 5, (32.0, 24.0));
        w.send(DeskCommand::Show(FrameIndex(21)));
        let newest = w.desk.newest_wish();
        w.until("the newest", |event| matches!(event, DeskEvent::Picture { generation, .. } if *generation == newest));
        prop_assert_eq!(w.shown.map(|(frame, _)| frame), Some(FrameIndex(21)));
        prop_assert_eq!(w.middle(marker, 5), (32, 24));
        prop_assert!(w.failures.iter().all(|f| f.contains("nothing to track")), "{:?}", w.failures);
    }

    /// Every click that was taken is answered, and every run that began ends with all its frames told.
    #[test]
    fn no_answer_is_lost(acts in acts()) {
        let world = World::new();
        let mut w = world.open();
        let mut sent = 0;
        for act in acts.0.iter().filter(|act| !matches!(act, Act::Open(_) | Act::Undo | Act::Redo | Act::Remove(_))) {
            w.act(act, &mut sent);
        }
        w.send(DeskCommand::Cancel);
        let last = w.object();
        // The queue may be full: then it is emptied by listening.
        w.document.apply(Edit::SetPrompts { object: last, frame: FrameIndex(2), prompts: click() }).unwrap();
        while w.desk.send(w.answer(last, FrameIndex(2))).is_err() {
            let events: Vec<_> = w.desk.events().collect();
            events.iter().for_each(|event| w.take(event));
        }
        w.until("the last answer", |event| matches!(event, DeskEvent::Answered { object, .. } if *object == last));
        prop_assert_eq!(w.answers, sent + 1);
        // A run that was cancelled may answer before it ends.
        while w.runs.values().any(|run| run.ended.is_none()) {
            w.run_end();
        }
    }
}

fn click() -> FramePrompts {
    let at = Point { x: 5.0, y: 5.0 };
    FramePrompts { clicks: vec![Click { at, label: Label::Positive }], ..FramePrompts::default() }
}

#[test]
fn the_window_is_woken_for_every_event() {
    let woken = Arc::new(AtomicU64::new(0));
    let world = World::new();
    let tools = Tools { engines: Arc::new(world.clone()), videos: Arc::new(world) };
    let count = woken.clone();
    let desk =
        Desk::start_in(Folders::default(), tools, Arc::new(move || _ = count.fetch_add(1, Ordering::SeqCst)))
            .unwrap();
    let mut w = Seen::new(desk);
    // An event can be taken before the wake that follows it.
    let until_woken = |w: &mut Seen, more: u64| {
        let end = Instant::now() + LONG;
        while woken.load(Ordering::SeqCst) < more {
            assert!(Instant::now() < end, "nobody woke the window");
            let _ = w.desk.wait(Duration::from_millis(1)).map(|event| w.take(&event));
        }
    };
    w.open("clip");
    until_woken(&mut w, 1);
    w.send(DeskCommand::Show(FrameIndex(1)));
    until_woken(&mut w, 2);
}
