//! What a run looks like while it runs: a progress bar for people, lines of JSON for machines.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::args::TalkArgs;
use super::exit::Exit;
use super::out::Out;
use crate::base::Stage;
use crate::pipeline::{Event, PipelineError, Summary};

/// Turns events into what a person or a machine reads.
pub(super) struct Report<'a> {
    out: &'a mut Out,
    talk: TalkArgs,
    bar: ProgressBar,
    names: Vec<String>,
}

impl<'a> Report<'a> {
    pub fn new(talk: TalkArgs, out: &'a mut Out) -> Self {
        // The bar draws nothing when standard error is no terminal.
        let target =
            if talk.json || talk.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        Self { out, talk, bar, names: Vec::new() }
    }

    /// Takes one event; the last of a run gives the way it ended.
    pub fn take(&mut self, event: &Event) -> Option<Exit> {
        match event {
            Event::Opened { video, engine, objects, total, warnings, .. } => {
                self.names.clone_from(objects);
                self.length(*total);
                let all: Vec<_> = video.warnings.iter().chain(warnings).chain(&engine.fallback).collect();
                if self.talk.json {
                    self.out.json(&json!({"event": "opened", "video": video, "engine": engine,
                        "objects": objects, "total": total, "warnings": all}));
                } else {
                    all.iter().for_each(|warning| self.warn(warning));
                }
                None
            }
            Event::Tracked { frame, objects, done, total, .. } => {
                self.bar.set_position(u64::from(*done));
                if self.talk.json {
                    let objects: Vec<_> = objects
                        .iter()
                        .map(|o| json!({"id": o.object, "area": o.mask.area(), "score": o.score, "iou": o.iou}))
                        .collect();
                    self.out.json(&json!({"event": "frame", "frame": frame, "done": done, "total": total,
                        "objects": objects}));
                }
                None
            }
            Event::Progress { what, done, total, .. } => {
                self.length(*total);
                self.bar.set_message(what.clone());
                self.bar.set_position(u64::from(*done));
                if self.talk.json {
                    self.out.json(&json!({"event": "progress", "what": what, "done": done, "total": total}));
                }
                None
            }
            Event::Finished(summary) => {
                self.finished(summary);
                Some(if summary.interrupted { Exit::Interrupted } else { Exit::Done })
            }
            Event::Failed { error, kept, .. } => {
                if let Some(summary) = kept {
                    self.finished(summary);
                }
                Some(self.failed(error))
            }
            Event::Answer { .. } => Some(Exit::Done),
        }
    }

    /// Tells why a run failed.
    pub fn failed(&mut self, error: &PipelineError) -> Exit {
        self.bar.finish_and_clear();
        let exit = Exit::from(error);
        if self.talk.json {
            self.out.json(&json!({"event": "failed", "kind": exit.word(), "message": error.to_string()}));
        }
        self.out.error(&error.to_string());
        exit
    }

    fn length(&mut self, total: u32) {
        if self.bar.length() == Some(u64::from(total)) {
            return;
        }
        self.bar.set_length(u64::from(total));
        let template = "{msg}{bar:30} {pos}/{len} frames, {per_sec}, {eta} left";
        // The template is a constant; were it wrong, the plain bar would do.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.bar.set_style(style.with_key(
            "per_sec",
            |state: &indicatif::ProgressState, text: &mut dyn std::fmt::Write| {
                let _ = write!(text, "{:.1} fps", state.per_sec());
            },
        ));
    }

    fn warn(&mut self, warning: &str) {
        if !self.talk.quiet && !self.talk.json {
            let out = &mut *self.out;
            self.bar.suspend(|| out.say(&format!("masklet: note: {warning}")));
        }
    }

    fn finished(&mut self, summary: &Summary) {
        self.bar.finish_and_clear();
        if self.talk.json {
            let truth: Vec<_> = self.names.iter().zip(&summary.truth).collect();
            let stages: Vec<_> = Stage::ALL
                .into_iter()
                .map(|stage| (stage, summary.timings.mean_ms(stage)))
                .filter(|(_, (_, runs))| *runs > 0)
                .map(|(stage, (mean_ms, runs))| json!({"stage": stage, "mean_ms": mean_ms, "runs": runs}))
                .collect();
            self.out.json(&json!({
                "event": "finished",
                "tracked": summary.tracked,
                "total": summary.total,
                "interrupted": summary.interrupted,
                "seconds": summary.took.as_secs_f64(),
                "fps": summary.frames_per_second(),
                "stages": stages,
                "written": summary.written,
                "notes": summary.notes,
                "truth": truth.iter().map(|(name, iou)| json!({"object": name, "iou": iou})).collect::<Vec<_>>(),
            }));
            return;
        }
        if self.talk.quiet {
            return;
        }
        summary.notes.iter().for_each(|note| self.warn(note));
        let (tracked, total) = (summary.tracked, summary.total);
        let seconds = summary.took.as_secs_f64();
        let part = if summary.interrupted { format!(" of {total}, then interrupted") } else { String::new() };
        self.out.text(&format!(
            "{tracked} frames{part}; {seconds:.1} s, {:.1} frames a second",
            summary.frames_per_second()
        ));
        for (name, iou) in self.names.iter().zip(&summary.truth) {
            self.out.text(&format!("  {name}: mean IoU {iou:.3}"));
        }
        for path in &summary.written {
            self.out.text(&format!("wrote {}", path.display()));
        }
    }
}
