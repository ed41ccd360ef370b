//! The display thread: decodes the frame that the window wished for last.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::message::DeskEvent;
use super::meter::Moved;
use super::recent::Recent;
use super::shared::{Epoch, Shown};
use super::teller::{Gone, Teller};
use crate::base::{FrameIndex, Generation};
use crate::pipeline::PipelineError;
use crate::pipeline::factory::Tools;
use crate::pipeline::job::Input;
use crate::video::VideoSource;

/// Name of the thread.
pub(super) const NAME: &str = "masklet-show";

/// What the window wishes to see.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    pub(super) epoch: Epoch,
    pub(super) frame: FrameIndex,
    pub(super) generation: Generation,
}

/// What is open, for display.
pub(super) struct Stage {
    pub(super) epoch: Epoch,
    pub(super) input: Input,
    /// `None` after a panic: opened again when it is needed.
    pub(super) source: Option<Box<dyn VideoSource>>,
}

/// What waits for the thread: at most one change of the stage and one wish.
#[derive(Default)]
pub(super) struct ShowBox {
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Default)]
struct State {
    stage: Option<Option<Stage>>,
    wish: Option<Wish>,
    closed: bool,
}

enum Taken {
    Stage(Option<Stage>),
    Wish(Wish),
    Closed,
}

impl ShowBox {
    /// The newest wish counts.
    pub(super) fn wish(&self, wish: Wish) {
        self.with(|state| state.wish = Some(wish));
    }

    /// Something else is open, or nothing.
    pub(super) fn stage(&self, stage: Option<Stage>) {
        self.with(|state| state.stage = Some(stage));
    }

    pub(super) fn close(&self) {
        self.with(|state| state.closed = true);
    }

    fn with(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.ready.notify_one();
    }

    fn take(&self) -> Taken {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if state.closed {
                return Taken::Closed;
            }
            if let Some(stage) = state.stage.take() {
                return Taken::Stage(stage);
            }
            if let Some(wish) = state.wish.take() {
                return Taken::Wish(wish);
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Works until the desk is gone.
pub(super) fn work(inbox: &ShowBox, tools: &Tools, tell: &Teller, recent: &Recent) {
    let mut stage: Option<Stage> = None;
    loop {
        let wish = match inbox.take() {
            Taken::Closed => return,
            Taken::Stage(new) => {
                recent.clear();
                stage = new;
                continue;
            }
            Taken::Wish(wish) => wish,
        };
        let Some(open) = stage.as_mut().filter(|open| open.epoch == wish.epoch) else { continue };
        let done = catch_unwind(AssertUnwindSafe(|| show(open, wish, tools, tell, recent)));
        let done = done.unwrap_or_else(|payload| {
            open.source = None;
            let text = PipelineError::panic_text(payload.as_ref());
            tell.tell(wish.epoch, DeskEvent::Panicked { thread: NAME, text })
        });
        if done.is_err() {
            return;
        }
    }
}

fn show(open: &mut Stage, wish: Wish, tools: &Tools, tell: &Teller, recent: &Recent) -> Result<(), Gone> {
    let Wish { epoch, frame, generation } = wish;
    let failed = |error| {
        let what = format!("frame {frame} cannot be shown");
        tell.tell(epoch, DeskEvent::Failed { what, error })
    };
    if open.source.is_none() {
        match tools.videos.open(&open.input) {
            Ok(source) => open.source = Some(source),
            Err(error) => return failed(error),
        }
    }
    let Some(source) = &mut open.source else { return Ok(()) };
    let picture = match recent.get(epoch, frame) {
        Some(picture) => picture,
        None => match source.frame(frame) {
            Ok(picture) => {
                let picture = Arc::new(picture);
                recent.put(epoch, frame, picture.clone());
                tell.moved(Moved::Decoded);
                picture
            }
            Err(error) => return failed(error.into()),
        },
    };
    tell.show(Shown { epoch, frame, pts: source.pts(frame), picture, generation })
}
