//! The window: its state, what it does before it draws, and how its parts lie.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::{CentralPanel, Context, Frame, Margin, Panel, Ui, ViewportCommand};

use super::canvas::{self, Canvas};
use super::dialog::{After, Dialog};
use super::files::Asking;
use super::inspector::{Choices, Inspector};
use super::keys::{Focus, Keys};
use super::log::Log;
use super::objects::List;
use super::recover::Search;
use super::seen::Seen;
use super::status::DisplayRate;
use super::timeline::Timeline;
use super::toasts::Toasts;
use super::wish::Wish;
use super::work::{Work, file_name};
use super::{hints, menu, status, theme, toolbar};
use crate::pipeline::{EngineOptions, ExportPlan, Folders, ModelChoice, OpenRequest, PauseRules, Tools};
use crate::session::Session;
use crate::settings::Settings;

/// What a window begins with.
pub struct Setup {
    /// How engines and videos are made.
    pub tools: Tools,
    /// What the app remembers.
    pub settings: Settings,
    /// Where that is written; nowhere in tests.
    pub settings_path: Option<PathBuf>,
    /// What is opened at once.
    pub open: Option<OpenRequest>,
    /// What the document begins with, if that is a video of its size and length.
    pub session: Option<Box<Session>>,
    /// Where the desk keeps journals.
    pub folders: Folders,
    /// Use the system's file dialogs; without them a path is written.
    pub native_dialogs: bool,
}

impl Setup {
    /// The real tools and the person's settings.
    pub fn native(open: Option<OpenRequest>, session: Option<Box<Session>>) -> Self {
        Self {
            tools: Tools::native(),
            settings: Settings::load(),
            settings_path: Settings::path(),
            open,
            session,
            folders: Folders::of_user(),
            native_dialogs: true,
        }
    }
}

/// Time that the thread that draws needed for one frame each, without the drawing itself.
#[derive(Clone, Debug, Default)]
pub struct FrameTimes {
    times: std::collections::VecDeque<Duration>,
    logic: Duration,
}

/// Frames that are remembered.
const FRAMES: usize = 4096;

impl FrameTimes {
    fn drawn(&mut self, ui: Duration) {
        self.times.push_back(self.logic + ui);
        if self.times.len() > FRAMES {
            self.times.pop_front();
        }
    }

    /// The time that `share` (0 to 1) of the frames stayed below.
    pub fn quantile(&self, share: f64) -> Duration {
        let mut sorted: Vec<_> = self.times.iter().copied().collect();
        sorted.sort_unstable();
        let at = (sorted.len() as f64 * share).ceil() as usize;
        sorted.get(at.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or_default()
    }

    /// Number of frames that are remembered.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether nothing was drawn yet.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }
}

/// The window.
pub struct App {
    pub(super) work: Work,
    pub(super) canvas: Canvas,
    pub(super) keys: Keys,
    pub(super) settings: Settings,
    settings_path: Option<PathBuf>,
    saved_settings: Settings,
    pub(super) dialog: Option<Dialog>,
    pub(super) asking: Option<Asking>,
    pub(super) search: Option<Search>,
    pub(super) native_dialogs: bool,
    pub(super) after_save: Option<After>,
    pub(super) missing: Option<PathBuf>,
    pub(super) last_export: Option<ExportPlan>,
    pub(super) log: Log,
    pub(super) toasts: Toasts,
    pub(super) list: List,
    inspector: Inspector,
    timeline: Timeline,
    display_rate: DisplayRate,
    pub(super) started: Instant,
    pub(super) leaving: bool,
    title: String,
    times: FrameTimes,
}

impl App {
    /// A window for `cc`'s context.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn new(
        cc: &eframe::CreationContext<'_>,
        setup: Setup,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let Setup { tools, settings, settings_path, open, session, folders, native_dialogs } = setup;
        theme::install(&cc.egui_ctx);
        cc.egui_ctx.set_theme(theme::preference(&settings.window.theme));
        // Without a graphics card (a test of the logic) nothing is drawn on the canvas.
        let limit = cc.wgpu_render_state.as_ref().map_or(8192, canvas::install);
        let ctx = cc.egui_ctx.clone();
        let remembered = &settings.window;
        let options = EngineOptions {
            model: remembered.model.clone().map_or(ModelChoice::Embedded, ModelChoice::File),
            size: remembered.size,
            threads: remembered.threads,
            ..EngineOptions::default()
        };
        let mut work = Work::start(tools, options, folders.clone(), Arc::new(move || ctx.request_repaint()))?;
        work.begin_with(session);
        if let Some(open) = open {
            work.open(open);
        }
        let mut canvas = Canvas::new(limit);
        canvas.opacity = f32::from(settings.window.opacity) / 100.0;
        Ok(Self {
            work,
            canvas,
            keys: Keys::with(&settings.window.keys),
            saved_settings: settings.clone(),
            settings,
            settings_path,
            dialog: None,
            asking: None,
            search: Search::start(folders, &cc.egui_ctx),
            native_dialogs,
            after_save: None,
            missing: None,
            last_export: None,
            log: Log::default(),
            toasts: Toasts::default(),
            list: List::default(),
            inspector: Inspector::default(),
            timeline: Timeline::default(),
            display_rate: DisplayRate::default(),
            started: Instant::now(),
            leaving: false,
            title: String::new(),
            times: FrameTimes::default(),
        })
    }

    /// Time that the frames needed so far, for measurements.
    pub fn frame_times(&self) -> &FrameTimes {
        &self.times
    }

    /// What the document holds, for tests: objects, prompts, masks.
    pub fn session(&self) -> Option<&Session> {
        self.work.session()
    }

    /// The frame that is shown.
    pub fn frame(&self) -> Option<crate::base::FrameIndex> {
        self.work.open.as_ref().map(super::work::Opened::seen)
    }

    /// Whether nothing is being opened, computed, tracked, exported or saved.
    pub fn idle(&self) -> bool {
        let asked = self.work.open.as_ref().is_some_and(|open| open.asked > 0 || open.shown.is_none());
        !self.work.busy() && !self.work.saving && !asked
    }

    /// Where a pixel of the picture lies in the window; `None` before it was drawn.
    pub fn place(&self, x: f32, y: f32) -> Option<eframe::egui::Pos2> {
        Some(self.canvas.placed?.to_window(crate::base::Point { x, y }))
    }

    pub(super) fn pause_rules(&self) -> PauseRules {
        let crate::settings::PauseSettings { score, flood, area, cut } = self.settings.window.pause;
        PauseRules { score, flood, area, cut }
    }

    /// Keys, news, playback: everything that is no drawing.
    fn step(&mut self, ctx: &Context, now: Instant) {
        for news in self.work.hear(now) {
            self.take_news(news, ctx, now);
        }
        self.take_dialog_answer(ctx, now);
        self.take_left_over();
        self.take_dropped(ctx);
        if let Some(wait) = self.work.advance(now) {
            ctx.request_repaint_after(wait);
        }
        self.work.tick();
        self.canvas.prepare(&self.work);
        if let Some(wait) = self.toasts.expire(now) {
            ctx.request_repaint_after(wait);
        }
        if self.work.open.as_ref().is_some_and(|open| open.saved_at.is_some()) {
            ctx.request_repaint_after(Duration::from_secs(1));
        }
        if ctx.input(|i| i.viewport().close_requested()) && !self.leaving {
            if self.work.unsaved() {
                ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            }
            self.lose_or_ask(After::Quit, ctx);
        }
        self.set_title(ctx);
        self.keep_settings();
    }

    fn set_title(&mut self, ctx: &Context) {
        let title = match &self.work.open {
            None => "Masklet".to_owned(),
            Some(open) => {
                let name = file_name(open.project.as_ref().unwrap_or(&open.video.path));
                let mark = if self.work.unsaved() { "• " } else { "" };
                format!("{mark}{name} - Masklet")
            }
        };
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    /// Writes settings that changed, on a thread of its own.
    fn keep_settings(&mut self) {
        self.settings.window.opacity = (self.canvas.opacity * 100.0).round() as u8;
        if self.settings == self.saved_settings {
            return;
        }
        self.saved_settings = self.settings.clone();
        let Some(path) = self.settings_path.clone() else { return };
        let settings = self.settings.clone();
        let body = move || {
            // A setting that cannot be kept is no reason to disturb anyone.
            let _ = settings.save_to(&path);
        };
        let _ = std::thread::Builder::new().name("masklet-settings".into()).spawn(body);
    }

    fn keys(&mut self, ctx: &Context, now: Instant) {
        if self.dialog.is_some() {
            return;
        }
        let focused = ctx.memory(|memory| memory.focused());
        let focus = if ctx.text_edit_focused() {
            Focus::Text
        } else if focused.is_none_or(|id| id == canvas::focus_id()) {
            Focus::Picture
        } else {
            Focus::Control
        };
        let panned = self.canvas.panned_with_space;
        let asked = ctx.input(|i| self.keys.asked(i, focus, panned));
        if ctx.input(|i| i.key_released(eframe::egui::Key::Space)) {
            self.canvas.panned_with_space = false;
        }
        for action in asked {
            self.perform(action, ctx, now);
        }
        if focus == Focus::Picture {
            self.digits(ctx);
        }
    }

    fn draw(&mut self, ui: &mut Ui, now: Instant) {
        let mut wishes = Vec::new();
        self.bars(ui, &mut wishes);
        self.sides(ui, &mut wishes);
        CentralPanel::default().frame(Frame::NONE).show(ui, |ui| self.centre(ui, &mut wishes));
        let ctx = ui.ctx().clone();
        if let Some(dialog) = &mut self.dialog
            && let Some(outcome) = dialog.show(&ctx, &self.work, &self.keys)
        {
            self.take_outcome(outcome, &ctx, now);
        }
        for wish in wishes {
            self.fulfil(wish, &ctx, now);
        }
    }

    fn bars(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let bar = |ui: &Ui| Frame::side_top_panel(ui.style()).inner_margin(Margin::symmetric(8, 4));
        let frame = bar(ui);
        let mut seen = Seen { work: &self.work, canvas: &self.canvas, keys: &self.keys, wishes };
        Panel::top("menu")
            .frame(frame)
            .show(ui, |ui| menu::show(ui, &mut seen, &self.settings.window.recent));
        let choice = Panel::top("toolbar").frame(frame).show(ui, |ui| toolbar::show(ui, &mut seen)).inner;
        let fps = self.display_rate.fps;
        Panel::bottom("status")
            .frame(bar(ui).inner_margin(Margin::symmetric(8, 2)))
            .show(ui, |ui| status::show(ui, &mut seen, fps));
        if self.work.open.is_some() {
            let timeline = &mut self.timeline;
            Panel::bottom("timeline")
                .resizable(true)
                .default_size(184.0)
                .size_range(90.0..=420.0)
                .frame(bar(ui))
                .show(ui, |ui| timeline.show(ui, &mut seen));
        }
        self.canvas.overlay = choice.overlay;
        if self.log.open {
            let log = &mut self.log;
            Panel::bottom("log")
                .resizable(true)
                .default_size(130.0)
                .frame(bar(ui))
                .show(ui, |ui| log.show(ui));
        }
    }

    fn sides(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        if self.work.open.is_none() {
            return;
        }
        let frame = Frame::side_top_panel(ui.style()).inner_margin(Margin::same(10));
        let choices =
            Choices { pause: self.pause_rules(), opacity: self.canvas.opacity, brush: self.canvas.brush };
        let mut seen = Seen { work: &self.work, canvas: &self.canvas, keys: &self.keys, wishes };
        let list = &mut self.list;
        Panel::left("objects")
            .resizable(true)
            .default_size(224.0)
            .size_range(170.0..=360.0)
            .frame(frame)
            .show(ui, |ui| {
                if let (false, Some(open)) = (self.settings.window.tour_done, &self.work.open) {
                    let tour = Panel::bottom("tour").frame(Frame::NONE.inner_margin(Margin::symmetric(0, 8)));
                    let away = tour.show(ui, |ui| hints::tour(ui, open, &self.keys)).inner;
                    self.settings.window.tour_done = away;
                }
                list.show(ui, &mut seen);
            });
        let inspector = &mut self.inspector;
        let choices = Panel::right("inspector")
            .resizable(true)
            .default_size(236.0)
            .size_range(200.0..=380.0)
            .frame(frame)
            .show(ui, |ui| inspector.show(ui, &mut seen, choices))
            .inner;
        let PauseRules { score, flood, area, cut } = choices.pause;
        self.settings.window.pause = crate::settings::PauseSettings { score, flood, area, cut };
        (self.canvas.opacity, self.canvas.brush) = (choices.opacity, choices.brush);
    }

    fn centre(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let Some(open) = &self.work.open else {
            hints::welcome(ui, &self.keys, &self.settings.window.recent, wishes);
            self.toasts.show(ui, wishes);
            return;
        };
        self.canvas.show(ui, &self.work, open, wishes);
        if let Some(text) = self.pause_text()
            && hints::paused(ui, &text, &self.keys, wishes)
        {
            self.work.pause = None;
        }
        self.toasts.show(ui, wishes);
    }

    /// Sets the overlay style by its name, and the zoom in physical pixels per pixel, for measurements of the drawing.
    pub fn look(&mut self, overlay: &str, zoom: f32) {
        let found = canvas::Overlay::ALL.into_iter().find(|o| o.name().eq_ignore_ascii_case(overlay));
        self.canvas.overlay = found.unwrap_or(self.canvas.overlay);
        self.canvas.zoom_to(zoom);
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, _: &mut eframe::Frame) {
        let now = Instant::now();
        self.step(ctx, now);
        self.times.logic = now.elapsed();
    }

    fn on_exit(&mut self) {
        /// Time for the desk to put the journal away; the window is gone already.
        const LAST: Duration = Duration::from_millis(200);
        std::thread::sleep(LAST);
    }

    fn ui(&mut self, ui: &mut Ui, _: &mut eframe::Frame) {
        let now = Instant::now();
        let ctx = ui.ctx().clone();
        self.keys(&ctx, now);
        self.draw(ui, now);
        self.display_rate.note(now);
        self.times.drawn(now.elapsed());
    }
}
