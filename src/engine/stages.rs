//! The network's stages as kept graphs: built once per shape, run in scratch memory that is re-used.
//!
//! Between stages nothing leaves the device but masks and memories: features lie in resident tensors.

use std::sync::Arc;

use super::cache::Cache;
use super::constants;
use super::follow::{Follow, Looked, Shared};
use super::prepare::Prepare;
use super::resample::Normalisation;
use super::spill::Record;
use super::vectors::Tokens;
use crate::base::{RgbFrame, Traffic, Transport};
use crate::ggml::{Backend, GgmlError, Graph, Kind, Run, Store, StoreBuilder, Tensor, Workspace};
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
    encode: Kept<()>,
    prepare: Option<Prepare>,
    look: Kept<()>,
    looked: bool,
    attend: Cache<usize, Kept<MemoryTokens>>,
    decode: Cache<(usize, Image, DenseKind), Kept<DecodeEnds>>,
    memory: Kept<MemoryEnds>,
    scratch: Scratch,
    follow: Option<Follow>,
    backend: Backend,
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
        backend: &Backend,
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
        let encode = build_encode(net()?, &slot);
        let look = build_look(net()?, &slot, &constants);
        let memory = build_memory(net()?, &slot, &constants, size);
        for graph in [&encode.graph, &look.graph, &memory.graph] {
            graph.check(backend)?;
        }
        // The stages that are built when they are first wanted: what the device lacks is to be said now.
        let count = weights.config().memory_tokens() * weights.config().memory_slots as usize;
        build_attend(net()?, &slot, &constants, count).graph.check(backend)?;
        for kind in [DenseKind::NoMask, DenseKind::Logits, DenseKind::Mask] {
            build_decode(net()?, &slot, &constants, size, (2, Image::Initial, kind)).graph.check(backend)?;
        }
        Ok(Self {
            weights: weights.clone(),
            lowering,
            size,
            constants,
            slot,
            encode,
            prepare: None,
            look,
            looked: false,
            attend: Cache::new(GRAPHS),
            decode: Cache::new(GRAPHS),
            memory,
            scratch,
            follow: None,
            backend: backend.clone(),
            probe,
        })
    }

    /// From here on, tracked frames are one graph each, whose memories come by `transport`. Stages that hand over their
    /// intermediate tensors stay apart.
    ///
    /// # Errors
    /// The device has too little memory, or lacks an operation.
    pub fn follow_by(&mut self, transport: Transport) -> Result<(), GgmlError> {
        if self.probe.is_none() {
            self.encode_prepared()?;
            self.look()?;
            self.follow = Some(Follow::new(&self.shared(), &self.backend, transport)?);
        }
        Ok(())
    }

    /// How memories get to tracked frames; `None` where the stages are apart.
    pub fn transport(&self) -> Option<Transport> {
        self.follow.as_ref().map(Follow::transport)
    }

    /// What crossed between the program and the device.
    pub fn traffic(&self) -> Traffic {
        self.backend.traffic()
    }

    fn shared(&self) -> Shared<'_> {
        Shared {
            weights: &self.weights,
            lowering: self.lowering,
            size: self.size,
            constants: &self.constants,
            slot: &self.slot,
        }
    }

    /// A tracked frame of an object in one graph, if that can be: the record, and its place for [`Self::keep`].
    pub(super) fn follow(
        &mut self,
        looked: &Looked,
        tokens: impl FnOnce() -> Tokens,
    ) -> Result<Option<(Record, Option<i32>)>, GgmlError> {
        if !self.follow.as_ref().is_some_and(|follow| follow.fits(looked)) {
            return Ok(None);
        }
        self.look()?;
        let Some(mut follow) = self.follow.take() else { return Ok(None) };
        let result = follow.run(&self.shared(), looked, tokens);
        self.follow = Some(follow);
        result.map(Some)
    }

    /// Says what became of the record that [`Self::follow`] gave.
    pub(super) fn keep(&mut self, place: Option<i32>, record: &Arc<Record>) {
        if let Some(follow) = &mut self.follow {
            follow.keep(place, record);
        }
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
        let follow = self.follow.as_ref().map_or(0, Follow::bytes);
        [encode, look, attend, decode, memory].iter().map(|w| w.bytes()).sum::<usize>() + follow
    }

    /// Image encoder: `pixels`, planar `[S, S, 3]`, normalised. The features stay on the device until the next call.
    ///
    /// # Errors
    /// The device.
    pub fn encode(&mut self, pixels: &[f32]) -> Result<(), GgmlError> {
        self.put_pixels(pixels);
        self.encode_prepared()
    }

    /// What [`Self::encode_prepared`] is to encode: planar `[S, S, 3]`, normalised.
    ///
    /// # Panics
    /// Another number of values.
    pub fn put_pixels(&mut self, pixels: &[f32]) {
        assert!(self.slot.put("pixels", pixels), "as many pixels as the network sees");
    }

    /// Image encoder over what [`Self::prepare`] left.
    ///
    /// # Errors
    /// The device.
    pub fn encode_prepared(&mut self) -> Result<(), GgmlError> {
        self.looked = false;
        let mut run = self.scratch.encode.begin(&mut self.encode.graph)?;
        run.compute()?;
        report(&mut self.probe, &run, &self.encode.probes);
        Ok(())
    }

    /// Resizes and normalises `picture` on the device.
    ///
    /// # Errors
    /// The device has too little memory, or lacks an operation.
    pub fn prepare(&mut self, picture: &RgbFrame, how: &Normalisation) -> Result<(), GgmlError> {
        let fitting = self.prepare.take().filter(|prepare| prepare.size() == picture.size());
        let mut prepare = match fitting {
            Some(prepare) => prepare,
            None => Prepare::new(&self.backend, &self.slot, picture.size(), self.size, how)?,
        };
        prepare.run(picture)?;
        self.prepare = Some(prepare);
        Ok(())
    }

    /// The pixels that the network is to see or has seen, planar `[S, S, 3]`, read back.
    pub fn pixels(&self) -> Vec<f32> {
        self.slot.get_f32("pixels").expect("it was made with the slot")
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
    slot.add("pixels", Kind::F32, [side, side, 3, 1]);
    slot.add("s0", Kind::F32, [hidden / 8, square(4), 1, 1]);
    slot.add("s1", Kind::F32, [hidden / 4, square(8), 1, 1]);
    slot.add("embedding", Kind::F32, [hidden, square(16), 1, 1]);
    slot.add("seen", Kind::F32, [hidden, square(16), 1, 1]);
    slot.add("conditioned", Kind::F32, [hidden, square(16), 1, 1]);
    slot
}

fn build_encode(mut net: Net, slot: &Arc<Store>) -> Kept<()> {
    let pixels = net.resident(slot, "pixels");
    let features = model::encode_image(&mut net, pixels);
    for (name, value) in [("s0", features.s0), ("s1", features.s1), ("embedding", features.embedding)] {
        let target = net.resident(slot, name);
        net.graph().write(value, target);
    }
    let (graph, probes) = net.finish();
    Kept { graph, ends: (), probes }
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
