//! The subcommands about formats: what there is, and what is wrong with a file.

use serde_json::{Value, json};

use super::args::{FormatsArgs, TalkArgs, ValidateArgs};
use super::exit::Exit;
use super::out::Out;
use super::track::ask;
use crate::base::{Format, OptionFacts, OptionKind, SHARED_OPTIONS};
use crate::pipeline::{Answer, Query};

/// `masklet validate`.
pub(super) fn validate(args: ValidateArgs, out: &mut Out) -> Exit {
    let talk = TalkArgs { json: false, quiet: true };
    let findings = match ask(Query::Validate { path: args.path, format: args.format }, talk, out) {
        Ok(Answer::Validate(findings)) => findings,
        Ok(_) => return Exit::Failed,
        Err(exit) => return exit,
    };
    if args.json {
        out.json(&findings);
    } else {
        for finding in &findings.list {
            let word = if finding.is_error() { "error" } else { "warning" };
            let place = if finding.place.is_empty() { String::new() } else { format!("{}: ", finding.place) };
            out.text(&format!("{word}: {place}{}", finding.what));
        }
        let counts: Vec<_> = findings.counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
        let (errors, warnings) = (findings.errors, findings.warnings);
        let (path, format) = (findings.path.display(), findings.format);
        out.text(&format!("{path} as {format}: {}; {errors} errors, {warnings} warnings", counts.join(", ")));
    }
    if findings.errors > 0 { Exit::Input } else { Exit::Done }
}

/// `masklet formats`.
pub(super) fn list(args: FormatsArgs, out: &mut Out) -> Exit {
    if args.json {
        let formats: Vec<_> = Format::ALL.map(describe).into();
        let shared: Vec<_> = SHARED_OPTIONS.iter().map(option).collect();
        out.json(&json!({"formats": formats, "options": shared}));
        return Exit::Done;
    }
    for format in Format::ALL {
        let facts = format.facts();
        let missing = if facts.ffmpeg && !cfg!(feature = "ffmpeg") { " (not in this build)" } else { "" };
        out.text(&format!("{:20} {}: {}{missing}", facts.name, facts.output, facts.about));
        for option in facts.options {
            out.text(&format!("    --set {}.{}", facts.name, line(option)));
        }
    }
    out.text("\nFor all formats:");
    for option in SHARED_OPTIONS {
        out.text(&format!("    --set {}", line(option)));
    }
    Exit::Done
}

fn line(option: &OptionFacts) -> String {
    let values = match option.kind {
        OptionKind::OneOf(words) => words.join("|"),
        OptionKind::Number(..) => option.default.to_owned(),
        OptionKind::Shares => "80/10/10".to_owned(),
        OptionKind::Text => "TEXT".to_owned(),
    };
    format!("{}={values}: {}", option.key, option.about)
}

fn describe(format: Format) -> Value {
    let facts = format.facts();
    json!({
        "name": facts.name,
        "title": facts.title,
        "about": facts.about,
        "output": facts.output,
        "extension": facts.extension,
        "needs_ffmpeg": facts.ffmpeg,
        "options": facts.options.iter().map(option).collect::<Vec<_>>(),
    })
}

fn option(option: &OptionFacts) -> Value {
    let kind = match option.kind {
        OptionKind::OneOf(words) => json!({"one_of": words}),
        OptionKind::Number(least, most) => json!({"number": [least, most]}),
        OptionKind::Shares => json!("shares"),
        OptionKind::Text => json!("text"),
    };
    json!({"key": option.key, "about": option.about, "default": option.default, "kind": kind})
}
