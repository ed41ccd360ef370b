//! Small learned vectors that the host works with, and the gathering of memory tokens.

use std::sync::Arc;

use super::bank::Attended;
use super::follow::Looked;
use super::object::ObjectMemory;
use super::positions;
use super::prompts::PromptTable;
use super::spill::Record;
use crate::base::FrameIndex;
use crate::model::Weights;

/// Memory tokens of one object for one frame, as memory attention takes them.
#[derive(PartialEq)]
pub(super) struct Tokens {
    pub(super) values: Vec<f32>,
    pub(super) positions: Vec<f32>,
    pub(super) rotary: Vec<i32>,
}

/// Vectors of the checkpoint that never go to the device.
pub(super) struct Vectors {
    /// Checkpoint `no_obj_ptr`.
    pub(super) no_object: Vec<f32>,
    /// Checkpoint `maskmem_tpos_enc`: `[memory, slots]`.
    temporal: Vec<f32>,
    /// Position encoding of one memory: `[memory, latents + latents_2d]`.
    memory_positions: Vec<f32>,
    width: usize,
    latents: usize,
    side: usize,
}

impl Vectors {
    pub(super) fn read(weights: &Weights) -> Self {
        let config = weights.config();
        let vector = |name| weights.host(name).expect("in the layout");
        let (width, latents) = (config.memory as usize, config.latents as usize);
        let side = config.window_grid() as usize;
        Self {
            no_object: vector("no_obj_ptr"),
            temporal: vector("maskmem_tpos_enc"),
            memory_positions: positions::memory_pe(width, latents, side),
            width,
            latents,
            side,
        }
    }

    pub(super) fn prompt_table(&self, weights: &Weights) -> PromptTable {
        let vector = |name| weights.host(name).expect("in the layout");
        let points = vector("prompt_encoder.point_embeddings");
        let mut rows = points.chunks_exact(points.len() / 4).map(<[f32]>::to_vec);
        let kinds = std::array::from_fn(|_| rows.next().expect("four rows"));
        PromptTable::new(vector("prompt_encoder.gaussian"), kinds, vector("prompt_encoder.not_a_point"))
            .expect("the layout fixes the lengths")
    }

    /// The pointer of mask token `token`, out of all of them.
    pub(super) fn pointer(&self, pointers: &[f32], token: u8) -> Vec<f32> {
        let width = self.no_object.len();
        pointers[usize::from(token) * width..][..width].to_vec()
    }

    /// The records of `attended`.
    pub(super) fn look(&self, memory: &mut ObjectMemory, attended: &Attended) -> Looked {
        let mut looked = Looked::default();
        for entry in &attended.spatial {
            looked.memories.extend(recall(memory, entry.frame).map(|record| (record, entry.slot)));
        }
        looked.pointers.extend(attended.pointers.iter().filter_map(|&frame| recall(memory, frame)));
        looked
    }

    /// The tokens of `looked`: spatial memories, then pointers cut into tokens of the memory's width.
    pub(super) fn gather(&self, looked: &Looked) -> Tokens {
        let (mut values, mut positions) = (Vec::new(), Vec::new());
        let mut entries = 0;
        for (record, slot) in &looked.memories {
            values.extend_from_slice(&record.memory);
            let temporal = &self.temporal[*slot as usize * self.width..][..self.width];
            let places = self.memory_positions.chunks_exact(self.width);
            positions.extend(places.flat_map(|place| place.iter().zip(temporal).map(|(p, t)| p + t)));
            entries += 1;
        }
        let spatial = values.len();
        for record in &looked.pointers {
            values.extend_from_slice(&record.pointer);
        }
        positions.resize(values.len(), 0.0);
        let pointer_tokens = (values.len() - spatial) / self.width;
        let rotary = positions::key_rope_positions(entries, self.latents, self.side, pointer_tokens);
        Tokens { values, positions, rotary }
    }
}

fn recall(memory: &mut ObjectMemory, frame: FrameIndex) -> Option<Arc<Record>> {
    match memory.conditioned(frame) {
        Some((_, record)) => Some(record.clone()),
        None => memory.tracked.get(frame),
    }
}
