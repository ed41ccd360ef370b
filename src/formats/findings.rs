//! What a check of a file found: counts, and what readers would trip over.

use std::path::{Path, PathBuf};

use super::registry;
use crate::base::Format;

/// Most findings that are listed; the rest is counted.
const MOST: usize = 200;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Readers fail or read something else than is meant.
    Error,
    /// Some readers fail, or something is unusual.
    Warning,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// How bad.
    pub severity: Severity,
    /// Where: a file, an annotation, a line. Empty for the whole.
    pub place: String,
    /// What, and who trips over it.
    pub what: String,
}

impl Finding {
    /// Whether readers fail.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// All that was found.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Findings {
    /// What was looked at.
    pub path: PathBuf,
    /// As which format.
    pub format: Format,
    /// How much there is, by name.
    pub counts: Vec<(&'static str, u64)>,
    /// What was found; at most 200.
    pub list: Vec<Finding>,
    /// Number of errors, listed or not.
    pub errors: u64,
    /// Number of warnings, listed or not.
    pub warnings: u64,
}

impl Findings {
    pub(super) fn new(path: &Path, format: Format) -> Self {
        Self { path: path.into(), format, counts: Vec::new(), list: Vec::new(), errors: 0, warnings: 0 }
    }

    /// Notes that readers fail here.
    pub(super) fn error(&mut self, place: impl ToString, what: impl Into<String>) {
        self.errors += 1;
        self.note(Severity::Error, place, what);
    }

    /// Notes that some readers may fail here.
    pub(super) fn warn(&mut self, place: impl ToString, what: impl Into<String>) {
        self.warnings += 1;
        self.note(Severity::Warning, place, what);
    }

    /// Says how much of something there is.
    pub(super) fn count(&mut self, what: &'static str, number: u64) {
        self.counts.push((what, number));
    }

    fn note(&mut self, severity: Severity, place: impl ToString, what: impl Into<String>) {
        if self.list.len() < MOST {
            self.list.push(Finding { severity, place: place.to_string(), what: what.into() });
        }
    }
}

/// Looks through the file or folder `path` as `format` and says what its readers would trip over. Never fails: what
/// cannot be read is a finding.
pub fn validate(path: &Path, format: Format) -> Findings {
    let mut findings = Findings::new(path, format);
    registry::entry(format).check(path, &mut findings);
    findings
}
