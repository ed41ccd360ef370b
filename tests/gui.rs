//! The window by label, as a screen reader or a person finds things: with a made-up video and engine, and strict
//! pictures of a few states.
#![cfg(feature = "gui")]

#[path = "gui/made.rs"]
mod made;
#[path = "gui/window.rs"]
mod window;

use eframe::egui::{Key, Modifiers, PointerButton};
use egui_kittest::kittest::Queryable;
use made::Made;
use masklet::base::{FrameIndex, Label, ObjectId};
use masklet::gui::App;
use window::Window;

const ONE: ObjectId = ObjectId(1);
const TWO: ObjectId = ObjectId(2);
const NONE: Modifiers = Modifiers::NONE;

fn masks(app: &App, object: ObjectId) -> usize {
    app.session().map_or(0, |s| s.all_results().filter(|(_, id, _)| *id == object).count())
}

fn clicks(app: &App, object: ObjectId, frame: u32) -> Vec<Label> {
    let prompts = app.session().and_then(|s| s.prompts(object, FrameIndex(frame)));
    prompts.map(|p| p.clicks.iter().map(|click| click.label).collect()).unwrap_or_default()
}

fn area(app: &App, object: ObjectId, frame: u32) -> Option<u64> {
    Some(app.session()?.result(object, FrameIndex(frame))?.mask.area())
}

/// The whole job: open, click, negative click, track, scrub, correct, track again, second object, hide, undo, redo, save,
/// export.
#[test]
fn the_whole_job() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut w) = Window::on_video(Made::default().tools()) else { return };
    w.sees("No object yet");
    w.sees("frame 0/23");

    w.click_at((40.0, 40.0), PointerButton::Primary, NONE);
    w.settle();
    assert_eq!(clicks(w.app(), ONE, 0), [Label::Positive]);
    assert_eq!(masks(w.app(), ONE), 1, "the click is answered");
    w.click_at((60.0, 60.0), PointerButton::Secondary, NONE);
    w.click_at((64.0, 60.0), PointerButton::Primary, Modifiers::ALT);
    w.settle();
    assert_eq!(clicks(w.app(), ONE, 0), [Label::Positive, Label::Negative, Label::Negative]);

    w.key(NONE, Key::T);
    w.settle();
    assert_eq!(masks(w.app(), ONE), 24, "every frame is tracked");
    w.sees("Tracked 24 frames");

    w.key(NONE, Key::Home);
    w.settle();
    w.key(Modifiers::SHIFT, Key::ArrowRight);
    w.settle();
    assert_eq!(w.app().frame(), Some(FrameIndex(10)));
    assert!(clicks(w.app(), ONE, 10).is_empty(), "prompts of one frame never appear on another");
    let before = w.app().session().unwrap().result(ONE, FrameIndex(20)).unwrap().clone();
    w.click_at((100.0, 40.0), PointerButton::Primary, NONE);
    w.settle();
    w.key(NONE, Key::T);
    w.settle();
    let after = w.app().session().unwrap().result(ONE, FrameIndex(20)).unwrap().clone();
    assert_ne!(before.mask, after.mask, "what follows the correction is new");

    // A second object leaves the first alone.
    w.key(NONE, Key::Home);
    w.key(Modifiers::SHIFT, Key::ArrowRight);
    w.settle();
    w.drag((20.0, 20.0), (60.0, 70.0), Modifiers::SHIFT);
    w.settle();
    w.sees("object 2");
    w.key(NONE, Key::T);
    w.settle();
    let again = w.app().session().unwrap().result(ONE, FrameIndex(20)).unwrap().clone();
    assert!(masks(w.app(), TWO) >= 14, "the second object is tracked from frame 10");
    assert_eq!(again.mask, after.mask, "the first object's masks are as they were");

    w.key(NONE, Key::H);
    assert!(w.app().session().unwrap().object(TWO).unwrap().hidden);
    w.key(Modifiers::COMMAND, Key::Z);
    assert!(!w.app().session().unwrap().object(TWO).unwrap().hidden);
    // The run is one step.
    w.key(Modifiers::COMMAND, Key::Z);
    assert_eq!(masks(w.app(), TWO), 1, "the run is one step");
    w.key(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    assert!(masks(w.app(), TWO) >= 14);

    let project = dir.path().join("film é.masklet");
    w.key(Modifiers::COMMAND, Key::S);
    w.write_path("Path of the project file", &project, "Save");
    w.settle();
    assert!(project.is_file());
    w.sees("saved");

    let out = dir.path().join("out");
    w.key(Modifiers::COMMAND, Key::E);
    w.click("COCO instances");
    w.write_path("Folder for the export", &out, "Export");
    w.settle();
    assert!(out.join("masks").is_dir() && out.join("coco.json").is_file());
}

#[test]
fn points_are_selected_moved_and_removed() {
    let Some(mut w) = Window::on_video(Made::default().tools()) else { return };
    w.click_at((40.0, 40.0), PointerButton::Primary, NONE);
    w.click_at((90.0, 40.0), PointerButton::Primary, NONE);
    w.settle();
    w.drag((40.0, 40.0), (50.0, 60.0), NONE);
    w.settle();
    let moved = w.app().session().unwrap().prompts(ONE, FrameIndex(0)).unwrap().clicks[0].at;
    assert!((moved.x - 50.0).abs() < 1.0 && (moved.y - 60.0).abs() < 1.0, "{moved:?}");
    w.click_at((50.0, 60.0), PointerButton::Primary, NONE);
    w.sees("Selected point");
    w.key(NONE, Key::Delete);
    w.settle();
    assert_eq!(clicks(w.app(), ONE, 0).len(), 1);
    // A second click on the selected marker removes it too.
    w.click_at((90.0, 40.0), PointerButton::Primary, NONE);
    w.click_at((90.0, 40.0), PointerButton::Primary, NONE);
    w.settle();
    assert!(clicks(w.app(), ONE, 0).is_empty());
    assert_eq!(masks(w.app(), ONE), 0, "without a prompt there is no answer");
}

#[test]
fn the_preview_changes_nothing() {
    let Some(mut w) = Window::on_video(Made::default().tools()) else { return };
    w.click_at((40.0, 40.0), PointerButton::Primary, NONE);
    w.settle();
    let before = w.app().session().unwrap().clone();
    let at = w.at(100.0, 60.0);
    w.harness.event_modifiers(eframe::egui::Event::PointerMoved(at), Modifiers::SHIFT);
    for _ in 0..40 {
        w.harness.step();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(w.app().session().unwrap().same_content(&before));
}

#[test]
fn a_drag_that_escape_or_another_tool_ends_leaves_nothing() {
    let Some(mut w) = Window::on_video(Made::default().tools()) else { return };
    for key in [Key::Escape, Key::B] {
        let (from, to) = (w.at(20.0, 20.0), w.at(80.0, 70.0));
        w.press(from, PointerButton::Primary, NONE);
        w.harness.event(eframe::egui::Event::PointerMoved(to));
        w.harness.step();
        w.key(NONE, key);
        w.release(to, PointerButton::Primary, NONE);
        assert!(w.app().session().unwrap().objects().is_empty(), "{key:?}");
    }
}

#[test]
fn clicks_on_the_border_and_a_flat_box_do_no_harm() {
    let Some(mut w) = Window::on_video(Made::default().tools()) else { return };
    for at in [(0.0, 0.0), (159.4, 89.4), (159.0, 0.0)] {
        w.click_at(at, PointerButton::Primary, NONE);
    }
    w.settle();
    assert_eq!(clicks(w.app(), ONE, 0).len(), 3);
    w.drag((10.0, 20.0), (90.0, 20.2), NONE);
    w.settle();
    assert!(w.app().session().unwrap().prompts(ONE, FrameIndex(0)).unwrap().bounds.is_none());
}

#[test]
fn escape_stops_a_run_and_keeps_what_is_finished() {
    let made = Made { frames: 400, step: std::time::Duration::from_millis(10), ..Made::default() };
    let Some(mut w) = Window::on_video(made.tools()) else { return };
    w.click_at((40.0, 40.0), PointerButton::Primary, NONE);
    w.settle();
    w.key(NONE, Key::T);
    w.wait("some frames", |app| masks(app, ONE) > 5);
    w.sees("tracking");
    w.key(NONE, Key::Escape);
    w.settle();
    let kept = masks(w.app(), ONE);
    assert!((6..400).contains(&kept), "{kept}");
    w.key(Modifiers::COMMAND, Key::Z);
    assert_eq!(masks(w.app(), ONE), 1, "the run is one step");
}

#[test]
fn a_failed_open_leaves_the_open_work() {
    let Some(mut w) = Window::on_video(Made::default().tools()) else { return };
    w.key(Modifiers::COMMAND, Key::O);
    w.write_path("Path of a video, picture folder or project", "missing.mp4".as_ref(), "Open");
    w.settle();
    w.sees("missing.mp4 does not exist");
    assert!(w.app().session().is_some());
    w.click("Put away");
    w.misses("missing.mp4 does not exist");
}

#[test]
fn closing_with_unsaved_work_asks_and_a_failed_save_keeps_it_open() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut w) = Window::on_video(Made::default().tools()) else { return };
    w.key(NONE, Key::N);
    w.key(Modifiers::COMMAND, Key::W);
    w.sees("Save the work first?");
    w.click("Cancel");
    assert!(w.app().session().is_some());
    w.key(Modifiers::COMMAND, Key::W);
    w.click("Save");
    // A folder in the way of the file.
    let blocked = dir.path().join("x.masklet");
    std::fs::create_dir_all(blocked.join("inside")).unwrap();
    w.write_path("Path of the project file", &blocked, "Save");
    w.settle();
    assert!(w.app().session().is_some(), "what could not be saved stays open");
    w.sees("is not saved");
    w.key(Modifiers::COMMAND, Key::W);
    w.click("Do not save");
    w.settle_closed();
}

impl Window {
    fn settle_closed(&mut self) {
        self.wait("the empty window", |app| app.session().is_none());
        self.sees("Open the demo clip");
    }
}

#[test]
fn an_engine_that_fails_is_said_once_and_does_not_stop_the_window() {
    let Some(mut w) = Window::on_video(Made { broken_engine: true, ..Made::default() }.tools()) else {
        return;
    };
    w.click_at((40.0, 40.0), PointerButton::Primary, NONE);
    w.settle();
    w.sees("this is no model");
    w.sees("no engine");
    w.key(NONE, Key::ArrowRight);
    w.settle();
    assert_eq!(w.app().frame(), Some(FrameIndex(1)));
}

#[test]
fn the_palette_finds_and_the_sheet_remaps() {
    let Some(mut w) = Window::on_video(Made::default().tools()) else { return };
    w.key(Modifiers::COMMAND, Key::P);
    w.text("new obj");
    w.key(NONE, Key::Enter);
    assert_eq!(w.app().session().unwrap().objects().len(), 1);
    w.key(NONE, Key::F1);
    w.click("Key for New object");
    w.key(NONE, Key::F9);
    w.click("Done");
    w.key(NONE, Key::N);
    w.key(NONE, Key::F9);
    assert_eq!(w.app().session().unwrap().objects().len(), 2, "only the new key works");
}

#[test]
fn names_of_every_script_are_shown() {
    let Some(mut w) = Window::on_video(Made::default().tools()) else { return };
    w.key(NONE, Key::N);
    w.key(NONE, Key::F2);
    w.key(Modifiers::COMMAND, Key::A);
    w.text("Zoë the cat");
    w.key(NONE, Key::Enter);
    assert_eq!(w.app().session().unwrap().objects()[0].name, "Zoë the cat");
    w.sees("Zoë the cat");
}

#[test]
fn picture_of_the_empty_window() {
    let Some(mut w) = Window::new(Made::default().tools(), None) else { return };
    w.harness.run_steps(4);
    w.harness.snapshot("welcome");
}

#[test]
fn picture_of_a_tracked_object() {
    let Some(mut w) = Window::on_video(Made::default().tools()) else { return };
    w.click_at((80.0, 45.0), PointerButton::Primary, NONE);
    w.settle();
    w.key(NONE, Key::T);
    w.settle();
    w.click("Put away");
    w.key(NONE, Key::Home);
    w.settle();
    w.harness.remove_cursor();
    w.still_figures();
    w.harness.snapshot("tracked");
}

/// The mask lies exactly over its pixels, at 800 % and on a screen with a fractional scale.
#[test]
fn the_overlay_is_exact() {
    let Some(mut w) = Window::on_video(Made::default().tools()) else { return };
    w.click_at((80.0, 45.0), PointerButton::Primary, NONE);
    w.settle();
    for scale in [1.0, 1.25] {
        w.harness.set_pixels_per_point(scale);
        w.harness.run_steps(2);
        // Matte: white where the mask is.
        w.show_matte_at(8.0);
        let mask = w.app().session().unwrap().result(ONE, FrameIndex(0)).unwrap().mask.decode();
        let picture = w.harness.render().expect("drawn");
        let mut checked = 0;
        for (x, y) in (60..100u32).flat_map(|x| (30..60u32).map(move |y| (x, y))) {
            let middle = w.at(x as f32, y as f32) * scale;
            // The corners of the pixel on the screen, just inside.
            for (dx, dy) in [(-3.4, -3.4), (3.4, -3.4), (-3.4, 3.4), (3.4, 3.4)] {
                let (px, py) = ((middle.x + dx) as u32, (middle.y + dy) as u32);
                let Some([r, g, b, _]) = picture.get_pixel_checked(px, py).map(|p| p.0) else { continue };
                if (r, g, b) != (255, 255, 255) && (r, g, b) != (0, 0, 0) {
                    continue; // a marker, a panel
                }
                assert_eq!(r == 255, mask.get(x, y), "pixel {x}, {y} at scale {scale}");
                checked += 1;
            }
        }
        assert!(checked > 500, "only {checked} places were seen at scale {scale}");
    }
    assert!(area(w.app(), ONE, 0).is_some_and(|area| area > 50));
}

impl Window {
    /// Leaves the figures out that differ from machine to machine.
    fn still_figures(&mut self) {
        let rects: Vec<_> =
            self.harness.query_all_by_label_contains("Memory: ").map(|node| node.rect()).collect();
        assert!(rects.len() <= 1);
        rects.into_iter().for_each(|rect| self.harness.mask(rect.expand(2.0)));
    }

    fn show_matte_at(&mut self, zoom: f32) {
        self.harness.state_mut().look("matte", zoom);
        self.harness.run_steps(3);
    }
}

/// Not a test but a measurement: the time that the drawing thread needs a frame while an engine of 500 ms a step tracks.
/// Its own processor time, so that a busy machine does not count; the graphics card's part is not in it.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "a measurement: cargo test --release --test gui -- --ignored --nocapture"]
#[allow(clippy::print_stdout, reason = "it prints figures")]
fn time_of_a_frame_while_tracking() {
    let step = std::time::Duration::from_millis(500);
    let size = masklet::base::Size::new(1280, 720);
    let Some(mut w) = Window::on_video(Made { frames: 2000, size, step, ..Made::default() }.tools()) else {
        return;
    };
    w.click_at((400.0, 400.0), PointerButton::Primary, NONE);
    w.settle();
    w.key(NONE, Key::T);
    let since = std::time::Instant::now();
    let mut times = Vec::new();
    while since.elapsed() < std::time::Duration::from_secs(8) {
        let before = processor_time();
        w.harness.step();
        times.push(processor_time().saturating_sub(before));
    }
    w.key(NONE, Key::Escape);
    times.sort_unstable();
    let ms = |share: f64| times[((times.len() - 1) as f64 * share) as usize] as f64 / 1e6;
    println!("{} frames: p50 {:.2} ms, p99 {:.2} ms of processor time", times.len(), ms(0.5), ms(0.99));
    // Unoptimised, it only shows that nothing waits for the engine.
    assert!(ms(0.99) <= if cfg!(debug_assertions) { 160.0 } else { 16.0 });
}

/// Nanoseconds that this thread has computed.
#[cfg(target_os = "linux")]
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts it");
    text.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
}

/// What was not saved is offered when the app starts again after it was killed.
#[test]
fn work_that_was_not_saved_is_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let film = folder.path().join("film.mp4");
    std::fs::write(&film, b"made up").unwrap();
    let journals = folder.path().join("journals");
    let Some(mut w) = Window::with_journals(Made::default().tools(), Some(film.as_path()), &journals) else {
        return;
    };
    w.wait("the picture", |app| app.idle() && app.frame().is_some());
    w.click_at((40.0, 40.0), PointerButton::Primary, NONE);
    w.settle();
    w.key(NONE, Key::T);
    w.settle();
    let before = w.app().session().unwrap().clone();
    // Gone without a word: closing keeps the journal of work that was not saved.
    drop(w);
    let since = std::time::Instant::now();
    loop {
        let Some(mut w) = Window::with_journals(Made::default().tools(), None, &journals) else { return };
        w.harness.run_steps(2);
        std::thread::sleep(std::time::Duration::from_millis(100));
        w.harness.run_steps(4);
        if w.harness.query_by_label("Recover").is_some() {
            w.click("Recover");
            w.wait("the work", |app| app.session().is_some_and(|s| s.same_content(&before)));
            w.sees("not saved");
            return;
        }
        assert!(since.elapsed() < std::time::Duration::from_secs(20), "the work is not offered");
    }
}
