//! Arguments to the command line's face, its exit code to the system.

use std::process::ExitCode;

fn main() -> ExitCode {
    masklet::cli::run(std::env::args_os())
}
