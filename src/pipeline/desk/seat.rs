//! The engine thread: takes orders one by one, opens the engine when it is first needed, outlives every failure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::inbox::{Inbox, Order, Scene, Taken};
use super::message::{DeskEvent, RunId};
use super::recent::Recent;
use super::request::ObjectPrompts;
use super::shared::{Epoch, Shared};
use super::teller::{Gone, Teller};
use super::workplace::Workplace;
use crate::base::{FrameIndex, ObjectId};
use crate::pipeline::PipelineError;
use crate::pipeline::factory::Tools;

/// Name of the thread.
pub(super) const NAME: &str = "masklet-desk";

/// The state of the thread.
pub(super) struct Seat {
    pub(super) inbox: Arc<Inbox>,
    pub(super) shared: Arc<Shared>,
    pub(super) tell: Teller,
    tools: Tools,
    recent: Arc<Recent>,
    scene: Option<Scene>,
    workplace: Option<Workplace>,
    /// The run that a panic would end.
    pub(super) running: Option<RunId>,
    /// Objects that were forgotten while the run went on.
    pub(super) dropped: Vec<ObjectId>,
}

impl Seat {
    pub(super) fn new(
        inbox: Arc<Inbox>,
        shared: Arc<Shared>,
        tell: Teller,
        tools: Tools,
        recent: Arc<Recent>,
    ) -> Self {
        Self {
            inbox,
            shared,
            tell,
            tools,
            recent,
            scene: None,
            workplace: None,
            running: None,
            dropped: Vec::new(),
        }
    }

    /// Works until the desk is gone.
    pub(super) fn work(mut self) {
        loop {
            let (epoch, order) = match self.inbox.take() {
                Taken::Closed => return,
                Taken::Scene(scene) => {
                    // The old engine goes first: two may not fit into the device.
                    self.workplace = None;
                    self.scene = scene;
                    continue;
                }
                Taken::Order(epoch, order) => (epoch, order),
            };
            let done = catch_unwind(AssertUnwindSafe(|| self.carry_out(epoch, order)));
            let done = done.unwrap_or_else(|payload| self.panicked(epoch, payload.as_ref()));
            if done.is_err() {
                return;
            }
        }
    }

    fn panicked(&mut self, epoch: Epoch, payload: &(dyn std::any::Any + Send)) -> Result<(), Gone> {
        // What it left behind is not to be trusted.
        self.workplace = None;
        let text = PipelineError::panic_text(payload);
        self.tell.tell(epoch, DeskEvent::Panicked { thread: NAME, text })?;
        match self.running.take() {
            Some(run) => self.tell.tell(epoch, DeskEvent::RunEnded { run, cancelled: false }),
            None => Ok(()),
        }
    }

    /// Does what was ordered, if it is about what is open.
    pub(super) fn carry_out(&mut self, epoch: Epoch, order: Order) -> Result<(), Gone> {
        if self.scene.as_ref().is_none_or(|scene| scene.epoch != epoch) {
            return Ok(());
        }
        match order {
            Order::Answer { object, frame } => self.answer(epoch, &object, frame),
            Order::Preview { object, frame } => self.preview(epoch, &object, frame),
            Order::Track { run, request } => self.run(epoch, run, &request),
            Order::Forget(object) => {
                self.dropped.push(object);
                if let Some(workplace) = &mut self.workplace {
                    workplace.forget(object);
                }
                Ok(())
            }
        }
    }

    fn answer(&mut self, epoch: Epoch, object: &ObjectPrompts, frame: FrameIndex) -> Result<(), Gone> {
        let Some(workplace) = self.workplace(epoch)? else { return Ok(()) };
        let answer = workplace.answer(object, frame);
        let id = object.object;
        match (answer, object.prompts.get(&frame)) {
            (Ok(Some(result)), Some(prompts)) => {
                let prompts = prompts.clone();
                self.tell.tell(epoch, DeskEvent::Answered { object: id, frame, prompts, result })
            }
            (Ok(_), _) => Ok(()),
            (Err(error), _) => self.failed(epoch, format!("object {id}, frame {frame}: no mask"), error),
        }
    }

    fn preview(&mut self, epoch: Epoch, object: &ObjectPrompts, frame: FrameIndex) -> Result<(), Gone> {
        let Some(workplace) = self.workplace(epoch)? else { return Ok(()) };
        match workplace.preview(object, frame) {
            Ok(Some(result)) => {
                let (object, mask, score) = (object.object, result.mask, result.score);
                self.tell.tell(epoch, DeskEvent::Previewed { object, frame, mask, score })
            }
            Ok(None) => Ok(()),
            Err(error) => self.failed(epoch, format!("frame {frame}: no preview"), error),
        }
    }

    pub(super) fn failed(&self, epoch: Epoch, what: String, error: PipelineError) -> Result<(), Gone> {
        self.tell.tell(epoch, DeskEvent::Failed { what, error })
    }

    /// Number of frames of what is open.
    pub(super) fn frames(&self) -> u32 {
        self.scene.as_ref().map_or(0, |scene| scene.shape.frames)
    }

    /// The engine, made if there is none; `None` when there is no way, which was told.
    pub(super) fn workplace(&mut self, epoch: Epoch) -> Result<Option<&mut Workplace>, Gone> {
        if self.workplace.is_none()
            && let Some(scene) = &self.scene
        {
            match Workplace::open(&self.tools, scene, self.recent.clone()) {
                Ok(workplace) => {
                    self.tell.tell(epoch, DeskEvent::Engine { facts: workplace.facts() })?;
                    self.workplace = Some(workplace);
                }
                Err(error) => self.tell.tell(epoch, DeskEvent::EngineFailed { error })?,
            }
        }
        Ok(self.workplace.as_mut())
    }
}
