//! Whole conversions: every way in gives the same model, every storage keeps what it promises.

use std::fs;
use std::path::Path;

use masklet::convert::{
    Checkpoint, ConvertError, ConvertOptions, Source, WeightType, convert, describe, to_gguf_bytes,
};
use masklet::ggml::Backend;
use masklet::ggml::gguf::{Gguf, TensorKind};
use masklet::model::Weights;

use super::checkpoints::{hugging_face, official, random, safetensors_file, torch_zip};

fn options(weights: WeightType) -> ConvertOptions {
    ConvertOptions { weights, native_size: 512, name: "test".to_owned() }
}

fn in_memory(weights: WeightType) -> Gguf {
    Gguf::parse(to_gguf_bytes(random(), &options(weights)).unwrap().into()).unwrap()
}

fn assert_same_tensors(left: &Gguf, right: &Gguf) {
    assert_eq!(left.tensors().len(), right.tensors().len());
    for (name, tensor) in left.tensors() {
        let other = right.tensor(name).unwrap();
        assert_eq!((tensor.ne, tensor.kind), (other.ne, other.kind), "{name}");
        assert!(tensor.bytes == other.bytes, "{name}");
    }
}

#[test]
fn official_and_hugging_face_files_give_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = in_memory(WeightType::F16);
    let hugging_face = hugging_face();
    assert_eq!(hugging_face.len(), 984);
    let official = official(false);
    assert_eq!(official.len(), 982);
    for (file, bytes, source) in [
        ("официальный.pt", torch_zip("model", &official), Source::PyTorch),
        ("model.safetensors", safetensors_file(&hugging_face), Source::HuggingFace),
    ] {
        let (input, output) = (folder.path().join(file), folder.path().join(format!("{file}.模型.gguf")));
        fs::write(&input, bytes).unwrap();
        let summary = convert(&input, &output, &options(WeightType::F16)).unwrap();
        let found = Gguf::open(&output).unwrap();
        assert_same_tensors(&wanted, &found);
        assert_eq!(summary.source, source);
        assert_eq!(found.meta_str("edgetam.source_sha256").unwrap(), summary.source_sha256);
        let info = describe(&output).unwrap();
        assert_eq!((info.sha256, info.bytes), (summary.sha256, fs::metadata(&output).unwrap().len()));
        assert_eq!((info.architecture.as_str(), info.name.as_str()), ("edgetam", "test"));
        assert_eq!(info.parameters, 13_809_354);
    }
    // The temporary files are gone.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[test]
fn a_half_precision_checkpoint_is_widened_before_folding() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("half.pt");
    fs::write(&input, torch_zip("model", &official(true))).unwrap();
    let read = Checkpoint::open(&input).unwrap();
    for name in ["no_mem_embed", "memory_attention.layers.0.linear1.weight"] {
        let rounded: Vec<f32> = random()
            .get(name)
            .unwrap()
            .data
            .iter()
            .map(|&value| half::f16::from_f32(value).to_f32())
            .collect();
        assert_eq!(read.get(name).unwrap().data, rounded);
    }
}

#[test]
fn every_storage_keeps_its_precision() {
    let exact = in_memory(WeightType::F32);
    let half = in_memory(WeightType::F16);
    let eight = in_memory(WeightType::Q8_0);
    assert!(exact.tensors().all(|(_, tensor)| tensor.kind == TensorKind::F32));
    let count = |gguf: &Gguf, kind| gguf.tensors().filter(|(_, tensor)| tensor.kind == kind).count();
    assert_eq!((count(&half, TensorKind::F16), count(&half, TensorKind::F32)), (183, 303));
    assert!(count(&eight, TensorKind::Q8_0) > 100 && count(&eight, TensorKind::F32) == 303);
    for (name, tensor) in exact.tensors() {
        let values = tensor.to_f32();
        for (value, rounded) in values.iter().zip(half.tensor(name).unwrap().to_f32()) {
            assert!((value - rounded).abs() <= value.abs() / 2048.0 + 6e-8, "{name}: {value} {rounded}");
        }
        let blocks = eight.tensor(name).unwrap().to_f32();
        for (values, rounded) in values.chunks(32).zip(blocks.chunks(32)) {
            let largest = values.iter().fold(0f32, |largest, value| largest.max(value.abs()));
            // Half a step of the stored scale. Where the scale was rounded down, the largest weight is cut to 127 steps
            // of it; below 6e-5 scales themselves have fixed steps of 6e-8.
            let scale = largest / 127.0;
            let bound = scale * 0.501 + 127.0 * (scale / 2048.0).max(3e-8);
            assert!(
                values.iter().zip(rounded).all(|(value, rounded)| (value - rounded).abs() <= bound),
                "{name}"
            );
        }
    }
    for name in
        ["trunk.stages.0.blocks.0.token_mixer.weight", "mask_decoder.tokens", "spatial_perceiver.latents"]
    {
        assert_eq!(eight.tensor(name).unwrap().kind, TensorKind::F32, "{name}");
    }
}

#[test]
fn the_network_takes_what_the_conversion_writes() {
    let backend = Backend::cpu(1).unwrap();
    let weights = Weights::load(&in_memory(WeightType::F16), &backend).unwrap();
    assert_eq!((weights.config().image_size, weights.config().name.as_str()), (512, "test"));
}

#[test]
fn the_network_refuses_models_of_another_kind() {
    let backend = Backend::cpu(1).unwrap();
    let bytes = to_gguf_bytes(random(), &options(WeightType::F16)).unwrap();
    let change = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        let mut bytes = bytes.clone();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        Weights::load(&Gguf::parse(bytes.into()).unwrap(), &backend).err().unwrap().to_string()
    };
    let message = change("edgetam", "mobisam");
    assert!(message.contains("mobisam"), "{message}");
    let message = change("mask_decoder.tokens", "mask_decoder.bogens");
    assert!(message.contains("mask_decoder.tokens"), "{message}");
    let message = change("edgetam.hidden_dim", "edgetam.hodden_dim");
    assert!(message.contains("edgetam.hidden_dim"), "{message}");
}

#[test]
fn impossible_requests_are_refused_before_anything_is_read() {
    let nowhere = Path::new("there-is-no-such-file.pt");
    let size = ConvertOptions { native_size: 300, ..ConvertOptions::default() };
    let error = convert(nowhere, Path::new("out.gguf"), &size).unwrap_err();
    assert!(matches!(error, ConvertError::NativeSize { size: 300 }), "{error}");
    let error = convert(nowhere, Path::new("out.gguf"), &ConvertOptions::default()).unwrap_err();
    assert!(error.to_string().contains("there-is-no-such-file.pt"), "{error}");
    assert!(!Path::new("out.gguf").exists());
}

#[test]
fn a_failed_conversion_leaves_the_output_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.pt"), folder.path().join("out.gguf"));
    fs::write(&output, "precious").unwrap();
    // A weight beyond half precision is found only while writing.
    let mut tensors = official(false);
    let tensor =
        tensors.iter_mut().find(|tensor| tensor.name == "memory_attention.layers.0.linear1.weight").unwrap();
    tensor.bytes[..4].copy_from_slice(&1e9f32.to_le_bytes());
    fs::write(&input, torch_zip("model", &tensors)).unwrap();
    for weights in [WeightType::F16, WeightType::Q8_0] {
        let error = convert(&input, &output, &options(weights)).unwrap_err();
        assert!(error.to_string().contains("memory_attention.layers.0.linear1.weight"), "{error}");
        assert_eq!(fs::read_to_string(&output).unwrap(), "precious");
    }
    let error = convert(&input, &input, &options(WeightType::F32)).unwrap_err();
    assert!(matches!(error, ConvertError::SameFile { .. }), "{error}");
    let error = convert(&input, &folder.path().join("no/such/folder/out.gguf"), &options(WeightType::F32))
        .unwrap_err();
    assert!(matches!(error, ConvertError::Write { .. }), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
    convert(&input, &output, &options(WeightType::F32)).unwrap();
    assert!(Gguf::open(&output).is_ok());
}
