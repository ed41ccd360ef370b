//! The way of events to the window.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use super::message::DeskEvent;
use super::meter::{Moved, rss_bytes};
use super::shared::{Epoch, Shared, Shown};

/// Events that may wait for the window; the threads pause when it does not listen.
const UNHEARD: usize = 64;

/// An event with what it is about; `None` is about no opening in particular.
pub(super) struct Envelope {
    pub(super) epoch: Option<Epoch>,
    pub(super) event: DeskEvent,
}

/// The window is gone.
#[derive(Debug)]
pub(super) struct Gone;

/// Tells events.
#[derive(Clone)]
pub(super) struct Teller {
    events: Sender<Envelope>,
    /// A picture lies in the shared place.
    picture: Sender<()>,
    shared: Arc<Shared>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

/// Hears them.
pub(super) struct Ear {
    pub(super) events: Receiver<Envelope>,
    pub(super) picture: Receiver<()>,
}

/// The two ends.
pub(super) fn telling(shared: Arc<Shared>, wake: Arc<dyn Fn() + Send + Sync>) -> (Teller, Ear) {
    let (events, hear) = bounded(UNHEARD);
    let (picture, look) = bounded(1);
    (Teller { events, picture, shared, wake }, Ear { events: hear, picture: look })
}

impl Teller {
    /// Tells an event about `epoch`; waits while the window does not listen.
    pub(super) fn tell(&self, epoch: Epoch, event: DeskEvent) -> Result<(), Gone> {
        self.send(Envelope { epoch: Some(epoch), event })
    }

    /// Tells an event that counts whatever is open.
    pub(super) fn tell_always(&self, event: DeskEvent) -> Result<(), Gone> {
        self.send(Envelope { epoch: None, event })
    }

    fn send(&self, envelope: Envelope) -> Result<(), Gone> {
        self.events.send(envelope).map_err(|_| Gone)?;
        (self.wake)();
        Ok(())
    }

    /// Shows a picture in place of one that the window has not taken.
    pub(super) fn show(&self, shown: Shown) -> Result<(), Gone> {
        self.shared.show(shown);
        match self.picture.try_send(()) {
            Err(TrySendError::Disconnected(())) => return Err(Gone),
            Ok(()) | Err(TrySendError::Full(())) => {}
        }
        (self.wake)();
        Ok(())
    }

    /// Notes that something moved and now and then tells the figures; they are left out when the window is behind.
    pub(super) fn moved(&self, moved: Moved) {
        let Some((decode_fps, model_fps)) = self.shared.meters.note(moved, std::time::Instant::now()) else {
            return;
        };
        let event = DeskEvent::Stats { decode_fps, model_fps, rss_bytes: rss_bytes() };
        if self.events.try_send(Envelope { epoch: None, event }).is_ok() {
            (self.wake)();
        }
    }
}
