//! The network's stages as kept graphs: built once per shape, run in scratch memory that is re-used.
//!
//! Between stages nothing leaves the device but masks and memories: features lie in resident tensors.

use std::sync::Arc;

use super::cache::Cache;
use super::constants;
use crate::ggml::{GgmlError, Graph, Kind, Run, Store, StoreBuilder, Tensor, Workspace};
use crate::model::{self, Config, Features, Lowering, MemoryTokens, Net, Probe, Weights};

/// Receives named intermediate tensors (channel-fastest, as they lie in memory) for comparison with the reference.
pub type ProbeSink = Box<dyn FnMut(&'static str, &[f32]) + Send>;

/// What the decoder's image embedding is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Image {
    /// Features conditioned on memories: what [`Stages::attend`] left.
    Conditioned,
    /// Features plus "no memory": single pictures and first prompts.
    Initial,
    /// Bare features: the pointer of a mask prompt.
    Bare,
}

/// The dense prompt of the decoder.
#[derive(Clone, Copy, Debug)]
pub enum Dense<'a> {
    /// None.
    NoMask,
    /// Previous mask logits, `(S / 4)^2`.
    Logits(&'a [f32]),
    /// A mask prompt of 0 and 1, `S^2`, on the way to its pointer.
    Mask(&'a [f32]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DenseKind {
    NoMask,
    Logits,
    Mask,
}

/// The decoder's answer, undecided.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Logits of all masks, each `(S / 4)^2` row-major, one after the other.
    pub masks: Vec<f32>,
    /// Predicted IoU of each.
    pub iou: Vec<f32>,
    /// Object score logit.
    pub score: f32,
    /// Object pointer of each mask token, one after the other.
    pub pointers: Vec<f32>,
}

/// A graph with its inputs, outputs and probes.
struct Kept<T> {
    graph: Graph,
    ends: T,
    probes: Vec<Probe>,
}

struct DecodeEnds {
    sparse: Tensor,
    dense: Option<Tensor>,
    decoded: model::Decoded,
}

struct MemoryEnds {
    mask: Tensor,
    memory: Tensor,
}

/// The stages of one model at one size.
pub struct Stages {
    weights: Arc<Weights>,
    lowering: Lowering,
    size: u32,
    constants: Arc<Store>,
    slot: Arc<Store>,
    encode: Kept<Tensor>,
    look: Kept<()>,
    looked: bool,
    attend: Cache<usize, Kept<MemoryTokens>>,
    decode: Cache<(usize, Image, DenseKind), Kept<DecodeEnds>>,
    memory: Kept<MemoryEnds>,
    scratch: Scratch,
    probe: Option<ProbeSink>,
}

/// Scratch memory, one per stage so that graphs keep their places from frame to frame.
struct Scratch {
    encode: Workspace,
    look: Workspace,
    attend: Workspace,
    decode: Workspace,
    memory: Workspace,
}

/// Graphs kept per stage. A track runs through about 20 shapes before it is in steady state.
const GRAPHS: usize = 32;

impl Stages {
    /// Builds the stages for pictures of `size` x `size`. With `probe`, graphs keep named intermediates and hand them over.
    ///
    /// # Errors
    /// The device has too little memory.
    pub fn new(
        weights: &Arc<Weights>,
        backend: &crate::ggml::Backend,
        lowering: Lowering,
        size: u32,
        probe: Option<ProbeSink>,
    ) -> Result<Self, GgmlError> {
        let constants = Arc::new(constants::place(weights, backend, size)?);
        let slot = Arc::new(slot(weights.config(), size).allocate(backend)?);
        let scratch = Scratch {
            encode: Workspace::new(backend)?,
            look: Workspace::new(backend)?,
            attend: Workspace::new(backend)?,
            decode: Workspace::new(backend)?,
            memory: Workspace::new(backend)?,
        };
        let net = || Net::new(weights, lowering, probe.is_some());
        let encode = build_encode(net()?, &slot, size);
        let look = build_look(net()?, &slot, &constants);
        let memory = build_memory(net()?, &slot, &constants, size);
        Ok(Self {
            weights: weights.clone(),
            lowering,
            size,
            constants,
            slot,
            encode,
            look,
            looked: false,
            attend: Cache::new(GRAPHS),
            decode: Cache::new(GRAPHS),
            memory,
            scratch,
            probe,
        })
    }

    /// Side of the network's picture in pixels.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Whether intermediate tensors are handed to somebody.
    pub fn probing(&self) -> bool {
        self.probe.is_some()
    }

    /// The backend's choices.
    pub fn lowering(&self) -> &Lowering {
        &self.lowering
    }

    /// Bytes of scratch memory.
    pub fn scratch_bytes(&self) -> usize {
        let Scratch { encode, look, attend, decode, memory } = &self.scratch;
        [encode, look, attend, decode, memory].iter().map(|w| w.bytes()).sum()
    }

    /// Image encoder: `pixels`, planar `[S, S, 3]`, normalised. The features stay on the device until the next call.
    ///
    /// # Errors
    /// The device.
    pub fn encode(&mut self, pixels: &[f32]) -> Result<(), GgmlError> {
        self.looked = false;
        let mut run = self.scratch.encode.begin(&mut self.encode.graph)?;
        run.set_f32(self.encode.ends, pixels);
        run.compute()?;
        report(&mut self.probe, &run, &self.encode.probes);
        Ok(())
    }

    /// Memory attention of the encoded frame over `values` and `positions`, both `[memory, n]`, with `rotary` positions
    /// `[2 n]`. The result stays on the device for [`Image::Conditioned`].
    ///
    /// # Errors
    /// The device.
    pub fn attend(&mut self, values: &[f32], positions: &[f32], rotary: &[i32]) -> Result<(), GgmlError> {
        self.look()?;
        let count = rotary.len() / 2;
        let Self { weights, lowering, constants, slot, probe, .. } = self;
        let kept = self.attend.get(count, || {
            let net = Net::new(weights, *lowering, probe.is_some())?;
            Ok(build_attend(net, slot, constants, count))
        })?;
        let mut run = self.scratch.attend.begin(&mut kept.graph)?;
        run.set_f32(kept.ends.values, values);
        run.set_f32(kept.ends.positions, positions);
        run.set_i32(kept.ends.rotary, rotary);
        run.compute()?;
        report(&mut self.probe, &run, &kept.probes);
        Ok(())
    }

    /// The part of the memory attention that all objects share, once for each encoded frame. Not a part of
    /// [`Self::encode`]: first prompts and single pictures do without it.
    fn look(&mut self) -> Result<(), GgmlError> {
        if !self.looked {
            let mut run = self.scratch.look.begin(&mut self.look.graph)?;
            run.compute()?;
            report(&mut self.probe, &run, &self.look.probes);
            self.looked = true;
        }
        Ok(())
    }

    /// Mask decoder over `sparse` tokens `[hidden, n]` and a dense prompt.
    ///
    /// # Errors
    /// The device.
    pub fn decode(&mut self, image: Image, sparse: &[f32], dense: Dense<'_>) -> Result<Answer, GgmlError> {
        let count = sparse.len() / usize::try_from(self.weights.config().hidden).unwrap_or(usize::MAX);
        let (kind, prompt) = match dense {
            Dense::NoMask => (DenseKind::NoMask, None),
            Dense::Logits(logits) => (DenseKind::Logits, Some(logits)),
            Dense::Mask(mask) => (DenseKind::Mask, Some(mask)),
        };
        let Self { weights, lowering, constants, slot, probe, size, .. } = self;
        let kept = self.decode.get((count, image, kind), || {
            let net = Net::new(weights, *lowering, probe.is_some())?;
            Ok(build_decode(net, slot, constants, *size, (count, image, kind)))
        })?;
        let mut run = self.scratch.decode.begin(&mut kept.graph)?;
        run.set_f32(kept.ends.sparse, sparse);
        if let (Some(tensor), Some(values)) = (kept.ends.dense, prompt) {
            run.set_f32(tensor, values);
        }
        run.compute()?;
        report(&mut self.probe, &run, &kept.probes);
        let decoded = kept.ends.decoded;
        Ok(Answer {
            masks: run.read_f32(decoded.masks),
            iou: run.read_f32(decoded.iou),
            score: run.read_f32(decoded.score)[0],
            pointers: run.read_f32(decoded.pointers),
        })
    }

    /// Memory encoder of the encoded frame with `mask` `[S, S]`, scaled; gives `[memory, latents + latents_2d]`.
    ///
    /// # Errors
    /// The device.
    pub fn encode_memory(&mut self, mask: &[f32]) -> Result<Vec<f32>, GgmlError> {
        let mut run = self.scratch.memory.begin(&mut self.memory.graph)?;
        run.set_f32(self.memory.ends.mask, mask);
        run.compute()?;
        report(&mut self.probe, &run, &self.memory.probes);
        Ok(run.read_f32(self.memory.ends.memory))
    }
}

fn report(sink: &mut Option<ProbeSink>, run: &Run<'_>, probes: &[Probe]) {
    if let Some(sink) = sink {
        for &(name, tensor) in probes {
            sink(name, &run.read_f32(tensor));
        }
    }
}

/// Resident features of the current frame.
fn slot(config: &Config, size: u32) -> StoreBuilder {
    let (hidden, side) = (config.hidden, i64::from(size));
    let square = |stride: i64| (side / stride).pow(2);
    let mut slot = StoreBuilder::new();
    slot.add("s0", Kind::F32, [hidden / 8, square(4), 1, 1]);
    slot.add("s1", Kind::F32, [hidden / 4, square(8), 1, 1]);
    slot.add("embedding", Kind::F32, [hidden, square(16), 1, 1]);
    slot.add("seen", Kind::F32, [hidden, square(16), 1, 1]);
    slot.add("conditioned", Kind::F32, [hidden, square(16), 1, 1]);
    slot
}

fn build_encode(mut net: Net, slot: &Arc<Store>, size: u32) -> Kept<Tensor> {
    let side = i64::from(size);
    let pixels = net.input([side, side, 3, 1]);
    let features = model::encode_image(&mut net, pixels);
    for (name, value) in [("s0", features.s0), ("s1", features.s1), ("embedding", features.embedding)] {
        let target = net.resident(slot, name);
        net.graph().write(value, target);
    }
    let (graph, probes) = net.finish();
    Kept { graph, ends: pixels, probes }
}

fn build_look(mut net: Net, slot: &Arc<Store>, constants: &Arc<Store>) -> Kept<()> {
    let embedding = net.resident(slot, "embedding");
    let sine = net.resident(constants, "sine");
    let grid = net.resident(constants, "grid");
    let seen = model::look_at_itself(&mut net, embedding, sine, grid);
    let target = net.resident(slot, "seen");
    net.graph().write(seen, target);
    let (graph, probes) = net.finish();
    Kept { graph, ends: (), probes }
}

fn build_attend(mut net: Net, slot: &Arc<Store>, constants: &Arc<Store>, count: usize) -> Kept<MemoryTokens> {
    let memory = MemoryTokens::inputs(&mut net, i64::try_from(count).unwrap_or(i64::MAX));
    let seen = net.resident(slot, "seen");
    let grid = net.resident(constants, "grid");
    let conditioned = model::attend(&mut net, seen, grid, memory);
    let target = net.resident(slot, "conditioned");
    net.graph().write(conditioned, target);
    let (graph, probes) = net.finish();
    Kept { graph, ends: memory, probes }
}

fn build_decode(
    mut net: Net,
    slot: &Arc<Store>,
    constants: &Arc<Store>,
    size: u32,
    (count, image, kind): (usize, Image, DenseKind),
) -> Kept<DecodeEnds> {
    let (hidden, side) = (net.config().hidden, i64::from(size));
    let sparse = net.input([hidden, i64::try_from(count).unwrap_or(i64::MAX), 1, 1]);
    net.probe("sparse", sparse);
    let image = match image {
        Image::Conditioned => net.resident(slot, "conditioned"),
        Image::Bare => net.resident(slot, "embedding"),
        Image::Initial => {
            let embedding = net.resident(slot, "embedding");
            let none = model::no_memory(&mut net);
            net.graph().add(embedding, none)
        }
    };
    let (dense, embedded) = match kind {
        DenseKind::NoMask => (None, model::no_mask(&mut net)),
        DenseKind::Logits => {
            let input = net.input([side / 4, side / 4, 1, 1]);
            (Some(input), model::embed_mask(&mut net, input))
        }
        DenseKind::Mask => {
            let input = net.input([side, side, 1, 1]);
            let small = model::pointer_mask(&mut net, input);
            (Some(input), model::embed_mask(&mut net, small))
        }
    };
    let image = net.graph().add(image, embedded);
    let features = Features { s0: net.resident(slot, "s0"), s1: net.resident(slot, "s1"), embedding: image };
    let positions = net.resident(constants, "dense");
    let decoded = model::decode(&mut net, image, positions, sparse, features);
    let (graph, probes) = net.finish();
    Kept { graph, ends: DecodeEnds { sparse, dense, decoded }, probes }
}

fn build_memory(mut net: Net, slot: &Arc<Store>, constants: &Arc<Store>, size: u32) -> Kept<MemoryEnds> {
    let side = i64::from(size);
    let mask = net.input([side, side, 1, 1]);
    let embedding = net.resident(slot, "embedding");
    let sine = net.resident(constants, "memory_sine");
    let memory = model::encode_memory(&mut net, embedding, mask, sine);
    let (graph, probes) = net.finish();
    Kept { graph, ends: MemoryEnds { mask, memory }, probes }
}
