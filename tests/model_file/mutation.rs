//! Damaged files of every kind: always a result, never a panic, and nothing read that is not there.

use std::fs;
use std::sync::OnceLock;

use masklet::convert::{Checkpoint, describe_gguf};
use masklet::ggml::gguf::{Gguf, GgufWriter, TensorKind, WriteMeta};
use proptest::prelude::*;

use super::checkpoints::{Stored, hugging_face, safetensors_file, torch_zip};

/// A small file with every type of tensor and metadata that is written.
fn small_gguf() -> Vec<u8> {
    let metadata = [
        ("general.architecture", WriteMeta::Str("edgetam".to_owned())),
        ("u", WriteMeta::U32(1)),
        ("f", WriteMeta::F32(1.0)),
        ("us", WriteMeta::U32s(vec![1, 2])),
        ("fs", WriteMeta::F32s(vec![1.0])),
    ];
    let tensors: [(&str, &[u64], TensorKind); 3] =
        [("a", &[4, 2, 1], TensorKind::F32), ("b", &[5], TensorKind::F16), ("c", &[32], TensorKind::Q8_0)];
    let mut writer = GgufWriter::new(Vec::new(), &metadata, &tensors).unwrap();
    for (_, sides, kind) in tensors {
        let count: u64 = sides.iter().product();
        writer.data(&kind.encode(&vec![0.5; count as usize])).unwrap();
    }
    writer.finish().unwrap()
}

/// Uses everything a parsed file offers.
fn exercise(bytes: Vec<u8>) {
    if let Ok(gguf) = Gguf::parse(bytes.into()) {
        for (_, tensor) in gguf.tensors() {
            assert_eq!(tensor.to_f32().len(), tensor.len());
        }
        let _ = gguf.check_finite();
        for key in ["general.architecture", "u", "f", "us", "fs"] {
            let _ = (gguf.meta_u32(key), gguf.meta_f32(key), gguf.meta_str(key));
            let _ = (gguf.meta_u32s(key), gguf.meta_f32s(key));
        }
        assert!(!describe_gguf(&gguf).to_string().is_empty());
    }
}

/// Overwrites, then cuts.
fn damage(mut bytes: Vec<u8>, edits: &[(usize, u8)], keep: f64) -> Vec<u8> {
    for &(at, value) in edits {
        let len = bytes.len();
        bytes[at % len] = value;
    }
    bytes.truncate((bytes.len() as f64 * keep) as usize);
    bytes
}

fn edits() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let value = prop_oneof![any::<u8>(), Just(0), Just(0xFF), Just(0x7F), Just(1)];
    prop::collection::vec((any::<usize>(), value), 0..6)
}

fn keep() -> impl Strategy<Value = f64> {
    prop_oneof![3 => Just(1.0), 1 => 0.0..1.0]
}

/// Opens the bytes as a checkpoint; all these are incomplete, so they must be refused.
fn assert_refused(bytes: &[u8]) {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap());
    let thread = format!("{:?}", std::thread::current().id());
    let path = folder.path().join(thread);
    fs::write(&path, bytes).unwrap();
    assert!(Checkpoint::open(&path).is_err());
}

fn few_tensors() -> Vec<Stored> {
    let mut tensors = vec![
        Stored::f32("no_obj_ptr", &[1, 256], &[0.5; 256]),
        Stored::f16("no_mem_embed", &[1, 1, 256], &[0.5; 256]),
    ];
    tensors.extend(hugging_face().into_iter().filter(|tensor| tensor.name.contains("num_batches")).take(2));
    tensors
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_are_no_gguf(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(bytes.clone());
        exercise([&b"GGUF\x03\0\0\0"[..], &bytes].concat());
    }

    #[test]
    fn damaged_gguf_never_panics(edits in edits(), keep in keep()) {
        exercise(damage(small_gguf(), &edits, keep));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_checkpoints_never_panic(edits in edits(), keep in keep(), which in 0..2) {
        static FILES: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
        let files = FILES.get_or_init(|| {
            let tensors = few_tensors();
            [torch_zip("model", &tensors), safetensors_file(&tensors)]
        });
        assert_refused(&damage(files[which as usize].clone(), &edits, keep));
    }

    #[test]
    fn random_bytes_are_no_checkpoint(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        assert_refused(&bytes);
        assert_refused(&[&b"PK\x03\x04"[..], &bytes].concat());
        assert_refused(&[&[bytes.len() as u8, 0, 0, 0, 0, 0, 0, 0][..], b"{", &bytes].concat());
    }
}
