//! The engine against the official PyTorch code, through the goldens of `tests/parity/` (see the README there). No
//! Python is needed.
#![allow(clippy::print_stderr, reason = "the figures are what one wants to see of these tests")]

#[path = "parity/compare.rs"]
mod compare;
#[path = "parity/dump.rs"]
mod dump;
#[path = "parity/golden.rs"]
mod golden;
#[path = "parity/pictures.rs"]
mod pictures;
#[path = "parity/play.rs"]
mod play;
#[path = "parity/teacher.rs"]
mod teacher;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use compare::{Findings, Gates};
use golden::Golden;
use masklet::base::{FrameIndex, ObjectId};
use masklet::convert::{ConvertOptions, WeightType, random_checkpoint, to_gguf_bytes};
use masklet::demo::DemoClip;
use masklet::engine::bank::{BankConfig, SlotRule};
use masklet::engine::{
    Model, ModelOptions, Padding, Policy, Rounding, SingleMask, Tracker, TrackerOptions, VideoEngine,
    VideoShape,
};
use masklet::kernels::Level;
use masklet::model::{Gelu, Lowering, PerceiverPositions};
use play::Setting;
use sha2::{Digest as _, Sha256};

/// SHA-256 of the random checkpoint; `random_checkpoint.py` prints the same.
const RANDOM_SHA256: &str = "6892a52c1121eb0a691b785cbf604241051b4eafade6fa413097e7ddcbbda967";

/// One thread for each test: the tests run side by side, and threads that wait for each other would only disturb them.
const ONE_THREAD: ModelOptions = ModelOptions::cpu(1);

static SHIPPED: LazyLock<Arc<Model>> =
    LazyLock::new(|| Model::built_in(&ONE_THREAD).expect("the built-in model loads"));

static RANDOM: LazyLock<Arc<Model>> = LazyLock::new(|| {
    let options = ConvertOptions { weights: WeightType::F32, native_size: 512, ..ConvertOptions::default() };
    let bytes = to_gguf_bytes(&random_checkpoint(), &options).expect("the random checkpoint converts");
    Model::from_bytes(Cow::Owned(bytes), &ONE_THREAD).expect("the random model loads")
});

/// CPU, f32. What leaves the memory attention has gone through ggml's own rotary frequencies; from frame 1 on the
/// memories hold bf16 values, of which a few in ten thousand round the other way and are then 2^-8 off.
const F32: Gates = Gates {
    logits: 5e-3,
    iou: 0.999,
    points: |point, frame| match (point, frame.0) {
        ("mask_ds", 0) => 5e-5,
        (_, 0)
        | (
            "stem" | "stage0" | "stage1" | "stage2" | "stage3" | "fpn2" | "conv_s0" | "conv_s1" | "sparse",
            _,
        ) => 1e-5,
        _ => 2e-4,
    },
};

/// CPU, f32, each stage fed by the reference.
const FORCED: Gates = Gates {
    logits: 5e-4,
    iou: 0.999,
    points: |point, _| match point {
        "mask_ds" => 5e-5,
        "ma0_self" | "ma0_cross" | "memattn" => 2e-5,
        _ => 1e-5,
    },
};

/// Weights rounded to f16, against those that were not.
const F16: Gates = Gates { logits: f32::INFINITY, iou: 0.99, points: |_, _| f64::INFINITY };

fn official(golden: &Golden) -> Setting {
    let lowering = Lowering::cpu();
    Setting {
        side: golden.side(),
        frames: golden.frames(),
        policy: Policy::OFFICIAL,
        lowering,
        probing: false,
    }
}

fn report(what: &str, found: &Findings) {
    let Findings { logits, iou, masks, points, point: (far, name), .. } = found;
    eprintln!(
        "{what}: {masks} masks, logits within {logits:.1e}, IoU at least {iou:.5}; {points} points, {name} {far:.1e}"
    );
}

fn assert_none(what: &str, found: &Findings) {
    report(what, found);
    let (count, first) =
        (found.faults.len(), found.faults.iter().take(12).cloned().collect::<Vec<_>>().join("\n"));
    assert!(found.faults.is_empty(), "{what}: {count} differences\n{first}");
}

/// The scenarios that run in one test; the others run beside it in another.
const FIRST_HALF: [&str; 5] = ["click", "click3", "box", "boxclick", "mask"];

/// Plays the scenarios of a golden that `wanted` names and holds them to `gates`.
fn scenarios(name: &str, model: &Arc<Model>, gates: &Gates, wanted: impl Fn(&str) -> bool) {
    let golden = Golden::load(name);
    let mut played = 0;
    for scenario in golden.scenarios().iter().filter(|s| wanted(&s.name)) {
        let probing = (0..golden.frames()).any(|f| !golden.points(&scenario.name, FrameIndex(f)).is_empty());
        let answers = play::play(model, &Setting { probing, ..official(&golden) }, scenario);
        assert_none(
            &format!("{name} {}", scenario.name),
            &compare::compare(&golden, &scenario.name, &answers, gates),
        );
        played += 1;
    }
    assert!(played > 0, "{name} has scenarios");
}

#[test]
fn frames_are_those_of_the_goldens() {
    let golden = Golden::load("shipped-512");
    assert_eq!(golden.picture(), DemoClip::SIZE);
    for (i, expected) in golden.hashes(false).iter().enumerate() {
        let own = hex(&play::frame(FrameIndex(i as u32)).into_data());
        assert_eq!(
            own, *expected,
            "frame {i} is another picture: run make_goldens.py after changing the demo clip"
        );
    }
}

#[test]
fn goldens_belong_to_the_built_in_model() {
    let hash = SHIPPED.report(512).model_hash;
    for name in ["shipped-512", "shipped-1024"] {
        assert_eq!(Golden::load(name).model(), hash, "{name} is of another model file: run ./dev weights");
    }
}

#[test]
fn golden_masks_are_partial() {
    for name in ["shipped-512", "shipped-1024", "random-512", "random-1024", "source-512"] {
        let golden = Golden::load(name);
        for scenario in golden.scenarios() {
            for (frame, object, answer) in golden.answers(&scenario.name) {
                // The absent cases: an object that the prompt says is not there, and the bird that leaves the picture.
                let absent = scenario.name == "empty" || (scenario.name == "two" && object == ObjectId(2));
                let partial = (0.005..=0.6).contains(&answer.area);
                assert!(partial || absent, "{name}, {}, frame {frame}: {}", scenario.name, answer.area);
            }
        }
    }
}

#[test]
fn the_random_checkpoint_is_its_twins() {
    assert_eq!(random_checkpoint().content_sha256(), RANDOM_SHA256);
}

#[test]
fn the_network_sees_what_pillow_makes() {
    for (name, count) in [("shipped-512", 24), ("shipped-1024", 2)] {
        let golden = Golden::load(name);
        let (sink, points) = play::collector();
        let video = VideoShape { size: DemoClip::SIZE, frames: golden.frames() };
        let options =
            TrackerOptions { size: Some(golden.side()), probe: Some(sink), ..TrackerOptions::default() };
        let mut tracker = Tracker::new(&SHIPPED, video, options).expect("the model works at this size");
        for (i, expected) in golden.hashes(true).iter().enumerate().take(count) {
            let at = FrameIndex(i as u32);
            tracker.encode(at, &play::frame(at)).expect("frames have the video's size");
            let points = points.lock().expect("no test thread panics with the lock");
            let planes = &points["pixels"];
            let (mean, std) = ([0.485f32, 0.456, 0.406], [0.229f32, 0.224, 0.225]);
            let area = planes.len() / 3;
            let bytes: Vec<u8> = (0..planes.len())
                .map(|i| ((planes[(i % 3) * area + i / 3] * std[i % 3] + mean[i % 3]) * 255.0).round() as u8)
                .collect();
            assert_eq!(hex(&bytes), *expected, "{name}, frame {i}");
        }
    }
}

#[test]
fn single_pictures() {
    let (faults, compared) = pictures::check(&SHIPPED);
    assert!(faults.is_empty() && compared >= 4, "{compared} prompts\n{}", faults.join("\n"));
}

#[test]
fn shipped_weights_at_512() {
    scenarios("shipped-512", &SHIPPED, &F32, |name| FIRST_HALF.contains(&name));
}

#[test]
fn shipped_weights_at_512_over_time() {
    scenarios("shipped-512", &SHIPPED, &F32, |name| !FIRST_HALF.contains(&name));
}

#[test]
fn random_weights_at_512() {
    scenarios("random-512", &RANDOM, &F32, |name| FIRST_HALF.contains(&name));
}

#[test]
fn random_weights_at_512_over_time() {
    scenarios("random-512", &RANDOM, &F32, |name| !FIRST_HALF.contains(&name));
}

#[test]
fn shipped_weights_at_1024() {
    scenarios("shipped-1024", &SHIPPED, &F32, |_| true);
}

#[test]
fn random_weights_at_1024() {
    scenarios("random-1024", &RANDOM, &F32, |_| true);
}

#[test]
fn storing_weights_as_f16_costs_little() {
    scenarios("source-512", &SHIPPED, &F16, |_| true);
}

#[test]
fn memory_stages_fed_by_the_reference() {
    for (name, model) in [
        ("shipped-512", &*SHIPPED),
        ("random-512", &*RANDOM),
        ("shipped-1024", &*SHIPPED),
        ("random-1024", &*RANDOM),
    ] {
        let found = teacher::check(model, &Golden::load(name), Lowering::cpu(), &FORCED);
        assert!(found.masks > 0 && found.points > 8, "{name}: nothing was compared");
        assert_none(&format!("{name}, teacher-forced"), &found);
    }
}

/// ggml's kernels, and ours at every level that this processor can run.
#[test]
fn all_kernels_agree() {
    let stock = ("ggml's kernels".to_owned(), Lowering::stock());
    let own = Level::usable().into_iter().map(|level| (format!("{level:?}"), Lowering::own(level)));
    for (name, lowering) in std::iter::once(stock).chain(own) {
        let found = teacher::check(&SHIPPED, &Golden::load("shipped-512"), lowering, &FORCED);
        assert!(found.masks > 0 && found.points > 8, "{name}: nothing was compared");
        assert_none(&format!("{name}, teacher-forced"), &found);
    }
}

/// Where nothing is corrected late, Masklet's own rules of memory give the official ones' bytes.
#[test]
fn own_rules_equal_the_official_ones() {
    let golden = Golden::load("shipped-512");
    for name in ["click", "click3", "box", "mask", "backward"] {
        let scenario = golden.scenario(name);
        let setting = official(&golden);
        let by_official = play::play(&SHIPPED, &setting, &scenario).outputs;
        let by_own = play::play(&SHIPPED, &Setting { policy: Policy::NATIVE, ..setting }, &scenario).outputs;
        assert!(by_official.len() > 12, "{name}: {} answers", by_official.len());
        assert_eq!(by_official.keys().collect::<Vec<_>>(), by_own.keys().collect::<Vec<_>>(), "{name}");
        for (at, theirs) in &by_official {
            assert!(*theirs == by_own[at], "{name}: frame {}, object {} differ", at.0, at.1);
        }
    }
}

/// A deliberate mistake, by name.
type Mutant = (&'static str, fn(&mut Setting));

/// Plays the first `frames` frames of a scenario rightly, which must pass, and with each mutant, which must not.
fn mutants(golden: &str, scenario: &str, frames: u32, mutants: &[Mutant]) {
    let model = if golden.starts_with("random") { &*RANDOM } else { &*SHIPPED };
    let golden = Golden::load(golden).first(frames);
    let scenario = golden.scenario(scenario);
    let setting = Setting { frames, probing: true, ..official(&golden) };
    let hold = |setting: &Setting| {
        compare::compare(&golden, &scenario.name, &play::play(model, setting, &scenario), &F32)
    };
    assert_none(&format!("{} without a mutant", scenario.name), &hold(&setting));
    for (what, change) in mutants {
        let mut wrong = setting;
        change(&mut wrong);
        let found = hold(&wrong);
        report(&format!("{} with {what}: {} differences", scenario.name, found.faults.len()), &found);
        assert!(!found.faults.is_empty(), "{what} went unnoticed");
    }
}

#[test]
fn mutants_are_noticed() {
    mutants(
        "random-512",
        "click",
        2,
        &[
            ("tanh GELU", |s| s.lowering.variant.gelu = Gelu::Tanh),
            ("one not-a-point token", |s| s.policy.padding = Padding::One),
            ("memories not rounded to bf16", |s| s.policy.rounding = Rounding::None),
            ("perceiver positions on keys alone", |s| {
                s.lowering.variant.perceiver_positions = PerceiverPositions::KeysOnly;
            }),
        ],
    );
    mutants(
        "shipped-512",
        "click3",
        1,
        &[("no stability rule", |s| s.policy.single_mask = SingleMask::Always)],
    );
    let by_rank =
        |s: &mut Setting| s.policy.bank = BankConfig { slot_rule: SlotRule::ByRank, ..s.policy.bank };
    mutants("random-512", "future", 19, &[("memory slots by rank", by_rank)]);
}

/// All scenarios on the device that MASKLET_DEVICE names, with its own choices: how far it is from the reference.
/// MASKLET_IOU is the least IoU, 0.99 when not given.
#[test]
#[ignore = "needs the device that MASKLET_DEVICE names"]
fn the_device_agrees() {
    let device = std::env::var("MASKLET_DEVICE").expect("MASKLET_DEVICE names it");
    let iou =
        std::env::var("MASKLET_IOU").map_or(0.99, |text| text.parse().expect("MASKLET_IOU is a number"));
    let gates = Gates { logits: f32::INFINITY, iou, points: |_, _| f64::INFINITY };
    let device = device.parse().expect("MASKLET_DEVICE is a device");
    let options = ModelOptions { threads: 1, device, refused: Vec::new() };
    let model = Model::built_in(&options).expect("the built-in model loads");
    let found = model.report(512);
    eprintln!("{}, {}; passed over: {:?}", found.device, found.precision, found.fallback);
    assert!(found.fallback.is_empty(), "the device does not compute");
    let mut faults = Vec::new();
    for name in ["shipped-512", "shipped-1024"] {
        let golden = Golden::load(name);
        let forced = teacher::check(&model, &golden, model.lowering(), &gates);
        report(&format!("{name}, teacher-forced"), &forced);
        faults.extend(forced.faults);
        for scenario in golden.scenarios() {
            let probing =
                (0..golden.frames()).any(|f| !golden.points(&scenario.name, FrameIndex(f)).is_empty());
            for probing in [probing, false] {
                let setting = Setting { probing, lowering: model.lowering(), ..official(&golden) };
                let played = play::play(&model, &setting, &scenario);
                let found = compare::compare(&golden, &scenario.name, &played, &gates);
                report(
                    &format!("{name} {}{}", scenario.name, if probing { ", stage by stage" } else { "" }),
                    &found,
                );
                faults.extend(found.faults);
            }
        }
    }
    assert!(faults.is_empty(), "{} differences\n{}", faults.len(), faults.join("\n"));
}

/// Writes the 24 frames as PNG into the folder named by PARITY_FRAMES, for make_goldens.py.
#[test]
#[ignore = "writes files for make_goldens.py"]
fn write_frames() {
    let folder = PathBuf::from(std::env::var_os("PARITY_FRAMES").expect("PARITY_FRAMES names the folder"));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    for i in 0..24 {
        let picture = play::frame(FrameIndex(i));
        let size = picture.size();
        let image =
            image::RgbImage::from_raw(size.width, size.height, picture.into_data()).expect("whole frame");
        image.save(folder.join(format!("{i:05}.png"))).expect("the frame can be written");
    }
}

/// Writes what a model file answers, whole, for run_full.py: PARITY_MODEL, PARITY_SIDE, PARITY_OUT, and optionally
/// PARITY_FRAMES_COUNT, PARITY_SCENARIOS and PARITY_POINTS (frames), the last two separated by commas.
#[test]
#[ignore = "writes files for run_full.py"]
fn write_answers() {
    let value = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    let needed = |name: &str| value(name).unwrap_or_else(|| panic!("{name} must be set"));
    let number = |text: String| text.parse::<u32>().expect("a number");
    let list = |name: &str| value(name).map_or(Vec::new(), |v| v.split(',').map(str::to_owned).collect());
    let model =
        Model::load(needed("PARITY_MODEL").as_ref(), &ModelOptions::cpu(0)).expect("the model file loads");
    let points: Vec<u32> = list("PARITY_POINTS").into_iter().map(number).collect();
    let folder = PathBuf::from(needed("PARITY_OUT"));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let frames = value("PARITY_FRAMES_COUNT").map_or(24, number);
    dump::write(&model, number(needed("PARITY_SIDE")), frames, &list("PARITY_SCENARIOS"), &points, &folder);
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
