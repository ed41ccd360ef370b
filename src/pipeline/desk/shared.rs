//! What the window's side and the threads share: a few counters and the newest picture.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::inbox::Scene;
use super::message::RunId;
use super::meter::Meters;
use crate::base::{FrameIndex, Generation, Pts, RgbFrame};

/// What is open, counted: every opening and closing takes the next number. What belongs to an older one is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Epoch(pub(super) u64);

/// A decoded picture on its way to the window.
pub(super) struct Shown {
    pub(super) epoch: Epoch,
    pub(super) frame: FrameIndex,
    pub(super) pts: Option<Pts>,
    pub(super) picture: Arc<RgbFrame>,
    pub(super) generation: Generation,
}

/// Counters and the newest picture.
#[derive(Default)]
pub(super) struct Shared {
    epochs: AtomicU64,
    seen: AtomicU64,
    wishes: AtomicU64,
    runs: AtomicU64,
    cancelled: AtomicU64,
    exports: AtomicU64,
    cancelled_exports: AtomicU64,
    closed: AtomicBool,
    shown: Mutex<Option<Shown>>,
    scene: Mutex<Option<Scene>>,
    pub(super) meters: Meters,
}

impl Shared {
    /// The number of the next opening or closing.
    pub(super) fn next_epoch(&self) -> Epoch {
        Epoch(self.epochs.fetch_add(1, Ordering::SeqCst) + 1)
    }

    /// What the window knows to be open; its commands are about that.
    pub(super) fn seen(&self) -> Epoch {
        Epoch(self.seen.load(Ordering::SeqCst))
    }

    /// The window learns what is open now; false when it knows of something newer.
    pub(super) fn see(&self, epoch: Epoch) -> bool {
        self.seen.fetch_max(epoch.0, Ordering::SeqCst) <= epoch.0
    }

    pub(super) fn next_wish(&self) -> Generation {
        Generation(self.wishes.fetch_add(1, Ordering::SeqCst) + 1)
    }

    pub(super) fn newest_wish(&self) -> Generation {
        Generation(self.wishes.load(Ordering::SeqCst))
    }

    /// What is open.
    pub(super) fn scene(&self) -> Option<Scene> {
        self.scene.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_scene(&self, scene: Option<Scene>) {
        *self.scene.lock().unwrap_or_else(PoisonError::into_inner) = scene;
    }

    pub(super) fn next_run(&self) -> RunId {
        RunId(self.runs.fetch_add(1, Ordering::SeqCst) + 1)
    }

    pub(super) fn next_export(&self) -> u64 {
        self.exports.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Cancels all runs and exports that were asked for so far.
    pub(super) fn cancel(&self) {
        self.cancel_runs();
        self.cancelled_exports.fetch_max(self.exports.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Cancels all runs that were asked for so far.
    pub(super) fn cancel_runs(&self) {
        self.cancelled.fetch_max(self.runs.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    pub(super) fn run_cancelled(&self, run: RunId) -> bool {
        self.is_closed() || self.cancelled.load(Ordering::SeqCst) >= run.0
    }

    pub(super) fn export_cancelled(&self, export: u64) -> bool {
        self.is_closed() || self.cancelled_exports.load(Ordering::SeqCst) >= export
    }

    /// The desk is gone.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Puts a picture in place of one that the window has not taken.
    pub(super) fn show(&self, shown: Shown) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
    }

    pub(super) fn take_shown(&self) -> Option<Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
