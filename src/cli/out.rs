//! Standard output and standard error; whoever stops listening is left alone.

use std::io::{self, BufRead, IsTerminal, Write};

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

    /// Asks a person; without a terminal nobody is asked and the answer is no.
    pub fn confirm(&mut self, question: &str) -> bool {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return false;
        }
        let _ = write!(io::stderr().lock(), "{question} [y/N] ");
        let mut answer = String::new();
        let _ = io::stdin().lock().read_line(&mut answer);
        matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
    }

    /// The message of a failure on standard error.
    pub fn error(&mut self, message: &str) {
        self.say(&format!("masklet: error: {message}"));
    }
}
