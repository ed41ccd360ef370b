//! A few values by key; the one unused for longest makes room.

use crate::ggml::GgmlError;

/// Keeps at most `capacity` values.
pub(super) struct Cache<K, V> {
    /// The most recently used last.
    entries: Vec<(K, V)>,
    capacity: usize,
}

impl<K: PartialEq + Copy, V> Cache<K, V> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { entries: Vec::with_capacity(capacity), capacity }
    }

    /// The value of `key`, made by `make` when it is not there.
    pub(super) fn get(
        &mut self,
        key: K,
        make: impl FnOnce() -> Result<V, GgmlError>,
    ) -> Result<&mut V, GgmlError> {
        let entry = match self.entries.iter().position(|(k, _)| *k == key) {
            Some(at) => self.entries.remove(at),
            None => (key, make()?),
        };
        if self.entries.len() == self.capacity {
            self.entries.remove(0);
        }
        self.entries.push(entry);
        Ok(&mut self.entries.last_mut().expect("just pushed").1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unused_goes() {
        let mut cache = Cache::new(2);
        for key in [1, 2, 1, 3] {
            cache.get(key, || Ok(key * 10)).expect("made");
        }
        let mut made = false;
        cache
            .get(1, || {
                made = true;
                Ok(0)
            })
            .expect("kept");
        assert!(!made, "1 was used after 2");
        cache
            .get(2, || {
                made = true;
                Ok(0)
            })
            .expect("made again");
        assert!(made, "2 made room for 3");
    }
}
