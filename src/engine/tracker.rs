//! Prompts and tracking of one video: which stage runs when, on which memories.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::bank::{self, Attended, Look};
use super::choose::{self, ChooseConfig, MaskRule, Stability};
use super::follow::Looked;
use super::masks::{MaskResizer, MaskScale, MemoryMask};
use super::native_model::Model;
use super::object::{ObjectMemory, Pending, Start, output};
use super::policy::{Corrections, Padding, Policy, Rounding, SingleMask};
use super::port::{Direction, EngineError, EngineReport, ObjectOutput, VideoEngine, VideoShape};
use super::prompts::{self, PromptTable, SparseTokens};
use super::resample::{Interpolation, Preprocessor};
use super::spill::{Record, SpillConfig, SpillStore};
use super::stages::{Answer, Dense, Image, ProbeSink, Stages};
use super::vectors::{Tokens, Vectors};
use crate::base::{
    FrameIndex, FramePrompts, Logits, Mask, ObjectId, Preprocess, RgbFrame, Stage, Timings, Traffic,
    Transport,
};
use crate::model::{Lowering, ModelError};

mod lead;

/// By which of the official predictors' habits pictures are prepared and answers given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Habit {
    /// The video predictor's: bicubic on bytes, and an object that is not there has no mask.
    #[default]
    Video,
    /// The image predictor's: bilinear on floats, and every prompt gets a mask.
    Picture,
}

/// What a tracker can be told besides the video.
#[derive(Default)]
pub struct TrackerOptions {
    /// Side of the network's picture; the model's own when `None`.
    pub size: Option<u32>,
    /// The rules of memory.
    pub policy: Policy,
    /// How pictures are prepared and answers given.
    pub habit: Habit,
    /// Another choice of ways to compute than the device's own.
    pub lowering: Option<Lowering>,
    /// How memories get to tracked frames; the device's own way when `None`.
    pub transport: Option<Transport>,
    /// Where pictures are brought to the network's size; the device's own way when `None`.
    pub preprocess: Option<Preprocess>,
    /// Folder for a bounded, nameless file of what older frames remember, for later corrections on them. Without one,
    /// only the newest frames are remembered.
    pub spill: Option<std::path::PathBuf>,
    /// Receives intermediate tensors.
    pub probe: Option<ProbeSink>,
}

/// Follows objects through one video. Mutable, one per video; the model is shared.
///
/// ```no_run
/// use masklet::base::{Click, FrameIndex, FramePrompts, Label, ObjectId, Point, RgbFrame, Size};
/// use masklet::engine::{Direction, Model, ModelOptions, Tracker, TrackerOptions, VideoEngine, VideoShape};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = Model::built_in(&ModelOptions::default())?;
/// let size = Size::new(640, 360);
/// let mut tracker = Tracker::new(&model, VideoShape { size, frames: 2 }, TrackerOptions::default())?;
/// let picture = RgbFrame::filled(size, [90, 120, 60]);
/// let click = Click { at: Point { x: 320.0, y: 180.0 }, label: Label::Positive };
/// let prompts = FramePrompts { clicks: vec![click], ..FramePrompts::default() };
/// tracker.encode(FrameIndex(0), &picture)?;
/// let first = tracker.prompt(FrameIndex(0), ObjectId(1), &prompts)?;
/// tracker.encode(FrameIndex(1), &picture)?;
/// let next = tracker.track(FrameIndex(1), Direction::Forward)?;
/// # let _ = (first, next); Ok(()) }
/// ```
pub struct Tracker {
    model: Arc<Model>,
    video: VideoShape,
    policy: Policy,
    choose: ChooseConfig,
    stages: Stages,
    preprocessor: Preprocessor,
    preprocess: Preprocess,
    prompts: PromptTable,
    vectors: Vectors,
    objects: BTreeMap<ObjectId, ObjectMemory>,
    current: Option<FrameIndex>,
    /// The memories that the current frame is conditioned on.
    attended: Option<Tokens>,
    spill: SpillConfig,
    resizer: MaskResizer,
    pixels: Vec<f32>,
    mask: Vec<f32>,
    timings: Timings,
}

/// Records of an object kept in memory: more than the 15 frames whose pointers a frame looks at.
const KEEP: usize = 24;
/// Most bytes of older records of one object on disk.
const SPILL_BYTES: u64 = 1 << 30;

impl Tracker {
    /// A tracker for a video of `video`'s shape.
    ///
    /// # Errors
    /// A size that the network cannot work at, or the device's memory.
    pub fn new(model: &Arc<Model>, video: VideoShape, options: TrackerOptions) -> Result<Self, ModelError> {
        let size = model.check_size(options.size)?;
        let (weights, config) = (model.weights(), model.config());
        let vectors = Vectors::read(weights);
        let lowering = options.lowering.unwrap_or_else(|| model.lowering());
        let stability = match options.policy.single_mask {
            SingleMask::IfStable => {
                Some(Stability { delta: config.stability_delta, threshold: config.stability_threshold })
            }
            SingleMask::Always => None,
        };
        let (interpolation, gate) = match options.habit {
            Habit::Video => (Interpolation::VideoBicubicU8, true),
            Habit::Picture => (Interpolation::ImageBilinearF32, false),
        };
        let mut stages = Stages::new(weights, &model.new_backend()?, lowering, size, options.probe)?;
        if let Some(transport) = options.transport.or_else(|| model.transport()) {
            stages.follow_by(transport)?;
        }
        Ok(Self {
            stages,
            preprocessor: Preprocessor::new(
                size,
                interpolation,
                super::native_model::normalisation(config),
                // The engine's thread is held to one core, and so would be threads started from it.
                1,
            ),
            preprocess: options.preprocess.unwrap_or_else(|| model.preprocess()),
            prompts: vectors.prompt_table(weights),
            choose: ChooseConfig { stability, gate },
            model: model.clone(),
            video,
            policy: options.policy,
            vectors,
            objects: BTreeMap::new(),
            current: None,
            attended: None,
            spill: SpillConfig { keep: KEEP, folder: options.spill, max_bytes: SPILL_BYTES },
            resizer: MaskResizer::new(),
            pixels: Vec::new(),
            mask: Vec::new(),
            timings: Timings::default(),
        })
    }

    /// Makes `object` known before it is prompted. Under the official rules frames prompted for one object condition
    /// all objects that are known.
    pub fn register(&mut self, object: ObjectId) {
        self.memory(object);
    }

    /// Like [`VideoEngine::encode`], with pixels that are prepared already: planar `[3, S, S]`, normalised.
    ///
    /// # Errors
    /// The device.
    pub fn encode_pixels(&mut self, frame: FrameIndex, pixels: &[f32]) -> Result<(), EngineError> {
        self.commit()?;
        (self.current, self.attended) = (None, None);
        let start = std::time::Instant::now();
        self.stages.encode(pixels)?;
        self.timings.add(Stage::Encode, start.elapsed());
        self.current = Some(frame);
        Ok(())
    }

    /// Bytes of scratch memory on the device, for reports.
    pub fn scratch_bytes(&self) -> usize {
        self.stages.scratch_bytes()
    }

    /// Brings `picture` to the network's size, where the options say; the other filter is the processor's alone.
    fn prepare(&mut self, frame: FrameIndex, picture: &RgbFrame) -> Result<(), EngineError> {
        let on_device = self.preprocess != Preprocess::Cpu
            && self.preprocessor.interpolation() == Interpolation::VideoBicubicU8;
        if on_device {
            match self.stages.prepare(picture, self.preprocessor.normalisation()) {
                Ok(()) if self.preprocess == Preprocess::Verify => {
                    let found = self.stages.pixels();
                    self.preprocessor.run(picture, &mut self.pixels);
                    return same_pixels(frame, &found, &self.pixels);
                }
                Ok(()) => return Ok(()),
                // The processor can do it too; it need not be asked again for every frame.
                Err(_) => self.preprocess = Preprocess::Cpu,
            }
        }
        self.preprocessor.run(picture, &mut self.pixels);
        self.stages.put_pixels(&self.pixels);
        Ok(())
    }

    fn memory(&mut self, object: ObjectId) -> &mut ObjectMemory {
        let spill = &self.spill;
        self.objects.entry(object).or_insert_with(|| ObjectMemory::new(SpillStore::new(spill.clone())))
    }

    fn require(&self, wanted: FrameIndex) -> Result<(), EngineError> {
        if self.current == Some(wanted) {
            return Ok(());
        }
        Err(EngineError::NotEncoded { wanted, encoded: self.current })
    }

    /// Encodes the memories of answers on the current frame. Runs before the frame is left, so that a click is
    /// answered without waiting for it.
    fn commit(&mut self) -> Result<(), EngineError> {
        let Some(frame) = self.current else { return Ok(()) };
        let waiting: Vec<ObjectId> =
            self.objects.iter().filter(|(_, m)| m.pending.is_some()).map(|(&id, _)| id).collect();
        let mut conditions_all = false;
        for object in waiting {
            let Some(Pending { start, mut answer }) = self.memory(object).pending.take() else { continue };
            self.encode_memory(&mut answer, MemoryMask::Binary)?;
            let official = self.policy.corrections == Corrections::Official;
            let memory = self.memory(object);
            if official && matches!(start, Start::Corrected(_)) {
                // The official predictor drops a new answer on a conditioning frame that a track has passed.
                if memory.conditioned(frame).is_none() {
                    memory.tracked.insert(frame, answer);
                    memory.frozen.insert(frame);
                }
            } else {
                memory.cover(frame);
                memory.condition(frame, start, Arc::new(answer));
                conditions_all |= official;
            }
        }
        if conditions_all { self.condition_absent(frame) } else { Ok(()) }
    }

    /// Official rules: objects without a prompt on a conditioning frame are absent there.
    fn condition_absent(&mut self, frame: FrameIndex) -> Result<(), EngineError> {
        let side = self.stages.size() / 4;
        let without: Vec<ObjectId> =
            self.objects.iter().filter(|(_, m)| m.conditioned(frame).is_none()).map(|(&id, _)| id).collect();
        for object in without {
            let logits = vec![self.model.config().no_object_logit; (side * side) as usize];
            let pointer = self.vectors.no_object.clone();
            let mut record = Record { memory: Vec::new(), pointer, logits, score: 10.0, iou: 1.0, chosen: 0 };
            self.encode_memory(&mut record, MemoryMask::Binary)?;
            self.memory(object).condition(frame, Start::Absent, Arc::new(record));
        }
        Ok(())
    }

    /// Fills in the memory of `record`, an answer on the current frame.
    fn encode_memory(&mut self, record: &mut Record, mask: MemoryMask) -> Result<(), EngineError> {
        let start = std::time::Instant::now();
        let (size, config) = (self.stages.size(), self.model.config());
        let scale = MaskScale { scale: config.sigmoid_scale, bias: config.sigmoid_bias };
        let low = Logits { width: size / 4, height: size / 4, data: std::mem::take(&mut record.logits) };
        self.resizer.memory(&low, size, mask, scale, &mut self.mask);
        record.logits = low.data;
        record.memory = self.stages.encode_memory(&self.mask)?;
        if self.policy.rounding == Rounding::Bf16 {
            record.memory.iter_mut().for_each(|v| *v = half::bf16::from_f32(*v).to_f32());
        }
        self.timings.add(Stage::MemoryEncode, start.elapsed());
        Ok(())
    }

    /// What the current frame looks at of what `object` remembers.
    fn look(&mut self, frame: FrameIndex, object: ObjectId, direction: Direction) -> Looked {
        let memory = self.objects.get_mut(&object).expect("callers look the object up first");
        let conditioning: Vec<FrameIndex> =
            memory.conditioning.iter().map(|(f, ..)| *f).filter(|f| *f != frame).collect();
        let look = Look { frame, direction, frames: self.video.frames, conditioning: &conditioning };
        let attended = bank::attend(&self.policy.bank, &look, |f| memory.tracked.contains(f));
        self.look_at(object, &attended)
    }

    fn look_at(&mut self, object: ObjectId, attended: &Attended) -> Looked {
        let memory = self.objects.get_mut(&object).expect("callers look the object up first");
        self.vectors.look(memory, attended)
    }

    /// Conditions the current frame on what it looks at, unless that was done last: a further click on a frame costs no
    /// more than its decoding.
    fn attend(&mut self, looked: &Looked) -> Result<(), EngineError> {
        let start = std::time::Instant::now();
        let tokens = self.vectors.gather(looked);
        if self.attended.as_ref() != Some(&tokens) || self.stages.probing() {
            self.attended = None;
            self.stages.attend(&tokens.values, &tokens.positions, &tokens.rotary)?;
            self.attended = Some(tokens);
        }
        self.timings.add(Stage::MemoryAttention, start.elapsed());
        Ok(())
    }

    /// A tracked answer and its memory in one go, where the device does that and no rule of a test is in the way.
    fn follow(&mut self, object: ObjectId, frame: FrameIndex, looked: &Looked) -> Result<bool, EngineError> {
        if self.policy.rounding != Rounding::Bf16 || self.policy.padding != Padding::Two || !self.choose.gate
        {
            return Ok(false);
        }
        let start = std::time::Instant::now();
        let vectors = &self.vectors;
        let Some((record, place)) = self.stages.follow(looked, || vectors.gather(looked))? else {
            return Ok(false);
        };
        if !(record.score.is_finite() && record.iou.is_finite()) {
            return Err(EngineError::NotFinite { frame });
        }
        self.timings.add(Stage::Follow, start.elapsed());
        let memory = self.memory(object);
        memory.tracked.insert(frame, record);
        if let Some(record) = memory.tracked.get(frame) {
            self.stages.keep(place, &record);
        }
        Ok(true)
    }

    fn decode(&mut self, image: Image, sparse: &[f32], dense: Dense<'_>) -> Result<Answer, EngineError> {
        let start = std::time::Instant::now();
        let answer = self.stages.decode(image, sparse, dense)?;
        self.timings.add(Stage::MaskDecode, start.elapsed());
        let sound = answer.score.is_finite() && answer.iou.iter().all(|v| v.is_finite());
        if sound {
            Ok(answer)
        } else {
            Err(EngineError::NotFinite { frame: self.current.unwrap_or_default() })
        }
    }

    /// Decides among the decoder's masks; the memory is still to be encoded.
    fn decide(&self, answer: &Answer, multi: bool) -> Record {
        let rule = if multi { MaskRule::Multi } else { MaskRule::Single };
        let iou: [f32; 4] = answer.iou.as_slice().try_into().expect("the decoder has four masks");
        let choice = choose::choose(rule, &answer.masks, &iou, answer.score, &self.choose);
        let mut logits = Vec::new();
        choice.take(&answer.masks, &mut logits);
        let pointer = if choice.present {
            self.vectors.pointer(&answer.pointers, choice.pointer_token)
        } else {
            self.vectors.no_object.clone()
        };
        Record {
            memory: Vec::new(),
            pointer,
            logits,
            score: answer.score,
            iou: choice.iou,
            chosen: choice.mask,
        }
    }

    fn no_prompt(&self, multi: bool) -> SparseTokens {
        let mut tokens = self.prompts.none(multi);
        if self.policy.padding == Padding::One {
            tokens.tokens.truncate(self.prompts.width());
            tokens.count = 1;
        }
        tokens
    }

    /// A mask prompt is the answer itself; the network only gives its pointer.
    fn answer_mask(&mut self, mask: &Mask) -> Result<Record, EngineError> {
        let size = self.stages.size();
        let picture = prompts::mask_picture(mask, size);
        let logits = prompts::mask_as_logits(&picture, size);
        let any = picture.iter().any(|&v| v > 0.0);
        let sparse = self.no_prompt(false);
        let answer = self.decode(Image::Bare, &sparse.tokens, Dense::Mask(&picture))?;
        let mut record = self.decide(&answer, false);
        if !any {
            record.pointer.clone_from(&self.vectors.no_object);
        }
        record.score = if any { 10.0 } else { -10.0 };
        Ok(Record { logits, iou: 1.0, chosen: 0, ..record })
    }

    /// The answer to `given`, and how it was computed.
    fn answer(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        given: &FramePrompts,
    ) -> Result<Pending, EngineError> {
        self.require(frame)?;
        let failed = |source| EngineError::Prompt { frame, object, source };
        given.validate(self.video.size).map_err(failed)?;
        let start = self.objects.get(&object).map_or(Start::Initial, |memory| self.start_of(frame, memory));
        let answer = match &given.mask {
            Some(mask) => self.answer_mask(&mask.decode())?,
            None => self.answer_points(frame, object, start, given)?,
        };
        if matches!(start, Start::Corrected(_))
            && let Some(answer) = self.without_memory(given, &answer)?
        {
            return Ok(Pending { start: Start::Initial, answer });
        }
        Ok(Pending { start, answer })
    }

    fn answer_points(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        start: Start,
        given: &FramePrompts,
    ) -> Result<Record, EngineError> {
        let image = match start {
            Start::Initial | Start::Absent => Image::Initial,
            Start::Corrected(direction) => {
                let looked = self.look(frame, object, direction);
                self.attend(&looked)?;
                Image::Conditioned
            }
        };
        let sparse = self.prompts.sparse(given, self.video.size, self.stages.size());
        let previous = self.previous_logits(frame, object);
        let dense = previous.as_deref().map_or(Dense::NoMask, Dense::Logits);
        let answer = self.decode(image, &sparse.tokens, dense)?;
        Ok(self.decide(&answer, sparse.multi))
    }

    /// Logits of the object's last answer on `frame`, clamped, to be refined.
    fn previous_logits(&mut self, frame: FrameIndex, object: ObjectId) -> Option<Vec<f32>> {
        let memory = self.objects.get_mut(&object)?;
        let mut clamped = Vec::new();
        if let Some(pending) = &memory.pending {
            prompts::previous_as_prompt(&pending.answer.logits, &mut clamped);
        } else if let Some((start, record)) = memory.conditioned(frame) {
            if start == Start::Absent {
                return None; // nobody answered: there is nothing to refine
            }
            prompts::previous_as_prompt(&record.logits, &mut clamped);
        } else {
            prompts::previous_as_prompt(&memory.tracked.get(frame)?.logits, &mut clamped);
        }
        Some(clamped)
    }

    fn start_of(&self, frame: FrameIndex, memory: &ObjectMemory) -> Start {
        if let Some(pending) = &memory.pending {
            return pending.start;
        }
        let passed = memory.passed.iter().rev().find(|(f, _)| *f == frame).map(|(_, d)| *d);
        match (memory.conditioned(frame), self.policy.corrections) {
            (Some((Start::Absent, _)), _) => Start::Initial,
            (Some((start, _)), Corrections::Lead) => start,
            (Some((start, _)), Corrections::Official) => passed.map_or(start, Start::Corrected),
            (None, _) if memory.tracked.contains(frame) => Start::Corrected(memory.direction),
            (None, _) => Start::Initial,
        }
    }

    fn track_object(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        direction: Direction,
    ) -> Result<ObjectOutput, EngineError> {
        let side = self.stages.size() / 4;
        let official = self.policy.corrections == Corrections::Official;
        let memory = self.objects.get_mut(&object).expect("callers look the object up first");
        memory.direction = direction;
        if official {
            memory.passed.retain(|(f, _)| *f != frame);
            memory.passed.push((frame, direction));
        }
        if let Some((_, record)) = memory.conditioned(frame) {
            return Ok(output(object, record, side));
        }
        if memory.frozen.contains(&frame)
            && let Some(record) = memory.tracked.get(frame)
        {
            return Ok(output(object, &record, side));
        }
        let looked = self.look(frame, object, direction);
        if self.follow(object, frame, &looked)?
            && let Some(record) = self.memory(object).tracked.get(frame)
        {
            return Ok(output(object, &record, side));
        }
        self.attend(&looked)?;
        let sparse = self.no_prompt(true);
        let answer = self.decode(Image::Conditioned, &sparse.tokens, Dense::NoMask)?;
        let mut record = self.decide(&answer, sparse.multi);
        self.encode_memory(&mut record, MemoryMask::Soft)?;
        let result = output(object, &record, side);
        self.memory(object).tracked.insert(frame, record);
        Ok(result)
    }
}

/// Whether what the device prepared is what the processor did: all within a step of a byte, nearly all the same.
fn same_pixels(frame: FrameIndex, found: &[f32], expected: &[f32]) -> Result<(), EngineError> {
    /// A little more than 1/255 in the smallest standard deviation.
    const STEP: f32 = 0.0178;
    /// Of a million values.
    const OTHERS: usize = 500;
    let apart = |(a, b): (&f32, &f32)| if a.is_nan() { f32::INFINITY } else { (a - b).abs() };
    let worst = found.iter().zip(expected).map(apart).fold(0.0, f32::max);
    let others = found.iter().zip(expected).map(apart).filter(|far| *far > 1e-4).count();
    if worst <= STEP && others * 1_000_000 <= found.len() * OTHERS {
        return Ok(());
    }
    let count = found.len();
    Err(EngineError::Device(format!(
        "frame {frame}: the device prepared {others} of {count} values otherwise than the processor, by up to {worst}: use \
         --preprocess cpu"
    )))
}

impl VideoEngine for Tracker {
    fn report(&self) -> EngineReport {
        self.model.report(self.stages.size())
    }

    fn traffic(&self) -> Traffic {
        self.stages.traffic()
    }

    fn explain(&self) -> Vec<(&'static str, String)> {
        self.stages.lowering().explain()
    }

    fn encode(&mut self, frame: FrameIndex, picture: &RgbFrame) -> Result<(), EngineError> {
        self.video.check(frame, picture)?;
        self.commit()?;
        (self.current, self.attended) = (None, None);
        let start = std::time::Instant::now();
        self.prepare(frame, picture)?;
        self.timings.add(Stage::Preprocess, start.elapsed());
        let start = std::time::Instant::now();
        self.stages.encode_prepared()?;
        self.timings.add(Stage::Encode, start.elapsed());
        self.current = Some(frame);
        Ok(())
    }

    fn prompt(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        prompts: &FramePrompts,
    ) -> Result<ObjectOutput, EngineError> {
        let pending = self.answer(frame, object, prompts)?;
        let result = output(object, &pending.answer, self.stages.size() / 4);
        self.memory(object).pending = Some(pending);
        Ok(result)
    }

    fn preview(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        prompts: &FramePrompts,
    ) -> Result<ObjectOutput, EngineError> {
        let Pending { answer, .. } = self.answer(frame, object, prompts)?;
        Ok(output(object, &answer, self.stages.size() / 4))
    }

    fn track(&mut self, frame: FrameIndex, direction: Direction) -> Result<Vec<ObjectOutput>, EngineError> {
        let all: Vec<ObjectId> = self.objects.keys().copied().collect();
        self.track_only(frame, direction, &all)
    }

    fn track_only(
        &mut self,
        frame: FrameIndex,
        direction: Direction,
        objects: &[ObjectId],
    ) -> Result<Vec<ObjectOutput>, EngineError> {
        self.require(frame)?;
        self.commit()?;
        let wanted: BTreeSet<ObjectId> =
            objects.iter().copied().filter(|id| self.objects.contains_key(id)).collect();
        if wanted.iter().all(|id| self.objects[id].conditioning.is_empty()) {
            return Err(EngineError::NoPrompts);
        }
        let official = self.policy.corrections == Corrections::Official;
        let begun = wanted.into_iter().filter(|id| official || self.objects[id].has_begun(frame, direction));
        let begun: Vec<ObjectId> = begun.collect();
        begun.into_iter().map(|object| self.track_object(frame, object, direction)).collect()
    }

    fn knows(&self, object: ObjectId, frame: FrameIndex) -> bool {
        self.objects.get(&object).is_some_and(|memory| {
            let waits = memory.pending.is_some() && self.current == Some(frame);
            waits || memory.conditioned(frame).is_some() || memory.tracked.contains(frame)
        })
    }

    fn unprompt(&mut self, object: ObjectId, frame: FrameIndex) {
        let current = self.current == Some(frame);
        let Some(memory) = self.objects.get_mut(&object) else { return };
        if current {
            memory.pending = None;
        }
        memory.uncover(frame);
    }

    fn forget_after(&mut self, object: ObjectId, frame: FrameIndex, direction: Direction) {
        if let Some(memory) = self.objects.get_mut(&object) {
            memory.forget_after(frame, direction);
        }
    }

    fn lead(
        &mut self,
        frame: FrameIndex,
        object: ObjectId,
        direction: Direction,
    ) -> Result<Vec<FrameIndex>, EngineError> {
        self.lead_from(frame, object, direction)
    }

    fn recall(&mut self, frame: FrameIndex, object: ObjectId, mask: &Mask) -> Result<(), EngineError> {
        self.require(frame)?;
        self.video.check_mask(frame, object, mask)?;
        if self.memory(object).conditioned(frame).is_some() || self.memory(object).pending.is_some() {
            return Ok(());
        }
        let mut record = self.answer_mask(mask)?;
        self.encode_memory(&mut record, MemoryMask::Soft)?;
        self.memory(object).tracked.insert(frame, record);
        Ok(())
    }

    fn remove(&mut self, object: ObjectId) {
        self.objects.remove(&object);
    }

    fn take_timings(&mut self) -> Timings {
        std::mem::take(&mut self.timings)
    }
}
