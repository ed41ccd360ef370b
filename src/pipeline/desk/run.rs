//! A tracking run, frame by frame.

use super::message::{DeskEvent, RunId};
use super::meter::Moved;
use super::pause::Watch;
use super::request::RunRequest;
use super::seat::Seat;
use super::shared::Epoch;
use super::teller::Gone;
use super::workplace::Workplace;
use crate::base::{Direction, FrameIndex, ObjectId};
use crate::pipeline::PipelineError;

/// How a run goes on after a frame.
enum Next {
    Frame,
    Pause,
    Stop,
}

impl RunRequest {
    /// The frames that it tracks, in the direction of travel, none past the end of a video of `frames`.
    pub(super) fn frames(&self, frames: u32) -> Box<dyn ExactSizeIterator<Item = FrameIndex>> {
        match self.direction {
            Direction::Forward => {
                let end = frames.min(self.range.last.0.saturating_add(1));
                Box::new(Steps { next: self.from.0, left: end.saturating_sub(self.from.0), back: false })
            }
            Direction::Backward => {
                let left = if self.from.0 < frames {
                    (self.from.0 + 1).saturating_sub(self.range.first.0)
                } else {
                    0
                };
                Box::new(Steps { next: self.from.0, left, back: true })
            }
        }
    }
}

/// Frames one after the other.
struct Steps {
    next: u32,
    left: u32,
    back: bool,
}

impl Iterator for Steps {
    type Item = FrameIndex;

    fn next(&mut self) -> Option<FrameIndex> {
        self.left = self.left.checked_sub(1)?;
        let frame = FrameIndex(self.next);
        self.next = if self.back { self.next.wrapping_sub(1) } else { self.next + 1 };
        Some(frame)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Steps {}

impl Seat {
    /// Follows the objects of `request`; every frame is told as soon as it is finished.
    pub(super) fn run(&mut self, epoch: Epoch, run: RunId, request: &RunRequest) -> Result<(), Gone> {
        let frames = request.frames(self.frames());
        let total = frames.len() as u32;
        self.tell.tell(epoch, DeskEvent::RunStarted { run, total })?;
        self.running = Some(run);
        self.dropped.clear();
        let ended = self.walk(epoch, run, request, frames, total)?;
        self.running = None;
        if let Err(error) = ended {
            self.failed(epoch, "tracking stopped".into(), error)?;
        }
        let cancelled = self.shared.run_cancelled(run);
        self.tell.tell(epoch, DeskEvent::RunEnded { run, cancelled })
    }

    fn walk(
        &mut self,
        epoch: Epoch,
        run: RunId,
        request: &RunRequest,
        frames: impl Iterator<Item = FrameIndex>,
        total: u32,
    ) -> Result<Result<(), PipelineError>, Gone> {
        if total == 0 || self.shared.run_cancelled(run) {
            return Ok(Ok(()));
        }
        let shared = self.shared.clone();
        let Some(workplace) = self.workplace(epoch)? else { return Ok(Ok(())) };
        if let Err(error) = begin(workplace, request, &|| shared.run_cancelled(run)) {
            return Ok(Err(error));
        }
        let mut watch = Watch::new(request.pause);
        for (done, frame) in (1..).zip(frames) {
            self.serve()?;
            if self.shared.run_cancelled(run) {
                break;
            }
            match self.step(epoch, run, request, frame, (done, total), &mut watch)? {
                Ok(Next::Frame) => {}
                Ok(Next::Pause | Next::Stop) => break,
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }

    /// Answers clicks that came meanwhile.
    fn serve(&mut self) -> Result<(), Gone> {
        let inbox = self.inbox.clone();
        while let Some((epoch, order)) = inbox.take_between() {
            self.carry_out(epoch, order)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        epoch: Epoch,
        run: RunId,
        request: &RunRequest,
        frame: FrameIndex,
        (done, total): (u32, u32),
        watch: &mut Watch,
    ) -> Result<Result<Next, PipelineError>, Gone> {
        let here = request.objects.iter().filter(|o| !o.absent.contains(&frame)).map(|o| o.object);
        let objects: Vec<ObjectId> = here.filter(|object| !self.dropped.contains(object)).collect();
        if request.objects.iter().all(|o| self.dropped.contains(&o.object)) {
            return Ok(Ok(Next::Stop));
        }
        let Some(workplace) = self.workplace(epoch)? else { return Ok(Ok(Next::Stop)) };
        let mut track = || {
            let picture = workplace.picture(frame)?;
            if objects.is_empty() {
                return Ok((picture, Vec::new()));
            }
            workplace.encode_picture(frame, &picture)?;
            let results = workplace.track(frame, request.direction, &objects)?;
            Ok((picture, results))
        };
        let (picture, results) = match track() {
            Ok(tracked) => tracked,
            Err(error) => return Ok(Err(error)),
        };
        let paused = watch.look(&picture, &results);
        self.tell.tell(epoch, DeskEvent::Tracked { run, frame, results, done, total })?;
        self.tell.moved(Moved::Tracked);
        let Some((object, reason)) = paused.filter(|_| done < total) else { return Ok(Ok(Next::Frame)) };
        self.tell.tell(epoch, DeskEvent::Paused { run, frame, object, reason })?;
        Ok(Ok(Next::Pause))
    }
}

/// Brings the engine to where the run begins.
fn begin(
    workplace: &mut Workplace,
    request: &RunRequest,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), PipelineError> {
    for object in &request.objects {
        if cancelled() {
            return Ok(());
        }
        workplace.start(object, request.from, request.direction)?;
    }
    workplace.seed(&request.objects, &request.seeds, request.from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::FrameRange;
    use crate::pipeline::desk::PauseRules;

    fn frames(from: u32, range: (u32, u32), direction: Direction) -> Vec<u32> {
        let range = FrameRange { first: FrameIndex(range.0), last: FrameIndex(range.1) };
        let (objects, seeds, pause) = (Vec::new(), Vec::new(), PauseRules::OFF);
        let request = RunRequest { objects, from: FrameIndex(from), range, direction, pause, seeds };
        request.frames(10).map(|f| f.0).collect()
    }

    #[test]
    fn a_run_ends_where_its_range_or_the_video_does() {
        assert_eq!(frames(7, (0, 99), Direction::Forward), [7, 8, 9]);
        assert_eq!(frames(7, (0, 8), Direction::Forward), [7, 8]);
        assert_eq!(frames(2, (1, 9), Direction::Backward), [2, 1]);
        assert_eq!(frames(1, (0, 9), Direction::Backward), [1, 0]);
        for (from, range, direction) in [
            (10, (0, 9), Direction::Forward),
            (u32::MAX, (0, u32::MAX), Direction::Forward),
            (9, (0, 8), Direction::Forward),
            (0, (1, 9), Direction::Backward),
            (10, (0, 9), Direction::Backward),
        ] {
            assert_eq!(frames(from, range, direction), [0; 0], "{from} {range:?} {direction:?}");
        }
    }
}
