//! Tracking runs: starting them, following them, going on after a pause.

use std::time::{Duration, Instant};

use super::{News, Work};
use crate::base::{Direction, FrameIndex, FrameRange, ObjectId};
use crate::pipeline::{DeskCommand, PauseRules, RunRequest};
use crate::session::Session;

/// Which objects a run follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All that have prompts and are not locked.
    #[default]
    All,
    /// Only the active one.
    Active,
}

/// Runs that were asked for together; they are one step of undo.
#[derive(Clone, Debug)]
pub struct Run {
    /// How many have not ended.
    pub left: u32,
    /// Frames tracked.
    pub done: u32,
    /// Frames that may be tracked.
    pub total: u32,
    /// Of the runs that are over: what `done` and `total` begin with.
    pub before: u32,
    /// When the first frame came.
    pub started: Option<Instant>,
    /// Time between frames, a moving mean.
    pub pace: Option<Duration>,
    /// When the last frame came.
    pub last: Option<Instant>,
    /// The picture follows the run.
    pub follow: bool,
    /// Which way the current one goes.
    pub direction: Direction,
    /// Stopping was asked for.
    pub stopping: bool,
}

/// Before that many frames nobody can say how long it takes.
const SOON: u32 = 20;

impl Run {
    fn new(left: u32, direction: Direction) -> Self {
        Self {
            left,
            done: 0,
            total: 0,
            before: 0,
            started: None,
            pace: None,
            last: None,
            follow: true,
            direction,
            stopping: false,
        }
    }

    /// Notes that a frame came.
    pub fn note(&mut self, done: u32, total: u32, now: Instant) {
        (self.done, self.total) = (self.before + done, self.before + total);
        if let Some(last) = self.last {
            let step = now.saturating_duration_since(last);
            self.pace = Some(self.pace.map_or(step, |pace| pace.mul_f32(0.9) + step.mul_f32(0.1)));
        }
        self.last = Some(now);
        self.started.get_or_insert(now);
    }

    /// Frames a second.
    pub fn fps(&self) -> Option<f32> {
        self.pace.map(|pace| 1.0 / pace.as_secs_f32().max(1e-4))
    }

    /// Time left, once it can be said.
    pub fn time_left(&self) -> Option<Duration> {
        let pace = self.pace.filter(|_| self.done >= SOON)?;
        Some(pace * self.total.saturating_sub(self.done))
    }
}

/// Which way and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the out mark or the end.
    Forward,
    /// To the in mark or the start.
    Backward,
    /// Forward and then backward.
    Both,
    /// One frame on.
    OneForward,
    /// One frame back.
    OneBackward,
}

impl Work {
    /// Follows objects from the frame that is shown.
    ///
    /// # Errors
    /// Why nothing can be tracked, in words.
    pub fn track(&mut self, way: Way, pause: PauseRules) -> Result<(), String> {
        let open = self.open.as_ref().ok_or("nothing is open")?;
        self.track_from(open.frame, way, pause)
    }

    /// Goes on behind the frame at which the last run paused.
    pub fn go_on(&mut self, pause: PauseRules) -> Result<(), String> {
        let Some(stop) = self.pause.take() else { return Ok(()) };
        let (next, way) = match stop.direction {
            Direction::Forward => (stop.frame.0 + 1, Way::Forward),
            Direction::Backward => (stop.frame.0.saturating_sub(1), Way::Backward),
        };
        self.track_from(FrameIndex(next), way, pause)
    }

    fn track_from(&mut self, from: FrameIndex, way: Way, pause: PauseRules) -> Result<(), String> {
        if self.run.is_some() {
            return Err("a run is under way: Esc stops it".into());
        }
        let open = self.open.as_ref().ok_or("nothing is open")?;
        let session = open.document.session();
        let objects = self.followed(session, open.active)?;
        let last = FrameIndex(open.video.frames.saturating_sub(1));
        let whole = FrameRange { first: FrameIndex(0), last };
        // Marks bound a run that starts between them.
        let bounds = session.range().filter(|range| range.contains(from)).unwrap_or(whole);
        let ahead = |first: FrameIndex, last: FrameIndex| FrameRange::new(first, last);
        let plan: Vec<(FrameIndex, Option<FrameRange>, Direction)> = match way {
            Way::Forward => vec![(from, ahead(from, bounds.last), Direction::Forward)],
            Way::Backward => vec![(from, ahead(bounds.first, from), Direction::Backward)],
            Way::Both => vec![
                (from, ahead(from, bounds.last), Direction::Forward),
                (from, ahead(bounds.first, from), Direction::Backward),
            ],
            Way::OneForward => {
                let next = FrameIndex(from.0 + 1);
                vec![(next, ahead(next, next).filter(|_| next <= last), Direction::Forward)]
            }
            Way::OneBackward => {
                let next = from.0.checked_sub(1).map(FrameIndex);
                vec![(next.unwrap_or(from), next.and_then(|n| ahead(n, n)), Direction::Backward)]
            }
        };
        let requests: Vec<_> = plan
            .into_iter()
            .filter_map(|(from, range, direction)| {
                Some(RunRequest { pause, ..RunRequest::of(session, &objects, from, range?, direction) })
            })
            .collect();
        let Some(first) = requests.first() else {
            return Err("there is no frame that way".into());
        };
        let direction = first.direction;
        (self.pause, self.play) = (None, None);
        self.run = Some(Run::new(requests.len() as u32, direction));
        if let Some(open) = &mut self.open {
            let label =
                if matches!(way, Way::OneForward | Way::OneBackward) { "track one frame" } else { "track" };
            open.document.begin_run(label);
        }
        requests.into_iter().for_each(|request| self.send(DeskCommand::Track(request)));
        Ok(())
    }

    fn followed(&self, session: &Session, active: Option<ObjectId>) -> Result<Vec<ObjectId>, String> {
        let prompted = |id: ObjectId| session.prompts_of(id).next().is_some();
        let objects = session.objects();
        let wanted: Vec<_> = match self.scope {
            Scope::All => objects.iter().filter(|o| !o.locked && prompted(o.id)).map(|o| o.id).collect(),
            Scope::Active => active.into_iter().filter(|id| prompted(*id)).collect(),
        };
        if wanted.is_empty() {
            return Err(if objects.iter().any(|o| prompted(o.id)) {
                "every object with a prompt is locked: unlock one".into()
            } else {
                "nothing to track yet: click on an object in the picture first".into()
            });
        }
        if self.scope == Scope::Active && session.object(wanted[0]).is_some_and(|o| o.locked) {
            return Err("the object is locked: unlock it first".into());
        }
        Ok(wanted)
    }

    /// Stops runs and exports; what is finished is kept. Says whether there was something to stop.
    pub fn stop(&mut self) -> bool {
        let running = self.run.is_some() || self.exporting.is_some();
        if running {
            if let Some(run) = &mut self.run {
                run.stopping = true;
            }
            self.send(DeskCommand::Cancel);
        }
        running
    }

    /// One of the runs that were asked for together is over.
    pub(super) fn run_ended(&mut self) {
        let Some(run) = &mut self.run else { return };
        run.left = run.left.saturating_sub(1);
        run.before = run.done;
        if run.left > 0 && !run.stopping {
            run.direction = Direction::Backward;
            return;
        }
        let done = run.done;
        self.run = None;
        if let Some(open) = &mut self.open {
            open.document.end_run();
        }
        self.news.push(News::Tracked(done));
    }
}
