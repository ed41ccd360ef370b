//! Owns reading the official PyTorch checkpoint.
//! May import: nothing outside this room.
//! Must not: read data before names and shapes are checked, which bounds what is read.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use pytorch_reader::{DType, PytorchError, PytorchReader};

use super::checkpoint::{CheckpointTensor, FloatType};
use super::{ConvertError, expected};

/// The key under which the official file keeps its tensors.
const KEY: &str = "model";
/// Largest pickle accepted: EdgeTAM's has 150 kB. A parsed pickle takes many times its size.
const MAX_PICKLE: u64 = 4 << 20;
/// Most entries of the zip: one per tensor and a few more, with room for optimiser states.
const MAX_ENTRIES: usize = 1 << 15;

/// Reads all float tensors of the file, by official names.
pub(super) fn read(path: &Path) -> Result<HashMap<String, CheckpointTensor>, ConvertError> {
    check_zip(path)?;
    let reader = PytorchReader::with_top_level_key(path, KEY).map_err(|error| match error {
        PytorchError::KeyNotFound(_) => ConvertError::NoModelKey,
        PytorchError::Io(error) => ConvertError::Torch { reason: error.to_string() },
        other => ConvertError::Torch { reason: other.to_string() },
    })?;
    if reader.is_empty() {
        return Err(ConvertError::NoModelKey);
    }
    let wanted: HashMap<_, _> = expected().into_iter().collect();
    expected::check(&wanted, reader.tensors().iter().map(|(name, tensor)| (name.as_str(), tensor.shape())))?;
    let mut tensors = HashMap::new();
    for (name, shape) in wanted {
        let Some(tensor) = reader.get(&name) else { continue };
        let float = match tensor.dtype() {
            DType::F32 => FloatType::F32,
            DType::F16 => FloatType::F16,
            DType::BF16 => FloatType::Bf16,
            other => return Err(ConvertError::Type { name, kind: format!("{other:?}") }),
        };
        let bytes = tensor
            .read()
            .map_err(|error| ConvertError::Data { name: name.clone(), reason: error.to_string() })?;
        tensors.insert(name, CheckpointTensor { shape, data: float.decode(&bytes) });
    }
    Ok(tensors)
}

/// Refuses a zip whose directory or pickle would take much memory once parsed.
fn check_zip(path: &Path) -> Result<(), ConvertError> {
    let damaged = |error: zip::result::ZipError| ConvertError::Torch { reason: error.to_string() };
    let mut archive = zip::ZipArchive::new(BufReader::new(File::open(path)?)).map_err(damaged)?;
    if archive.len() > MAX_ENTRIES {
        return Err(ConvertError::Torch { reason: format!("the zip has {} entries", archive.len()) });
    }
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?;
        if name.ends_with("data.pkl") && entry.size() > MAX_PICKLE {
            return Err(ConvertError::Torch {
                reason: format!("its entry '{name}' has {} bytes", entry.size()),
            });
        }
    }
    Ok(())
}
