//! Owns which packet makes which displayed frame, and when it is shown.
//! May import: nothing of this crate.
//! Must not: touch FFmpeg.

/// What is remembered of a packet: enough to recognise it after a seek.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacketFacts {
    /// Presentation time in ticks of the stream.
    pub(super) pts: Option<i64>,
    /// Decoding time in ticks of the stream.
    pub(super) dts: Option<i64>,
    /// Length in bytes.
    pub(super) size: u32,
    /// Hash of its bytes.
    pub(super) hash: u32,
    /// Decoding can start here.
    pub(super) key: bool,
    /// Decoded but never shown: trimmed by an edit list, or a hidden reference frame.
    pub(super) hidden: bool,
}

impl PacketFacts {
    /// Whether `other`, read after a seek, is this packet. Times guessed by the demuxer may differ by then, bytes may not;
    /// `pts` tells apart equal pictures in a row.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.size == other.size
            && self.hash == other.hash
            && match (self.pts, other.pts) {
                (Some(a), Some(b)) => a == b,
                _ => self.dts == other.dts,
            }
    }
}

/// No displayed frame.
const NONE: u32 = u32::MAX;

/// The table of displayed frames. Packets are numbered in file order ("ordinal"), frames in display order.
#[derive(Debug, Default)]
pub(super) struct FrameTable {
    packets: Vec<PacketFacts>,
    /// Frame -> ordinal.
    shown: Vec<u32>,
    /// Ordinal -> frame.
    place: Vec<u32>,
    /// Frame -> ticks.
    times: Vec<i64>,
}

impl FrameTable {
    /// Display order from the packets' times alone, or `None` when they cannot be trusted for it (missing or equal times,
    /// a start in the middle of a group of pictures): then only decoding tells.
    pub(super) fn from_times(packets: Vec<PacketFacts>) -> Result<Self, Vec<PacketFacts>> {
        let visible = |p: &&PacketFacts| !p.hidden;
        let all_timed = packets.iter().filter(visible).all(|p| p.pts.is_some());
        let starts_clean = packets.first().is_none_or(|p| p.key)
            // Pictures shown before the keyframe that precedes them in the file need the group before it.
            && packets.first().and_then(|f| f.pts).is_none_or(|first| packets.iter().all(|p| p.pts >= Some(first)));
        if !all_timed || !starts_clean {
            return Err(packets);
        }
        let mut shown: Vec<u32> = (0u32..).zip(&packets).filter(|(_, p)| !p.hidden).map(|(o, _)| o).collect();
        shown.sort_by_key(|&o| packets[o as usize].pts);
        let twins = shown.windows(2).any(|w| packets[w[0] as usize].pts == packets[w[1] as usize].pts);
        if twins { Err(packets) } else { Ok(Self::from_order(packets, shown, 1)) }
    }

    /// Display order as decoded: `order` holds the ordinals of the frames as they came out. Frames without usable times are
    /// spaced by `spacing` ticks.
    pub(super) fn from_order(packets: Vec<PacketFacts>, order: Vec<u32>, spacing: i64) -> Self {
        let mut place = vec![NONE; packets.len()];
        let mut shown: Vec<u32> = Vec::with_capacity(order.len());
        for ordinal in order {
            if let Some(slot) = place.get_mut(ordinal as usize).filter(|slot| **slot == NONE) {
                *slot = shown.len() as u32;
                shown.push(ordinal);
            }
        }
        let all = |time: fn(&PacketFacts) -> Option<i64>| -> Option<Vec<i64>> {
            shown.iter().map(|&o| time(&packets[o as usize])).collect()
        };
        let rising = |times: &Vec<i64>| times.windows(2).all(|w| w[0] <= w[1]);
        let by_dts = || {
            let mut times = all(|p| p.dts)?;
            times.sort_unstable();
            Some(times)
        };
        let counted = || (0..).map(|n| n * spacing.max(1)).take(shown.len()).collect();
        let times = all(|p| p.pts).filter(rising).or_else(by_dts).unwrap_or_else(counted);
        Self { packets, shown, place, times }
    }

    /// Number of displayed frames.
    pub(super) fn frames(&self) -> u32 {
        self.shown.len() as u32
    }

    /// The packets in file order.
    pub(super) fn packets(&self) -> &[PacketFacts] {
        &self.packets
    }

    /// The packets, to build another table of.
    pub(super) fn into_packets(self) -> Vec<PacketFacts> {
        self.packets
    }

    /// Which frame packet `ordinal` becomes, if it is shown.
    pub(super) fn frame_of(&self, ordinal: u32) -> Option<u32> {
        self.place.get(ordinal as usize).copied().filter(|&f| f != NONE)
    }

    /// When `frame` is shown, in ticks.
    pub(super) fn time(&self, frame: u32) -> Option<i64> {
        self.times.get(frame as usize).copied()
    }

    /// All times in display order.
    pub(super) fn times(&self) -> &[i64] {
        &self.times
    }

    /// The last keyframe from which `frame` can be decoded, looking only at ordinals below `below`; 0 when there is none.
    ///
    /// A keyframe that is shown after `frame` does not count: pictures before it in display order need the group before.
    pub(super) fn start_for(&self, frame: u32, below: u32) -> u32 {
        let Some(&target) = self.shown.get(frame as usize) else { return 0 };
        let end = (target.saturating_add(1)).min(below);
        (0..end)
            .rev()
            .find(|&o| self.packets[o as usize].key && !self.is_shown_before(target, o))
            .unwrap_or(0)
    }

    /// Whether packet `a` is displayed before packet `b`, by frame number where both are shown, else by time.
    pub(super) fn is_shown_before(&self, a: u32, b: u32) -> bool {
        match (self.frame_of(a), self.frame_of(b)) {
            (Some(a), Some(b)) => a < b,
            _ => match (self.packets[a as usize].pts, self.packets[b as usize].pts) {
                (Some(a), Some(b)) => a < b,
                _ => a < b,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(pts: i64, key: bool) -> PacketFacts {
        PacketFacts { pts: Some(pts), dts: Some(0), size: pts as u32, hash: 0, key, hidden: false }
    }

    #[test]
    fn b_frames_are_put_in_order_and_keyframes_found() {
        // I P B B I P B, the second I closed.
        let packets: Vec<_> =
            [(0, true), (3, false), (1, false), (2, false), (4, true), (6, false), (5, false)]
                .map(|(pts, key)| packet(pts, key))
                .to_vec();
        let table = FrameTable::from_times(packets).expect("good times");
        assert_eq!(table.shown, [0, 2, 3, 1, 4, 6, 5]);
        assert_eq!(table.frame_of(1), Some(3));
        assert_eq!(table.time(6), Some(6));
        let starts: Vec<_> = (0..7).map(|f| table.start_for(f, u32::MAX)).collect();
        assert_eq!(starts, [0, 0, 0, 0, 4, 4, 4]);
        assert_eq!(table.start_for(6, 4), 0);
        assert_eq!(table.start_for(99, u32::MAX), 0);
    }

    #[test]
    fn pictures_before_an_open_keyframe_start_at_the_one_before() {
        // I P I(open) B(before I) P
        let packets: Vec<_> =
            [(0, true), (1, false), (3, true), (2, false), (4, false)].map(|(p, k)| packet(p, k)).to_vec();
        let table = FrameTable::from_times(packets).expect("good times");
        assert_eq!((0..5).map(|f| table.start_for(f, u32::MAX)).collect::<Vec<_>>(), [0, 0, 0, 2, 2]);
    }

    #[test]
    fn untrustworthy_times_are_refused() {
        let mut missing = vec![packet(0, true), packet(1, false)];
        missing[1].pts = None;
        assert!(FrameTable::from_times(missing).is_err());
        assert!(FrameTable::from_times(vec![packet(0, true), packet(0, false)]).is_err());
        assert!(FrameTable::from_times(vec![packet(0, false), packet(1, true)]).is_err());
        assert!(FrameTable::from_times(vec![packet(2, true), packet(1, false)]).is_err());
        assert_eq!(FrameTable::from_times(Vec::new()).expect("nothing").frames(), 0);
    }

    #[test]
    fn hidden_packets_are_no_frames() {
        let mut packets = vec![packet(-2, true), packet(-1, false), packet(0, false)];
        packets[0].hidden = true;
        packets[1].hidden = true;
        let table = FrameTable::from_times(packets).expect("good times");
        assert_eq!((table.frames(), table.frame_of(2), table.frame_of(0)), (1, Some(0), None));
        assert_eq!(table.start_for(0, u32::MAX), 0);
    }

    #[test]
    fn times_fall_back_to_decoding_times_and_to_counting() {
        let mut packets = vec![packet(5, true), packet(9, false), packet(7, false)];
        let order = vec![0, 2, 1, 1];
        assert_eq!(FrameTable::from_order(packets.clone(), order.clone(), 4).times(), [5, 7, 9]);
        for (p, dts) in packets.iter_mut().zip([10, 20, 30]) {
            (p.pts, p.dts) = (None, Some(dts));
        }
        assert_eq!(FrameTable::from_order(packets.clone(), order.clone(), 4).times(), [10, 20, 30]);
        packets[0].dts = None;
        assert_eq!(FrameTable::from_order(packets, order, 4).times(), [0, 4, 8]);
    }

    fn any_packet() -> impl Strategy<Value = PacketFacts> {
        let time = || prop_oneof![Just(None), any::<i64>().prop_map(Some), (-9i64..40).prop_map(Some)];
        (time(), time(), any::<bool>(), any::<bool>()).prop_map(|(pts, dts, key, hidden)| PacketFacts {
            pts,
            dts,
            size: 1,
            hash: 2,
            key,
            hidden,
        })
    }

    proptest! {
        #[test]
        fn any_packets_give_a_sound_table(
            packets in proptest::collection::vec(any_packet(), 0..40),
            order in proptest::collection::vec(0u32..45, 0..60),
        ) {
            let table = FrameTable::from_times(packets)
                .unwrap_or_else(|packets| FrameTable::from_order(packets, order, 3));
            prop_assert!(table.times().windows(2).all(|w| w[0] <= w[1]));
            for frame in 0..table.frames() {
                prop_assert!(table.time(frame).is_some());
                let start = table.start_for(frame, u32::MAX);
                let ordinal = table.shown[frame as usize];
                prop_assert!(start <= ordinal && table.frame_of(ordinal) == Some(frame));
                prop_assert!(start == 0 || table.packets()[start as usize].key);
                prop_assert!(table.start_for(frame, start) <= start);
            }
        }
    }
}
