//! Owns what can be wrong with a GGUF file, in words for its owner.
//! May import: the tensor types beside it.
//! Must not: hold more of the file than the names to report.

use std::path::PathBuf;

use super::TensorKind;

/// Why a GGUF file was refused.
#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    /// Any of the others, with the file it was found in.
    #[error("{}: {reason}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: Box<GgufError>,
    },
    /// The file system refused.
    #[error("the model file cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The file is larger than any model of this kind.
    #[error("the file has {size} bytes, more than the {limit} allowed: it is not a model for Masklet")]
    TooLarge {
        /// Size found.
        size: u64,
        /// Largest size accepted.
        limit: u64,
    },
    /// The first four bytes are not `GGUF`.
    #[error("this is not a GGUF file; convert a checkpoint with `masklet model convert`")]
    NotGguf,
    /// A version that is not 3.
    #[error("GGUF version {version} is not supported, only version 3; convert the checkpoint again")]
    Version {
        /// Version found.
        version: u32,
    },
    /// The file ends too early.
    #[error("the file is truncated: it ends within {what} at byte {at}; download or convert it again")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Where it starts.
        at: usize,
    },
    /// A count that no such file has.
    #[error("the file is damaged: it announces {count} {what}, more than {limit}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// The count found.
        count: u64,
        /// Largest count accepted.
        limit: u64,
    },
    /// A string longer than any such file has.
    #[error("the file is damaged: {what} is announced with {length} bytes, more than {limit}")]
    StringLength {
        /// What the string is.
        what: &'static str,
        /// The length found.
        length: u64,
        /// Largest length accepted.
        limit: u64,
    },
    /// A string that is not UTF-8.
    #[error("the file is damaged: {what} at byte {at} is not UTF-8")]
    NotUtf8 {
        /// What the string is.
        what: &'static str,
        /// Where it starts.
        at: usize,
    },
    /// A metadata value of a type that does not exist, or an array of arrays.
    #[error("the file is damaged: metadata '{key}' has the unknown type {id}")]
    MetaType {
        /// The key.
        key: String,
        /// The type found.
        id: u32,
    },
    /// A key that occurs twice.
    #[error("the file is damaged: metadata '{key}' occurs twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A key the caller needs is absent.
    #[error(
        "metadata '{key}' is missing: the file is no EdgeTAM model of this layout; convert the checkpoint again"
    )]
    MissingKey {
        /// The key.
        key: String,
    },
    /// A key has a value of another type than the caller needs.
    #[error("metadata '{key}' is {found}, not {wanted}; convert the checkpoint again")]
    KeyType {
        /// The key.
        key: String,
        /// The type in the file.
        found: String,
        /// The type asked for.
        wanted: &'static str,
    },
    /// `general.alignment` is no power of two between 8 and 4096.
    #[error("the file is damaged: 'general.alignment' is not a power of two between 8 and 4096")]
    Alignment,
    /// A tensor with no dimension, or more than four.
    #[error("the file is damaged: tensor '{name}' has {dims} dimensions; 1 to 4 are possible")]
    Dimensions {
        /// The tensor.
        name: String,
        /// Dimensions found.
        dims: u32,
    },
    /// A tensor type this program does not read.
    #[error(
        "tensor '{name}' of this {architecture} model has type {kind}; Masklet reads F32, F16 and Q8_0: convert the \
         EdgeTAM checkpoint with `masklet model convert`"
    )]
    TensorType {
        /// The tensor.
        name: String,
        /// Its type.
        kind: String,
        /// What `general.architecture` says.
        architecture: String,
    },
    /// A side of zero, a size that overflows, or rows that do not fill quantisation blocks.
    #[error("the file is damaged: tensor '{name}' has the impossible shape {ne:?} for type {kind}")]
    Shape {
        /// The tensor.
        name: String,
        /// Its sides, fastest first.
        ne: [u64; 4],
        /// Its type.
        kind: TensorKind,
    },
    /// An offset that is no multiple of the alignment.
    #[error("the file is damaged: tensor '{name}' starts at {offset}, not a multiple of {alignment}")]
    Misaligned {
        /// The tensor.
        name: String,
        /// Its offset in the data section.
        offset: u64,
        /// The file's alignment.
        alignment: u64,
    },
    /// Tensor data past the end of the file.
    #[error(
        "the file is truncated or damaged: tensor '{name}' reaches past its end; download or convert it again"
    )]
    OutOfFile {
        /// The tensor.
        name: String,
    },
    /// Two tensors share bytes.
    #[error("the file is damaged: tensors '{first}' and '{second}' overlap")]
    Overlap {
        /// The tensor that starts first.
        first: String,
        /// The one that starts inside it.
        second: String,
    },
    /// A tensor name that occurs twice.
    #[error("the file is damaged: tensor '{name}' occurs twice")]
    DuplicateTensor {
        /// The tensor.
        name: String,
    },
    /// A weight that is infinite or not a number.
    #[error(
        "tensor '{name}' holds a NaN or an infinity (element {index}): the weights are broken, get them again"
    )]
    NotFinite {
        /// The tensor.
        name: String,
        /// The first such element (for Q8_0, the first of its block).
        index: usize,
    },
}
