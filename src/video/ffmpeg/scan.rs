//! Owns the pass over all packets that finds the displayed frames of a file.
//! May import: video/ffi.rs.
//! Must not: convert pictures.

use ffmpeg_next::codec::Id;

use super::demux::{Demux, facts};
use super::index::PacketFacts;

/// Most bytes of an MPEG-4 packet without a picture.
const STUB: u32 = 8;

/// What the pass found.
pub(super) struct Scan {
    /// The packets in file order.
    pub(super) packets: Vec<PacketFacts>,
    /// Some packet was incomplete, or reading ended with an error.
    pub(super) damaged: bool,
}

/// Reads all packets of `demux`, which stands at the start. `progress` is told the place in the file, in bytes, now and
/// then, and says whether to go on; `None` when it does not.
pub(super) fn scan(demux: &mut Demux, codec: Id, progress: &mut dyn FnMut(u64) -> bool) -> Option<Scan> {
    /// Packets between two reports.
    const OFTEN: usize = 256;
    let (mut packets, mut damaged) = (Vec::new(), false);
    while let Some((_, packet)) = demux.read() {
        damaged |= packet.is_corrupt();
        let mut facts = facts(&packet, |bytes| is_hidden(codec, bytes));
        // Old AVI files put two frames in a packet and fill the next with a stub, marked as a keyframe or not.
        facts.key &= !(codec == Id::MPEG4 && facts.size <= STUB);
        packets.push(facts);
        let place = u64::try_from(packet.position()).unwrap_or(0);
        if packets.len().is_multiple_of(OFTEN) && !progress(place) {
            return None;
        }
    }
    Some(Scan { packets, damaged: damaged || demux.is_broken() })
}

/// Whether a VP8 or VP9 packet holds only a frame that is kept for reference and never shown.
fn is_hidden(codec: Id, bytes: &[u8]) -> bool {
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
    match codec {
        Id::VP8 => first & 0x10 == 0,
        // A superframe (marked by its last byte) carries the hidden frame together with a shown one.
        Id::VP9 if last & 0xe0 != 0xc0 => {
            let bit = |n: u8| first >> (7 - n) & 1;
            // frame_marker 10, profile (low bit first; profile 3 has one bit more), show_existing_frame, frame_type, show_frame
            let profile_3 = bit(2) == 1 && bit(3) == 1;
            let existing = if profile_3 { 5 } else { 4 };
            bit(0) == 1 && bit(1) == 0 && bit(existing) == 0 && bit(existing + 2) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_frames_of_vp8_and_vp9() {
        assert!(is_hidden(Id::VP8, &[0x01, 0]) && !is_hidden(Id::VP8, &[0x11, 0]));
        assert!(is_hidden(Id::VP9, &[0b1000_0000, 0]));
        assert!(!is_hidden(Id::VP9, &[0b1000_0010, 0]), "shown");
        assert!(!is_hidden(Id::VP9, &[0b1000_1000, 0]), "shows an existing frame");
        assert!(!is_hidden(Id::VP9, &[0b1000_0000, 0xc1]), "superframe");
        assert!(is_hidden(Id::VP9, &[0b1011_0000, 0]) && !is_hidden(Id::VP9, &[0b1011_0001, 0]), "profile 3");
        assert!(!is_hidden(Id::H264, &[0, 0]) && !is_hidden(Id::VP8, &[]));
    }
}
