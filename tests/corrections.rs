//! Corrections that stick, with the built-in model on the demo clip, through the desk as a window uses it: the wrong object
//! is tracked, corrected with clicks, and what follows obeys, forward and backward, the first time and the second.
//!
//! Minutes of computing: `cargo test --release --test corrections -- --ignored`.
#![cfg(feature = "embedded-model")]
#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

use std::sync::Arc;
use std::time::Duration;

use masklet::base::{Direction, FrameIndex, FramePrompts, FrameRange, Mask, ObjectId, Rle};
use masklet::demo::DemoClip;
use masklet::metrics::{next_click, region_similarity};
use masklet::pipeline::{
    Desk, DeskCommand, DeskEvent, EngineOptions, Folders, Input, ObjectPrompts, OpenRequest, PauseRules,
    RunRequest, Tools,
};
use masklet::session::{Document, Edit};

/// Objects of the clip by their place in its list.
const BALL: usize = 0;
const CAR: usize = 1;
const KITE: usize = 3;

/// A window on the demo clip with one object in it.
struct Window {
    desk: Desk,
    document: Document,
    object: ObjectId,
    direction: Direction,
    /// The frame of step 0.
    start: u32,
}

impl Window {
    fn open(direction: Direction, start: u32) -> Self {
        let desk = Desk::start_in(Folders::default(), Tools::native(), Arc::new(|| {})).unwrap();
        let options = EngineOptions { threads: Some(1), ..EngineOptions::default() };
        desk.send(DeskCommand::Open { what: OpenRequest::Video(Input::Demo), options }).unwrap();
        let mut document = Document::new(DemoClip::SIZE, DemoClip::FRAMES);
        let object = document.apply(Edit::AddObject { name: None, class: None }).unwrap().added.unwrap();
        let mut window = Self { desk, document, object, direction, start };
        window.until(|event| matches!(event, DeskEvent::Opened { .. }));
        window
    }

    fn until(&mut self, wanted: impl Fn(&DeskEvent) -> bool) {
        loop {
            let event = self.desk.wait(Duration::from_secs(600)).expect("the engine answers");
            let done = wanted(&event);
            match event {
                DeskEvent::Answered { object, frame, prompts, result } => {
                    self.document.answer(object, frame, &prompts, result);
                }
                DeskEvent::Tracked { frame, results, .. } => {
                    drop(self.document.add_run_results(frame, results))
                }
                DeskEvent::Failed { what, error } => panic!("{what}: {error}"),
                DeskEvent::EngineFailed { error } => panic!("{error}"),
                DeskEvent::Panicked { thread, text } => panic!("{thread}: {text}"),
                _ => {}
            }
            if done {
                return;
            }
        }
    }

    /// The frame that is `step` frames on in the direction of travel.
    fn frame(&self, step: u32) -> FrameIndex {
        FrameIndex(match self.direction {
            Direction::Forward => self.start + step,
            Direction::Backward => self.start - step,
        })
    }

    fn truth(&self, step: u32, who: usize) -> Mask {
        DemoClip.truth(self.frame(step)).swap_remove(who).1
    }

    fn mask(&self, step: u32) -> Mask {
        let result = self.document.session().result(self.object, self.frame(step));
        result.map_or_else(|| Mask::empty(DemoClip::SIZE), |result| result.mask.decode())
    }

    fn say(&mut self, step: u32, prompts: FramePrompts) {
        let (object, frame) = (self.object, self.frame(step));
        self.document.apply(Edit::SetPrompts { object, frame, prompts }).unwrap();
        let object = ObjectPrompts::of(self.document.session(), object);
        self.desk.send(DeskCommand::Answer { object, frame }).unwrap();
        self.until(|event| matches!(event, DeskEvent::Answered { .. }));
    }

    /// The exact mask of `who` as a prompt.
    fn say_mask(&mut self, step: u32, who: usize) {
        let mask = Some(Rle::encode(&self.truth(step, who)));
        self.say(step, FramePrompts { mask, ..FramePrompts::default() });
    }

    /// Clicks where the error is largest, as a person does, until the mask is good or four times.
    fn correct(&mut self, step: u32, who: usize) {
        let truth = self.truth(step, who);
        let mut prompts = FramePrompts::default();
        while prompts.clicks.len() < 4 && region_similarity(&self.mask(step), &truth).unwrap() < 0.8 {
            prompts.clicks.extend(next_click(&self.mask(step), &truth).unwrap());
            self.say(step, prompts.clone());
        }
    }

    fn track(&mut self, from: u32, to: u32) {
        let (a, b) = (self.frame(from), self.frame(to));
        let range = FrameRange { first: a.min(b), last: a.max(b) };
        let mut request = RunRequest::of(self.document.session(), &[self.object], a, range, self.direction);
        request.pause = PauseRules::OFF;
        self.document.begin_run("track");
        self.desk.send(DeskCommand::Track(request)).unwrap();
        self.until(|event| matches!(event, DeskEvent::RunEnded { .. }));
        self.document.end_run();
    }

    /// Mean IoU with `who` from one step to another.
    fn iou(&self, from: u32, to: u32, who: usize) -> f64 {
        let each =
            (from..=to).map(|step| region_similarity(&self.mask(step), &self.truth(step, who)).unwrap());
        each.sum::<f64>() / f64::from(to - from + 1)
    }
}

/// The kite is tracked though the car was meant; a correction at step 4 makes it the car, another at step 7 the ball.
fn corrected(direction: Direction, start: u32) {
    let mut best = Window::open(direction, start);
    best.say_mask(4, CAR);
    best.track(4, 9);
    let best = best.iou(5, 9, CAR);

    let mut window = Window::open(direction, start);
    window.say_mask(0, KITE);
    window.track(0, 9);
    let wrong = window.iou(1, 9, KITE);
    let before = window.iou(5, 9, CAR);
    assert!(wrong > 0.4 && before < 0.1, "the wrong object is tracked: {wrong:.3}, {before:.3}");

    window.correct(4, CAR);
    let said = window.iou(4, 4, CAR);
    let kept = window.mask(3);
    window.track(4, 9);
    let after = window.iou(5, 9, CAR);
    assert!(said > 0.6, "the corrected frame itself: {said:.3}");
    assert!(after > before + 0.5 && after > best - 0.2, "after {after:.3}, mask-prompted {best:.3}");
    assert_eq!(window.mask(3), kept, "frames before the correction stay as they were");

    window.correct(7, BALL);
    let said = window.iou(7, 7, BALL);
    window.track(7, 9);
    let second = window.iou(8, 9, BALL);
    // How well clicks draw the ball is the weights' matter; that the frames after follow them is ours.
    assert!(said > 0.4, "the frame corrected next: {said:.3}");
    assert!(second > 0.5 && second > said - 0.2, "a second correction: {said:.3}, then {second:.3}");
}

#[test]
#[ignore = "minutes of computing"]
fn what_follows_a_correction_obeys_it_forward() {
    corrected(Direction::Forward, 0);
}

#[test]
#[ignore = "minutes of computing"]
fn what_follows_a_correction_obeys_it_backward() {
    corrected(Direction::Backward, 20);
}
