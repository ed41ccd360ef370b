//! Owns the command line: arguments to commands, events to text or JSON, outcomes to exit codes.
//! May import: base, pipeline, session, settings, convert.
//! Must not: import the engine, ggml, the model or a video; do work itself; print anything that a broken pipe turns
//! into an error.

mod args;
mod ask;
mod demo_result;
mod exit;
mod formats;
mod import;
mod model;
mod object_args;
mod out;
mod prompt_text;
mod report;
mod track;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use crate::pipeline::{Input, OpenRequest};
use crate::session::Session;
use args::{Arguments, Task};
use exit::Exit;
use out::Out;

/// What is left to do when the command line has done its part.
pub enum Next {
    /// Nothing: leave with this code.
    Exit(ExitCode),
    /// Open the window.
    Window(Opening),
}

/// What a window begins with.
pub struct Opening {
    /// What is opened in it.
    pub open: Option<OpenRequest>,
    /// The document that was made already.
    pub session: Option<Box<Session>>,
}

/// Runs the command line `arguments` (the program's name first). The exit code: 0 done, 1 failed, 2 usage,
/// 3 bad input, 4 device or model, 5 output, 130 interrupted with what was finished kept.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Next {
    let mut out = Out::new();
    let parsed = Arguments::command()
        .try_get_matches_from(arguments)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    match parsed {
        Ok(Arguments { task: None, file }) => window(file.as_deref(), &mut out),
        Ok(Arguments { task: Some(Task::Demo(args)), .. }) => track::demo(args, &mut out),
        Ok(Arguments { task: Some(task), .. }) => Next::from(dispatch(task, &mut out)),
        Err(error) => refused(&error),
    }
}

impl From<Exit> for Next {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit.into())
    }
}

fn refused(error: &clap::Error) -> Next {
    // A closed pipe is no reason to fail.
    let _ = error.print();
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() }
}

/// `masklet` and `masklet FILE`.
fn window(file: Option<&Path>, out: &mut Out) -> Next {
    if let Some(file) = file.filter(|file| !file.exists()) {
        let word = file.to_string_lossy();
        // A word without a dot or a slash was meant as a command.
        if !word.contains(['.', '/', '\\']) {
            let text = format!("unrecognized subcommand '{word}', and there is no file of that name");
            return refused(&Arguments::command().error(ErrorKind::InvalidSubcommand, text));
        }
        out.error(&format!("{word} does not exist: give a video, a picture folder or a project"));
        return Exit::Input.into();
    }
    if cfg!(not(feature = "gui")) {
        if file.is_none() {
            out.text(&Arguments::command().render_help().to_string());
            out.text("\nThis build has no window: it is the command line only.");
            return Exit::Done.into();
        }
        out.error("this build has no window: use `masklet track`, or build with the feature gui");
        return Exit::Usage.into();
    }
    Next::Window(Opening { open: file.map(request), session: None })
}

/// What opening a file means.
fn request(file: &Path) -> OpenRequest {
    if file.extension().is_some_and(|e| e.eq_ignore_ascii_case("masklet")) {
        OpenRequest::Project { path: file.to_owned(), media: None }
    } else {
        OpenRequest::Video(Input::Path(file.to_owned()))
    }
}

fn dispatch(task: Task, out: &mut Out) -> Exit {
    match task {
        Task::Track(args) => track::track(args, out),
        Task::Export(args) => track::export(args, out),
        Task::Segment(args) => track::segment(args, out),
        // It may end in a window; see `run`.
        Task::Demo(_) => Exit::Done,
        Task::Info(args) => ask::info(args, out),
        Task::Devices(args) => ask::devices(args, out),
        Task::Bench(args) => ask::bench(args, out),
        Task::Import(args) => import::import(args, out),
        Task::Validate(args) => formats::validate(args, out),
        Task::Formats(args) => formats::list(args, out),
        Task::Eval(args) => ask::evaluate(args, out),
        Task::Model(task) => model::model(task, out),
    }
}
