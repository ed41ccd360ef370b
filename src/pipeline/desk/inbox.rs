//! What waits for the engine thread: a bounded queue, at most one hover, at most one change of what is open.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

use super::message::RunId;
use super::request::{ObjectPrompts, RunRequest};
use super::shared::Epoch;
use crate::base::{FrameIndex, ObjectId};
use crate::engine::VideoShape;
use crate::pipeline::job::{EngineOptions, Input};

/// Orders that may wait.
const WAITING: usize = 64;

/// What is open, for the engine.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) epoch: Epoch,
    pub(super) input: Input,
    pub(super) shape: VideoShape,
    pub(super) options: EngineOptions,
}

/// Work for the engine.
#[derive(Debug)]
pub(super) enum Order {
    Answer { object: ObjectPrompts, frame: FrameIndex },
    Preview { object: ObjectPrompts, frame: FrameIndex },
    Track { run: RunId, request: RunRequest },
    Forget(ObjectId),
}

/// What the thread takes.
pub(super) enum Taken {
    Scene(Option<Scene>),
    Order(Epoch, Order),
    Closed,
}

/// The inbox.
#[derive(Default)]
pub(super) struct Inbox {
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Default)]
struct State {
    scene: Option<Option<Scene>>,
    queue: VecDeque<(Epoch, Order)>,
    preview: Option<(Epoch, Order)>,
    closed: bool,
}

impl Inbox {
    /// Queues an order; gives it back when too many wait. Of hovers only the newest stays.
    pub(super) fn push(&self, epoch: Epoch, order: Order) -> Result<(), Order> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(order, Order::Preview { .. }) {
            state.preview = Some((epoch, order));
        } else if state.queue.len() < WAITING {
            // What was hovered before is no longer of interest.
            state.preview = None;
            state.queue.push_back((epoch, order));
        } else {
            return Err(order);
        }
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    /// Something else is open, or nothing: what waits is about what was open before.
    pub(super) fn scene(&self, scene: Option<Scene>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let epoch = scene.as_ref().map(|scene| scene.epoch);
        state.queue.retain(|(of, _)| Some(*of) == epoch);
        state.scene = Some(scene);
        drop(state);
        self.ready.notify_one();
    }

    pub(super) fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.ready.notify_one();
    }

    /// Waits for something to do.
    pub(super) fn take(&self) -> Taken {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if state.closed {
                return Taken::Closed;
            }
            if let Some(scene) = state.scene.take() {
                return Taken::Scene(scene);
            }
            if let Some((epoch, order)) = state.queue.pop_front() {
                return Taken::Order(epoch, order);
            }
            if let Some((epoch, order)) = state.preview.take() {
                return Taken::Order(epoch, order);
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next order if it can be done between two frames of a run: everything but another run.
    pub(super) fn take_between(&self) -> Option<(Epoch, Order)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.scene.is_some() || matches!(state.queue.front()?, (_, Order::Track { .. })) {
            return None;
        }
        state.queue.pop_front()
    }
}
