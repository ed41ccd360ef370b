//! A window without a screen: events in, labels and pictures out.

use std::path::Path;
use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers, PointerButton, Pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use masklet::gui::{App, Setup};
use masklet::pipeline::{Folders, Input, OpenRequest, Tools};
use masklet::settings::Settings;

pub struct Window {
    pub harness: Harness<'static, App>,
    /// Where the made-up video lies: a project asks for a file.
    _folder: Option<tempfile::TempDir>,
}

/// What a test waits for at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether there is something that draws; says so loudly where there is not.
#[allow(clippy::print_stderr, reason = "a test that tests nothing must say so")]
pub fn can_draw() -> bool {
    use eframe::wgpu;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let found = !pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all())).is_empty();
    if !found {
        let said = "no graphics adapter: install mesa-vulkan-drivers (./dev setup does)";
        assert!(std::env::var_os("CI").is_none(), "{said}");
        eprintln!("SKIPPED, NOTHING WAS TESTED: {said}");
    }
    found
}

impl Window {
    /// A window on a made-up video; `None` where nothing can draw.
    pub fn on_video(tools: Tools) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let film = folder.path().join("film.mp4");
        std::fs::write(&film, b"made up").expect("a file");
        let mut window = Self::new(tools, Some(OpenRequest::Video(Input::Path(film))))?;
        window._folder = Some(folder);
        window.wait("the picture", |app| app.idle() && app.frame().is_some());
        Some(window)
    }

    pub fn new(tools: Tools, open: Option<OpenRequest>) -> Option<Self> {
        Self::build(tools, open, Folders::default())
    }

    /// A window that keeps its journals in a folder, and looks there for work that was left.
    pub fn with_journals(tools: Tools, film: Option<&Path>, journals: &Path) -> Option<Self> {
        let open = film.map(|film| OpenRequest::Video(Input::Path(film.into())));
        let folders = Folders { journals: Some(journals.into()), ..Folders::default() };
        Self::build(tools, open, folders)
    }

    fn build(tools: Tools, open: Option<OpenRequest>, folders: Folders) -> Option<Self> {
        if !can_draw() {
            return None;
        }
        let mut settings = Settings::default();
        settings.window.tour_done = true;
        let setup = Setup {
            tools,
            settings,
            settings_path: None,
            open,
            session: None,
            folders,
            native_dialogs: false,
        };
        let harness = Harness::builder()
            .with_size([1200.0, 760.0])
            .with_max_steps(16)
            .with_render_cursor(false)
            .wgpu()
            .build_eframe(move |cc| {
                assert!(cc.wgpu_render_state.is_some(), "the canvas would silently stay empty");
                App::new(cc, setup).expect("threads can be started")
            });
        Some(Self { harness, _folder: None })
    }

    pub fn app(&self) -> &App {
        self.harness.state()
    }

    /// Draws until `done`.
    #[track_caller]
    pub fn wait(&mut self, what: &str, done: impl Fn(&App) -> bool) {
        let since = Instant::now();
        loop {
            self.harness.step();
            if done(self.app()) {
                break;
            }
            assert!(since.elapsed() < PATIENCE, "{what} never came");
            std::thread::sleep(Duration::from_millis(2));
        }
        // What followed from the last event is drawn too.
        self.harness.run_steps(2);
    }

    /// Draws until nothing is computed, tracked, exported or saved.
    #[track_caller]
    pub fn settle(&mut self) {
        self.harness.run_steps(2);
        self.wait("rest", App::idle);
    }

    /// Clicks on what has this name.
    #[track_caller]
    pub fn click(&mut self, label: &str) {
        let button = self.harness.query_by_role_and_label(Role::Button, label);
        button.unwrap_or_else(|| self.harness.get_by_label(label)).click();
        self.harness.run_steps(3);
    }

    #[track_caller]
    pub fn sees(&self, label: &str) {
        let found = self.harness.query_all_by_label_contains(label).count();
        assert!(found > 0, "nothing is labelled {label:?}");
    }

    #[track_caller]
    pub fn misses(&self, label: &str) {
        let found = self.harness.query_all_by_label_contains(label).count();
        assert_eq!(found, 0, "something is labelled {label:?}");
    }

    pub fn key(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.harness.run_steps(3);
    }

    pub fn text(&mut self, text: &str) {
        self.harness.event(Event::Text(text.to_owned()));
        self.harness.run_steps(2);
    }

    /// Where a pixel of the picture lies.
    #[track_caller]
    pub fn at(&self, x: f32, y: f32) -> Pos2 {
        self.app().place(x, y).expect("a picture is shown")
    }

    /// A press and a release on the picture.
    pub fn click_at(&mut self, (x, y): (f32, f32), button: PointerButton, modifiers: Modifiers) {
        let pos = self.at(x, y);
        self.press(pos, button, modifiers);
        self.release(pos, button, modifiers);
    }

    /// A drag on the picture.
    pub fn drag(&mut self, from: (f32, f32), to: (f32, f32), modifiers: Modifiers) {
        let (a, b) = (self.at(from.0, from.1), self.at(to.0, to.1));
        self.press(a, PointerButton::Primary, modifiers);
        for i in 1..=4 {
            self.harness.event(Event::PointerMoved(a + (b - a) * (i as f32 / 4.0)));
            self.harness.step();
        }
        self.release(b, PointerButton::Primary, modifiers);
    }

    pub fn press(&mut self, pos: Pos2, button: PointerButton, modifiers: Modifiers) {
        self.harness.event_modifiers(Event::PointerMoved(pos), modifiers);
        self.harness.step();
        self.harness
            .event_modifiers(Event::PointerButton { pos, button, pressed: true, modifiers }, modifiers);
        self.harness.step();
    }

    pub fn release(&mut self, pos: Pos2, button: PointerButton, modifiers: Modifiers) {
        self.harness
            .event_modifiers(Event::PointerButton { pos, button, pressed: false, modifiers }, modifiers);
        self.harness.run_steps(3);
    }

    /// Writes a path into the dialog that asks for one.
    #[track_caller]
    pub fn write_path(&mut self, field: &str, path: &Path, button: &str) {
        let path = path.to_str().expect("UTF-8");
        self.harness.get_by_role_and_label(Role::TextInput, field).focus();
        self.harness.run_steps(2);
        self.key(Modifiers::COMMAND, Key::A);
        self.harness.get_by_role_and_label(Role::TextInput, field).type_text(path);
        self.harness.run_steps(2);
        self.click(button);
    }
}
