//! Owns the tensor types of the model file: sizes, and the way to and from `f32`.
//! May import: nothing of this crate.
//! Must not: know where a tensor comes from.

use std::fmt;

use half::f16;

/// Weights per block of Q8_0.
const BLOCK: usize = 32;
/// Bytes per block of Q8_0: one f16 scale and 32 signed bytes.
const BLOCK_BYTES: usize = 2 + BLOCK;

/// How the weights of a tensor are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorKind {
    /// 32-bit floats.
    F32,
    /// 16-bit floats.
    F16,
    /// Blocks of 32 signed bytes that share an f16 scale.
    Q8_0,
}

impl fmt::Display for TensorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Q8_0 => "Q8_0",
        })
    }
}

impl TensorKind {
    /// The number that stands for the type in a file, which is also ggml's.
    pub fn id(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::Q8_0 => 8,
        }
    }

    /// The type of that number, if it is one that is read here.
    pub fn from_id(id: u32) -> Option<Self> {
        [Self::F32, Self::F16, Self::Q8_0].into_iter().find(|kind| kind.id() == id)
    }

    /// Bytes of a tensor with these sides (fastest first), or none if the shape is impossible: a side of zero, a size
    /// beyond 2^63 bytes, or rows that do not fill whole blocks.
    pub fn byte_len(self, ne: [u64; 4]) -> Option<u64> {
        let count =
            ne.iter().try_fold(1u64, |product, &side| product.checked_mul(side)).filter(|&n| n > 0)?;
        let bytes = match self {
            Self::F32 => count.checked_mul(4)?,
            Self::F16 => count.checked_mul(2)?,
            Self::Q8_0 if ne[0].is_multiple_of(BLOCK as u64) => {
                (count / BLOCK as u64).checked_mul(BLOCK_BYTES as u64)?
            }
            Self::Q8_0 => return None,
        };
        i64::try_from(bytes).is_ok().then_some(bytes)
    }

    /// Stores `values` as this type. Values beyond the range of f16 become infinite: the caller checks.
    ///
    /// # Panics
    /// For Q8_0, if the values do not fill whole blocks of 32.
    pub fn encode(self, values: &[f32]) -> Vec<u8> {
        match self {
            Self::F32 => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::F16 => values.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes()).collect(),
            Self::Q8_0 => quantise_q8_0(values),
        }
    }
}

/// A tensor of a parsed file.
#[derive(Clone, Copy, Debug)]
pub struct TensorView<'a> {
    /// Sides in ggml order, the fastest first; unused ones are 1.
    pub ne: [u64; 4],
    /// How the bytes are to be read.
    pub kind: TensorKind,
    /// The data, exactly as long as `ne` and `kind` ask; of any address alignment.
    pub bytes: &'a [u8],
}

impl TensorView<'_> {
    /// Number of weights.
    pub fn len(&self) -> usize {
        // The parser has checked that the product fits the file.
        self.ne.iter().product::<u64>() as usize
    }

    /// Whether there are no weights; the parser accepts no such tensor.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All weights as `f32`, in memory order.
    pub fn to_f32(&self) -> Vec<f32> {
        match self.kind {
            TensorKind::F32 => self.bytes.as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect(),
            TensorKind::F16 => {
                self.bytes.as_chunks().0.iter().map(|&b| f16::from_le_bytes(b).to_f32()).collect()
            }
            TensorKind::Q8_0 => blocks(self.bytes)
                .flat_map(|(scale, quants)| quants.iter().map(move |&q| scale * f32::from(q as i8)))
                .collect(),
        }
    }

    /// Index of the first weight that is infinite or not a number; for Q8_0, of the first in its block.
    pub fn first_non_finite(&self) -> Option<usize> {
        match self.kind {
            TensorKind::F32 => {
                self.bytes.as_chunks().0.iter().position(|&b| !f32::from_le_bytes(b).is_finite())
            }
            TensorKind::F16 => {
                self.bytes.as_chunks().0.iter().position(|&b| !f16::from_le_bytes(b).is_finite())
            }
            TensorKind::Q8_0 => {
                blocks(self.bytes).position(|(scale, _)| !scale.is_finite()).map(|index| index * BLOCK)
            }
        }
    }
}

/// The blocks of Q8_0 data: scale and quants.
fn blocks(bytes: &[u8]) -> impl Iterator<Item = (f32, &[u8])> {
    bytes.as_chunks::<BLOCK_BYTES>().0.iter().map(|block| {
        let (scale, quants) = block.split_at(2);
        (f16::from_le_bytes([scale[0], scale[1]]).to_f32(), quants)
    })
}

/// Quantises to Q8_0: per block of 32 the scale is the largest magnitude / 127, stored as f16; weights are rounded to
/// the nearest multiple of it, halves away from zero.
///
/// # Panics
/// If the values do not fill whole blocks.
pub fn quantise_q8_0(values: &[f32]) -> Vec<u8> {
    let (blocks, rest) = values.as_chunks::<BLOCK>();
    assert!(rest.is_empty(), "Q8_0 needs whole blocks of {BLOCK} weights");
    let mut bytes = Vec::with_capacity(blocks.len() * BLOCK_BYTES);
    for block in blocks {
        let largest = block.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        let stored = f16::from_f32(largest / 127.0);
        // Dividing by the scale as it is stored keeps its own rounding out of the weights.
        let scale = stored.to_f32();
        let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        bytes.extend_from_slice(&stored.to_le_bytes());
        bytes.extend(block.iter().map(|value| (value * inverse).round().clamp(-127.0, 127.0) as i8 as u8));
    }
    bytes
}

/// The name of a ggml type that is not read here, for messages.
pub(super) fn type_name(id: u32) -> String {
    let name = match id {
        2 => "Q4_0",
        3 => "Q4_1",
        6 => "Q5_0",
        7 => "Q5_1",
        9 => "Q8_1",
        10 => "Q2_K",
        11 => "Q3_K",
        12 => "Q4_K",
        13 => "Q5_K",
        14 => "Q6_K",
        15 => "Q8_K",
        24 => "I8",
        25 => "I16",
        26 => "I32",
        27 => "I64",
        28 => "F64",
        30 => "BF16",
        _ => return format!("number {id}"),
    };
    name.to_owned()
}
