//! A tracked frame of an object as one graph: memory attention, decoder, the choice of the mask, memory encoder. Nothing
//! is read back before its end, and what is read back is read at once.

use std::sync::Arc;

use super::cache::Cache;
use super::choose::ABSENT_LOGIT;
use super::positions;
use super::ring::{MOST, Ring};
use super::spill::Record;
use super::vectors::Tokens;
use crate::base::Transport;
use crate::ggml::{Backend, GgmlError, Graph, Kind, Store, StoreBuilder, Tensor, Workspace};
use crate::model::{self, Features, Lowering, MemoryTokens, Net, Weights};

/// What one frame looks at: records of memories with the row of their temporal vector, and records of pointers.
#[derive(Default)]
pub(super) struct Looked {
    pub(super) memories: Vec<(Arc<Record>, u32)>,
    pub(super) pointers: Vec<Arc<Record>>,
}

/// The tensors and constants that the stages own.
pub(super) struct Shared<'a> {
    pub(super) weights: &'a Arc<Weights>,
    pub(super) lowering: Lowering,
    pub(super) size: u32,
    pub(super) constants: &'a Arc<Store>,
    pub(super) slot: &'a Arc<Store>,
}

/// Number of memories and of pointers.
type Counts = (usize, usize);

struct Kept {
    graph: Graph,
    source: Source,
    /// Everything that is read back, one after the other.
    answer: Tensor,
}

enum Source {
    /// Numbers of memories, rows of temporal vectors, numbers of pointers, the number that is written: i32.
    Ring(Tensor),
    /// The tokens themselves.
    Host(MemoryTokens),
}

/// The graphs of tracked frames.
pub(super) struct Follow {
    transport: Transport,
    ring: Ring,
    kept: Cache<Counts, Kept>,
    scratch: Workspace,
    backend: Backend,
    answer: Vec<f32>,
}

/// Graphs kept: a track runs through about 20 shapes before it is in steady state.
const GRAPHS: usize = 32;

impl Follow {
    pub(super) fn new(
        shared: &Shared<'_>,
        backend: &Backend,
        transport: Transport,
    ) -> Result<Self, GgmlError> {
        let config = shared.weights.config();
        let mut follow = Self {
            transport,
            ring: Ring::new(config, backend)?,
            kept: Cache::new(GRAPHS),
            scratch: Workspace::new(backend)?,
            backend: backend.clone(),
            answer: Vec::new(),
        };
        // In steady state: it is the largest for most tracks, and tells whether the device has the memory and the ops.
        let steady = (config.memory_slots as usize, config.max_pointers as usize);
        let kept = follow.kept.get(steady, || build(shared, &follow.ring, backend, transport, steady))?;
        let mut run = follow.scratch.begin(&mut kept.graph)?;
        // Once over nothing: what a device's libraries allocate when they first compute is allocated now.
        match &kept.source {
            Source::Ring(numbers) => run.set_i32(*numbers, &vec![0; 2 * steady.0 + steady.1 + 1]),
            Source::Host(memory) => {
                let count = count_tokens(shared, steady);
                let width = usize::try_from(config.memory).unwrap_or(0);
                run.set_f32(memory.values, &vec![0.0; count * width]);
                run.set_f32(memory.positions, &vec![0.0; count * width]);
                run.set_i32(memory.rotary, &vec![0; 2 * count]);
            }
        }
        run.compute()?;
        Ok(follow)
    }

    pub(super) fn transport(&self) -> Transport {
        self.transport
    }

    pub(super) fn bytes(&self) -> usize {
        self.scratch.bytes() + self.ring.store().bytes()
    }

    /// Whether a frame that looks at so much can be computed here.
    pub(super) fn fits(&self, looked: &Looked) -> bool {
        looked.memories.len() + looked.pointers.len() < MOST
            && !looked.memories.is_empty()
            && !looked.pointers.is_empty()
    }

    /// Follows an object onto the encoded frame. `tokens` are those of `looked`, for [`Transport::Host`]. With the record
    /// comes its place in the ring, for [`Self::keep`].
    pub(super) fn run(
        &mut self,
        shared: &Shared<'_>,
        looked: &Looked,
        tokens: impl FnOnce() -> Tokens,
    ) -> Result<(Record, Option<i32>), GgmlError> {
        let Self { transport, ring, kept, scratch, backend, answer } = self;
        let counts = (looked.memories.len(), looked.pointers.len());
        let kept = kept.get(counts, || build(shared, ring, backend, *transport, counts))?;
        let mut run = scratch.begin(&mut kept.graph)?;
        let mut target = None;
        match kept.source {
            Source::Host(memory) => {
                let tokens = tokens();
                run.set_f32(memory.values, &tokens.values);
                run.set_f32(memory.positions, &tokens.positions);
                run.set_i32(memory.rotary, &tokens.rotary);
            }
            Source::Ring(numbers) => {
                ring.begin();
                let mut all: Vec<i32> =
                    looked.memories.iter().map(|(record, _)| ring.place(record)).collect();
                all.extend(looked.memories.iter().map(|&(_, slot)| i32::try_from(slot).unwrap_or(0)));
                all.extend(looked.pointers.iter().map(|record| ring.place(record)));
                let place = ring.take();
                all.push(place);
                target = Some(place);
                run.set_i32(numbers, &all);
            }
        }
        run.compute()?;
        answer.resize(answer_length(shared), 0.0);
        run.get_f32(kept.answer, answer);
        Ok((split(shared, answer), target))
    }

    /// The record that was made of what [`Self::run`] gave.
    pub(super) fn keep(&mut self, place: Option<i32>, record: &Arc<Record>) {
        if let Some(place) = place {
            self.ring.keep(place, record);
        }
    }
}

/// Lengths of what is read back: score, choice, predicted IoUs; pointer; memory; logits.
fn lengths(shared: &Shared<'_>) -> [usize; 4] {
    let config = shared.weights.config();
    let size = |n: i64| usize::try_from(n).expect("the configuration's sizes are positive");
    let masks = size(config.multimasks) + 1;
    let side = shared.size as usize / 4;
    [2 + masks, size(config.hidden), size(config.memory) * config.memory_tokens(), side * side]
}

fn answer_length(shared: &Shared<'_>) -> usize {
    lengths(shared).iter().sum()
}

fn split(shared: &Shared<'_>, answer: &[f32]) -> Record {
    let [few, pointer, memory, _] = lengths(shared);
    let (few, rest) = answer.split_at(few);
    let (pointer, rest) = rest.split_at(pointer);
    let (memory, logits) = rest.split_at(memory);
    // Candidates follow the single mask.
    let chosen = few[1] as u8 + 1;
    Record {
        memory: memory.to_vec(),
        pointer: pointer.to_vec(),
        logits: logits.to_vec(),
        score: few[0],
        iou: few.get(2 + usize::from(chosen)).copied().unwrap_or(f32::NAN),
        chosen,
    }
}

fn build(
    shared: &Shared<'_>,
    ring: &Ring,
    backend: &Backend,
    transport: Transport,
    counts: Counts,
) -> Result<Kept, GgmlError> {
    let mut net = Net::new(shared.weights, shared.lowering, false)?;
    let (memory, source, written) = match transport {
        Transport::Host => {
            let count = count_tokens(shared, counts);
            let memory = MemoryTokens::inputs(&mut net, i64::try_from(count).unwrap_or(i64::MAX));
            (memory, Source::Host(memory), None)
        }
        Transport::Device => {
            let (memory, numbers, written) = from_ring(&mut net, shared, ring, backend, counts)?;
            (memory, Source::Ring(numbers), Some(written))
        }
    };
    let (slot, constants, side) = (shared.slot, shared.constants, i64::from(shared.size));
    let (seen, grid) = (net.resident(slot, "seen"), net.resident(constants, "grid"));
    let conditioned = model::attend(&mut net, seen, grid, memory);
    let nothing = model::no_mask(&mut net);
    let image = net.graph().add(conditioned, nothing);
    let sparse = model::no_prompt(&mut net);
    let features = Features { s0: net.resident(slot, "s0"), s1: net.resident(slot, "s1"), embedding: image };
    let positions = net.resident(constants, "dense");
    let decoded = model::decode(&mut net, image, positions, sparse, features);
    let followed = model::follow(&mut net, decoded, ABSENT_LOGIT);
    let (embedding, sine) = (net.resident(slot, "embedding"), net.resident(constants, "memory_sine"));
    let memory = model::encode_followed(&mut net, embedding, followed.mask, side, sine);

    let [few, pointer, tokens, logits] = lengths(shared).map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    let flat = |net: &mut Net, x, n| net.graph().reshape(x, [n, 1, 1, 1]);
    let (mask, memory) = (flat(&mut net, followed.mask, logits), flat(&mut net, memory, tokens));
    let held = flat(&mut net, followed.pointer, pointer);
    let score = flat(&mut net, decoded.score, 1);
    let iou = flat(&mut net, decoded.iou, few - 2);
    let mut answer = net.graph().concat(score, followed.best, 0);
    for part in [iou, held, memory, mask] {
        answer = net.graph().concat(answer, part, 0);
    }
    net.graph().output(answer);
    if let Some(number) = written {
        let (memories, pointers) =
            (net.resident(ring.store(), "memories"), net.resident(ring.store(), "pointers"));
        net.graph().write_rows(memory, number, memories);
        net.graph().write_rows(held, number, pointers);
    }
    let (graph, _) = net.finish();
    graph.check(backend)?;
    Ok(Kept { graph, source, answer })
}

fn count_tokens(shared: &Shared<'_>, (memories, pointers): Counts) -> usize {
    let config = shared.weights.config();
    memories * config.memory_tokens() + pointers * usize::try_from(config.hidden / config.memory).unwrap_or(0)
}

/// The tokens gathered on the device; the tensor of their numbers; the part of it that says where the result goes.
fn from_ring(
    net: &mut Net,
    shared: &Shared<'_>,
    ring: &Ring,
    backend: &Backend,
    (memories, pointers): Counts,
) -> Result<(MemoryTokens, Tensor, Tensor), GgmlError> {
    let config = shared.weights.config().clone();
    let constants = Arc::new(place_constants(shared, backend, (memories, pointers))?);
    let (n, p) = (i64::try_from(memories).unwrap_or(0), i64::try_from(pointers).unwrap_or(0));
    let (width, tokens) = (config.memory, i64::try_from(config.memory_tokens()).unwrap_or(0));
    let numbers = net.graph().input(Kind::I32, [2 * n + p + 1, 1, 1, 1]);
    let part = |net: &mut Net, start, length| net.graph().slice(numbers, 0, start, length);
    let (which, when, whose) = (part(net, 0, n), part(net, n, n), part(net, 2 * n, p));
    let written = part(net, 2 * n + p, 1);

    let held = net.resident(ring.store(), "memories");
    let spatial = net.graph().get_rows(held, which);
    let spatial = net.graph().reshape(spatial, [width, tokens * n, 1, 1]);
    let held = net.resident(ring.store(), "pointers");
    let rest = net.graph().get_rows(held, whose);
    let rest = net.graph().reshape(rest, [width, config.hidden / width * p, 1, 1]);
    let values = net.graph().concat(spatial, rest, 1);

    let vectors = net.resident(shared.weights.store(), "maskmem_tpos_enc");
    let vectors = net.graph().get_rows(vectors, when);
    let vectors = net.graph().reshape(vectors, [width, 1, n, 1]);
    let places = net.resident(&constants, "places");
    let places = net.graph().repeat(places, [width, tokens, n, 1]);
    let placed = net.graph().add(places, vectors);
    let placed = net.graph().reshape(placed, [width, tokens * n, 1, 1]);
    let nowhere = net.resident(&constants, "nowhere");
    let positions = net.graph().concat(placed, nowhere, 1);
    let rotary = net.resident(&constants, "rotary");
    Ok((MemoryTokens { values, positions, rotary }, numbers, written))
}

/// Position encodings of memory tokens, which only depend on how many there are.
fn place_constants(shared: &Shared<'_>, backend: &Backend, counts: Counts) -> Result<Store, GgmlError> {
    let config = shared.weights.config();
    let size = |n: i64| usize::try_from(n).expect("the configuration's sizes are positive");
    let (width, latents, side) = (size(config.memory), size(config.latents), size(config.window_grid()));
    let (tokens, per_pointer) = (config.memory_tokens(), size(config.hidden / config.memory));
    let rotary = positions::key_rope_positions(counts.0, latents, side, counts.1 * per_pointer);
    let long = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let mut wanted = StoreBuilder::new();
    wanted.add("places", Kind::F32, [config.memory, long(tokens), 1, 1]);
    wanted.add("nowhere", Kind::F32, [config.memory, long(counts.1 * per_pointer), 1, 1]);
    wanted.add("rotary", Kind::I32, [long(rotary.len()), 1, 1, 1]);
    let mut store = wanted.allocate(backend)?;
    let placed = store.set_f32("places", &positions::memory_pe(width, latents, side))
        && store.set_i32("rotary", &rotary);
    assert!(placed, "the encodings have the shapes of their tensors");
    Ok(store)
}
