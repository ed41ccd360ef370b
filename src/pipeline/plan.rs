//! In which order frames are worked on, so that results always leave in ascending order.

use super::PipelineError;
use super::hop::Work;
use super::job::Reach;
use crate::base::{FrameIndex, FrameRange, ObjectId};
use crate::engine::Direction;

/// Between which frames an object has prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prompted {
    /// Whose.
    pub object: ObjectId,
    /// Its first prompted frame.
    pub first: FrameIndex,
    /// Its last prompted frame.
    pub last: FrameIndex,
}

/// One walk over the video.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    /// Which way.
    pub direction: Direction,
    /// Over which frames.
    pub range: FrameRange,
    /// Frames before this one are replayed from the results of an earlier pass instead of tracked.
    pub replay_before: FrameIndex,
    /// Results go to the exports; otherwise they are kept for the replay.
    pub emit: bool,
}

impl Pass {
    /// The frames in the order of the walk, each with what is done to it.
    pub fn steps(self) -> impl Iterator<Item = (FrameIndex, Work)> + Send {
        let FrameRange { first, last } = self.range;
        (0..self.range.count()).map(move |i| {
            let frame = match self.direction {
                Direction::Forward => FrameIndex(first.0 + i),
                Direction::Backward => FrameIndex(last.0 - i),
            };
            (frame, if frame < self.replay_before { Work::Replay } else { Work::Track })
        })
    }

    /// Number of frames that are tracked, not replayed.
    pub fn tracked(self) -> u32 {
        let start = self.range.first.max(self.replay_before);
        FrameRange::new(start, self.range.last).map_or(0, |range| range.count())
    }
}

/// All walks of a job, and which of an object's answers count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The walks in order; only the last one emits.
    pub passes: Vec<Pass>,
    /// The prompted frames of each object.
    pub objects: Vec<Prompted>,
    /// Which way.
    pub reach: Reach,
    /// What a person should know.
    pub warnings: Vec<String>,
}

impl Plan {
    /// Orders the frames `from..=to` of a video of `frames` frames (at least 1) for `objects` (at least one).
    ///
    /// # Errors
    /// No frame of the range can be reached.
    pub fn new(
        reach: Reach,
        (from, to): (Option<FrameIndex>, Option<FrameIndex>),
        frames: u32,
        objects: Vec<Prompted>,
    ) -> Result<Self, PipelineError> {
        let end = FrameIndex(frames.saturating_sub(1));
        let (low, high) = (from.unwrap_or_default(), to.unwrap_or(end));
        let fail = |reason: String| PipelineError::Range { from: low, to: high, reason };
        if low > end {
            return Err(fail(format!("the video has frames 0 to {end}")));
        }
        if low > high {
            return Err(fail("the range ends before it starts".into()));
        }
        let mut warnings = Vec::new();
        if high > end {
            warnings.push(format!("the range ends at frame {high} but the video's last frame is {end}"));
        }
        let high = high.min(end);
        let of = |pick: fn(&Prompted) -> FrameIndex| objects.iter().map(pick);
        let first = of(|o| o.first).min().ok_or(PipelineError::NothingToTrack)?;
        let last_first = of(|o| o.first).max().unwrap_or(first);
        let last = of(|o| o.last).max().unwrap_or(first);

        let forward = FrameRange::new(low.max(first), high);
        let passes = match reach {
            Reach::Forward => {
                if from.is_some_and(|from| from < first) {
                    warnings.push(format!(
                        "frames {low} to {} lie before the first prompt and are left out; --both reaches them",
                        first.0 - 1
                    ));
                }
                let range = forward.ok_or_else(|| {
                    fail(format!("the first prompt is on frame {first}: use --backward or --both"))
                })?;
                vec![Pass { direction: Direction::Forward, range, replay_before: FrameIndex(0), emit: true }]
            }
            Reach::Backward => {
                if to.is_some_and(|to| to.min(end) > last) {
                    warnings.push(format!(
                        "frames {} to {high} lie after the last prompt and are left out; --both reaches them",
                        last.0 + 1
                    ));
                }
                let range = FrameRange::new(low, last.min(high)).ok_or_else(|| {
                    fail(format!("the last prompt is on frame {last}: track forward or use --both"))
                })?;
                vec![back(range), replay(range)]
            }
            Reach::Both => {
                // An object's own first prompted frame is answered by the forward pass.
                let before = last_first.0.checked_sub(1).map(|f| FrameIndex(f).min(high));
                let backward = before.and_then(|before| FrameRange::new(low, before));
                let whole = FrameRange { first: low, last: high };
                let replay_before = forward.map_or(FrameIndex(high.0.saturating_add(1)), |f| f.first);
                let onward = Pass { direction: Direction::Forward, range: whole, replay_before, emit: true };
                backward.map(back).into_iter().chain([onward]).collect()
            }
        };
        Ok(Self { passes, objects, reach, warnings })
    }

    /// Number of frames that are tracked over all passes.
    pub fn tracked(&self) -> u32 {
        self.passes.iter().fold(0, |sum, pass| sum.saturating_add(pass.tracked()))
    }

    /// Whether the answer for `object` on `frame` counts in a pass of `direction`: before its first prompt an object
    /// is only known by looking back from it, and after its last only by looking forward.
    pub fn counts(&self, object: ObjectId, frame: FrameIndex, direction: Direction) -> bool {
        let Some(prompted) = self.objects.iter().find(|o| o.object == object) else { return false };
        match (self.reach, direction) {
            (_, Direction::Forward) => frame >= prompted.first,
            (Reach::Both, Direction::Backward) => frame < prompted.first,
            (_, Direction::Backward) => frame <= prompted.last,
        }
    }
}

fn back(range: FrameRange) -> Pass {
    Pass { direction: Direction::Backward, range, replay_before: FrameIndex(0), emit: false }
}

fn replay(range: FrameRange) -> Pass {
    let replay_before = FrameIndex(range.last.0.saturating_add(1));
    Pass { direction: Direction::Forward, range, replay_before, emit: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(id: u32, first: u32, last: u32) -> Prompted {
        Prompted { object: ObjectId(id), first: FrameIndex(first), last: FrameIndex(last) }
    }

    fn plan(
        reach: Reach,
        from: Option<u32>,
        to: Option<u32>,
        objects: &[Prompted],
    ) -> Result<Plan, PipelineError> {
        Plan::new(reach, (from.map(FrameIndex), to.map(FrameIndex)), 10, objects.to_vec())
    }

    fn walk(plan: &Plan) -> Vec<Vec<(u32, Work)>> {
        plan.passes.iter().map(|p| p.steps().map(|(f, w)| (f.0, w)).collect()).collect()
    }

    #[test]
    fn forward_starts_at_the_first_prompt() {
        let plan = plan(Reach::Forward, None, Some(4), &[object(1, 2, 2)]).expect("fits");
        assert_eq!(walk(&plan), [vec![(2, Work::Track), (3, Work::Track), (4, Work::Track)]]);
        assert!(plan.passes[0].emit && plan.warnings.is_empty());
        assert_eq!(plan.tracked(), 3);
    }

    #[test]
    fn backward_walks_down_and_leaves_in_ascending_order() {
        let plan = plan(Reach::Backward, Some(1), None, &[object(1, 3, 3)]).expect("fits");
        let down: Vec<_> = [3, 2, 1].map(|f| (f, Work::Track)).into();
        let up: Vec<_> = [1, 2, 3].map(|f| (f, Work::Replay)).into();
        assert_eq!(walk(&plan), [down, up]);
        assert_eq!(plan.tracked(), 3);
        assert!(!plan.passes[0].emit && plan.passes[1].emit);
    }

    #[test]
    fn both_covers_every_frame_once_per_object() {
        let plan = plan(Reach::Both, None, None, &[object(1, 3, 3), object(2, 6, 8)]).expect("fits");
        assert_eq!(plan.passes[0].range, FrameRange { first: FrameIndex(0), last: FrameIndex(5) });
        assert_eq!(plan.passes[1].replay_before, FrameIndex(3));
        for object in [1, 2] {
            for frame in (0..10).map(FrameIndex) {
                let ways = plan.passes.iter().filter(|pass| {
                    pass.steps().any(|step| step == (frame, Work::Track))
                        && plan.counts(ObjectId(object), frame, pass.direction)
                });
                assert_eq!(ways.count(), 1, "object {object}, frame {frame}");
            }
        }
    }

    #[test]
    fn both_from_frame_0_is_forward() {
        let plan = plan(Reach::Both, None, None, &[object(1, 0, 0)]).expect("fits");
        assert_eq!(plan.passes.len(), 1);
        assert_eq!(plan.tracked(), 10);
    }

    #[test]
    fn what_cannot_be_reached_is_said() {
        let says = |reach, from, to| {
            plan(reach, from, to, &[object(1, 5, 5)]).map(|plan| plan.warnings).map_err(|e| e.to_string())
        };
        assert!(says(Reach::Forward, None, Some(4)).expect_err("before").contains("--both"));
        assert!(says(Reach::Backward, Some(6), None).expect_err("after").contains("forward"));
        assert!(says(Reach::Forward, Some(10), None).expect_err("past").contains("0 to 9"));
        assert!(says(Reach::Forward, Some(4), Some(3)).expect_err("inverted").contains("ends before"));
        assert_eq!(says(Reach::Forward, Some(3), None).expect("reaches").len(), 1);
        assert_eq!(says(Reach::Backward, None, Some(99)).expect("reaches").len(), 2);
        assert!(plan(Reach::Forward, None, None, &[]).is_err());
    }
}
