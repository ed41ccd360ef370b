//! Owns the command line: arguments to commands, events to text or JSON, outcomes to exit codes.
//! May import: base, pipeline, convert, settings.
//! Must not: import the engine, ggml, the model or a video; do work itself; print anything that a broken pipe turns
//! into an error.

mod args;
mod ask;
mod exit;
mod formats;
mod model;
mod object_args;
mod out;
mod prompt_text;
mod report;
mod track;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::{Arguments, Task};
use exit::Exit;
use out::Out;

/// Runs the command line `arguments` (the program's name first) and returns the exit code: 0 done, 1 failed, 2 usage,
/// 3 bad input, 4 device or model, 5 output, 130 interrupted with what was finished kept.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut out = Out::new();
    let parsed = Arguments::command()
        .try_get_matches_from(arguments)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let exit = match parsed {
        Ok(arguments) => dispatch(arguments, &mut out),
        Err(error) => {
            // A closed pipe is no reason to fail.
            let _ = error.print();
            if error.use_stderr() { Exit::Usage } else { Exit::Done }
        }
    };
    exit.into()
}

fn dispatch(arguments: Arguments, out: &mut Out) -> Exit {
    match arguments.task {
        None => {
            let help = Arguments::command().render_help();
            out.text(&help.to_string());
            out.text("\nThis build has no window: it is the command line only.");
            Exit::Done
        }
        Some(Task::Track(args)) => track::track(args, out),
        Some(Task::Export(args)) => track::export(args, out),
        Some(Task::Segment(args)) => track::segment(args, out),
        Some(Task::Demo(args)) => track::demo(args, out),
        Some(Task::Info(args)) => ask::info(args, out),
        Some(Task::Devices(args)) => ask::devices(args, out),
        Some(Task::Bench(args)) => ask::bench(args, out),
        Some(Task::Validate(args)) => formats::validate(args, out),
        Some(Task::Formats(args)) => formats::list(args, out),
        Some(Task::Eval(args)) => ask::evaluate(args, out),
        Some(Task::Model(task)) => model::model(task, out),
    }
}
