//! The subcommands that run a job: track, segment, demo.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded, select};

use super::args::{DemoArgs, ExportArgs, ProjectArgs, SegmentArgs, TalkArgs, TrackArgs};
use super::demo_result::DemoResult;
use super::exit::Exit;
use super::object_args::ObjectArgs;
use super::out::Out;
use super::report::Report;
use super::{Next, Opening};
use crate::base::ExportOptions;
use crate::pipeline::{
    Answer, Canceller, Command, Event, ExportPlan, Input, OpenRequest, PipelineError, ProjectExport,
    ProjectSpec, Query, Reach, Runner, Tools, TrackJob,
};
use crate::settings::Settings;

/// `masklet track`.
pub(super) fn track(args: TrackArgs, out: &mut Out) -> Exit {
    let Some(mut job) = subject(args.video, args.moved, args.objects, out) else { return Exit::Usage };
    (job.from, job.to) = (args.from, args.to);
    job.reach = match (args.backward, args.both) {
        (true, _) => Reach::Backward,
        (_, true) => Reach::Both,
        _ => Reach::Forward,
    };
    job.engine = args.engine.into();
    job.export = args.export.into();
    job.ahead = args.ahead.unwrap_or_else(|| Settings::load().ahead);
    start(job, args.talk, out)
}

/// `masklet export`.
pub(super) fn export(args: ProjectArgs, out: &mut Out) -> Exit {
    let ProjectArgs { project: path, moved: video, from, to, export, talk } = args;
    let job = ProjectExport { project: ProjectSpec { path, video }, from, to, export: export.into() };
    watch(Command::Export(Box::new(job)), talk, out)
}

/// `masklet segment`.
pub(super) fn segment(args: SegmentArgs, out: &mut Out) -> Exit {
    if args.image.is_dir() {
        out.error(&format!("{} is a folder: use `masklet track` for several pictures", args.image.display()));
        return Exit::Input;
    }
    let Some(mut job) = job(args.image.into(), args.objects, out) else { return Exit::Usage };
    // The first picture, should it be a video after all.
    job.to = Some(crate::base::FrameIndex(0));
    job.engine = args.engine.into();
    job.export = args.export.into();
    start(job, args.talk, out)
}

/// `masklet demo`: the result in files, and then in a window where a person is there to see it.
pub(super) fn demo(args: DemoArgs, out: &mut Out) -> Next {
    if let Some(dir) = args.frames_only {
        return watch(Command::DrawDemo { dir, overwrite: args.overwrite }, args.talk, out).into();
    }
    let watched = !args.talk.json && !args.talk.quiet && std::io::stdout().is_terminal() && has_display();
    let window = cfg!(feature = "gui") && !args.no_window && (args.window || watched);
    let (dir, formats) = (args.out, args.formats);
    let export = ExportPlan { dir, formats, overwrite: args.overwrite, ..ExportPlan::default() };
    let mut job = TrackJob { engine: args.engine.into(), export, to: args.to, ..TrackJob::demo() };
    ask_to_replace(&mut job, args.talk, out);
    let mut result = window.then(|| DemoResult::new(&job));
    let mut report = Report::new(args.talk, out);
    let end = drive(Command::Track(Box::new(job)), |event| {
        if let Some(result) = &mut result {
            result.take(event);
        }
        report.take(event)
    });
    let exit = match end {
        Ok((exit, _)) => exit,
        Err(error) => report.failed(&error),
    };
    match result.and_then(DemoResult::session) {
        Some(session) if exit == Exit::Done => {
            let open = Some(OpenRequest::Video(Input::Demo));
            Next::Window(Opening { open, session: Some(session) })
        }
        _ => exit.into(),
    }
}

/// Whether a window could be opened.
fn has_display() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl From<ExportArgs> for ExportPlan {
    fn from(args: ExportArgs) -> Self {
        let mut formats = Vec::new();
        for format in args.formats {
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        let mut options = ExportOptions::default();
        for setting in &args.settings {
            // Checked when the arguments were read.
            let _ = options.set(setting);
        }
        Self { dir: args.out, formats, overwrite: args.overwrite, options }
    }
}

/// The job on a project or on a video, by the file's name.
fn subject(path: PathBuf, video: Option<PathBuf>, objects: ObjectArgs, out: &mut Out) -> Option<TrackJob> {
    let project = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("masklet"));
    match (project, &video) {
        (false, None) => job(path.into(), objects, out),
        (false, Some(_)) => {
            out.error("--video says where a project's video is: give a .masklet file before it");
            None
        }
        (true, _) if !objects.is_empty() => {
            out.error("a project has its own objects: leave out --point, --box, --mask and --prompts");
            None
        }
        (true, _) => {
            let project = Some(ProjectSpec { path: path.clone(), video });
            Some(TrackJob { project, ..TrackJob::new(path.into()) })
        }
    }
}

fn job(input: Input, objects: ObjectArgs, out: &mut Out) -> Option<TrackJob> {
    if objects.is_empty() {
        out.error("nothing to track: give a --point, a --box, a --mask or --prompts FILE.json");
        return None;
    }
    Some(TrackJob { objects: objects.objects, prompts_file: objects.file, ..TrackJob::new(input) })
}

/// Starts `job`; where results are there already, a person at a terminal is asked first.
fn start(mut job: TrackJob, talk: TalkArgs, out: &mut Out) -> Exit {
    ask_to_replace(&mut job, talk, out);
    watch(Command::Track(Box::new(job)), talk, out)
}

fn ask_to_replace(job: &mut TrackJob, talk: TalkArgs, out: &mut Out) {
    if !job.export.overwrite
        && !talk.json
        && !talk.quiet
        && let Some(there) = job.export.existing()
    {
        job.export.overwrite = out.confirm(&format!("{} is there already. Replace it?", there.display()));
    }
}

/// Sends `command` and reports its events until the last.
fn watch(command: Command, talk: TalkArgs, out: &mut Out) -> Exit {
    let mut report = Report::new(talk, out);
    match drive(command, |event| report.take(event)) {
        Ok((exit, _)) => exit,
        Err(error) => report.failed(&error),
    }
}

/// Asks `query` and reports its progress; the answer, or the way it failed.
pub(super) fn ask(query: Query, talk: TalkArgs, out: &mut Out) -> Result<Answer, Exit> {
    let mut report = Report::new(talk, out);
    match drive(Command::Ask(query), |event| report.take(event)) {
        Ok((_, Event::Answer { answer, .. })) => Ok(answer),
        Ok((exit, _)) => Err(exit),
        Err(error) => Err(report.failed(&error)),
    }
}

fn drive(
    command: Command,
    mut heard: impl FnMut(&Event) -> Option<Exit>,
) -> Result<(Exit, Event), PipelineError> {
    let runner = Runner::start(Tools::native())?;
    let (leave, left) = bounded(1);
    stop_on_signal(runner.canceller(), leave.clone());
    runner.send(command)?;
    let end = loop {
        select! {
            recv(runner.events()) -> event => {
                let Ok(event) = event else { break Err(PipelineError::Lost) };
                if let Some(exit) = heard(&event) {
                    break Ok((exit, event));
                }
            }
            recv(left) -> _ => break Err(PipelineError::Cancelled),
        }
    };
    // Held until here: were there no handler, a channel without a sender would read as a wish to leave.
    drop(leave);
    end
}

/// The first Ctrl-C stops the work and keeps what is finished, the second keeps nothing that is not whole yet, the third
/// leaves without waiting for the workers to clean up. Signals that come together are one wish: `timeout` and service
/// managers send theirs to the process and again to its group.
fn stop_on_signal(canceller: Canceller, leave: Sender<()>) {
    /// Nobody presses twice so soon.
    const TOGETHER: Duration = Duration::from_millis(300);
    let mut asked = 0u32;
    let mut last: Option<Instant> = None;
    let handler = move || {
        if last.replace(Instant::now()).is_some_and(|last| last.elapsed() < TOGETHER) {
            return;
        }
        match asked {
            0 => canceller.cancel(),
            1 => canceller.abandon(),
            // Asked already when the channel is full.
            _ => drop(leave.try_send(())),
        }
        asked = asked.saturating_add(1);
    };
    // Without a handler Ctrl-C still ends the program, only less gently.
    let _ = ctrlc::set_handler(handler);
}
