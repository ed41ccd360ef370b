//! Memories on the device: a fixed number of places that are used in turn, so that nothing grows.

use std::sync::{Arc, Weak};

use super::spill::Record;
use crate::ggml::{Backend, GgmlError, Kind, Store, StoreBuilder};
use crate::model::Config;

/// Places of memories and of pointers. What is not there is brought from its record.
pub(super) struct Ring {
    store: Arc<Store>,
    places: Vec<Place>,
    clock: u64,
}

#[derive(Default)]
struct Place {
    /// Whose memory it holds; the record itself may be gone.
    owner: Weak<Record>,
    /// When it was last looked at.
    used: u64,
}

/// Enough for ten objects with what a frame looks at: seven memories or more, and pointers sixteen frames back.
const PLACES: usize = 256;

impl Ring {
    pub(super) fn new(config: &Config, backend: &Backend) -> Result<Self, GgmlError> {
        let tokens = i64::try_from(config.memory_tokens()).expect("checked to be small");
        let places = PLACES as i64;
        let mut wanted = StoreBuilder::new();
        wanted.add("memories", Kind::F32, [config.memory * tokens, places, 1, 1]);
        wanted.add("pointers", Kind::F32, [config.hidden, places, 1, 1]);
        let store = Arc::new(wanted.allocate(backend)?);
        Ok(Self { store, places: (0..PLACES).map(|_| Place::default()).collect(), clock: 0 })
    }

    /// The tensors `memories` `[memory * tokens, places]` and `pointers` `[hidden, places]`.
    pub(super) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Starts a frame of an object: what is asked for from here on keeps its place until the next start.
    pub(super) fn begin(&mut self) {
        self.clock += 1;
    }

    /// The place of `record`, brought there if it is not.
    pub(super) fn place(&mut self, record: &Arc<Record>) -> i32 {
        let known =
            self.places.iter().position(|place| std::ptr::eq(place.owner.as_ptr(), Arc::as_ptr(record)));
        let at = known.unwrap_or_else(|| {
            let at = self.oldest();
            let stored = self.store.set_row("memories", at, &record.memory)
                && self.store.set_row("pointers", at, &record.pointer);
            assert!(stored, "records have the shapes of the ring");
            self.places[at].owner = Arc::downgrade(record);
            at
        });
        self.places[at].used = self.clock;
        i32::try_from(at).expect("few places")
    }

    /// A place for a new memory. [`Self::keep`] says whose it is.
    pub(super) fn take(&mut self) -> i32 {
        let at = self.oldest();
        self.places[at] = Place { owner: Weak::new(), used: self.clock };
        i32::try_from(at).expect("few places")
    }

    /// What was written to `place` is the memory of `record`.
    pub(super) fn keep(&mut self, place: i32, record: &Arc<Record>) {
        if let Some(place) = usize::try_from(place).ok().and_then(|at| self.places.get_mut(at)) {
            place.owner = Arc::downgrade(record);
        }
    }

    fn oldest(&self) -> usize {
        let places = self.places.iter().enumerate();
        places.min_by_key(|(_, place)| place.used).map_or(0, |(at, _)| at)
    }
}

/// Most records that one frame of one object may look at.
pub(super) const MOST: usize = PLACES - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unused_place_is_taken_and_those_in_use_are_not() {
        let backend = Backend::cpu(1).expect("there is a processor");
        let mut wanted = StoreBuilder::new();
        wanted.add("memories", Kind::F32, [4, 3, 1, 1]).add("pointers", Kind::F32, [2, 3, 1, 1]);
        let store = Arc::new(wanted.allocate(&backend).expect("a few bytes"));
        let mut ring = Ring { store, places: (0..3).map(|_| Place::default()).collect(), clock: 0 };
        let record =
            |v: f32| Arc::new(Record { memory: vec![v; 4], pointer: vec![v; 2], ..Record::default() });
        let (a, b, c) = (record(1.0), record(2.0), record(3.0));
        ring.begin();
        let places = (ring.place(&a), ring.place(&b));
        assert_eq!(places, (ring.place(&a), ring.place(&b)), "known ones stay where they are");
        ring.begin();
        let (held, new) = (ring.place(&a), ring.take());
        assert_ne!(held, new);
        ring.keep(new, &c);
        assert_eq!(ring.place(&c), new, "what the device wrote is not brought again");
        ring.begin();
        ring.place(&a);
        ring.place(&c);
        assert_eq!(ring.take(), places.1, "b was not looked at for longest");
        let rows = ring.store.get_f32("memories").expect("it is there");
        assert_eq!(rows[held as usize * 4], 1.0);
    }
}
