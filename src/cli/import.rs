//! `masklet import`: masks of others into a project.

use super::args::{ImportArgs, TalkArgs};
use super::exit::Exit;
use super::out::Out;
use super::track::ask;
use crate::pipeline::{Answer, ImportAs, ImportJob, Query};

pub(super) fn import(args: ImportArgs, out: &mut Out) -> Exit {
    let use_as = if args.prompts { ImportAs::Prompts } else { ImportAs::Results };
    let job = ImportJob {
        video: args.video.into(),
        masks: args.masks,
        format: args.format,
        use_as,
        start: args.start,
        project: args.project,
        overwrite: args.overwrite,
    };
    let talk = TalkArgs { json: false, quiet: true };
    match ask(Query::Import(job), talk, out) {
        Ok(Answer::Imported(report)) if args.json => out.json(&report),
        Ok(Answer::Imported(report)) => {
            report.notes.iter().for_each(|note| out.say(&format!("masklet: note: {note}")));
            let (masks, objects) = (report.masks, report.objects.join(", "));
            out.text(&format!("{}: {masks} masks of {objects}", report.project.display()));
        }
        Ok(_) => return Exit::Failed,
        Err(exit) => return exit,
    }
    Exit::Done
}
