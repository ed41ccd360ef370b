//! Standard output and standard error; whoever stops listening is left alone.

use std::io::{self, Write};

/// Where text goes. After the first failed write standard output is given up silently: `masklet ... | head` is no error.
pub(super) struct Out {
    open: bool,
}

impl Out {
    pub fn new() -> Self {
        Self { open: true }
    }

    /// One line (or several) on standard output.
    pub fn text(&mut self, line: &str) {
        if self.open {
            let mut stdout = io::stdout().lock();
            self.open = writeln!(stdout, "{line}").and_then(|()| stdout.flush()).is_ok();
        }
    }

    /// One JSON value on a line of its own.
    pub fn json(&mut self, value: &impl serde::Serialize) {
        // Our own structs always serialise; a value that does not is not worth a crash.
        if let Ok(line) = serde_json::to_string(value) {
            self.text(&line);
        }
    }

    /// One line on standard error.
    pub fn say(&mut self, line: &str) {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// The message of a failure on standard error.
    pub fn error(&mut self, message: &str) {
        self.say(&format!("masklet: error: {message}"));
    }
}
