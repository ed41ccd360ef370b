//! How a running job learns that it is no longer wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::base::Generation;

/// The newest generation, shared by the runner and all jobs.
#[derive(Clone, Debug, Default)]
pub struct Generations {
    newest: Arc<AtomicU64>,
    closed: Arc<AtomicBool>,
}

impl Generations {
    /// Starts the next generation: everything older stops.
    pub fn advance(&self) -> Generation {
        Generation(self.newest.fetch_add(1, Ordering::SeqCst) + 1)
    }

    /// Nothing is wanted any more, now or later, not even what is finished.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.advance();
    }

    /// A token of `generation`.
    pub fn token(&self, generation: Generation) -> Token {
        Token { generation, all: self.clone() }
    }
}

/// One job's view of the generations.
#[derive(Clone, Debug)]
pub struct Token {
    generation: Generation,
    all: Generations,
}

impl Token {
    /// The job's generation; messages carry it.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The job should stop and keep what is finished.
    pub fn cancelled(&self) -> bool {
        self.all.newest.load(Ordering::SeqCst) != self.generation.0
    }

    /// Nobody wants results any more, finished or not.
    pub fn abandoned(&self) -> bool {
        self.all.closed.load(Ordering::SeqCst)
    }
}
