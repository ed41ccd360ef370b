//! Owns writing GGUF: the header first, then one tensor at a time.
//! May import: the types beside it.
//! Must not: keep tensor data.

use std::io::{self, Write};

use super::{DEFAULT_ALIGNMENT, MAGIC, MetaKind, TensorKind, VERSION};

/// A metadata value to write.
#[derive(Clone, Debug, PartialEq)]
pub enum WriteMeta {
    /// A number.
    U32(u32),
    /// A number.
    F32(f32),
    /// Text.
    Str(String),
    /// Numbers.
    U32s(Vec<u32>),
    /// Numbers.
    F32s(Vec<f32>),
}

/// Writes a GGUF file in order: the header with all descriptions, then the data of each tensor.
#[derive(Debug)]
pub struct GgufWriter<W: Write> {
    out: W,
    /// Bytes that each tensor still to be written must have, last first.
    pending: Vec<u64>,
}

impl<W: Write> GgufWriter<W> {
    /// Writes the header. `tensors` gives names, sides (fastest first; one to four) and types in the order in which
    /// [`GgufWriter::data`] will be called.
    ///
    /// # Errors
    /// The output refuses, or a shape is impossible for its type.
    pub fn new(
        mut out: W,
        metadata: &[(&str, WriteMeta)],
        tensors: &[(&str, &[u64], TensorKind)],
    ) -> io::Result<Self> {
        let mut header = Vec::new();
        header.extend_from_slice(&MAGIC);
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&(tensors.len() as u64).to_le_bytes());
        header.extend_from_slice(&(metadata.len() as u64).to_le_bytes());
        for (key, value) in metadata {
            string(&mut header, key);
            write_value(&mut header, value);
        }
        let mut offset = 0u64;
        let mut pending = Vec::with_capacity(tensors.len());
        for &(name, sides, kind) in tensors {
            let size = byte_len(sides, kind).ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("tensor {name}: {sides:?} cannot be {kind}"),
                )
            })?;
            string(&mut header, name);
            header.extend_from_slice(&(sides.len() as u32).to_le_bytes());
            for side in sides {
                header.extend_from_slice(&side.to_le_bytes());
            }
            header.extend_from_slice(&kind.id().to_le_bytes());
            header.extend_from_slice(&offset.to_le_bytes());
            offset += size.next_multiple_of(DEFAULT_ALIGNMENT);
            pending.push(size);
        }
        pad(&mut header);
        out.write_all(&header)?;
        pending.reverse();
        Ok(Self { out, pending })
    }

    /// Writes the data of the next tensor.
    ///
    /// # Errors
    /// The output refuses, or the data has not the size that the header announced.
    pub fn data(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.pending.pop() != Some(bytes.len() as u64) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "tensor data of another size than announced",
            ));
        }
        self.out.write_all(bytes)?;
        let rest = (bytes.len() as u64).next_multiple_of(DEFAULT_ALIGNMENT) - bytes.len() as u64;
        self.out.write_all(&[0; DEFAULT_ALIGNMENT as usize][..rest as usize])
    }

    /// Flushes and gives the output back.
    ///
    /// # Errors
    /// The output refuses, or tensors are still missing.
    pub fn finish(mut self) -> io::Result<W> {
        if !self.pending.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "tensors announced but not written"));
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

fn byte_len(sides: &[u64], kind: TensorKind) -> Option<u64> {
    let mut ne = [1; 4];
    ne.get_mut(..sides.len()).filter(|ne| !ne.is_empty())?.copy_from_slice(sides);
    kind.byte_len(ne)
}

fn string(header: &mut Vec<u8>, text: &str) {
    header.extend_from_slice(&(text.len() as u64).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
}

fn write_value(header: &mut Vec<u8>, value: &WriteMeta) {
    let kind = |header: &mut Vec<u8>, kind: MetaKind| header.extend_from_slice(&kind.id().to_le_bytes());
    match value {
        WriteMeta::U32(value) => {
            kind(header, MetaKind::U32);
            header.extend_from_slice(&value.to_le_bytes());
        }
        WriteMeta::F32(value) => {
            kind(header, MetaKind::F32);
            header.extend_from_slice(&value.to_le_bytes());
        }
        WriteMeta::Str(value) => {
            kind(header, MetaKind::Str);
            string(header, value);
        }
        WriteMeta::U32s(values) => {
            kind(header, MetaKind::Array);
            kind(header, MetaKind::U32);
            header.extend_from_slice(&(values.len() as u64).to_le_bytes());
            values.iter().for_each(|value| header.extend_from_slice(&value.to_le_bytes()));
        }
        WriteMeta::F32s(values) => {
            kind(header, MetaKind::Array);
            kind(header, MetaKind::F32);
            header.extend_from_slice(&(values.len() as u64).to_le_bytes());
            values.iter().for_each(|value| header.extend_from_slice(&value.to_le_bytes()));
        }
    }
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(DEFAULT_ALIGNMENT as usize), 0);
}
