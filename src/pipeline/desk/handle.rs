//! The desk as the window holds it.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded, select};

use super::export;
use super::inbox::{Inbox, Order};
use super::keep::{self, Keeper};
use super::message::{DeskCommand, DeskEvent};
use super::recent::Recent;
use super::recover::Folders;
use super::seat::{self, Seat};
use super::shared::{Shared, Shown};
use super::show::{self, ShowBox, Wish};
use super::teller::{Ear, Envelope, telling};
use crate::base::Generation;
use crate::pipeline::PipelineError;
use crate::pipeline::factory::Tools;

/// Tasks of the keeping and of the export thread that may wait.
const WAITING: usize = 16;

/// Threads around one open video. Dropping it tells them to stop and does not wait for them.
pub struct Desk {
    shared: Arc<Shared>,
    ear: Ear,
    show: Arc<ShowBox>,
    inbox: Arc<Inbox>,
    keep: Sender<keep::Task>,
    exports: Sender<export::Task>,
}

impl Desk {
    /// Starts the threads, with the user's folders. `wake` is called after every event, from any of them.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(tools: Tools, wake: Arc<dyn Fn() + Send + Sync>) -> Result<Self, PipelineError> {
        Self::start_in(Folders::of_user(), tools, wake)
    }

    /// Like [`start`](Self::start), with other folders.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start_in(
        folders: Folders,
        tools: Tools,
        wake: Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Self, PipelineError> {
        let shared = Arc::new(Shared::default());
        let (tell, ear) = telling(shared.clone(), wake);
        let (show, inbox) = (Arc::new(ShowBox::default()), Arc::new(Inbox::default()));
        let recent = Arc::new(Recent::default());
        let (keep, keep_tasks) = bounded(WAITING);
        let (exports, export_tasks) = bounded(WAITING);
        let desk =
            Self { shared: shared.clone(), ear, show: show.clone(), inbox: inbox.clone(), keep, exports };

        let seat = Seat::new(inbox.clone(), shared.clone(), tell.clone(), tools.clone(), recent.clone());
        spawn(seat::NAME, move || seat.work())?;
        let keeper = Keeper::new(tools.clone(), folders, shared.clone(), tell.clone(), show.clone(), inbox);
        spawn(keep::NAME, move || keeper.work(&keep_tasks))?;
        let (of_show, of_export) = ((tools.clone(), tell.clone()), (tools, tell));
        spawn(show::NAME, move || show::work(&show, &of_show.0, &of_show.1, &recent))?;
        spawn(export::NAME, move || export::work(&export_tasks, &of_export.0, &shared, &of_export.1))?;
        Ok(desk)
    }

    /// Hands `command` to its thread. Never blocks. A command is about what the window knows to be open: if something
    /// else is by the time it is looked at, it is dropped.
    ///
    /// # Errors
    /// The command itself, when too many wait: send it again later.
    pub fn send(&self, command: DeskCommand) -> Result<(), Box<DeskCommand>> {
        let epoch = self.shared.seen();
        match command {
            DeskCommand::Open { what, options } => {
                self.task(keep::Task::Open { epoch: self.shared.next_epoch(), what, options })
            }
            DeskCommand::Close | DeskCommand::Discard => {
                let epoch = self.shared.next_epoch();
                let discard = matches!(command, DeskCommand::Discard);
                let task = if discard { keep::Task::Discard } else { keep::Task::Close };
                self.keep.try_send(task).map_err(|_| Box::new(command))?;
                self.shared.cancel();
                self.shared.see(epoch);
                Ok(())
            }
            DeskCommand::Show(frame) => {
                self.show.wish(Wish { epoch, frame, generation: self.shared.next_wish() });
                Ok(())
            }
            DeskCommand::Answer { object, frame } => self.order(Order::Answer { object, frame }),
            DeskCommand::Preview { object, frame } => self.order(Order::Preview { object, frame }),
            DeskCommand::Track(request) => self.order(Order::Track { run: self.shared.next_run(), request }),
            DeskCommand::Forget(object) => self.order(Order::Forget(object)),
            DeskCommand::Cancel => {
                self.shared.cancel();
                Ok(())
            }
            DeskCommand::Export(request) => {
                let task = export::Task { epoch, export: self.shared.next_export(), request };
                self.exports
                    .try_send(task)
                    .map_err(|back| Box::new(DeskCommand::Export(back.into_inner().request)))
            }
            DeskCommand::Keep(changes) => self.task(keep::Task::Keep { epoch, changes }),
            DeskCommand::Save(request) => self.task(keep::Task::Save { epoch, request }),
        }
    }

    fn task(&self, task: keep::Task) -> Result<(), Box<DeskCommand>> {
        self.keep.try_send(task).map_err(|back| {
            Box::new(match back.into_inner() {
                keep::Task::Open { what, options, .. } => DeskCommand::Open { what, options },
                keep::Task::Keep { changes, .. } => DeskCommand::Keep(changes),
                keep::Task::Save { request, .. } => DeskCommand::Save(request),
                keep::Task::Discard => DeskCommand::Discard,
                keep::Task::Close | keep::Task::Settle(_) => DeskCommand::Close,
            })
        })
    }

    /// Waits until everything that was sent to be kept or saved is on the disk, at most `timeout`: for the end of the
    /// app. Says whether it is.
    pub fn settle(&self, timeout: Duration) -> bool {
        let (done, settled) = bounded(1);
        let end = Instant::now() + timeout;
        self.keep.send_timeout(keep::Task::Settle(done), timeout).is_ok()
            && settled.recv_deadline(end).is_ok()
    }

    fn order(&self, order: Order) -> Result<(), Box<DeskCommand>> {
        self.inbox.push(self.shared.seen(), order).map_err(|order| {
            Box::new(match order {
                Order::Answer { object, frame } => DeskCommand::Answer { object, frame },
                Order::Preview { object, frame } => DeskCommand::Preview { object, frame },
                Order::Track { request, .. } => DeskCommand::Track(request),
                Order::Forget(object) => DeskCommand::Forget(object),
            })
        })
    }

    /// The events that wait, oldest first, then the newest picture. Those of what is no longer open are left out.
    pub fn events(&self) -> impl Iterator<Item = DeskEvent> + '_ {
        std::iter::from_fn(|| self.next())
    }

    /// The next event; waits for it at most `timeout`. For tests and faces without a window.
    pub fn wait(&self, timeout: Duration) -> Option<DeskEvent> {
        let end = Instant::now() + timeout;
        loop {
            if let Some(event) = self.next() {
                return Some(event);
            }
            let left = end.checked_duration_since(Instant::now())?;
            select! {
                recv(self.ear.events) -> envelope => if let Some(event) = self.fresh(envelope.ok()?) {
                    return Some(event);
                },
                recv(self.ear.picture) -> _ => {}
                default(left) => return None,
            }
        }
    }

    fn next(&self) -> Option<DeskEvent> {
        while let Ok(envelope) = self.ear.events.try_recv() {
            if let Some(event) = self.fresh(envelope) {
                return Some(event);
            }
        }
        let Shown { epoch, frame, pts, picture, generation } = self.shared.take_shown()?;
        (epoch == self.shared.seen()).then_some(DeskEvent::Picture { frame, pts, picture, generation })
    }

    /// The event, unless it is about something that is no longer open.
    fn fresh(&self, Envelope { epoch, event }: Envelope) -> Option<DeskEvent> {
        let fresh = match (epoch, &event) {
            (None, _) => true,
            (Some(epoch), DeskEvent::Opened { .. }) => self.shared.see(epoch),
            (Some(epoch), _) => epoch == self.shared.seen(),
        };
        fresh.then_some(event)
    }

    /// The newest wish that was sent with [`DeskCommand::Show`]; a picture of an older one is on its way to being
    /// replaced.
    pub fn newest_wish(&self) -> Generation {
        self.shared.newest_wish()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.shared.close();
        self.show.close();
        self.inbox.close();
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), PipelineError> {
    thread::Builder::new().name(name.into()).spawn(body).map(drop).map_err(PipelineError::Thread)
}
