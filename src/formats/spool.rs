//! Lines that arrive in any order and are wanted sorted: they lie in a temporary file, only their places in memory.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ascii_json;

/// Lines in a file, found again by key.
pub struct Spool<K, F> {
    file: F,
    end: u64,
    places: BTreeMap<K, (u64, usize)>,
}

impl<K: Ord + Copy, F: Read + Write + Seek> Spool<K, F> {
    /// An empty spool in `file`.
    pub fn new(file: F) -> Self {
        Self { file, end: 0, places: BTreeMap::new() }
    }

    /// Adds `value` under `key`, in place of an earlier one. After a failed write the spool is as it was before.
    pub fn put(&mut self, key: K, value: &impl Serialize) -> io::Result<()> {
        let line = ascii_json::to_string(value);
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(line.as_bytes())?;
        self.places.insert(key, (self.end, line.len()));
        self.end += line.len() as u64;
        Ok(())
    }

    /// Forgets what lies under `key`.
    pub fn remove(&mut self, key: &K) {
        self.places.remove(key);
    }

    /// Whether nothing was put.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = K> {
        self.places.keys().copied()
    }

    /// What lies under `key`.
    pub fn get<T: DeserializeOwned>(&mut self, key: &K) -> io::Result<Option<T>> {
        let Some(&(start, length)) = self.places.get(key) else { return Ok(None) };
        let mut line = vec![0; length];
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(&mut line)?;
        Ok(Some(serde_json::from_slice(&line)?))
    }

    /// Calls `visit` with everything, in the order of keys.
    pub fn each<T: DeserializeOwned>(
        &mut self,
        mut visit: impl FnMut(K, T) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut line = Vec::new();
        for (&key, &(start, length)) in &self.places {
            line.resize(length, 0);
            self.file.seek(SeekFrom::Start(start))?;
            self.file.read_exact(&mut line)?;
            visit(key, serde_json::from_slice(&line)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_given_again_replaces_the_earlier_one() {
        let mut spool = Spool::new(io::Cursor::new(Vec::new()));
        for (key, value) in [(4u32, "a"), (2, "é"), (4, "c"), (9, "d")] {
            spool.put(key, &value).unwrap();
        }
        spool.remove(&9);
        let mut found = Vec::new();
        spool
            .each(|key, value: String| {
                found.push((key, value));
                Ok(())
            })
            .unwrap();
        assert_eq!(found, [(2, "é".into()), (4, "c".into())]);
        assert_eq!(spool.get::<String>(&4).unwrap().as_deref(), Some("c"));
        assert_eq!(spool.get::<String>(&9).unwrap(), None);
        assert!(spool.keys().eq([2, 4]) && !spool.is_empty());
    }
}
