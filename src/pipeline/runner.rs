//! Owns the threads: takes commands, runs one job and one question at a time, tells events.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::computing::computing;
use super::factory::Tools;
use super::message::{Answer, Command, Event, Query};
use super::token::{Generations, Token};
use super::{PipelineError, bench, demo, eval, import, project_export, work};
use crate::base::Generation;
use crate::formats;

/// Commands that may wait for a worker.
const WAITING: usize = 8;
/// Events that may wait for the face; the workers pause when it does not listen.
const UNHEARD: usize = 256;

/// What a worker is handed.
struct Order {
    token: Token,
    command: Command,
}

/// The pipeline as its owner sees it. Dropping it tells the workers to stop and does not wait for them.
pub struct Runner {
    jobs: Sender<Order>,
    questions: Sender<Order>,
    events: Receiver<Event>,
    canceller: Canceller,
}

/// Stops what runs, from anywhere (a signal handler, another thread).
#[derive(Clone)]
pub struct Canceller {
    jobs: Generations,
    questions: Generations,
}

impl Canceller {
    /// Stops what runs; what it finished is kept.
    pub fn cancel(&self) {
        self.jobs.advance();
        self.questions.advance();
    }

    /// Stops what runs for good and takes its results back, except those that are under their final names already. The
    /// runner answers everything later with [`PipelineError::Cancelled`].
    pub fn abandon(&self) {
        self.jobs.close();
        self.questions.close();
    }
}

impl Runner {
    /// Starts the workers.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(tools: Tools) -> Result<Self, PipelineError> {
        let canceller = Canceller { jobs: Generations::default(), questions: Generations::default() };
        let (tell, events) = bounded(UNHEARD);
        let jobs = worker("masklet-track", tools.clone(), tell.clone())?;
        let questions = worker("masklet-query", tools, tell)?;
        Ok(Self { jobs, questions, events, canceller })
    }

    /// Hands `command` to its worker and returns the generation of the events that answer it. Never blocks.
    ///
    /// # Errors
    /// Too many commands wait already, or the worker has ended.
    pub fn send(&self, command: Command) -> Result<Generation, PipelineError> {
        let (generations, orders) = match &command {
            Command::Cancel => {
                self.canceller.cancel();
                return Ok(Generation::default());
            }
            Command::Ask(_) => (&self.canceller.questions, &self.questions),
            Command::Track(_) | Command::Export(_) | Command::DrawDemo { .. } => {
                (&self.canceller.jobs, &self.jobs)
            }
        };
        let generation = generations.advance();
        let order = Order { token: generations.token(generation), command };
        orders.try_send(order).map_err(|_| PipelineError::Busy)?;
        Ok(generation)
    }

    /// Where the workers' events arrive.
    pub fn events(&self) -> &Receiver<Event> {
        &self.events
    }

    /// A handle that stops what runs.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.canceller.abandon();
    }
}

fn worker(name: &'static str, tools: Tools, tell: Sender<Event>) -> Result<Sender<Order>, PipelineError> {
    let (orders, take) = bounded::<Order>(WAITING);
    let body = move || {
        for Order { token, command } in take {
            let generation = token.generation();
            let end = if token.abandoned() {
                Err(PipelineError::Cancelled)
            } else {
                catch_unwind(AssertUnwindSafe(|| carry_out(command, &tools, &token, &tell)))
                    .unwrap_or_else(|payload| Err(PipelineError::panicked(name, payload.as_ref())))
            };
            let event = end.unwrap_or_else(|error| Event::Failed { generation, error, kept: None });
            if tell.send(event).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name(name.into()).spawn(body).map_err(PipelineError::Thread)?;
    Ok(orders)
}

/// Does what was ordered; the event that ends it is returned.
fn carry_out(
    command: Command,
    tools: &Tools,
    token: &Token,
    tell: &Sender<Event>,
) -> Result<Event, PipelineError> {
    let generation = token.generation();
    let answer = match command {
        Command::Track(job) => return work::track(&job, tools, token, tell),
        Command::Export(job) => return project_export::export(&job, tools, token, tell),
        Command::DrawDemo { dir, overwrite } => return demo::draw(&dir, overwrite, token, tell),
        Command::Cancel => return Err(PipelineError::Busy),
        Command::Ask(Query::Video(input)) => Answer::Video(tools.videos.open(&input)?.info().into()),
        Command::Ask(Query::Devices) => Answer::Devices(computing(|| Ok(tools.engines.devices()))?),
        Command::Ask(Query::Bench(job)) => Answer::Bench(computing(|| bench::run(&job, tools, token, tell))?),
        Command::Ask(Query::Import(job)) => Answer::Imported(import::run(&job, tools)?),
        Command::Ask(Query::Validate { path, format }) => Answer::Validate(formats::validate(&path, format)),
        Command::Ask(Query::Evaluate(job)) => Answer::Evaluate(eval::run(&job, tools, token, tell)?),
    };
    Ok(Event::Answer { generation, answer })
}
