//! Owns a checkpoint in memory: EdgeTAM's tensors by their official names, as `f32`.
//! May import: nothing outside this room.
//! Must not: exist with a tensor missing, of a wrong shape, or not finite.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use half::{bf16, f16};
use sha2::{Digest, Sha256};

use super::{ConvertError, expected, safetensors, torch};

/// Largest checkpoint that is read. Published ones have 28 to 56 MB, with optimiser states three times that.
const MAX_FILE: u64 = 256 << 20;

/// Where a checkpoint came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The official PyTorch file.
    PyTorch,
    /// Safetensors with the names of Hugging Face Transformers.
    HuggingFace,
    /// Made in memory.
    Memory,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PyTorch => "official PyTorch checkpoint",
            Self::HuggingFace => "Hugging Face safetensors",
            Self::Memory => "made in memory",
        })
    }
}

/// One tensor of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointTensor {
    /// Sides in PyTorch order, the slowest first.
    pub shape: Vec<usize>,
    /// Values in row-major order, as many as `shape` says.
    pub data: Vec<f32>,
}

/// A whole EdgeTAM checkpoint.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    tensors: HashMap<String, CheckpointTensor>,
    source: Source,
    sha256: String,
}

impl Checkpoint {
    /// Reads an official `.pt` (a PyTorch zip with the key `model`) or Hugging Face safetensors; which of them is
    /// seen from the content.
    ///
    /// # Errors
    /// The file is neither, damaged, or not exactly an EdgeTAM checkpoint with finite weights.
    pub fn open(path: &Path) -> Result<Self, ConvertError> {
        Self::open_unnamed(path)
            .map_err(|reason| ConvertError::InFile { path: path.to_owned(), reason: Box::new(reason) })
    }

    fn open_unnamed(path: &Path) -> Result<Self, ConvertError> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        if size > MAX_FILE {
            return Err(ConvertError::TooLarge { size, limit: MAX_FILE });
        }
        let mut start = Vec::new();
        (&mut file).take(9).read_to_end(&mut start)?;
        file.rewind()?;
        if start.starts_with(b"GGUF") {
            Err(ConvertError::AlreadyGguf)
        } else if start.starts_with(b"PK") {
            let tensors = torch::read(path)?;
            Self::checked(tensors, Source::PyTorch, sha256_of(file)?)
        } else if start.get(8) == Some(&b'{') {
            let mut bytes = Vec::new();
            file.take(MAX_FILE).read_to_end(&mut bytes)?;
            let tensors = safetensors::read(&bytes)?;
            Self::checked(tensors, Source::HuggingFace, hex(&Sha256::digest(&bytes)))
        } else {
            Err(ConvertError::Foreign)
        }
    }

    /// Makes a checkpoint of tensors in memory, by official names; counters of batch norms may be left out.
    ///
    /// # Errors
    /// A tensor is missing, unexpected, of a wrong shape or length, or not finite.
    pub fn from_tensors(tensors: HashMap<String, CheckpointTensor>) -> Result<Self, ConvertError> {
        let mut checkpoint = Self::checked(tensors, Source::Memory, String::new())?;
        checkpoint.sha256 = checkpoint.content_sha256();
        Ok(checkpoint)
    }

    fn checked(
        mut tensors: HashMap<String, CheckpointTensor>,
        source: Source,
        sha256: String,
    ) -> Result<Self, ConvertError> {
        let wanted: HashMap<_, _> = expected().into_iter().collect();
        expected::check(
            &wanted,
            tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.shape.as_slice())),
        )?;
        tensors.retain(|name, _| wanted.contains_key(name));
        // In the order of the list, so that the same file always gets the same message.
        for (name, shape) in expected() {
            let data = &tensors[&name].data;
            if data.len() != shape.iter().product::<usize>() {
                return Err(ConvertError::Shape { name, found: vec![data.len()], wanted: shape });
            }
            if let Some(index) = data.iter().position(|value| !value.is_finite()) {
                return Err(ConvertError::NotFinite { name, index });
            }
            if name.ends_with(".running_var")
                && let Some(index) = data.iter().position(|&value| value < 0.0)
            {
                return Err(ConvertError::NegativeVariance { name, index });
            }
        }
        Ok(Self { tensors, source, sha256 })
    }

    /// Where it came from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// SHA-256 in hex of the file, or of the content for one made in memory.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// A tensor by its official name.
    pub fn get(&self, name: &str) -> Option<&CheckpointTensor> {
        self.tensors.get(name)
    }

    /// SHA-256 in hex of all values as little-endian `f32`, tensors in the order of their names' bytes.
    pub fn content_sha256(&self) -> String {
        let mut names: Vec<&String> = self.tensors.keys().collect();
        names.sort();
        let mut hash = Sha256::new();
        for name in names {
            let bytes: Vec<u8> =
                self.tensors[name].data.iter().flat_map(|value| value.to_le_bytes()).collect();
            hash.update(&bytes);
        }
        hex(&hash.finalize())
    }

    /// A tensor that must be there, because construction has checked it.
    pub(super) fn tensor(&self, name: &str) -> &CheckpointTensor {
        self.tensors.get(name).unwrap_or_else(|| panic!("'{name}' is not in the list of EdgeTAM's tensors"))
    }

    /// The tensors, to change some and make another checkpoint.
    pub fn into_tensors(self) -> HashMap<String, CheckpointTensor> {
        self.tensors
    }
}

/// How floats are stored in a checkpoint.
#[derive(Clone, Copy, Debug)]
pub(super) enum FloatType {
    F32,
    F16,
    Bf16,
}

impl FloatType {
    /// Reads little-endian values.
    pub(super) fn decode(self, bytes: &[u8]) -> Vec<f32> {
        match self {
            Self::F32 => bytes.as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect(),
            Self::F16 => bytes.as_chunks().0.iter().map(|&b| f16::from_le_bytes(b).to_f32()).collect(),
            Self::Bf16 => bytes.as_chunks().0.iter().map(|&b| bf16::from_le_bytes(b).to_f32()).collect(),
        }
    }
}

/// SHA-256 in hex of the rest of a file, read in pieces.
fn sha256_of(mut file: File) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex(&hash.finalize())),
            len => hash.update(&piece[..len]),
        }
    }
}

/// Lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
