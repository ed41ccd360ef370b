//! What the desk says, as changes of what the window shows.

use std::path::PathBuf;
use std::time::Instant;

use super::{EngineState, Figures, Opened, Pause, Preview, Shown, Work};
use crate::base::{Direction, FrameIndex};
use crate::pipeline::{DeskCommand, DeskEvent};
use crate::session::{Document, Edit, Session};

/// What a person should hear of.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// Something is open now.
    Opened {
        /// The file, for the list of recent ones; `None` for the demo clip.
        path: Option<PathBuf>,
        /// What a person should know.
        notes: Vec<String>,
    },
    /// The video of a project is gone.
    MediaMissing {
        /// The project.
        project: PathBuf,
        /// Where it was.
        media: PathBuf,
    },
    /// A run ended, with that many frames.
    Tracked(u32),
    /// An export is whole.
    Exported {
        /// What was written.
        written: Vec<PathBuf>,
        /// What a person should know.
        notes: Vec<String>,
    },
    /// The project is saved.
    Saved(PathBuf),
    /// The project is not saved.
    SaveFailed(String),
    /// Something failed.
    Bad(String),
}

impl Work {
    /// Takes what the desk has said since the last call. `now` is the time of this frame.
    pub fn hear(&mut self, now: Instant) -> Vec<News> {
        // A flood of events must not hold the window for long: the rest is taken with the next frame.
        const AT_ONCE: usize = 64;
        let events: Vec<_> = self.desk.events().take(AT_ONCE).collect();
        for event in events {
            self.take(event, now);
        }
        std::mem::take(&mut self.news)
    }

    fn take(&mut self, event: DeskEvent, now: Instant) {
        match event {
            DeskEvent::Opened { video, session, project, unsaved, notes } => {
                let path = project.clone().unwrap_or_else(|| video.path.clone());
                let demo = video.path.as_os_str() == "demo";
                let mut document = Document::of(*session);
                let fits = |given: &Session| given.size() == video.size && given.frames() == video.frames;
                if let Some(given) = self.begin.take().filter(|given| fits(given)) {
                    fill(&mut document, &given);
                }
                let active = document.session().objects().first().map(|object| object.id);
                let saved = (!unsaved).then(|| document.revision());
                self.forget_activity();
                self.opening = None;
                self.open = Some(Opened {
                    document,
                    video,
                    project,
                    saved,
                    saved_at: None,
                    frame: FrameIndex(0),
                    shown: None,
                    active,
                    preview: None,
                    asked: 0,
                });
                self.send(DeskCommand::Show(FrameIndex(0)));
                self.news.push(News::Opened { path: (!demo).then_some(path), notes });
            }
            DeskEvent::OpenFailed { error, .. } => {
                self.opening = None;
                self.news.push(News::Bad(error.to_string()));
            }
            DeskEvent::MediaMissing { project, media } => {
                self.opening = None;
                self.news.push(News::MediaMissing { project, media });
            }
            DeskEvent::Engine { facts } => self.engine = EngineState::Ready(facts),
            DeskEvent::EngineFailed { error } => {
                self.engine = EngineState::Failed(error.to_string());
                if let Some(open) = &mut self.open {
                    open.asked = 0;
                }
                self.news.push(News::Bad(error.to_string()));
            }
            DeskEvent::Picture { frame, pts, picture, .. } => {
                if let Some(open) = &mut self.open {
                    open.shown = Some(Shown { frame, pts, picture });
                }
            }
            DeskEvent::Answered { object, frame, prompts, result } => {
                if let Some(open) = &mut self.open {
                    open.asked = open.asked.saturating_sub(1);
                    open.document.answer(object, frame, &prompts, result);
                }
            }
            DeskEvent::Previewed { frame, mask, score, .. } => {
                if let Some(open) = self.open.as_mut().filter(|open| open.seen() == frame) {
                    open.preview = Some(Preview { frame, mask, score });
                }
            }
            DeskEvent::RunStarted { total, .. } => {
                if let Some(run) = &mut self.run {
                    run.total = run.before + total;
                }
            }
            DeskEvent::Tracked { frame, results, done, total, .. } => {
                self.tracked(frame, results, (done, total), now)
            }
            DeskEvent::Paused { frame, object, reason, .. } => {
                let direction = self.run.as_ref().map_or(Direction::Forward, |run| run.direction);
                self.pause = Some(Pause { frame, object, reason, direction });
                // What was to follow it waits for the person's word as well.
                if let Some(run) = &mut self.run {
                    run.stopping = true;
                    if run.left > 1 {
                        self.send(DeskCommand::Cancel);
                    }
                }
                self.seek(frame);
            }
            DeskEvent::RunEnded { .. } => self.run_ended(),
            DeskEvent::ExportProgress { done, total } => self.exporting = Some((done, total)),
            DeskEvent::Exported { written, notes } => {
                self.exporting = None;
                self.news.push(News::Exported { written, notes });
            }
            DeskEvent::ExportFailed { error } => {
                self.exporting = None;
                self.news.push(News::Bad(error.to_string()));
            }
            DeskEvent::Saved { path, revision } => {
                self.saving = false;
                if let Some(open) = &mut self.open {
                    open.project = Some(path.clone());
                    open.saved = Some(revision);
                    open.saved_at = Some(now);
                }
                self.news.push(News::Saved(path));
            }
            DeskEvent::SaveFailed { path, error } => {
                self.saving = false;
                self.news.push(News::SaveFailed(format!("{} is not saved: {error}", path.display())));
            }
            DeskEvent::Stats { decode_fps, model_fps, rss_bytes } => {
                self.figures = Figures { decode_fps, model_fps, rss: rss_bytes };
            }
            DeskEvent::Failed { what, error } => self.news.push(News::Bad(format!("{what}: {error}"))),
            DeskEvent::Panicked { thread, text } => {
                let text = format!("the thread {thread} failed inside and was started again: {text}");
                self.news.push(News::Bad(text));
            }
        }
    }

    fn tracked(
        &mut self,
        frame: FrameIndex,
        results: Vec<(crate::base::ObjectId, crate::session::TrackResult)>,
        (done, total): (u32, u32),
        now: Instant,
    ) {
        if let Some(open) = &mut self.open {
            open.document.add_run_results(frame, results);
        }
        let Some(run) = &mut self.run else { return };
        run.note(done, total, now);
        if run.follow {
            self.seek(frame);
        }
    }
}

/// Makes `given` in an empty document, so that the journal holds it and it can be undone. What does not fit is left out.
fn fill(document: &mut Document, given: &Session) {
    for object in given.objects() {
        let (name, class) = (Some(object.name.clone()), Some(object.class.clone()));
        let added = document.apply(Edit::AddObject { name, class }).ok().and_then(|touched| touched.added);
        let Some(id) = added else { continue };
        for (frame, prompts) in given.prompts_of(object.id) {
            let _ = document.apply(Edit::SetPrompts { object: id, frame, prompts: (**prompts).clone() });
        }
    }
    document.begin_run("track");
    for (frame, id, result) in given.all_results() {
        document.add_run_results(frame, vec![(id, result.clone())]);
    }
    document.end_run();
}
