//! Owns the model file: its metadata, how each tensor is stored, and writing it.
//! May import: ggml.
//! Must not: change weights other than by rounding to the storage.

use std::fmt;
use std::io::Write;

use super::fold::{Folded, Role, fold};
use super::layout::{
    CHANNELS, DECODER_LAYERS, FUSER_LAYERS, HIDDEN, LATENTS, MASK_TOKENS, MEMORY, MEMORY_LAYERS,
    PERCEIVER_LAYERS, SLOTS, SQUEEZE_EVERY, STAGE_BLOCKS,
};
use super::{Checkpoint, ConvertError};
use crate::ggml::gguf::{GgufWriter, TensorKind, TensorView, WriteMeta};

/// How the large weights are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightType {
    /// 32-bit floats: nothing is lost.
    F32,
    /// 16-bit floats for matrices and dense kernels.
    F16,
    /// Eight bits and a scale per 32 weights for matrices whose rows allow it, 16-bit floats for the others.
    #[serde(rename = "q8_0")]
    Q8_0,
}

impl fmt::Display for WeightType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Q8_0 => "q8_0",
        })
    }
}

impl std::str::FromStr for WeightType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::F32, Self::F16, Self::Q8_0]
            .into_iter()
            .find(|kind| kind.to_string() == text)
            .ok_or_else(|| format!("'{text}' is not one of f32, f16, q8_0"))
    }
}

impl WeightType {
    /// The number that `general.file_type` uses for it.
    fn file_type(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::Q8_0 => 7,
        }
    }

    /// How a tensor is stored.
    fn storage(self, tensor: &Folded) -> TensorKind {
        match (self, tensor.role) {
            (Self::F32, _) | (_, Role::Exact) => TensorKind::F32,
            (Self::Q8_0, Role::Matrix) if tensor.ne[0].is_multiple_of(32) => TensorKind::Q8_0,
            _ => TensorKind::F16,
        }
    }
}

/// Choices of a conversion.
#[derive(Clone, Debug)]
pub struct ConvertOptions {
    /// Storage of the large weights.
    pub weights: WeightType,
    /// Side in pixels of the square pictures the weights were trained on; the default of the model's users.
    pub native_size: u32,
    /// What the model calls itself in `general.name`.
    pub name: String,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self { weights: WeightType::F16, native_size: 1024, name: "EdgeTAM".to_owned() }
    }
}

impl ConvertOptions {
    /// # Errors
    /// The native size is not a multiple of 256 up to 1024.
    pub fn check(&self) -> Result<(), ConvertError> {
        match self.native_size {
            256 | 512 | 768 | 1024 => Ok(()),
            size => Err(ConvertError::NativeSize { size }),
        }
    }
}

/// Makes a model file in memory.
///
/// # Errors
/// An option is impossible, or a weight does not fit the storage.
pub fn to_gguf_bytes(checkpoint: &Checkpoint, options: &ConvertOptions) -> Result<Vec<u8>, ConvertError> {
    let mut bytes = Vec::new();
    write(checkpoint, options, &mut bytes)?;
    Ok(bytes)
}

/// Folds a checkpoint and writes the model file.
pub(super) fn write(
    checkpoint: &Checkpoint,
    options: &ConvertOptions,
    out: impl Write,
) -> Result<(), ConvertError> {
    options.check()?;
    let tensors = fold(checkpoint);
    let storage: Vec<TensorKind> = tensors.iter().map(|tensor| options.weights.storage(tensor)).collect();
    let described: Vec<(&str, &[u64], TensorKind)> = tensors
        .iter()
        .zip(&storage)
        .map(|(tensor, &kind)| (tensor.name.as_str(), tensor.ne.as_slice(), kind))
        .collect();
    let metadata = metadata(checkpoint, options);
    let mut writer = GgufWriter::new(out, &metadata, &described).map_err(ConvertError::Output)?;
    for (tensor, kind) in tensors.iter().zip(storage) {
        let bytes = kind.encode(&tensor.data);
        let view = TensorView { ne: [tensor.data.len() as u64, 1, 1, 1], kind, bytes: &bytes };
        if view.first_non_finite().is_some() {
            return Err(ConvertError::Range { name: tensor.name.clone(), kind: kind.to_string() });
        }
        writer.data(&bytes).map_err(ConvertError::Output)?;
    }
    writer.finish().map_err(ConvertError::Output)?;
    Ok(())
}

/// Everything the loader needs to know beside the weights.
fn metadata(checkpoint: &Checkpoint, options: &ConvertOptions) -> Vec<(&'static str, WriteMeta)> {
    let text = |text: &str| WriteMeta::Str(text.to_owned());
    let count = |value: usize| WriteMeta::U32(value as u32);
    let counts = |values: [usize; 4]| WriteMeta::U32s(values.map(|value| value as u32).to_vec());
    vec![
        ("general.architecture", text("edgetam")),
        ("general.name", text(&options.name)),
        ("general.file_type", WriteMeta::U32(options.weights.file_type())),
        ("edgetam.format_version", WriteMeta::U32(1)),
        ("edgetam.image_size", WriteMeta::U32(options.native_size)),
        ("edgetam.image_mean", WriteMeta::F32s(vec![0.485, 0.456, 0.406])),
        ("edgetam.image_std", WriteMeta::F32s(vec![0.229, 0.224, 0.225])),
        ("edgetam.trunk.stage_blocks", counts(STAGE_BLOCKS)),
        ("edgetam.trunk.channels", counts(CHANNELS)),
        ("edgetam.trunk.se_every", count(SQUEEZE_EVERY)),
        ("edgetam.hidden_dim", count(HIDDEN)),
        ("edgetam.memory_dim", count(MEMORY)),
        ("edgetam.decoder.layers", count(DECODER_LAYERS)),
        ("edgetam.decoder.heads", WriteMeta::U32(8)),
        ("edgetam.decoder.multimasks", count(MASK_TOKENS - 1)),
        ("edgetam.memory_attention.layers", count(MEMORY_LAYERS)),
        ("edgetam.memory_attention.heads", WriteMeta::U32(1)),
        ("edgetam.rope_theta", WriteMeta::F32(10000.0)),
        ("edgetam.sine_temperature", WriteMeta::F32(10000.0)),
        ("edgetam.perceiver.layers", count(PERCEIVER_LAYERS)),
        ("edgetam.perceiver.latents", count(LATENTS)),
        ("edgetam.perceiver.latents_2d", count(LATENTS)),
        ("edgetam.fuser.layers", count(FUSER_LAYERS)),
        ("edgetam.memory.slots", count(SLOTS)),
        ("edgetam.memory.max_pointers", WriteMeta::U32(16)),
        ("edgetam.memory.sigmoid_scale", WriteMeta::F32(20.0)),
        ("edgetam.memory.sigmoid_bias", WriteMeta::F32(-10.0)),
        ("edgetam.layer_norm_eps", WriteMeta::F32(1e-5)),
        ("edgetam.layer_norm_2d_eps", WriteMeta::F32(1e-6)),
        ("edgetam.stability_delta", WriteMeta::F32(0.05)),
        ("edgetam.stability_threshold", WriteMeta::F32(0.98)),
        ("edgetam.no_object_logit", WriteMeta::F32(-1024.0)),
        ("edgetam.multimask_max_points", WriteMeta::U32(1)),
        ("edgetam.source_sha256", text(checkpoint.sha256())),
    ]
}
