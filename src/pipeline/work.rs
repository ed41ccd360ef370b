//! A track job from its first check to its last file.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::{self, Builder, ScopedJoinHandle};
use std::time::Instant;

use crossbeam_channel::{Sender, bounded};

use super::PipelineError;
use super::computing::computing;
use super::decode::DecodeStage;
use super::demo::Truth;
use super::desk::open_project;
use super::export::{ExportStage, Setting};
use super::factory::Tools;
use super::hop::{Tracked, Work};
use super::job::{ProjectSpec, TrackJob};
use super::message::{Event, Summary};
use super::plan::{Pass, Plan};
use super::prompts::{document, prompted, prompted_only};
use super::store::Store;
use super::token::Token;
use super::track::TrackStage;
use crate::base::{FrameIndex, Timings};
use crate::engine::masks::MaskResizer;
use crate::engine::{VideoEngine, VideoShape};
use crate::session::Session;
use crate::video::VideoSource;

/// Tracked frames that may wait for the exports.
const UNWRITTEN: usize = 8;

/// Does `job`; the event that ends it is returned.
///
/// # Errors
/// Whatever stopped the job before a frame was finished; later failures are an [`Event::Failed`] with what is kept.
pub(super) fn track(
    job: &TrackJob,
    tools: &Tools,
    token: &Token,
    tell: &Sender<Event>,
) -> Result<Event, PipelineError> {
    // What is cheap to check comes first: a typing error must not cost the time to load a model.
    let Subject { mut source, session, notes } = subject(job, tools)?;
    let info = source.info().clone();
    let mut plan = Plan::new(job.reach, (job.from, job.to), info.frames, prompted(&session))?;
    plan.warnings.extend(notes);
    let plan = plan;
    ExportStage::check(&job.export)?;
    let shape = VideoShape { size: info.size, frames: info.frames };
    let mut engine = computing(|| tools.engines.open(shape, &job.engine))?;
    let setting = Setting { job, info: &info, report: engine.report(), session: &session, plan: &plan };
    let mut export = ExportStage::open(&setting)?;

    let (generation, total) = (token.generation(), plan.tracked());
    let opened = Event::Opened {
        generation,
        video: (&info).into(),
        engine: engine.report().into(),
        objects: session.objects().iter().map(|o| o.name.clone()).collect(),
        total,
        warnings: plan.warnings.clone(),
    };
    // A face that is gone is noticed by the token.
    let _ = tell.send(opened);

    let start = Instant::now();
    let mut walk = Walk {
        job,
        plan: &plan,
        token,
        tell,
        total,
        done: 0,
        store: Store::default(),
        timings: Timings::default(),
        truth: Truth::of(&job.input),
        encoded: None,
    };
    let prompted = computing(|| walk.prompt(source.as_mut(), engine.as_mut(), &session));
    let outcome = prompted.and_then(|()| {
        plan.passes
            .iter()
            .try_for_each(|&pass| walk.pass(pass, source.as_mut(), engine.as_mut(), &mut export))
    });
    walk.timings.merge(&engine.take_timings());
    let took = start.elapsed();
    let interrupted = token.cancelled();
    if token.abandoned() || matches!(outcome, Err(PipelineError::Output(_))) || export.frames() == 0 {
        export.discard();
        if let Err(error) = outcome {
            return Err(error);
        }
        let notes = token.abandoned().then(|| "stopped at once: nothing was kept".to_owned());
        let summary = walk.summary(interrupted, took, Vec::new(), notes.into_iter().collect());
        return Ok(Event::Finished(summary));
    }
    let (written, notes) = export.finish(|| !token.abandoned())?;
    let summary = walk.summary(interrupted, took, written, notes);
    Ok(match outcome {
        Ok(()) => Event::Finished(summary),
        Err(error) => Event::Failed { generation, error, kept: Some(summary) },
    })
}

/// What a job is about.
struct Subject {
    source: Box<dyn VideoSource>,
    /// The objects with their prompts.
    session: Session,
    /// What a person should know.
    notes: Vec<String>,
}

fn subject(job: &TrackJob, tools: &Tools) -> Result<Subject, PipelineError> {
    if let Some(ProjectSpec { path, video }) = &job.project {
        let found = open_project(path, video.as_deref(), tools).map_err(|missed| missed.into_error())?;
        let (session, unprompted) = prompted_only(&found.session)?;
        let left_out =
            unprompted.iter().map(|name| format!("object \"{name}\" has no prompt and is left out"));
        let notes = found.notes.into_iter().chain(left_out).collect();
        return Ok(Subject { source: found.source, session, notes });
    }
    let source = tools.videos.open(&job.input)?;
    let session = document(job, source.info().size, source.info().frames)?;
    Ok(Subject { source, session, notes: Vec::new() })
}

/// The state of a job between its passes.
struct Walk<'a> {
    job: &'a TrackJob,
    plan: &'a Plan,
    token: &'a Token,
    tell: &'a Sender<Event>,
    total: u32,
    done: u32,
    store: Store,
    timings: Timings,
    truth: Option<Truth>,
    /// The frame that was prompted last.
    encoded: Option<FrameIndex>,
}

impl Walk<'_> {
    /// Gives the engine every prompt, in ascending order of the frames.
    fn prompt(
        &mut self,
        source: &mut dyn VideoSource,
        engine: &mut dyn VideoEngine,
        session: &Session,
    ) -> Result<(), PipelineError> {
        for frame in session.prompted_frames() {
            if self.token.cancelled() {
                return Ok(());
            }
            engine.encode(frame, &source.frame(frame)?)?;
            self.encoded = Some(frame);
            for object in session.objects() {
                if let Some(prompts) = session.prompts(object.id, frame) {
                    engine.prompt(frame, object.id, prompts)?;
                }
            }
        }
        Ok(())
    }

    /// Walks once over the video.
    fn pass(
        &mut self,
        pass: Pass,
        source: &mut dyn VideoSource,
        engine: &mut dyn VideoEngine,
        export: &mut ExportStage,
    ) -> Result<(), PipelineError> {
        let cancelled = self.token.cancelled();
        if cancelled && !pass.emit {
            return Ok(());
        }
        // After a cancel only what the earlier pass left is handed on.
        let kept: Vec<_> = pass.steps().filter(|(frame, _)| self.store.has(*frame)).collect();
        let steps: Box<dyn Iterator<Item = _> + Send> = if cancelled {
            Box::new(kept.into_iter().map(|(frame, _)| (frame, Work::Replay)))
        } else {
            Box::new(pass.steps())
        };
        let pictures = pass.emit && export.wants_pictures();
        let decode = DecodeStage::new(source, steps, pictures, self.token.clone());
        let mut timings = Timings::default();
        let mut store = std::mem::take(&mut self.store);
        let mut stage = TrackStage {
            engine,
            store: &mut store,
            plan: self.plan,
            pass,
            token: self.token.clone(),
            timings: &mut timings,
            resizer: MaskResizer::new(),
            encoded: self.encoded.take(),
        };
        let export = pass.emit.then_some(export);
        let result = match NonZeroUsize::new(self.job.ahead) {
            None => computing(|| self.in_one_thread(decode, &mut stage, export)),
            Some(ahead) => self.in_threads(ahead.get(), decode, &mut stage, export),
        };
        self.timings.merge(&timings);
        self.store = store;
        result
    }

    fn in_one_thread(
        &mut self,
        mut decode: DecodeStage<'_>,
        stage: &mut TrackStage<'_>,
        mut export: Option<&mut ExportStage>,
    ) -> Result<(), PipelineError> {
        let result = decode.by_ref().try_for_each(|decoded| {
            let decoded = decoded?;
            let work = decoded.work;
            let Some(tracked) = stage.take(decoded)? else { return Ok(()) };
            self.tell(&tracked, work);
            export.as_mut().map_or(Ok(()), |export| export.take(&tracked))
        });
        self.timings.merge(&decode.into_timings());
        result
    }

    fn in_threads(
        &mut self,
        ahead: usize,
        mut decode: DecodeStage<'_>,
        stage: &mut TrackStage<'_>,
        export: Option<&mut ExportStage>,
    ) -> Result<(), PipelineError> {
        thread::scope(|scope| {
            let (hand_on, decoded) = bounded(ahead);
            let (write, tracked) = bounded::<Tracked>(UNWRITTEN);
            let decoder = Builder::new().name("masklet-decode".into()).spawn_scoped(scope, move || {
                // A closed channel means that the track stage has stopped.
                for item in decode.by_ref() {
                    if hand_on.send(item).is_err() {
                        break;
                    }
                }
                decode.into_timings()
            });
            let decoder = decoder.map_err(PipelineError::Thread)?;
            let exporter = export.map(|export| {
                let body = move || tracked.into_iter().try_for_each(|frame| export.take(&frame));
                Builder::new().name("masklet-export".into()).spawn_scoped(scope, body)
            });
            let exporter = exporter.transpose().map_err(PipelineError::Thread)?;
            let exporting = exporter.is_some();
            let this = &mut *self;
            // The channels end with the closure, and with them the threads at their other ends.
            let worked = computing(move || {
                decoded.iter().try_for_each(|decoded| {
                    let decoded = decoded?;
                    let work = decoded.work;
                    let Some(tracked) = stage.take(decoded)? else { return Ok(()) };
                    this.tell(&tracked, work);
                    if exporting && write.send(tracked).is_err() {
                        return Err(PipelineError::Output("the exports stopped".into()));
                    }
                    Ok(())
                })
            });
            // The export's own error says more than the track stage's "stopped".
            let exported =
                exporter.map_or(Ok(()), |handle| joined("export", handle).and_then(|result| result));
            self.timings.merge(&joined("decode", decoder)?);
            exported.and(worked)
        })
    }

    fn tell(&mut self, tracked: &Tracked, work: Work) {
        if work == Work::Replay {
            return;
        }
        self.done += 1;
        if let Some(truth) = &mut self.truth {
            truth.compare(tracked);
        }
        let Tracked { generation, frame, ref objects, .. } = *tracked;
        let (objects, done, total) = (Arc::clone(objects), self.done, self.total);
        let _ = self.tell.send(Event::Tracked { generation, frame, objects, done, total });
    }

    fn summary(
        &self,
        interrupted: bool,
        took: std::time::Duration,
        written: Vec<std::path::PathBuf>,
        notes: Vec<String>,
    ) -> Summary {
        Summary {
            generation: self.token.generation(),
            tracked: self.done,
            total: self.total,
            interrupted: self.token.abandoned() || (interrupted && self.done < self.total),
            took,
            timings: self.timings.clone(),
            written,
            notes,
            truth: self.truth.as_ref().map(Truth::means).unwrap_or_default(),
        }
    }
}

fn joined<T>(stage: &'static str, handle: ScopedJoinHandle<'_, T>) -> Result<T, PipelineError> {
    handle.join().map_err(|payload| PipelineError::panicked(stage, payload.as_ref()))
}
