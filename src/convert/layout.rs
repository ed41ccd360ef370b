//! Owns the numbers that define EdgeTAM's size, as the conversion needs them.
//! May import: nothing of this crate.
//! Must not: be read by the network, which takes its configuration from the model file.

/// Blocks in each trunk stage.
pub(super) const STAGE_BLOCKS: [usize; 4] = [2, 2, 14, 2];
/// Channels of each trunk stage.
pub(super) const CHANNELS: [usize; 4] = [48, 96, 192, 384];
/// Inner channels of the squeeze-excite branch in each stage: a quarter, rounded to a multiple of eight.
pub(super) const SQUEEZED: [usize; 4] = [16, 24, 48, 96];
/// Every how many blocks there is a squeeze-excite branch, starting with the first.
pub(super) const SQUEEZE_EVERY: usize = 2;
/// Width of the image features and of all transformers but the perceiver.
pub(super) const HIDDEN: usize = 256;
/// Width of the memory.
pub(super) const MEMORY: usize = 64;
/// Inner width of the two-way transformer's and the memory attention's feed-forward parts.
pub(super) const FEED_FORWARD: usize = 2048;
/// Width inside the mask decoder's cross-attentions.
pub(super) const CROSS: usize = 128;
/// Layers of the two-way transformer.
pub(super) const DECODER_LAYERS: usize = 2;
/// Mask tokens: one for the single mask and three for the multi-mask mode.
pub(super) const MASK_TOKENS: usize = 4;
/// Layers of the memory attention.
pub(super) const MEMORY_LAYERS: usize = 2;
/// Layers of the memory encoder's fuser.
pub(super) const FUSER_LAYERS: usize = 2;
/// Layers of the spatial perceiver.
pub(super) const PERCEIVER_LAYERS: usize = 2;
/// Latents of the perceiver, global and windowed alike.
pub(super) const LATENTS: usize = 256;
/// Memory slots, that is temporal positions.
pub(super) const SLOTS: usize = 7;
/// Epsilon of the batch norms that are folded away.
pub(super) const BATCH_NORM_EPS: f64 = 1e-5;
