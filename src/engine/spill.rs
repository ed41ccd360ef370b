//! Owns the answers of one object on the frames behind the current one: the newest in memory, older ones in a file.
//! May import: base.
//! Must not: decide which of them a frame attends to; keep conditioning frames, which must not be lost.
//!
//! A correction on an earlier frame needs what was stored around it. The file has no name, dies with the store and is
//! bounded: when it is full, the oldest records go.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::FrameIndex;

/// What is stored of one object on one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Memory features, `[channels, tokens]`. They are bf16 numbers, and the file holds them as such.
    pub memory: Vec<f32>,
    /// Object pointer.
    pub pointer: Vec<f32>,
    /// Low-resolution mask logits, row by row.
    pub logits: Vec<f32>,
    /// Object score logit.
    pub score: f32,
    /// Predicted IoU.
    pub iou: f32,
    /// Which of the decoder's masks it was.
    pub chosen: u8,
}

/// Lengths of a record's vectors: all records of the file have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    memory: usize,
    pointer: usize,
    logits: usize,
}

/// Bytes after the vectors: score, IoU, choice.
const TAIL: usize = 9;

impl Shape {
    fn of(record: &Record) -> Self {
        Self { memory: record.memory.len(), pointer: record.pointer.len(), logits: record.logits.len() }
    }

    fn bytes(self) -> usize {
        self.memory * 2 + (self.pointer + self.logits) * 4 + TAIL
    }

    fn write(record: &Record, out: &mut Vec<u8>) {
        out.clear();
        out.extend(record.memory.iter().flat_map(|&v| half::bf16::from_f32(v).to_le_bytes()));
        out.extend(record.pointer.iter().chain(&record.logits).flat_map(|v| v.to_le_bytes()));
        out.extend(record.score.to_le_bytes());
        out.extend(record.iou.to_le_bytes());
        out.push(record.chosen);
    }

    /// `bytes` are as many as [`Self::bytes`] says.
    fn read(self, bytes: &[u8]) -> Record {
        let (memory, rest) = bytes.split_at(self.memory * 2);
        let (numbers, chosen) = rest.split_at(rest.len() - 1);
        let mut numbers = numbers.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b));
        Record {
            memory: memory
                .as_chunks::<2>()
                .0
                .iter()
                .map(|b| half::bf16::from_le_bytes(*b).to_f32())
                .collect(),
            pointer: numbers.by_ref().take(self.pointer).collect(),
            logits: numbers.by_ref().take(self.logits).collect(),
            score: numbers.next().unwrap_or_default(),
            iou: numbers.next().unwrap_or_default(),
            chosen: chosen.first().copied().unwrap_or_default(),
        }
    }
}

/// Bounds of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillConfig {
    /// How many records stay in memory; at least 1.
    pub keep: usize,
    /// Where the file lies. `None` drops older records at once.
    pub folder: Option<PathBuf>,
    /// Most bytes of the file.
    pub max_bytes: u64,
}

/// The records of one object. Everything is bounded: `keep` records in memory, `max_bytes` in the file, and a number
/// for each record in an index.
pub struct SpillStore {
    config: SpillConfig,
    /// Oldest first.
    recent: VecDeque<(FrameIndex, Arc<Record>)>,
    file: Option<File>,
    /// Set by the first record that goes to the file.
    shape: Option<Shape>,
    /// Where in the file a frame lies.
    places: BTreeMap<FrameIndex, usize>,
    /// Whose each place is.
    owners: Vec<Option<FrameIndex>>,
    /// The place that is written next.
    next: usize,
    scratch: Vec<u8>,
    degraded: bool,
}

impl SpillStore {
    /// An empty store. The file is made when it is first needed.
    pub fn new(config: SpillConfig) -> Self {
        Self {
            config: SpillConfig { keep: config.keep.max(1), ..config },
            recent: VecDeque::new(),
            file: None,
            shape: None,
            places: BTreeMap::new(),
            owners: Vec::new(),
            next: 0,
            scratch: Vec::new(),
            degraded: false,
        }
    }

    /// Stores `record` as the newest, in place of an earlier one of the frame. Gives back a record that left the memory,
    /// if nobody else holds it, so that its buffers can be filled again.
    pub fn insert(&mut self, frame: FrameIndex, record: Record) -> Option<Record> {
        let mut left = self.remove(frame);
        self.recent.push_back((frame, Arc::new(record)));
        if self.recent.len() > self.config.keep
            && let Some((oldest, record)) = self.recent.pop_front()
        {
            self.spill(oldest, &record);
            left = Some(record);
        }
        left.and_then(Arc::into_inner)
    }

    /// The record of `frame`; `None` when there never was one, it was dropped, or it cannot be read back.
    pub fn get(&self, frame: FrameIndex) -> Option<Arc<Record>> {
        if let Some((_, record)) = self.recent.iter().rev().find(|(f, _)| *f == frame) {
            return Some(Arc::clone(record));
        }
        let (shape, place) = (self.shape?, *self.places.get(&frame)?);
        let mut file = self.file.as_ref()?;
        let mut bytes = vec![0; shape.bytes()];
        file.seek(SeekFrom::Start((place * bytes.len()) as u64)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        Some(Arc::new(shape.read(&bytes)))
    }

    /// Whether `frame` has a record.
    pub fn contains(&self, frame: FrameIndex) -> bool {
        self.places.contains_key(&frame) || self.recent.iter().any(|(f, _)| *f == frame)
    }

    /// The frames that have a record, ascending.
    pub fn frames(&self) -> Vec<FrameIndex> {
        let mut frames: Vec<_> =
            self.places.keys().copied().chain(self.recent.iter().map(|(f, _)| *f)).collect();
        frames.sort_unstable();
        frames
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.places.len() + self.recent.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets `frame`; gives its record back if it was in memory.
    pub fn remove(&mut self, frame: FrameIndex) -> Option<Arc<Record>> {
        if let Some(place) = self.places.remove(&frame) {
            self.owners[place] = None;
        }
        let at = self.recent.iter().position(|(f, _)| *f == frame)?;
        self.recent.remove(at).map(|(_, record)| record)
    }

    /// Forgets everything and gives the disk space back.
    pub fn clear(&mut self) {
        *self = Self::new(self.config.clone());
    }

    /// Whether a record was dropped because the file could not be made or written (disk full, folder not writable).
    /// Corrections far behind may then lack the memories around them; everything else goes on.
    pub fn degraded(&self) -> bool {
        self.degraded
    }

    /// Writes a record to the next place of the file, over the oldest one when the file is full.
    fn spill(&mut self, frame: FrameIndex, record: &Record) {
        let Some(folder) = self.config.folder.as_deref() else { return };
        let shape = *self.shape.get_or_insert(Shape::of(record));
        let places = (self.config.max_bytes / shape.bytes() as u64) as usize;
        if places == 0 {
            return;
        }
        if shape != Shape::of(record) {
            self.degraded = true;
            return;
        }
        if self.file.is_none() {
            if self.degraded {
                return; // making it failed before
            }
            match make_file(folder) {
                Ok(file) => self.file = Some(file),
                Err(_) => {
                    self.degraded = true;
                    return;
                }
            }
        }
        let Some(mut file) = self.file.as_ref() else { return };
        let place = self.next % places;
        if place == self.owners.len() {
            self.owners.push(None);
        }
        if let Some(dropped) = self.owners[place].take() {
            self.places.remove(&dropped);
        }
        Shape::write(record, &mut self.scratch);
        let written = file
            .seek(SeekFrom::Start((place * shape.bytes()) as u64))
            .and_then(|_| file.write_all(&self.scratch));
        match written {
            Ok(()) => {
                self.owners[place] = Some(frame);
                self.places.insert(frame, place);
                self.next = place + 1;
            }
            Err(_) => self.degraded = true,
        }
    }
}

/// A file without a name, so that nothing is left behind, whatever happens.
fn make_file(folder: &Path) -> io::Result<File> {
    std::fs::create_dir_all(folder)?;
    tempfile::tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(seed: u32) -> Record {
        Record {
            memory: (0..8).map(|i| half::bf16::from_f32((seed * 31 + i) as f32).to_f32()).collect(),
            pointer: vec![seed as f32 + 0.5; 3],
            logits: (0..5).map(|i| seed as f32 - i as f32).collect(),
            score: -(seed as f32),
            iou: 0.25,
            chosen: (seed % 4) as u8,
        }
    }

    fn bytes() -> u64 {
        Shape::of(&record(0)).bytes() as u64
    }

    fn store(folder: &Path, keep: usize, places: u64) -> SpillStore {
        SpillStore::new(SpillConfig { keep, folder: Some(folder.into()), max_bytes: places * bytes() + 1 })
    }

    fn numbers(store: &SpillStore) -> Vec<u32> {
        store.frames().into_iter().map(|f| f.0).collect()
    }

    #[test]
    fn old_records_come_back_from_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store(&folder.path().join("not yet there"), 2, 100);
        for i in 0..20 {
            let left = store.insert(FrameIndex(i), record(i));
            assert_eq!(left, (i >= 2).then(|| record(i - 2)), "its buffers can be used again");
        }
        for i in 0..20 {
            assert_eq!(store.get(FrameIndex(i)).as_deref(), Some(&record(i)));
        }
        assert!(store.get(FrameIndex(20)).is_none() && !store.contains(FrameIndex(20)) && !store.degraded());
        assert_eq!(store.len(), 20);
    }

    #[test]
    fn a_full_file_loses_its_oldest() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store(folder.path(), 3, 4);
        for i in 0..30 {
            store.insert(FrameIndex(i), record(i));
        }
        assert_eq!(numbers(&store), (23..30).collect::<Vec<_>>());
        assert_eq!(store.file.as_ref().unwrap().metadata().unwrap().len(), 4 * bytes());
        assert_eq!(store.get(FrameIndex(23)).as_deref(), Some(&record(23)));
        assert!(!store.degraded());
    }

    #[test]
    fn an_unusable_folder_drops_old_records_silently() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("file");
        std::fs::write(&blocked, b"").unwrap();
        let mut store = store(&blocked, 2, 100);
        for i in 0..5 {
            store.insert(FrameIndex(i), record(i));
        }
        assert_eq!(numbers(&store), [3, 4]);
        assert!(store.degraded());
        store.clear();
        assert!(store.is_empty() && !store.degraded());
    }

    #[test]
    fn without_folder_or_space_only_the_newest_stay() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = SpillStore::new(SpillConfig { keep: 0, folder: None, max_bytes: u64::MAX });
        for mut store in [nowhere, store(folder.path(), 1, 0)] {
            for i in 0..5 {
                store.insert(FrameIndex(i), record(i));
            }
            assert_eq!(numbers(&store), [4]);
            assert!(!store.degraded());
        }
    }

    #[test]
    fn another_shape_is_not_mixed_into_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store(folder.path(), 1, 9);
        store.insert(FrameIndex(0), record(0));
        store.insert(FrameIndex(1), Record::default());
        store.insert(FrameIndex(2), record(2));
        store.insert(FrameIndex(3), record(3));
        assert_eq!(numbers(&store), [0, 2, 3]);
        assert_eq!(store.get(FrameIndex(2)).as_deref(), Some(&record(2)));
        assert!(store.degraded());
    }

    #[test]
    fn a_file_cut_from_outside_gives_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store(folder.path(), 1, 9);
        for i in 0..3 {
            store.insert(FrameIndex(i), record(i));
        }
        store.file.as_ref().unwrap().set_len(3).unwrap();
        assert!(store.get(FrameIndex(0)).is_none());
        assert!(store.get(FrameIndex(2)).is_some());
    }

    proptest! {
        /// Against a list of what was inserted last: the newest are all there, nothing is wrong, nothing grows.
        #[test]
        fn behaves_like_a_bounded_list(
            frames in proptest::collection::vec((0u32..12, any::<bool>()), 1..60), keep in 1usize..5, places in 0u64..6,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut store = store(folder.path(), keep, places);
            let mut order: Vec<(u32, u32)> = Vec::new(); // frame, seed; oldest first
            for (seed, (frame, drop)) in (0u32..).zip(frames) {
                order.retain(|(f, _)| *f != frame);
                if drop {
                    store.remove(FrameIndex(frame));
                } else {
                    store.insert(FrameIndex(frame), record(seed));
                    order.push((frame, seed));
                }
                prop_assert!(store.len() <= keep + places as usize);
                prop_assert!(store.owners.len() <= places as usize);
                for f in store.frames() {
                    let expected = order.iter().find(|(o, _)| *o == f.0).map(|(_, s)| record(*s));
                    let found = store.get(f).map(|r| (*r).clone());
                    prop_assert_eq!(found, expected, "never stale");
                    prop_assert!(store.contains(f));
                }
                let newest = order.last().filter(|_| !drop).map(|(f, _)| FrameIndex(*f));
                prop_assert!(newest.is_none_or(|f| store.contains(f)));
            }
            prop_assert!(!store.degraded());
        }
    }
}
