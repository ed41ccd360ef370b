//! Owns the metadata of a GGUF file: parsing the entries and getting them by type.
//! May import: the cursor and the errors beside it.
//! Must not: allocate by what the file announces; arrays stay where they are in the file.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use super::{Cursor, Gguf, GgufError, MAX_NAME};

/// Longest string value, in bytes.
const MAX_STRING: u64 = 1 << 20;

/// The type of a metadata value or of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names of the format
pub enum MetaKind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    Str,
    Array,
    U64,
    I64,
    F64,
}

impl MetaKind {
    const ALL: [Self; 13] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::F32,
        Self::Bool,
        Self::Str,
        Self::Array,
        Self::U64,
        Self::I64,
        Self::F64,
    ];

    /// The number that stands for the type in a file.
    pub fn id(self) -> u32 {
        self as u32
    }

    fn from_id(id: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(id).ok()?).copied()
    }

    /// Bytes of one value; none for strings and arrays, whose size varies.
    fn size(self) -> Option<u64> {
        match self {
            Self::U8 | Self::I8 | Self::Bool => Some(1),
            Self::U16 | Self::I16 => Some(2),
            Self::U32 | Self::I32 | Self::F32 => Some(4),
            Self::U64 | Self::I64 | Self::F64 => Some(8),
            Self::Str | Self::Array => None,
        }
    }
}

/// A metadata value as it stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum MetaValue {
    /// Any whole number that is not a `u32`, widened.
    Integer(MetaKind, i128),
    /// A 32-bit unsigned number.
    U32(u32),
    /// A 32-bit float.
    F32(f32),
    /// A 64-bit float.
    F64(f64),
    /// A truth value.
    Bool(bool),
    /// Text.
    Str(String),
    /// An array: the type of its elements, how many, and where they lie in the file.
    Array {
        /// Type of the elements, never an array.
        kind: MetaKind,
        /// Number of elements.
        count: u64,
        /// The bytes of the file that hold them.
        range: Range<usize>,
    },
}

impl fmt::Display for MetaValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(_, value) => write!(f, "{value}"),
            Self::U32(value) => write!(f, "{value}"),
            Self::F32(value) => write!(f, "{value}"),
            Self::F64(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Str(value) => write!(f, "{value}"),
            Self::Array { kind, count, .. } => write!(f, "[{count} x {kind:?}]"),
        }
    }
}

/// One metadata entry.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: MetaValue,
}

pub(super) fn parse_entries(cursor: &mut Cursor, count: usize) -> Result<Vec<Entry>, GgufError> {
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    for _ in 0..count {
        let key = cursor.string("a metadata key", MAX_NAME)?.to_owned();
        if !seen.insert(key.clone()) {
            return Err(GgufError::DuplicateKey { key });
        }
        let kind = kind(cursor, &key)?;
        let value = parse_value(cursor, &key, kind)?;
        entries.push(Entry { key, value });
    }
    Ok(entries)
}

/// What `general.architecture` says, for messages.
pub(super) fn architecture(entries: &[Entry]) -> String {
    match entries.iter().find(|entry| entry.key == "general.architecture").map(|entry| &entry.value) {
        Some(MetaValue::Str(name)) => format!("'{name}'"),
        _ => "unknown".to_owned(),
    }
}

fn kind(cursor: &mut Cursor, key: &str) -> Result<MetaKind, GgufError> {
    let id = cursor.u32("a metadata type")?;
    MetaKind::from_id(id).ok_or_else(|| GgufError::MetaType { key: key.to_owned(), id })
}

fn parse_value(cursor: &mut Cursor, key: &str, kind: MetaKind) -> Result<MetaValue, GgufError> {
    let what = "a metadata value";
    Ok(match kind {
        MetaKind::U8 => MetaValue::Integer(kind, u8::from_le_bytes(cursor.array(what)?).into()),
        MetaKind::I8 => MetaValue::Integer(kind, i8::from_le_bytes(cursor.array(what)?).into()),
        MetaKind::U16 => MetaValue::Integer(kind, u16::from_le_bytes(cursor.array(what)?).into()),
        MetaKind::I16 => MetaValue::Integer(kind, i16::from_le_bytes(cursor.array(what)?).into()),
        MetaKind::U32 => MetaValue::U32(cursor.u32(what)?),
        MetaKind::I32 => MetaValue::Integer(kind, i32::from_le_bytes(cursor.array(what)?).into()),
        MetaKind::U64 => MetaValue::Integer(kind, cursor.u64(what)?.into()),
        MetaKind::I64 => MetaValue::Integer(kind, i64::from_le_bytes(cursor.array(what)?).into()),
        MetaKind::F32 => MetaValue::F32(f32::from_le_bytes(cursor.array(what)?)),
        MetaKind::F64 => MetaValue::F64(f64::from_le_bytes(cursor.array(what)?)),
        MetaKind::Bool => MetaValue::Bool(u8::from_le_bytes(cursor.array(what)?) != 0),
        MetaKind::Str => MetaValue::Str(cursor.string(what, MAX_STRING)?.to_owned()),
        MetaKind::Array => parse_array(cursor, key)?,
    })
}

/// Walks over an array and notes where it lies. Nothing is kept of it, so a huge count costs nothing.
fn parse_array(cursor: &mut Cursor, key: &str) -> Result<MetaValue, GgufError> {
    let what = "a metadata array";
    let kind = kind(cursor, key)?;
    let count = cursor.u64(what)?;
    let start = cursor.at;
    match kind.size() {
        Some(size) => {
            let bytes = count.checked_mul(size).ok_or(GgufError::Truncated { what, at: start })?;
            cursor.take(bytes, what)?;
        }
        None if kind == MetaKind::Str => {
            // Every string takes at least its length field, so the file's end bounds this loop.
            for _ in 0..count {
                cursor.string(what, MAX_STRING)?;
            }
        }
        None => return Err(GgufError::MetaType { key: key.to_owned(), id: kind.id() }),
    }
    Ok(MetaValue::Array { kind, count, range: start..cursor.at })
}

impl Gguf {
    /// All metadata, in the order of the file.
    pub fn metadata(&self) -> impl ExactSizeIterator<Item = (&str, &MetaValue)> {
        self.entries.iter().map(|entry| (entry.key.as_str(), &entry.value))
    }

    /// The value of a key, if the file has it.
    pub fn meta(&self, key: &str) -> Option<&MetaValue> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// A `u32` of the metadata.
    ///
    /// # Errors
    /// The key is absent or of another type.
    pub fn meta_u32(&self, key: &str) -> Result<u32, GgufError> {
        match self.required(key)? {
            MetaValue::U32(value) => Ok(*value),
            other => Err(wrong_type(key, other, "a u32")),
        }
    }

    /// An `f32` of the metadata; always finite.
    ///
    /// # Errors
    /// The key is absent, of another type, or its value is not finite.
    pub fn meta_f32(&self, key: &str) -> Result<f32, GgufError> {
        match self.required(key)? {
            MetaValue::F32(value) if value.is_finite() => Ok(*value),
            other => Err(wrong_type(key, other, "a finite f32")),
        }
    }

    /// A string of the metadata.
    ///
    /// # Errors
    /// The key is absent or of another type.
    pub fn meta_str(&self, key: &str) -> Result<&str, GgufError> {
        match self.required(key)? {
            MetaValue::Str(value) => Ok(value),
            other => Err(wrong_type(key, other, "a string")),
        }
    }

    /// An array of `u32` of the metadata.
    ///
    /// # Errors
    /// The key is absent or of another type.
    pub fn meta_u32s(&self, key: &str) -> Result<Vec<u32>, GgufError> {
        Ok(self.words(key, MetaKind::U32, "an array of u32")?.map(u32::from_le_bytes).collect())
    }

    /// An array of `f32` of the metadata; all finite.
    ///
    /// # Errors
    /// The key is absent, of another type, or has a value that is not finite.
    pub fn meta_f32s(&self, key: &str) -> Result<Vec<f32>, GgufError> {
        let wanted = "an array of finite f32";
        let values: Vec<f32> = self.words(key, MetaKind::F32, wanted)?.map(f32::from_le_bytes).collect();
        if values.iter().all(|value| value.is_finite()) {
            return Ok(values);
        }
        Err(GgufError::KeyType { key: key.to_owned(), found: format!("{values:?}"), wanted })
    }

    /// A value as text; of long arrays the first sixteen elements.
    pub fn text(&self, value: &MetaValue) -> String {
        const SHOWN: usize = 16;
        let MetaValue::Array { kind, count, range } = value else { return value.to_string() };
        let words = self.bytes[range.clone()].as_chunks::<4>().0.iter().take(SHOWN);
        let shown: Vec<String> = match kind {
            MetaKind::U32 => words.map(|&word| u32::from_le_bytes(word).to_string()).collect(),
            MetaKind::F32 => words.map(|&word| f32::from_le_bytes(word).to_string()).collect(),
            _ => return value.to_string(),
        };
        format!("[{}{}]", shown.join(", "), if *count > SHOWN as u64 { ", ..." } else { "" })
    }

    fn required(&self, key: &str) -> Result<&MetaValue, GgufError> {
        self.meta(key).ok_or_else(|| GgufError::MissingKey { key: key.to_owned() })
    }

    /// The four-byte elements of an array of the given type.
    fn words(
        &self,
        key: &str,
        kind: MetaKind,
        wanted: &'static str,
    ) -> Result<impl Iterator<Item = [u8; 4]>, GgufError> {
        match self.required(key)? {
            MetaValue::Array { kind: found, range, .. } if *found == kind => {
                Ok(self.bytes[range.clone()].as_chunks::<4>().0.iter().copied())
            }
            other => Err(wrong_type(key, other, wanted)),
        }
    }
}

fn wrong_type(key: &str, found: &MetaValue, wanted: &'static str) -> GgufError {
    GgufError::KeyType { key: key.to_owned(), found: format!("'{found}'"), wanted }
}
