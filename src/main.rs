//! Arguments to the command line's face; what it leaves to the window, to the window's.

use std::io::Write;
use std::process::ExitCode;

use masklet::cli::{Next, Opening};

fn main() -> ExitCode {
    match masklet::cli::run(std::env::args_os()) {
        Next::Exit(code) => code,
        Next::Window(opening) => window(opening),
    }
}

#[cfg(feature = "gui")]
fn window(opening: Opening) -> ExitCode {
    let setup = masklet::gui::Setup::native(opening.open, opening.session);
    match masklet::gui::run(setup) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever closed standard error does not want to know.
            let _ = writeln!(std::io::stderr().lock(), "masklet: error: {error}");
            // The code for what the machine lacks, as with a device.
            ExitCode::from(4)
        }
    }
}

#[cfg(not(feature = "gui"))]
fn window(_: Opening) -> ExitCode {
    let _ = writeln!(std::io::stderr().lock(), "masklet: error: this build has no window");
    ExitCode::from(2)
}
