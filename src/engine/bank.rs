//! Owns the rules which of an object's memories and pointers a frame attends to, over frame numbers alone.
//! May import: base, and the direction of the port.
//! Must not: hold memories; the caller fetches what is named here.

use std::collections::BTreeSet;

use super::port::Direction;
use crate::base::FrameIndex;

/// How the temporal slot of a previous frame is numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlotRule {
    /// By its true distance, as the network was trained.
    #[default]
    ByDistance,
    /// By its rank among those present: wrong after a gap. Kept as data, so that a test can show that it is noticed.
    ByRank,
}

/// Sizes and rules of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankConfig {
    /// Temporal slots, the conditioning one included (7).
    pub slots: u32,
    /// Most pointers but for those of conditioning frames, plus one (16).
    pub pointers: u32,
    /// Most conditioning frames attended to: the nearest ones. `None` is the official rule, all of them.
    /// Values below 2 count as 2: the nearest one before and the nearest one after always stay.
    pub conditioning: Option<u32>,
    /// How slots are numbered.
    pub slot_rule: SlotRule,
}

impl BankConfig {
    /// The official predictor's rules.
    pub const OFFICIAL: Self =
        Self { slots: 7, pointers: 16, conditioning: None, slot_rule: SlotRule::ByDistance };
    /// Our own: the four nearest conditioning frames, so that corrections are not averaged away and cost stays bounded.
    pub const NATIVE: Self = Self { conditioning: Some(4), ..Self::OFFICIAL };
}

/// A spatial memory to attend to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpatialEntry {
    /// Whose memory.
    pub frame: FrameIndex,
    /// Row of the temporal position vectors.
    pub slot: u32,
}

/// What a frame attends to, in the order of the memory tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attended {
    /// Spatial memories: conditioning frames, then previous frames, the farthest first.
    pub spatial: Vec<SpatialEntry>,
    /// Frames whose pointers follow.
    pub pointers: Vec<FrameIndex>,
}

/// Which frame looks back, and over what.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The frame that is being tracked.
    pub frame: FrameIndex,
    /// Which way the track runs; "previous" frames are behind in this sense.
    pub direction: Direction,
    /// Number of frames of the video.
    pub frames: u32,
    /// The object's conditioning frames in the order in which they became such. No frame twice.
    pub conditioning: &'a [FrameIndex],
}

/// What `look.frame` attends to. `tracked` says whether a frame has a stored output that is not a conditioning one.
///
/// Conditioning frames count wherever they are, past or future, but their pointers only when they are not ahead in the
/// direction of travel. Previous frames without an output are skipped; the others keep their slots. Conditioning frames
/// that the limit leaves out act as ordinary previous frames.
pub fn attend(config: &BankConfig, look: &Look<'_>, tracked: impl Fn(FrameIndex) -> bool) -> Attended {
    let selected = nearest(look.conditioning, look.frame, config.conditioning);
    let taken: BTreeSet<FrameIndex> = selected.iter().copied().collect();
    let previous = |distance: u32| -> Option<FrameIndex> {
        let at = match look.direction {
            Direction::Forward => look.frame.0.checked_sub(distance),
            Direction::Backward => look.frame.0.checked_add(distance).filter(|f| *f < look.frames),
        };
        at.map(FrameIndex)
    };
    let present =
        |frame: &FrameIndex| tracked(*frame) || (!taken.contains(frame) && look.conditioning.contains(frame));
    let behind = |frame: &FrameIndex| match look.direction {
        Direction::Forward => *frame <= look.frame,
        Direction::Backward => *frame >= look.frame,
    };

    let conditioning_slot = config.slots.saturating_sub(1);
    let mut spatial: Vec<_> =
        selected.iter().map(|&frame| SpatialEntry { frame, slot: conditioning_slot }).collect();
    let near: Vec<_> = (1..config.slots)
        .filter_map(|distance| Some((distance - 1, previous(distance).filter(present)?)))
        .collect();
    spatial.extend(near.iter().enumerate().rev().map(|(rank, &(slot, frame))| SpatialEntry {
        frame,
        slot: if config.slot_rule == SlotRule::ByRank { rank as u32 } else { slot },
    }));

    let mut pointers: Vec<_> = selected.into_iter().filter(behind).collect();
    let reach = config.pointers.min(look.frames);
    pointers.extend((1..reach).map_while(previous).filter(present));
    Attended { spatial, pointers }
}

/// The conditioning frames to attend to: all in their order while they are within the limit; else the closest before,
/// the closest at or after, then the nearest of the others (the older in order wins a tie).
fn nearest(conditioning: &[FrameIndex], at: FrameIndex, limit: Option<u32>) -> Vec<FrameIndex> {
    let limit = limit.map_or(usize::MAX, |l| l.max(2) as usize);
    if conditioning.len() <= limit {
        return conditioning.to_vec();
    }
    let before = conditioning.iter().copied().filter(|f| *f < at).max();
    let after = conditioning.iter().copied().filter(|f| *f >= at).min();
    let mut selected: Vec<_> = before.into_iter().chain(after).collect();
    let mut others: Vec<_> = conditioning.iter().copied().filter(|f| !selected.contains(f)).collect();
    others.sort_by_key(|f| f.0.abs_diff(at.0)); // stable: ties keep their order
    others.truncate(limit - selected.len());
    selected.append(&mut others);
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames(numbers: &[u32]) -> Vec<FrameIndex> {
        numbers.iter().copied().map(FrameIndex).collect()
    }

    fn entries(attended: &Attended) -> Vec<(u32, u32)> {
        attended.spatial.iter().map(|e| (e.frame.0, e.slot)).collect()
    }

    /// Attends from `at` in a video of `count` frames; every frame of `tracked` has an output.
    fn run(
        config: BankConfig,
        at: u32,
        direction: Direction,
        count: u32,
        cond: &[u32],
        tracked: &[u32],
    ) -> Attended {
        let conditioning = frames(cond);
        let look = Look { frame: FrameIndex(at), direction, frames: count, conditioning: &conditioning };
        attend(&config, &look, |f| tracked.contains(&f.0))
    }

    #[test]
    fn the_first_tracked_frame_sees_the_prompt_alone() {
        let seen = run(BankConfig::OFFICIAL, 1, Direction::Forward, 24, &[0], &[]);
        assert_eq!(entries(&seen), [(0, 6)]);
        assert_eq!(seen.pointers, frames(&[0]));
    }

    #[test]
    fn steady_state_is_seven_memories_and_sixteen_pointers() {
        let tracked: Vec<u32> = (1..30).collect();
        let seen = run(BankConfig::OFFICIAL, 30, Direction::Forward, 100, &[0], &tracked);
        assert_eq!(entries(&seen), [(0, 6), (24, 5), (25, 4), (26, 3), (27, 2), (28, 1), (29, 0)]);
        let pointers: Vec<u32> = std::iter::once(0).chain((15..30).rev()).collect();
        assert_eq!(seen.pointers, frames(&pointers));
        assert_eq!(seen.spatial.len() * 512 + seen.pointers.len() * 4, 3648);
    }

    #[test]
    fn a_gap_keeps_the_slots_of_the_others() {
        let tracked: Vec<u32> = (1..17).filter(|f| *f != 15).collect();
        let seen = run(BankConfig::OFFICIAL, 17, Direction::Forward, 24, &[0, 15], &tracked);
        assert_eq!(entries(&seen), [(0, 6), (15, 6), (11, 5), (12, 4), (13, 3), (14, 2), (16, 0)]);
        let ranked = BankConfig { slot_rule: SlotRule::ByRank, ..BankConfig::OFFICIAL };
        let seen = run(ranked, 17, Direction::Forward, 24, &[0, 15], &tracked);
        assert_eq!(entries(&seen), [(0, 6), (15, 6), (11, 4), (12, 3), (13, 2), (14, 1), (16, 0)]);
    }

    #[test]
    fn future_conditioning_frames_give_memory_but_no_pointer() {
        let seen = run(BankConfig::OFFICIAL, 2, Direction::Forward, 24, &[15, 0], &[1]);
        assert_eq!(entries(&seen), [(15, 6), (0, 6), (1, 0)]);
        assert_eq!(seen.pointers, frames(&[0, 1]));
        let seen = run(BankConfig::OFFICIAL, 14, Direction::Backward, 24, &[15, 0], &[]);
        assert_eq!(seen.pointers, frames(&[15]));
    }

    #[test]
    fn backward_stops_at_the_end() {
        let seen = run(BankConfig::OFFICIAL, 21, Direction::Backward, 24, &[23], &[22, 24, 25, 20]);
        assert_eq!(entries(&seen), [(23, 6), (22, 0)]);
        assert_eq!(seen.pointers, frames(&[23, 22]));
    }

    #[test]
    fn the_limit_keeps_the_neighbours_and_demotes_the_rest() {
        let cond = [0, 10, 20, 30, 40, 50];
        let seen = run(BankConfig::NATIVE, 22, Direction::Forward, 99, &cond, &[19, 21]);
        assert_eq!(entries(&seen), [(20, 6), (30, 6), (10, 6), (40, 6), (19, 2), (21, 0)]);
        // Frame 0 is left out as a conditioning frame, hence an ordinary one for frame 2.
        let cond = [0, 1, 2, 3, 4, 5, 6];
        let seen = run(BankConfig::NATIVE, 7, Direction::Forward, 99, &cond, &[]);
        assert_eq!(entries(&seen), [(6, 6), (5, 6), (4, 6), (3, 6), (1, 5), (2, 4)]);
        assert_eq!(seen.pointers, frames(&[6, 5, 4, 3, 2, 1, 0]));
    }

    #[test]
    fn native_is_official_up_to_four_conditioning_frames() {
        let cond = [9, 3, 30, 12];
        let tracked: Vec<u32> = (0..29).filter(|f| !cond.contains(f)).collect();
        for at in 13..29 {
            let run = |config| run(config, at, Direction::Forward, 40, &cond, &tracked);
            assert_eq!(run(BankConfig::NATIVE), run(BankConfig::OFFICIAL));
        }
    }

    proptest! {
        #[test]
        fn rules_hold(
            at in 0u32..60,
            count in 1u32..60,
            backward in any::<bool>(),
            native in any::<bool>(),
            cond in proptest::collection::btree_set(0u32..60, 1..9),
            tracked in proptest::collection::btree_set(0u32..60, 0..60),
            turn in 0usize..9,
        ) {
            let mut cond: Vec<u32> = cond.into_iter().collect();
            let by = turn % cond.len();
            cond.rotate_left(by);
            let tracked: Vec<u32> = tracked.into_iter().filter(|f| !cond.contains(f)).collect();
            let config = if native { BankConfig::NATIVE } else { BankConfig::OFFICIAL };
            let direction = if backward { Direction::Backward } else { Direction::Forward };
            let seen = run(config, at, direction, count, &cond, &tracked);
            let distance = |f: FrameIndex| if backward { i64::from(f.0) - i64::from(at) } else { i64::from(at) - i64::from(f.0) };

            let unique: BTreeSet<_> = seen.spatial.iter().map(|e| e.frame).collect();
            prop_assert_eq!(unique.len(), seen.spatial.len(), "no memory twice");
            let unique: BTreeSet<_> = seen.pointers.iter().collect();
            prop_assert_eq!(unique.len(), seen.pointers.len(), "no pointer twice");
            for entry in &seen.spatial {
                if entry.slot < 6 {
                    prop_assert_eq!(distance(entry.frame), i64::from(entry.slot) + 1);
                } else {
                    prop_assert!(cond.contains(&entry.frame.0));
                }
            }
            for frame in &seen.pointers {
                prop_assert!(distance(*frame) >= 0);
                prop_assert!(cond.contains(&frame.0) || (tracked.contains(&frame.0) && distance(*frame) < 16));
            }
            let kept = seen.spatial.iter().filter(|e| e.slot == 6).count();
            prop_assert_eq!(kept, if native { cond.len().min(4) } else { cond.len() });
            prop_assert!(seen.spatial.len() <= kept + 6);
        }
    }
}
