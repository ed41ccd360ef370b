//! The network's configuration, read from the model file.

use crate::ggml::GgmlError;
use crate::ggml::gguf::{Gguf, GgufError};

/// Layout version of the model files that this code reads.
const FORMAT_VERSION: u32 = 1;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The file is not a sound GGUF file.
    #[error(transparent)]
    File(#[from] GgufError),
    /// A GGUF file of something else.
    #[error(
        "this is a model of kind \"{found}\", not \"edgetam\": convert an EdgeTAM checkpoint with `masklet model convert`"
    )]
    Architecture {
        /// What the file says it is.
        found: String,
    },
    /// A layout of another version.
    #[error(
        "the model file has layout version {found}, this program reads version {FORMAT_VERSION}: convert it again"
    )]
    Version {
        /// The file's version.
        found: u32,
    },
    /// A configuration value outside what the network can be built with.
    #[error("the model file says {key} = {value}, which cannot be: expected {expected}")]
    Value {
        /// Which key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What would be right.
        expected: &'static str,
    },
    /// A tensor is missing or has another shape.
    #[error(
        "the model file's tensor {name} has shape {found}, expected {expected:?}: the file is damaged or of another model"
    )]
    Tensor {
        /// Which tensor.
        name: String,
        /// "missing" or its shape.
        found: String,
        /// The right shape in ggml order.
        expected: [i64; 4],
    },
    /// A size that the network cannot work at.
    #[error("the size {0} cannot be used: give a multiple of 256 from 256 to 1024")]
    Size(u32),
    /// The device.
    #[error(transparent)]
    Device(#[from] GgmlError),
}

/// Everything about the network that is not a weight. The values are the file's; see docs/model-file.md.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Name of the model.
    pub name: String,
    /// Side of the pictures that it was trained on, in pixels.
    pub image_size: u32,
    /// Mean of the normalised input, per channel, of values 0 to 1.
    pub image_mean: [f32; 3],
    /// Standard deviation likewise.
    pub image_std: [f32; 3],
    /// Blocks per trunk stage.
    pub stage_blocks: Vec<u32>,
    /// Channels per trunk stage.
    pub channels: Vec<i64>,
    /// Every how many blocks one has squeeze-excite, from the first.
    pub se_every: u32,
    /// Width of tokens and features.
    pub hidden: i64,
    /// Width of memory tokens.
    pub memory: i64,
    /// Layers of the two-way transformer.
    pub decoder_layers: u32,
    /// Its heads.
    pub decoder_heads: i64,
    /// Candidate masks beside the single one.
    pub multimasks: i64,
    /// Layers of memory attention.
    pub memory_attention_layers: u32,
    /// Base of the rotary frequencies.
    pub rope_theta: f32,
    /// Base of the sine position encodings.
    pub sine_temperature: f32,
    /// Layers of the perceiver.
    pub perceiver_layers: u32,
    /// Global latents.
    pub latents: i64,
    /// Windowed latents; a square number.
    pub latents_2d: i64,
    /// ConvNeXt blocks of the memory encoder.
    pub fuser_layers: u32,
    /// Memory slots with a temporal encoding.
    pub memory_slots: u32,
    /// Most object pointers attended to.
    pub max_pointers: u32,
    /// Scale of the mask that the memory encoder sees.
    pub sigmoid_scale: f32,
    /// Offset of it.
    pub sigmoid_bias: f32,
    /// Epsilon of LayerNorm.
    pub layer_norm_eps: f32,
    /// Epsilon of LayerNorm over the channels of a map.
    pub layer_norm_2d_eps: f32,
    /// Half-width of the band in which stability is judged, in logits.
    pub stability_delta: f32,
    /// Least stability of the single mask.
    pub stability_threshold: f32,
    /// Logit of every pixel of an absent object.
    pub no_object_logit: f32,
    /// Most points for which several masks are offered.
    pub multimask_max_points: u32,
}

impl Config {
    /// Reads and checks the metadata of `file`.
    ///
    /// # Errors
    /// Another kind of model, another layout version, a missing or impossible value.
    pub fn read(file: &Gguf) -> Result<Self, ModelError> {
        let architecture = file.meta_str("general.architecture")?;
        if architecture != "edgetam" {
            return Err(ModelError::Architecture { found: architecture.chars().take(40).collect() });
        }
        let found = file.meta_u32("edgetam.format_version")?;
        if found != FORMAT_VERSION {
            return Err(ModelError::Version { found });
        }
        let width = |key| between(file, key, 8, 4096).map(i64::from);
        let few = |key| between(file, key, 1, 64);
        let config = Self {
            name: file.meta_str("general.name")?.to_owned(),
            image_size: between(file, "edgetam.image_size", 256, 1024)?,
            image_mean: three(file, "edgetam.image_mean")?,
            image_std: three(file, "edgetam.image_std")?,
            stage_blocks: file.meta_u32s("edgetam.trunk.stage_blocks")?,
            channels: file.meta_u32s("edgetam.trunk.channels")?.into_iter().map(i64::from).collect(),
            se_every: few("edgetam.trunk.se_every")?,
            hidden: width("edgetam.hidden_dim")?,
            memory: width("edgetam.memory_dim")?,
            decoder_layers: few("edgetam.decoder.layers")?,
            decoder_heads: i64::from(few("edgetam.decoder.heads")?),
            multimasks: i64::from(few("edgetam.decoder.multimasks")?),
            memory_attention_layers: few("edgetam.memory_attention.layers")?,
            rope_theta: file.meta_f32("edgetam.rope_theta")?,
            sine_temperature: file.meta_f32("edgetam.sine_temperature")?,
            perceiver_layers: few("edgetam.perceiver.layers")?,
            latents: i64::from(between(file, "edgetam.perceiver.latents", 1, 4096)?),
            latents_2d: i64::from(between(file, "edgetam.perceiver.latents_2d", 1, 4096)?),
            fuser_layers: few("edgetam.fuser.layers")?,
            memory_slots: few("edgetam.memory.slots")?,
            max_pointers: few("edgetam.memory.max_pointers")?,
            sigmoid_scale: file.meta_f32("edgetam.memory.sigmoid_scale")?,
            sigmoid_bias: file.meta_f32("edgetam.memory.sigmoid_bias")?,
            layer_norm_eps: file.meta_f32("edgetam.layer_norm_eps")?,
            layer_norm_2d_eps: file.meta_f32("edgetam.layer_norm_2d_eps")?,
            stability_delta: file.meta_f32("edgetam.stability_delta")?,
            stability_threshold: file.meta_f32("edgetam.stability_threshold")?,
            no_object_logit: file.meta_f32("edgetam.no_object_logit")?,
            multimask_max_points: between(file, "edgetam.multimask_max_points", 0, 64)?,
        };
        config.check()?;
        Ok(config)
    }

    /// Side of the perceiver's grid of windows.
    pub fn window_grid(&self) -> i64 {
        self.latents_2d.isqrt()
    }

    /// Memory tokens of one frame.
    pub fn memory_tokens(&self) -> usize {
        usize::try_from(self.latents + self.latents_2d).expect("checked to be small and positive")
    }

    fn check(&self) -> Result<(), ModelError> {
        let bad = |key, value: &dyn std::fmt::Debug, expected| {
            Err(ModelError::Value { key, value: format!("{value:?}"), expected })
        };
        if self.stage_blocks.len() != 4 || self.stage_blocks.iter().any(|&n| n == 0 || n > 64) {
            return bad("edgetam.trunk.stage_blocks", &self.stage_blocks, "four counts from 1 to 64");
        }
        if self.channels.len() != 4 || self.channels.iter().any(|&n| !(8..=4096).contains(&n) || n % 2 != 0) {
            return bad("edgetam.trunk.channels", &self.channels, "four even widths from 8 to 4096");
        }
        if self.hidden % (4 * self.decoder_heads) != 0 || self.hidden % self.memory != 0 {
            return bad(
                "edgetam.hidden_dim",
                &self.hidden,
                "a multiple of 4 x heads and of the memory width",
            );
        }
        if self.memory % 4 != 0 {
            return bad("edgetam.memory_dim", &self.memory, "a multiple of 4");
        }
        if self.window_grid() != 16 {
            return bad(
                "edgetam.perceiver.latents_2d",
                &self.latents_2d,
                "256: one for each window of a 16 x 16 grid",
            );
        }
        if !self.image_size.is_multiple_of(256) {
            return bad("edgetam.image_size", &self.image_size, "a multiple of 256");
        }
        let floats = [
            ("edgetam.rope_theta", self.rope_theta),
            ("edgetam.sine_temperature", self.sine_temperature),
            ("edgetam.layer_norm_eps", self.layer_norm_eps),
            ("edgetam.layer_norm_2d_eps", self.layer_norm_2d_eps),
            ("edgetam.image_std", self.image_std.iter().copied().fold(f32::INFINITY, f32::min)),
        ];
        for (key, value) in floats {
            if !(value.is_finite() && value > 0.0) {
                return bad(key, &value, "a positive number");
            }
        }
        Ok(())
    }
}

fn between(file: &Gguf, key: &'static str, least: u32, most: u32) -> Result<u32, ModelError> {
    let value = file.meta_u32(key)?;
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(ModelError::Value { key, value: value.to_string(), expected: "a size that a network can have" })
}

fn three(file: &Gguf, key: &'static str) -> Result<[f32; 3], ModelError> {
    let values = file.meta_f32s(key)?;
    values.as_slice().try_into().map_err(|_| ModelError::Value {
        key,
        value: format!("{values:?}"),
        expected: "three numbers",
    })
}
