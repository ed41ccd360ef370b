//! Owns what can go wrong in a conversion, in words for the person who started it.
//! May import: ggml.
//! Must not: hold more than what the message needs.

use std::path::PathBuf;

use crate::ggml::gguf::GgufError;

/// Why a checkpoint was refused or a model file not written.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// Any of the others, with the checkpoint it was found in.
    #[error("{}: {reason}", path.display())]
    InFile {
        /// The checkpoint.
        path: PathBuf,
        /// What is wrong with it.
        reason: Box<ConvertError>,
    },
    /// The file system refused.
    #[error("the checkpoint cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The file is larger than any EdgeTAM checkpoint.
    #[error("the file has {size} bytes, more than the {limit} allowed: it is not an EdgeTAM checkpoint")]
    TooLarge {
        /// Size found.
        size: u64,
        /// Largest size accepted.
        limit: u64,
    },
    /// Neither a zip nor safetensors.
    #[error(
        "this is neither a PyTorch checkpoint (.pt) nor a safetensors file; give the EdgeTAM checkpoint as published"
    )]
    Foreign,
    /// A GGUF file was given as the checkpoint.
    #[error("this is a GGUF file already; give it to `--model` as it is")]
    AlreadyGguf,
    /// A PyTorch file that cannot be understood.
    #[error("the PyTorch checkpoint is damaged or of an unknown kind: {reason}; download it again")]
    Torch {
        /// What the reader says.
        reason: String,
    },
    /// A PyTorch file without the key `model`.
    #[error(
        "this PyTorch file has no key 'model' with tensors in it: it is not an EdgeTAM checkpoint as published"
    )]
    NoModelKey,
    /// A safetensors file that cannot be understood.
    #[error("the safetensors file is damaged: {reason}; download it again")]
    Safetensors {
        /// What the reader says.
        reason: String,
    },
    /// A tensor of EdgeTAM is absent.
    #[error(
        "tensor '{name}' is missing ({missing} of {total} are): this is not EdgeTAM, or not the whole of it"
    )]
    Missing {
        /// The first absent name.
        name: String,
        /// How many are absent.
        missing: usize,
        /// How many there should be.
        total: usize,
    },
    /// A tensor that EdgeTAM does not have.
    #[error("tensor '{name}' does not belong to EdgeTAM: this is another model or a changed one")]
    Unexpected {
        /// The first such name.
        name: String,
    },
    /// A tensor of another shape than EdgeTAM's.
    #[error(
        "tensor '{name}' has shape {found:?}, EdgeTAM's has {wanted:?}: this is another variant of the model"
    )]
    Shape {
        /// The tensor.
        name: String,
        /// Shape in the file.
        found: Vec<usize>,
        /// Shape EdgeTAM has.
        wanted: Vec<usize>,
    },
    /// A tensor that is not made of floats.
    #[error("tensor '{name}' has type {kind}; F32, F16 and BF16 can be converted")]
    Type {
        /// The tensor.
        name: String,
        /// Its type.
        kind: String,
    },
    /// The data of a tensor cannot be read.
    #[error("tensor '{name}' cannot be read: {reason}; the file is truncated or damaged, download it again")]
    Data {
        /// The tensor.
        name: String,
        /// What the reader says.
        reason: String,
    },
    /// A weight that is infinite or not a number.
    #[error(
        "tensor '{name}' holds a NaN or an infinity (element {index}): the weights are broken, get them again"
    )]
    NotFinite {
        /// The tensor.
        name: String,
        /// The first such element.
        index: usize,
    },
    /// A batch norm with a negative variance.
    #[error(
        "tensor '{name}' holds a negative variance (element {index}): the weights are broken, get them again"
    )]
    NegativeVariance {
        /// The tensor.
        name: String,
        /// The first such element.
        index: usize,
    },
    /// The two copies of the position matrix in a Hugging Face file differ.
    #[error("tensors '{first}' and '{second}' should be equal and are not: this is a changed model")]
    Copies {
        /// One copy.
        first: String,
        /// The other.
        second: String,
    },
    /// A folded weight does not fit the chosen storage.
    #[error("tensor '{name}' has weights too large for {kind}; convert with `--type f32`")]
    Range {
        /// The tensor of the model file.
        name: String,
        /// The storage asked for.
        kind: String,
    },
    /// A native size that the network cannot have.
    #[error("native size {size} is impossible: give a multiple of 256 from 256 to 1024")]
    NativeSize {
        /// The size asked for.
        size: u32,
    },
    /// Input and output are one file.
    #[error("{}: input and output are the same file; give another output", path.display())]
    SameFile {
        /// The file.
        path: PathBuf,
    },
    /// The model file cannot be written.
    #[error("{}: the model file cannot be written: {source}", path.display())]
    Write {
        /// The model file.
        path: PathBuf,
        /// What the file system says.
        source: std::io::Error,
    },
    /// The place written to refused.
    #[error("the model file cannot be written: {0}")]
    Output(std::io::Error),
    /// What was written does not read back.
    #[error("the model file was written but does not read back: {reason}; is the disk sound?")]
    Verify {
        /// What the reader says.
        reason: Box<GgufError>,
    },
}
