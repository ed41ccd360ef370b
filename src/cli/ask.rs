//! The subcommands that ask a question: info, devices, bench, eval.

use super::args::{BenchArgs, DevicesArgs, EvalArgs, InfoArgs, PromptArg, TalkArgs};
use super::exit::Exit;
use super::out::Out;
use super::track::ask;
use crate::pipeline::{Answer, BenchJob, BenchReport, EvalJob, EvalPrompt, Query, VideoFacts};

const QUIET: TalkArgs = TalkArgs { json: false, quiet: true };

/// `masklet info`.
pub(super) fn info(args: InfoArgs, out: &mut Out) -> Exit {
    match ask(Query::Video(args.video.into()), QUIET, out) {
        Ok(Answer::Video(facts)) if args.json => out.json(&facts),
        Ok(Answer::Video(facts)) => describe(&facts, out),
        Ok(_) => return Exit::Failed,
        Err(exit) => return exit,
    }
    Exit::Done
}

fn describe(facts: &VideoFacts, out: &mut Out) {
    out.text(&format!("{}", facts.path.display()));
    out.text(&format!("  {}", facts.format));
    out.text(&format!("  {} pixels, {} frames", facts.size, facts.frames));
    if let Some([num, den]) = facts.frame_rate {
        let varies = if facts.variable_frame_rate { ", varying" } else { "" };
        out.text(&format!("  {:.3} frames a second ({num}/{den}{varies})", f64::from(num) / f64::from(den)));
    }
    if let Some(seconds) = facts.duration {
        out.text(&format!("  {seconds:.3} seconds"));
    }
    if facts.rotation != 0 {
        out.text(&format!("  turned by {} degrees to stand upright", facts.rotation));
    }
    let [width, height] = facts.sample_aspect;
    if width != height && height != 0 {
        out.text(&format!("  pixels are {width}:{height}"));
    }
    facts.warnings.iter().for_each(|warning| out.say(&format!("masklet: note: {warning}")));
}

/// `masklet devices`.
pub(super) fn devices(args: DevicesArgs, out: &mut Out) -> Exit {
    match ask(Query::Devices, QUIET, out) {
        Ok(Answer::Devices(devices)) if args.json => out.json(&devices),
        Ok(Answer::Devices(devices)) => {
            for device in devices {
                let mark = if device.chosen { '*' } else { ' ' };
                out.text(&format!("{mark} {}: {}; {}", device.kind, device.name, device.note));
            }
        }
        Ok(_) => return Exit::Failed,
        Err(exit) => return exit,
    }
    Exit::Done
}

/// `masklet bench`.
pub(super) fn bench(args: BenchArgs, out: &mut Out) -> Exit {
    let job =
        BenchJob { engine: args.engine.into(), frames: args.frames, objects: usize::from(args.objects) };
    match ask(Query::Bench(job), silent(args.talk), out) {
        Ok(Answer::Bench(report)) if args.talk.json => out.json(&report),
        Ok(Answer::Bench(report)) => {
            tabulate(&report, out);
            if args.explain {
                let line = |(what, how): &(&str, String)| out.text(&format!("  {what}: {how}"));
                report.choices.iter().for_each(line);
            }
        }
        Ok(_) => return Exit::Failed,
        Err(exit) => return exit,
    }
    Exit::Done
}

fn tabulate(report: &BenchReport, out: &mut Out) {
    let engine = &report.engine;
    out.text(&format!(
        "{} on {}, {}, {} pixels",
        engine.model, engine.device, engine.precision, engine.image_size
    ));
    engine.fallback.iter().for_each(|reason| out.say(&format!("masklet: note: {reason}")));
    out.text(&format!("  loaded in {:.0} ms", report.load_ms));
    for time in &report.stages {
        // The stage's own name in JSON is its name here.
        let name = serde_json::to_value(time.stage).ok();
        let name = name.as_ref().and_then(|name| name.as_str()).unwrap_or_default().replace('_', " ");
        out.text(&format!("  {name:<18}{:>9.2} ms  x {}", time.mean_ms, time.runs));
    }
    let [middle, slowest] = report.frame_ms;
    out.text(&format!("  a frame: {middle:.1} ms (middle), {slowest:.1} ms (slowest)"));
    out.text(&format!(
        "  {:.2} frames a second over {} frames with {} object(s)",
        report.frames_per_second, report.frames, report.objects
    ));
    out.text(&format!("  a click on a frame that is encoded: {:.1} ms", report.click_ms));
    if let Some(bytes) = report.peak_memory {
        out.text(&format!("  peak memory {} MB", bytes / 1_000_000));
    }
}

/// `masklet eval`.
pub(super) fn evaluate(args: EvalArgs, out: &mut Out) -> Exit {
    let prompt = match args.prompt {
        PromptArg::Mask => EvalPrompt::Mask,
        PromptArg::Click => EvalPrompt::Click,
        PromptArg::Click3 => EvalPrompt::Click3,
    };
    let job = EvalJob { frames: args.frames, masks: args.masks, prompt, engine: args.engine.into() };
    match ask(Query::Evaluate(job), silent(args.talk), out) {
        Ok(Answer::Evaluate(report)) if args.talk.json => out.json(&report),
        Ok(Answer::Evaluate(report)) => {
            out.text(&format!("{:<24}{:>8}{:>8}{:>8}", "sequence", "J", "F", "J&F"));
            let mean = ("mean", report.mean);
            for (name, s) in report.sequences.iter().map(|s| (s.name.as_str(), s.score)).chain([mean]) {
                out.text(&format!("{name:<24}{:>8.3}{:>8.3}{:>8.3}", s.j, s.f, s.jf));
            }
        }
        Ok(_) => return Exit::Failed,
        Err(exit) => return exit,
    }
    Exit::Done
}

/// With `--json` the answer is the only line: no progress before it.
fn silent(talk: TalkArgs) -> TalkArgs {
    TalkArgs { json: false, quiet: talk.quiet || talk.json }
}
