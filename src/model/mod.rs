//! Owns the network: its configuration, its weights and one file per part, each written as ggml ops.
//! May import: base, kernels, ggml.
//! Must not: know videos, objects or memories over time. That is the engine's.
//!
//! Names are those of EdgeTAM's checkpoint. Features are channel-fastest: `[C, W * H]` in ggml's order.

mod attention;
mod config;
mod layout;
mod lowering;
mod mask_decoder;
mod memory_attention;
mod memory_encoder;
mod neck;
mod net;
mod perceiver;
mod prompt_encoder;
mod trunk;
mod two_way;
mod variant;
mod weights;

pub use config::{Config, ModelError};
pub use lowering::{Arithmetic, Kernels, Lowering, Stem};
pub use mask_decoder::{Decoded, Followed, decode, follow};
pub use memory_attention::{MemoryTokens, attend, look_at_itself};
pub use memory_encoder::{encode_followed, encode_memory};
pub use neck::{Features, encode_image};
pub use net::{Net, Probe};
pub use prompt_encoder::{embed_mask, no_mask, no_memory, no_prompt, pointer_mask};
pub use variant::{Gelu, PerceiverPositions, Variant};
pub use weights::Weights;
