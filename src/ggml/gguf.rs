//! Owns GGUF, the container of the model file: a reader that trusts nothing and a streaming writer.
//! May import: nothing of this crate.
//! Must not: know a model's tensors, or call ggml.
//!
//! ggml has a reader of its own (`gguf.h`). It is not used for two reasons: it aborts the process on some malformed
//! files, where Masklet must give an error; and it reads files, where the built-in model is bytes in memory.

mod error;
mod metadata;
mod tensor;
mod write;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

pub use error::GgufError;
pub use metadata::{MetaKind, MetaValue};
pub use tensor::{TensorKind, TensorView, quantise_q8_0};
pub use write::{GgufWriter, WriteMeta};

use metadata::Entry;

/// The four bytes every GGUF file starts with.
pub const MAGIC: [u8; 4] = *b"GGUF";
/// The only version read and written here; earlier ones are not in use any more.
pub const VERSION: u32 = 3;
/// Where tensor data starts and every tensor is placed, unless `general.alignment` says otherwise.
pub const DEFAULT_ALIGNMENT: u64 = 32;

/// Largest file that is read. The largest EdgeTAM is 56 MB; this keeps a wrong file from filling the memory.
const MAX_FILE: u64 = 2 << 30;
/// Most tensors a header may announce.
const MAX_TENSORS: u64 = 1 << 16;
/// Most metadata entries a header may announce.
const MAX_ENTRIES: u64 = 1 << 14;
/// Longest tensor name and metadata key, in bytes.
const MAX_NAME: u64 = 256;

/// A parsed GGUF file: every length, offset and type has been checked, so the getters cannot run out of bounds.
#[derive(Debug)]
pub struct Gguf {
    bytes: Cow<'static, [u8]>,
    entries: Vec<Entry>,
    tensors: Vec<Placed>,
    by_name: HashMap<String, usize>,
}

/// A tensor and where its bytes lie in the file.
#[derive(Debug)]
struct Placed {
    name: String,
    ne: [u64; 4],
    kind: TensorKind,
    range: Range<usize>,
}

impl Gguf {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// The file cannot be read, is larger than 2 GiB, or [`Gguf::parse`] refuses it; every message names the file.
    pub fn open(path: &Path) -> Result<Self, GgufError> {
        let in_file =
            |reason: GgufError| GgufError::InFile { path: path.to_owned(), reason: Box::new(reason) };
        let size = std::fs::metadata(path).map_err(|error| in_file(error.into()))?.len();
        if size > MAX_FILE {
            return Err(in_file(GgufError::TooLarge { size, limit: MAX_FILE }));
        }
        let bytes = std::fs::read(path).map_err(|error| in_file(error.into()))?;
        Self::parse(Cow::Owned(bytes)).map_err(in_file)
    }

    /// Checks a file that is in memory and indexes it; tensor data is not copied.
    ///
    /// # Errors
    /// Anything that is not a whole and consistent GGUF version 3 file with tensors of type F32, F16 or Q8_0.
    pub fn parse(bytes: Cow<'static, [u8]>) -> Result<Self, GgufError> {
        let mut cursor = Cursor { bytes: &bytes, at: 0 };
        let magic: [u8; 4] = cursor.array("the magic number")?;
        if magic != MAGIC {
            return Err(GgufError::NotGguf);
        }
        let version = cursor.u32("the version")?;
        if version != VERSION {
            return Err(GgufError::Version { version });
        }
        let tensor_count = cursor.count("tensors", MAX_TENSORS)?;
        let entry_count = cursor.count("metadata entries", MAX_ENTRIES)?;
        let entries = metadata::parse_entries(&mut cursor, entry_count)?;
        let alignment = alignment(&entries)?;
        let mut tensors = Vec::new();
        let mut by_name = HashMap::new();
        for index in 0..tensor_count {
            let placed = parse_tensor(&mut cursor, &entries, alignment)?;
            if by_name.insert(placed.name.clone(), index).is_some() {
                return Err(GgufError::DuplicateTensor { name: placed.name });
            }
            tensors.push(placed);
        }
        place(&mut tensors, (cursor.at as u64).next_multiple_of(alignment), bytes.len())?;
        Ok(Self { bytes, entries, tensors, by_name })
    }

    /// The tensor of that name, if the file has it.
    pub fn tensor(&self, name: &str) -> Option<TensorView<'_>> {
        self.by_name.get(name).map(|&index| self.view(&self.tensors[index]))
    }

    /// All tensors with their names, in the order of the file.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = (&str, TensorView<'_>)> {
        self.tensors.iter().map(|placed| (placed.name.as_str(), self.view(placed)))
    }

    fn view(&self, placed: &Placed) -> TensorView<'_> {
        TensorView { ne: placed.ne, kind: placed.kind, bytes: &self.bytes[placed.range.clone()] }
    }

    /// Size of the whole file in bytes.
    pub fn file_size(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of the whole file, as given to [`Gguf::parse`]; for hashing.
    pub fn file_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Refuses a file that has a weight that is infinite or not a number.
    ///
    /// # Errors
    /// Names the first such tensor and the element.
    pub fn check_finite(&self) -> Result<(), GgufError> {
        for (name, view) in self.tensors() {
            if let Some(index) = view.first_non_finite() {
                return Err(GgufError::NotFinite { name: name.to_owned(), index });
            }
        }
        Ok(())
    }
}

/// Reads the description of one tensor; the range is still relative to the data section.
fn parse_tensor(cursor: &mut Cursor, entries: &[Entry], alignment: u64) -> Result<Placed, GgufError> {
    let name = cursor.string("a tensor's name", MAX_NAME)?.to_owned();
    let what = "a tensor's description";
    let dims = cursor.u32(what)?;
    if !(1..=4).contains(&dims) {
        return Err(GgufError::Dimensions { name, dims });
    }
    let mut ne = [1; 4];
    for side in ne.iter_mut().take(dims as usize) {
        *side = cursor.u64(what)?;
    }
    let id = cursor.u32(what)?;
    let kind = TensorKind::from_id(id).ok_or_else(|| GgufError::TensorType {
        name: name.clone(),
        kind: tensor::type_name(id),
        architecture: metadata::architecture(entries),
    })?;
    let size = kind.byte_len(ne).ok_or(GgufError::Shape { name: name.clone(), ne, kind })?;
    let offset = cursor.u64(what)?;
    if offset % alignment != 0 {
        return Err(GgufError::Misaligned { name, offset, alignment });
    }
    // A 32-bit machine cannot hold what does not fit its addresses; the file could not be in memory then.
    let range = usize::try_from(offset).ok().zip(usize::try_from(size).ok());
    let range = range.and_then(|(start, size)| start.checked_add(size).map(|end| start..end));
    let range = range.ok_or_else(|| GgufError::OutOfFile { name: name.clone() })?;
    Ok(Placed { name, ne, kind, range })
}

/// Moves the tensors' ranges from "within the data" to "within the file" and checks that they lie inside it, apart.
fn place(tensors: &mut [Placed], data_start: u64, file_len: usize) -> Result<(), GgufError> {
    let start = usize::try_from(data_start).unwrap_or(usize::MAX);
    for tensor in tensors.iter_mut() {
        let moved = tensor.range.start.checked_add(start).zip(tensor.range.end.checked_add(start));
        tensor.range = match moved {
            Some((from, to)) if to <= file_len => from..to,
            _ => return Err(GgufError::OutOfFile { name: tensor.name.clone() }),
        };
    }
    let mut order: Vec<&Placed> = tensors.iter().collect();
    order.sort_by_key(|tensor| tensor.range.start);
    for pair in order.windows(2) {
        if pair[1].range.start < pair[0].range.end {
            return Err(GgufError::Overlap { first: pair[0].name.clone(), second: pair[1].name.clone() });
        }
    }
    Ok(())
}

/// The alignment the file declares, or the default.
fn alignment(entries: &[Entry]) -> Result<u64, GgufError> {
    let Some(entry) = entries.iter().find(|entry| entry.key == "general.alignment") else {
        return Ok(DEFAULT_ALIGNMENT);
    };
    match entry.value {
        MetaValue::U32(value) if value.is_power_of_two() && (8..=4096).contains(&value) => Ok(value.into()),
        _ => Err(GgufError::Alignment),
    }
}

/// Reads little-endian values and never past the end.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, len: u64, what: &'static str) -> Result<&'a [u8], GgufError> {
        let rest = &self.bytes[self.at..];
        let len = usize::try_from(len).ok().filter(|&len| len <= rest.len());
        let len = len.ok_or(GgufError::Truncated { what, at: self.at })?;
        self.at += len;
        Ok(&rest[..len])
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], GgufError> {
        Ok(self.take(N as u64, what)?.try_into().expect("take returns the length asked for"))
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, GgufError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, GgufError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    fn count(&mut self, what: &'static str, limit: u64) -> Result<usize, GgufError> {
        let count = self.u64(what)?;
        if count > limit {
            return Err(GgufError::Count { what, count, limit });
        }
        Ok(count as usize)
    }

    fn string(&mut self, what: &'static str, limit: u64) -> Result<&'a str, GgufError> {
        let length = self.u64(what)?;
        if length > limit {
            return Err(GgufError::StringLength { what, length, limit });
        }
        let at = self.at;
        std::str::from_utf8(self.take(length, what)?).map_err(|_| GgufError::NotUtf8 { what, at })
    }
}

#[cfg(test)]
mod tests;
