//! The status bar: one cell per question, and its answer in full when it is clicked.

use std::time::{Duration, Instant};

use eframe::egui::{Popup, RichText, Ui};

use super::action::Action as A;
use super::inspector::probability;
use super::seen::Seen;
use super::theme::Ink;
use super::work::{EngineState, Opened, Work};

/// Draws the bar.
pub fn show(ui: &mut Ui, seen: &mut Seen<'_>, display_fps: f32) {
    let ink = Ink::of(ui.visuals());
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let work = seen.work;
        let Some(open) = &work.open else {
            let text = match &work.opening {
                Some(what) => format!("opening {what}…"),
                None => "Open a video, a picture folder or a project".to_owned(),
            };
            ui.weak(text);
            return;
        };
        cell(ui, "Frame", frame(open), None, |ui| frame_detail(ui, open, work, display_fps));
        ui.separator();
        cell(ui, "Object", object(open), None, |ui| object_detail(ui, open));
        if let Some(text) = progress(work) {
            ui.separator();
            cell(ui, "Progress", text, Some(ink.accent), |ui| progress_detail(ui, work));
        }
        ui.separator();
        let (text, tint) = device(work, &ink);
        cell(ui, "Device", text, tint, |ui| device_detail(ui, work));
        if let Some(rss) = work.figures.rss {
            ui.separator();
            cell(ui, "Memory", format!("RAM {}", bytes(rss)), None, |ui| memory_detail(ui, open, rss));
        }
        ui.separator();
        let tint = work.unsaved().then_some(ink.warn);
        cell(ui, "Saved", saved(work, open), tint, |ui| saved_detail(ui, seen, open));
    });
}

fn cell(
    ui: &mut Ui,
    name: &str,
    text: String,
    tint: Option<eframe::egui::Color32>,
    detail: impl FnOnce(&mut Ui),
) {
    let mut rich = RichText::new(&text).size(12.0);
    if let Some(tint) = tint {
        rich = rich.color(tint);
    }
    let button = eframe::egui::Button::new(rich).frame_when_inactive(false);
    let response = ui.add(button).accessible_name(format!("{name}: {text}"));
    Popup::from_toggle_button_response(&response).show(|ui| {
        ui.set_min_width(240.0);
        ui.strong(name);
        detail(ui);
    });
}

/// The time of the frame on the canvas: h:mm:ss.cc, or nothing for pictures without times.
pub fn time(open: &Opened) -> String {
    let seconds = open.shown.as_ref().and_then(|shown| shown.pts).map(crate::base::Pts::seconds);
    seconds.map(clock).unwrap_or_default()
}

fn clock(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    let hundredths = (seconds.abs() * 100.0).round() as u64;
    let (h, m, s, c) =
        (hundredths / 360_000, hundredths / 6000 % 60, hundredths / 100 % 60, hundredths % 100);
    format!("{sign}{h}:{m:02}:{s:02}.{c:02}")
}

fn frame(open: &Opened) -> String {
    let last = open.video.frames.saturating_sub(1);
    let rate = open.video.frame_rate.map_or_else(String::new, |_| format!(" · {:.2}", open.rate()));
    let vfr = if open.video.variable_frame_rate { " VFR" } else { "" };
    let time = time(open);
    let time = if time.is_empty() { String::new() } else { format!(" · {time}") };
    format!("frame {}/{last}{time}{rate}{vfr}", open.frame)
}

fn frame_detail(ui: &mut Ui, open: &Opened, work: &Work, display_fps: f32) {
    ui.label(format!("{} frames of {}", open.video.frames, open.video.size));
    if open.seen() != open.frame {
        ui.label(format!("frame {} is being decoded; frame {} is shown", open.frame, open.seen()));
    }
    ui.label(format!("decoding {:.1} frames a second", work.figures.decode_fps));
    ui.label(format!("tracking {:.1} frames a second", work.figures.model_fps));
    ui.label(format!("drawing {display_fps:.0} times a second"));
}

fn object(open: &Opened) -> String {
    let session = open.document.session();
    let Some(object) = open.active.and_then(|id| session.object(id)) else {
        return "no object".into();
    };
    let place = session.objects().iter().position(|o| o.id == object.id).map_or(0, |place| place + 1);
    let score = session.result(object.id, open.seen()).map(|result| probability(result.score));
    let score = score.map_or_else(|| "no mask here".to_owned(), |score| format!("score {score:.2}"));
    format!("object {place} \"{}\" · {score}", object.name)
}

fn object_detail(ui: &mut Ui, open: &Opened) {
    let session = open.document.session();
    for object in session.objects() {
        let masks = session.all_results().filter(|(_, id, _)| *id == object.id).count();
        ui.label(format!("{}: {masks} masks, class {}", object.name, object.class));
    }
    ui.weak(format!("{} objects", session.objects().len()));
}

fn progress(work: &Work) -> Option<String> {
    if let Some(run) = &work.run {
        let speed = run.fps().map_or_else(String::new, |fps| format!(" · {fps:.1} fps"));
        let left = run.time_left().map_or_else(String::new, |left| format!(" · {} left", duration(left)));
        if run.total == 0 {
            return Some("tracking…".into());
        }
        let word = if run.stopping { "stopping" } else { "tracking" };
        return Some(format!("{word} {}/{}{speed}{left}", run.done, run.total));
    }
    if let Some((done, total)) = work.exporting {
        return Some(format!("exporting {done}/{total}"));
    }
    if work.saving {
        return Some("saving…".into());
    }
    let asked = work.open.as_ref().map_or(0, |open| open.asked);
    (asked > 0).then(|| "computing the mask…".to_owned())
}

fn progress_detail(ui: &mut Ui, work: &Work) {
    if let Some(run) = &work.run {
        ui.label(format!("{} of {} frames", run.done, run.total));
        ui.label(format!("{:.1} frames a second", run.fps().unwrap_or_default()));
        ui.weak("Esc stops it; what is finished stays.");
    }
    if let Some((done, total)) = work.exporting {
        ui.label(format!("{done} of {total} frames are written"));
        ui.weak("Esc stops it; nothing unfinished stays.");
    }
}

fn device(work: &Work, ink: &Ink) -> (String, Option<eframe::egui::Color32>) {
    match &work.engine {
        EngineState::Asleep => ("engine not needed yet".into(), None),
        EngineState::Ready(facts) => (format!("{} · {}", facts.device, facts.precision), None),
        EngineState::Failed(_) => ("no engine".into(), Some(ink.bad)),
    }
}

fn device_detail(ui: &mut Ui, work: &Work) {
    match &work.engine {
        EngineState::Asleep => {
            ui.label("The model is loaded at the first click.");
        }
        EngineState::Ready(facts) => {
            ui.label(format!("Device: {}", facts.device));
            ui.label(format!("Arithmetic: {}", facts.precision));
            ui.label(format!("Model: {}", facts.model));
            ui.label(format!("The network sees {0} × {0} pixels", facts.image_size));
            let hash = facts.model_hash.get(..12).unwrap_or(&facts.model_hash);
            ui.weak(format!("SHA-256 {hash}…")).on_hover_text(&facts.model_hash);
        }
        EngineState::Failed(why) => {
            ui.label(why);
            ui.weak("Every click and every run tries again.");
        }
    }
}

fn memory_detail(ui: &mut Ui, open: &Opened, rss: u64) {
    ui.label(format!("The program holds {}", bytes(rss)));
    let (steps, held) = open.document.history_size();
    ui.label(format!("{steps} steps of undo hold {}", bytes(held as u64)));
}

fn saved(work: &Work, open: &Opened) -> String {
    if work.unsaved() {
        return "not saved".into();
    }
    match (open.saved_at, &open.project) {
        (Some(at), _) => format!("saved {} ago", duration(at.elapsed())),
        (None, Some(_)) => "saved".into(),
        (None, None) => "no changes".into(),
    }
}

fn saved_detail(ui: &mut Ui, seen: &mut Seen<'_>, open: &Opened) {
    match &open.project {
        Some(path) => ui.label(path.display().to_string()),
        None => ui.label("There is no project file yet."),
    };
    ui.weak("What is not saved is kept in a journal and offered after a crash.");
    if ui.button(A::Save.name()).clicked() {
        seen.wish(A::Save);
    }
}

/// A size for people.
pub fn bytes(n: u64) -> String {
    match n {
        0..1_000_000 => format!("{:.0} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.0} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}

/// A time for people.
pub fn duration(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min {:02} s", s / 60, s % 60),
        s => format!("{} h {:02} min", s / 3600, s / 60 % 60),
    }
}

/// Counts how often the window is drawn.
pub struct DisplayRate {
    since: Instant,
    drawn: u32,
    /// Times a second, over the last second that counts.
    pub fps: f32,
}

impl Default for DisplayRate {
    fn default() -> Self {
        Self { since: Instant::now(), drawn: 0, fps: 0.0 }
    }
}

impl DisplayRate {
    /// Notes one drawing.
    pub fn note(&mut self, now: Instant) {
        self.drawn += 1;
        let over = now.saturating_duration_since(self.since);
        if over >= Duration::from_secs(1) {
            self.fps = self.drawn as f32 / over.as_secs_f32();
            (self.since, self.drawn) = (now, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_read_well() {
        assert_eq!(clock(41.134), "0:00:41.13");
        assert_eq!(clock(3599.999), "1:00:00.00");
        assert_eq!(clock(-0.5), "-0:00:00.50");
        assert_eq!(duration(Duration::from_secs(3725)), "1 h 02 min");
        assert_eq!((bytes(512_000), bytes(1_500_000_000)), ("512 kB".into(), "1.5 GB".into()));
    }
}
