//! Owns the goldens: what the official code answered, read from `goldens/*.safetensors` (README.md says what is in them).

use std::collections::BTreeMap;
use std::path::PathBuf;

use masklet::base::{BoxXyxy, Click, FrameIndex, FramePrompts, Label, Mask, ObjectId, Point, Rle, Size};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

/// How many values a digest keeps.
pub const SAMPLES: usize = 256;

/// One step of a scenario.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(untagged)]
enum RawStep {
    Track { track: u32, reverse: bool },
    Prompt(RawPrompt),
}

#[derive(Clone, Debug, serde::Deserialize)]
struct RawPrompt {
    prompt: u32,
    object: u32,
    #[serde(default)]
    points: Vec<[f32; 2]>,
    #[serde(default)]
    labels: Vec<u8>,
    #[serde(rename = "box")]
    bounds: Option<[f32; 4]>,
    mask: Option<String>,
}

#[derive(Clone, Debug, serde::Deserialize)]
struct RawScenario {
    name: String,
    steps: Vec<RawStep>,
}

/// One thing that a scenario does.
#[derive(Clone, Debug)]
pub enum Step {
    /// Prompts of an object on a frame.
    Prompt(FrameIndex, ObjectId, FramePrompts),
    /// Track from a frame to the clip's end, or to its start.
    Track { from: FrameIndex, backward: bool },
}

/// What is done to one video.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// E.g. "click3".
    pub name: String,
    /// In order.
    pub steps: Vec<Step>,
}

/// Mean, standard deviation, largest magnitude and 256 values of a tensor.
#[derive(Clone, Debug)]
pub struct Digest {
    /// Mean.
    pub mean: f32,
    /// Standard deviation of the population.
    pub std: f32,
    /// Largest magnitude.
    pub largest: f32,
    /// Values at [`positions`].
    pub values: Vec<f32>,
}

/// The official answer for one object on one frame.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Which of the four masks; `None` when none was chosen (a mask prompt).
    pub chosen: Option<u8>,
    /// Object score logit.
    pub score: f32,
    /// Share of the picture that the mask covers.
    pub area: f32,
    /// Of the low-resolution logits.
    pub logits: Digest,
    /// The mask at picture size, or what is known of it.
    pub mask: KnownMask,
}

/// A mask, whole or at pseudo-random pixels.
#[derive(Clone, Debug)]
pub enum KnownMask {
    /// Every pixel.
    Whole(Mask),
    /// The pixels at [`positions`] of the picture.
    Sampled(Vec<bool>),
}

impl KnownMask {
    /// Intersection over union with `other`, as far as is known; 1 for two empty masks.
    pub fn iou(&self, other: &Mask) -> f64 {
        let places = other.data().iter().map(|&v| v != 0);
        let (mut both, mut either) = (0u32, 0u32);
        let mut count = |a: bool, b: bool| {
            both += u32::from(a && b);
            either += u32::from(a || b);
        };
        match self {
            Self::Whole(mask) => mask.data().iter().zip(places).for_each(|(&a, b)| count(a != 0, b)),
            Self::Sampled(bits) => {
                let at = positions(other.data().len(), bits.len());
                bits.iter().zip(at).for_each(|(&a, i)| count(a, other.data()[i] != 0));
            }
        }
        if either == 0 { 1.0 } else { f64::from(both) / f64::from(either) }
    }
}

/// A golden file.
pub struct Golden {
    data: Vec<u8>,
    meta: std::collections::HashMap<String, String>,
}

impl Golden {
    /// Reads `goldens/NAME.safetensors`.
    pub fn load(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join(format!("tests/parity/goldens/{name}.safetensors"));
        let data = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (_, header) = SafeTensors::read_metadata(&data).expect("a golden is a safetensors file");
        let meta = header.metadata().clone().expect("a golden has metadata");
        Self { data, meta }
    }

    fn meta<T: std::str::FromStr>(&self, key: &str) -> T {
        let text = self.meta.get(key).unwrap_or_else(|| panic!("the golden's metadata lack {key}"));
        text.parse().unwrap_or_else(|_| panic!("the golden's {key} is {text:?}"))
    }

    /// The same, as if the clip had `frames` frames.
    pub fn first(mut self, frames: u32) -> Self {
        self.meta.insert("frames".into(), frames.to_string());
        self
    }

    /// Side of the network's picture.
    pub fn side(&self) -> u32 {
        self.meta("size")
    }

    /// SHA-256 of the model file that the golden belongs to; empty where it belongs to none.
    pub fn model(&self) -> String {
        self.meta("model_sha256")
    }

    /// Number of frames.
    pub fn frames(&self) -> u32 {
        self.meta("frames")
    }

    /// Size of the pictures.
    pub fn picture(&self) -> Size {
        Size::new(self.meta("width"), self.meta("height"))
    }

    /// SHA-256 of the RGB bytes of every frame (`resized`: as resized by Pillow to the network's side).
    pub fn hashes(&self, resized: bool) -> Vec<String> {
        let text: String = self.meta(if resized { "resized_sha256" } else { "frames_sha256" });
        serde_json::from_str(&text).expect("hashes are a JSON list")
    }

    /// All scenarios.
    pub fn scenarios(&self) -> Vec<Scenario> {
        let text: String = self.meta("scenarios");
        let raw: Vec<RawScenario> = serde_json::from_str(&text).expect("scenarios are JSON");
        raw.into_iter()
            .map(|s| Scenario { name: s.name, steps: s.steps.iter().map(|r| self.step(r)).collect() })
            .collect()
    }

    /// The scenario called `name`.
    pub fn scenario(&self, name: &str) -> Scenario {
        let found = self.scenarios().into_iter().find(|s| s.name == name);
        found.unwrap_or_else(|| panic!("the golden has no scenario {name}"))
    }

    fn step(&self, raw: &RawStep) -> Step {
        match raw {
            RawStep::Track { track, reverse } => Step::Track { from: FrameIndex(*track), backward: *reverse },
            RawStep::Prompt(p) => {
                let labels = p.labels.iter().map(|l| if *l == 1 { Label::Positive } else { Label::Negative });
                let clicks = p.points.iter().zip(labels);
                let prompts = FramePrompts {
                    clicks: clicks.map(|(&[x, y], label)| Click { at: Point { x, y }, label }).collect(),
                    bounds: p.bounds.map(|[x0, y0, x1, y1]| BoxXyxy { x0, y0, x1, y1 }),
                    mask: p.mask.as_ref().map(|text| Rle::encode(&self.decode(text))),
                };
                Step::Prompt(FrameIndex(p.prompt), ObjectId(p.object), prompts)
            }
        }
    }

    fn decode(&self, text: &str) -> Mask {
        Rle::from_coco_text(self.picture(), text).expect("the golden's run lengths are whole").decode()
    }

    fn tensors(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.data).expect("checked at load")
    }

    /// The answer for `object` on `frame`, or `None` when the scenario did not come there.
    pub fn answer(&self, scenario: &str, frame: FrameIndex, object: ObjectId) -> Option<Answer> {
        let tensors = self.tensors();
        let key = format!("{scenario}/{:05}/{object}", frame.0);
        let numbers = floats(&tensors.tensor(&key).ok()?);
        let mask = match tensors.tensor(&format!("{key}/rle")) {
            Ok(rle) => {
                KnownMask::Whole(self.decode(std::str::from_utf8(rle.data()).expect("run lengths are ASCII")))
            }
            Err(_) => {
                let bits = tensors.tensor(&format!("{key}/bits")).expect("every answer has its mask");
                KnownMask::Sampled(
                    bits.data().iter().flat_map(|b| (0..8).map(move |i| b >> i & 1 != 0)).collect(),
                )
            }
        };
        let chosen = (numbers[0] >= 0.0).then_some(numbers[0] as u8);
        let (score, area) = (numbers[1], numbers[2]);
        Some(Answer { chosen, score, area, logits: digest(&numbers[3..]), mask })
    }

    /// Every answer of `scenario`, by frame and object.
    pub fn answers(&self, scenario: &str) -> Vec<(FrameIndex, ObjectId, Answer)> {
        let frames = (0..self.frames()).flat_map(|f| [1, 2].map(|o| (FrameIndex(f), ObjectId(o))));
        frames.filter_map(|(f, o)| Some((f, o, self.answer(scenario, f, o)?))).collect()
    }

    /// Digests of the network's points on `frame`, by name; empty where none were kept.
    pub fn points(&self, scenario: &str, frame: FrameIndex) -> BTreeMap<String, Digest> {
        let prefix = format!("{scenario}/{:05}/point/", frame.0);
        let tensors = self.tensors();
        let named =
            tensors.iter().filter_map(|(key, view)| Some((key.strip_prefix(&prefix)?.to_owned(), view)));
        named.map(|(name, view)| (name, digest(&floats(&view)))).collect()
    }

    /// `teach/KIND/FRAME` as numbers, or `None`.
    pub fn teach(&self, kind: &str, frame: FrameIndex) -> Option<Vec<f32>> {
        Some(floats(&self.tensors().tensor(&format!("teach/{kind}/{:05}", frame.0)).ok()?))
    }
}

fn floats(view: &TensorView<'_>) -> Vec<f32> {
    match view.dtype() {
        Dtype::F32 => view.data().as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
        Dtype::BF16 => {
            view.data().as_chunks().0.iter().map(|b| half::bf16::from_le_bytes(*b).to_f32()).collect()
        }
        other => panic!("a golden has no {other:?}"),
    }
}

fn digest(numbers: &[f32]) -> Digest {
    Digest { mean: numbers[0], std: numbers[1], largest: numbers[2], values: numbers[3..].to_vec() }
}

/// Which of `count` elements a sample of `samples` keeps: all when there are no more, else pseudo-random ones.
pub fn positions(count: usize, samples: usize) -> Vec<usize> {
    if count <= samples {
        return (0..count).collect();
    }
    let mix = |k: u64| {
        let x = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    };
    (0..samples as u64).map(|k| (mix(k) % count as u64) as usize).collect()
}
