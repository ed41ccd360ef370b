//! Owns what is kept on the disk of a video's index, so that a long file is read through once and not at every opening.
//! May import: video/ffmpeg/index.rs.
//! Must not: fail. What is missing, old or damaged is as if it were not there.

use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::index::PacketFacts;

/// Start of a file; the number grows when what is kept changes.
const MAGIC: &[u8; 8] = b"MSKIDX01";
/// Bytes at both ends of a video that are looked at.
const ENDS: u64 = 64 << 10;
/// Bytes of a packet on the disk.
const RECORD: usize = 25;
/// Indices that are kept; the oldest go.
const MOST_FILES: usize = 64;
/// Most packets of an index that is read: 60 hours at 60 frames a second.
const MOST_PACKETS: u64 = 13_000_000;
/// No time.
const NO_TIME: i64 = i64::MIN;

/// What the pass over all packets found, and the order in which they are shown where only decoding told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// The packets in file order.
    pub(super) packets: Vec<PacketFacts>,
    /// Some packet was incomplete, or reading ended with an error.
    pub(super) damaged: bool,
    /// Ordinals in display order, from decoding everything; empty when times were enough.
    pub(super) order: Vec<u32>,
}

/// Where the index of one video in one state lies.
pub(super) struct Place {
    file: PathBuf,
    fingerprint: u64,
}

/// FNV-1a: fast, and the same on every machine.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    }
}

fn hashed(parts: &[&[u8]]) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    parts.iter().for_each(|part| hash.write(part));
    hash.finish()
}

impl Place {
    /// The place in `folder` for stream `stream` of `video`; `None` when the video cannot be read.
    pub(super) fn of(folder: &Path, video: &Path, stream: usize) -> Option<Self> {
        let mut file = File::open(video).ok()?;
        let facts = file.metadata().ok()?;
        let modified = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |time| time.as_nanos());
        let mut ends = Vec::new();
        (&mut file).take(ENDS).read_to_end(&mut ends).ok()?;
        file.seek(SeekFrom::Start(facts.len().saturating_sub(ENDS))).ok()?;
        file.take(ENDS).read_to_end(&mut ends).ok()?;
        // Another FFmpeg may cut packets in another way.
        let reader = ffmpeg_next::format::version();
        let words = [
            &facts.len().to_le_bytes()[..],
            &modified.to_le_bytes(),
            &(stream as u64).to_le_bytes(),
            &reader.to_le_bytes(),
        ];
        let fingerprint = hashed(&[&words.concat(), &ends]);
        Some(Self { file: folder.join(format!("{fingerprint:016x}.index")), fingerprint })
    }

    /// What is kept.
    pub(super) fn load(&self) -> Option<Kept> {
        let mut bytes = Vec::new();
        let limit = MOST_PACKETS * (RECORD as u64 + 4) + 64;
        File::open(&self.file).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
        decode(&bytes, self.fingerprint)
    }

    /// Keeps `kept`. A disk that is full or read-only is no failure: then it is found out again next time.
    pub(super) fn store(&self, kept: &Kept) {
        let Some(folder) = self.file.parent() else { return };
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(folder)?;
            let mut file = tempfile::Builder::new().prefix(".masklet-").tempfile_in(folder)?;
            file.write_all(&encode(kept, self.fingerprint))?;
            file.persist(&self.file).map_err(|e| e.error)?;
            Ok(())
        };
        if write().is_ok() {
            prune(folder);
        }
    }
}

/// Takes the oldest indices away when there are too many.
fn prune(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "index"))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    for (_, path) in files.iter().take(files.len().saturating_sub(MOST_FILES)) {
        let _ = fs::remove_file(path);
    }
}

fn encode(kept: &Kept, fingerprint: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(fingerprint.to_le_bytes());
    bytes.extend((kept.packets.len() as u64).to_le_bytes());
    bytes.extend((kept.order.len() as u64).to_le_bytes());
    bytes.push(kept.damaged.into());
    for packet in &kept.packets {
        bytes.extend(packet.pts.unwrap_or(NO_TIME).to_le_bytes());
        bytes.extend(packet.dts.unwrap_or(NO_TIME).to_le_bytes());
        bytes.extend(packet.size.to_le_bytes());
        bytes.extend(packet.hash.to_le_bytes());
        bytes.push(u8::from(packet.key) | u8::from(packet.hidden) << 1);
    }
    kept.order.iter().for_each(|ordinal| bytes.extend(ordinal.to_le_bytes()));
    let sum = hashed(&[&bytes]);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Reads what [`encode`] wrote; `None` for anything else.
fn decode(bytes: &[u8], fingerprint: u64) -> Option<Kept> {
    let (body, sum) = bytes.split_last_chunk::<8>()?;
    if hashed(&[body]) != u64::from_le_bytes(*sum) {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?;
    let mut word = || -> Option<u64> {
        let (first, tail) = rest.split_first_chunk::<8>()?;
        rest = tail;
        Some(u64::from_le_bytes(*first))
    };
    let (print, packets, order) = (word()?, word()?, word()?);
    let (damaged, rest) = rest.split_first()?;
    let fits = packets <= MOST_PACKETS && order <= packets;
    let length = packets.checked_mul(RECORD as u64)?.checked_add(order.checked_mul(4)?)?;
    if print != fingerprint || !fits || rest.len() as u64 != length {
        return None;
    }
    let (records, ordinals) = rest.split_at(packets as usize * RECORD);
    let time = |bytes: &[u8]| Some(i64::from_le_bytes(bytes.try_into().ok()?)).filter(|t| *t != NO_TIME);
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
    let packets = records.chunks_exact(RECORD).map(|record| PacketFacts {
        pts: time(&record[..8]),
        dts: time(&record[8..16]),
        size: number(&record[16..20]),
        hash: number(&record[20..24]),
        key: record[24] & 1 != 0,
        hidden: record[24] & 2 != 0,
    });
    let packets: Vec<_> = packets.collect();
    let order: Vec<u32> = ordinals.chunks_exact(4).map(number).collect();
    let known = order.iter().all(|&ordinal| (ordinal as usize) < packets.len());
    known.then_some(Kept { packets, damaged: *damaged != 0, order })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept() -> impl Strategy<Value = Kept> {
        let time = || prop_oneof![Just(None), (-9i64..40).prop_map(Some)];
        let packet = (time(), time(), any::<(u32, u32, bool, bool)>());
        let packet = packet.prop_map(|(pts, dts, (size, hash, key, hidden))| PacketFacts {
            pts,
            dts,
            size,
            hash,
            key,
            hidden,
        });
        (proptest::collection::vec(packet, 0..30), any::<bool>()).prop_map(|(packets, damaged)| {
            let order = (0..packets.len() as u32 / 2).rev().collect();
            Kept { packets, damaged, order }
        })
    }

    proptest! {
        #[test]
        fn there_and_back_and_damage_is_noticed(kept in kept(), at in 0.0f64..1.0, flip in 1u8..) {
            let mut bytes = encode(&kept, 7);
            prop_assert_eq!(decode(&bytes, 7), Some(kept));
            prop_assert_eq!(decode(&bytes, 8), None);
            let at = (at * (bytes.len() - 1) as f64) as usize;
            prop_assert_eq!(decode(&bytes[..at], 7), None);
            bytes[at] ^= flip;
            prop_assert_eq!(decode(&bytes, 7), None);
        }
    }

    #[test]
    fn another_state_of_the_video_is_another_place() {
        let folder = tempfile::tempdir().expect("folder");
        let video = folder.path().join("v");
        fs::write(&video, b"one").expect("written");
        let place = Place::of(folder.path(), &video, 0).expect("readable");
        assert!(place.load().is_none());
        place.store(&Kept { damaged: true, ..Kept::default() });
        assert_eq!(
            Place::of(folder.path(), &video, 0).expect("readable").load(),
            Some(Kept { damaged: true, ..Kept::default() })
        );
        assert!(Place::of(folder.path(), &video, 1).expect("readable").load().is_none());
        fs::write(&video, b"two").expect("written");
        assert!(Place::of(folder.path(), &video, 0).expect("readable").load().is_none());
        assert!(Place::of(folder.path(), &folder.path().join("missing"), 0).is_none());
        for n in 0..MOST_FILES + 9 {
            fs::write(folder.path().join(format!("{n}.index")), b"").expect("written");
        }
        prune(folder.path());
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), MOST_FILES + 1);
    }
}
