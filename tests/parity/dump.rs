//! Owns the whole tensors that run_full.py compares: everything that a model file answers to the ten scenarios.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use masklet::engine::{Model, Policy};
use masklet::model::Lowering;
use safetensors::tensor::{Dtype, TensorView};

use super::golden::Golden;
use super::play::{self, Setting};

/// Plays `scenarios` (all when empty) at `side` and writes `FOLDER/SCENARIO.safetensors` with, for each frame and object,
/// `FRAME/OBJECT` (chosen mask, object score, logits) and, for `click` on the frames `points`, `FRAME/point/NAME`.
pub fn write(
    model: &Arc<Model>,
    side: u32,
    frames: u32,
    scenarios: &[String],
    points: &[u32],
    folder: &Path,
) {
    let golden = Golden::load("shipped-512").first(frames);
    for scenario in golden.scenarios() {
        if !scenarios.is_empty() && !scenarios.contains(&scenario.name) {
            continue;
        }
        let probing = scenario.name == "click";
        let lowering = Lowering::cpu();
        let setting = Setting { side, frames, policy: Policy::OFFICIAL, lowering, probing };
        let played = play::play(model, &setting, &scenario);
        let mut tensors: HashMap<String, Vec<u8>> = HashMap::new();
        let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        for ((frame, object), output) in &played.outputs {
            let mut values = vec![f32::from(output.chosen), output.score];
            values.extend(&output.logits.data);
            tensors.insert(format!("{:05}/{object}", frame.0), bytes(&values));
        }
        for (frame, named) in played.points.iter().filter(|(f, _)| points.contains(&f.0)) {
            for (name, values) in named {
                tensors.insert(format!("{:05}/point/{name}", frame.0), bytes(values));
            }
        }
        let views = tensors.iter().map(|(name, data)| {
            let view =
                TensorView::new(Dtype::F32, vec![data.len() / 4], data).expect("the shape fits the data");
            (name.as_str(), view)
        });
        let target = folder.join(format!("{}.safetensors", scenario.name));
        safetensors::serialize_to_file(views, None, &target).expect("the dump can be written");
    }
}
