//! Owns reading the Hugging Face form of the checkpoint and mapping it to the official names.
//! May import: nothing outside this room.
//! Must not: read data before names and shapes are checked.

use std::collections::HashMap;

use safetensors::{Dtype, SafeTensors};

use super::checkpoint::{CheckpointTensor, FloatType};
use super::names::{HfSource, hugging_face_sources};
use super::{ConvertError, expected};

/// Reads all float tensors of a file in memory, by official names.
pub(super) fn read(bytes: &[u8]) -> Result<HashMap<String, CheckpointTensor>, ConvertError> {
    let file = SafeTensors::deserialize(bytes)
        .map_err(|error| ConvertError::Safetensors { reason: error.to_string() })?;
    let official = expected();
    check_names(&file, &official)?;
    let mut tensors = HashMap::new();
    for (name, shape) in official {
        let data = match hugging_face_sources(&name) {
            HfSource::Whole(hf) => floats(&file, &hf)?,
            HfSource::Copies(first, second) => {
                let data = floats(&file, &first)?;
                if data != floats(&file, &second)? {
                    return Err(ConvertError::Copies { first, second });
                }
                data
            }
            HfSource::Row(hf, row) => {
                let width = shape[1];
                floats(&file, &hf)?[row * width..(row + 1) * width].to_vec()
            }
            HfSource::Stack(first, second) => [floats(&file, &first)?, floats(&file, &second)?].concat(),
        };
        tensors.insert(name, CheckpointTensor { shape, data });
    }
    Ok(tensors)
}

/// Checks names and shapes of the file against those that the official list implies.
fn check_names(file: &SafeTensors, official: &[(String, Vec<usize>)]) -> Result<(), ConvertError> {
    let mut wanted: HashMap<String, Vec<usize>> = HashMap::new();
    for (name, shape) in official {
        match hugging_face_sources(name) {
            HfSource::Whole(hf) => drop(wanted.insert(hf, shape.clone())),
            HfSource::Copies(first, second) => {
                wanted.insert(first, shape.clone());
                wanted.insert(second, shape.clone());
            }
            HfSource::Row(hf, row) => {
                let rows = wanted.entry(hf).or_insert_with(|| vec![0, shape[1]]);
                rows[0] = rows[0].max(row + 1);
            }
            HfSource::Stack(first, second) => {
                wanted.insert(first, vec![shape[0] / 2, shape[1]]);
                wanted.insert(second, vec![shape[0] / 2, shape[1]]);
            }
        }
    }
    let found: Vec<_> = file.iter().map(|(name, view)| (name, view.shape().to_vec())).collect();
    expected::check(&wanted, found.iter().map(|(name, shape)| (*name, shape.as_slice())))
}

fn floats(file: &SafeTensors, name: &str) -> Result<Vec<f32>, ConvertError> {
    let data = |error: safetensors::SafeTensorError| ConvertError::Data {
        name: name.to_owned(),
        reason: error.to_string(),
    };
    let view = file.tensor(name).map_err(data)?;
    let float = match view.dtype() {
        Dtype::F32 => FloatType::F32,
        Dtype::F16 => FloatType::F16,
        Dtype::BF16 => FloatType::Bf16,
        other => return Err(ConvertError::Type { name: name.to_owned(), kind: format!("{other:?}") }),
    };
    Ok(float.decode(view.data()))
}
