//! GGUF files that must be refused, written by hand byte by byte.

use masklet::ggml::gguf::{Gguf, GgufError, TensorKind};

/// A GGUF file in the making. Nothing is checked.
struct Raw(Vec<u8>);

impl Raw {
    fn new(tensors: u64, entries: u64) -> Self {
        Self(b"GGUF".to_vec()).u32(3).u64(tensors).u64(entries)
    }

    fn u32(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn u64(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, text: &str) -> Self {
        self.u64(text.len() as u64).bytes(text.as_bytes())
    }

    fn tensor(self, name: &str, sides: &[u64], kind: u32, offset: u64) -> Self {
        let described = self.text(name).u32(sides.len() as u32);
        sides.iter().fold(described, |raw, &side| raw.u64(side)).u32(kind).u64(offset)
    }

    /// Pads to the start of the data and adds it.
    fn data(mut self, bytes: &[u8]) -> Self {
        self.0.resize(self.0.len().next_multiple_of(32), 0);
        self.bytes(bytes)
    }

    fn parse(self) -> Result<Gguf, GgufError> {
        Gguf::parse(self.0.into())
    }

    fn assert_says(self, wanted: &str) {
        let message = self.parse().unwrap_err().to_string();
        assert!(message.contains(wanted) && !message.contains('\n'), "{message:?} should contain {wanted:?}");
    }
}

const F32: u32 = 0;

#[test]
fn a_sound_file_is_accepted() {
    let gguf =
        Raw::new(1, 1).text("k").u32(4).u32(9).tensor("a", &[2], F32, 0).data(&[0; 8]).parse().unwrap();
    assert_eq!(gguf.meta_u32("k").unwrap(), 9);
    assert_eq!(gguf.tensor("a").unwrap().to_f32(), [0.0; 2]);
}

#[test]
fn foreign_files_and_versions() {
    for bytes in [&b"PK\x03\x04"[..], b"FUGG\x03\0\0\0", &[0; 100]] {
        Raw(bytes.to_vec()).assert_says("not a GGUF file");
    }
    Raw(Vec::new()).assert_says("truncated");
    for version in [0, 1, 2, 4, 0x0300_0000] {
        Raw(b"GGUF".to_vec()).u32(version).u64(0).u64(0).assert_says("version");
    }
}

#[test]
fn counts_and_lengths_are_not_believed() {
    Raw::new(u64::MAX, 0).assert_says("tensors, more than");
    Raw::new(0, u64::MAX).assert_says("metadata entries, more than");
    Raw::new(0, 1).u64(u64::MAX).assert_says("a metadata key is announced with");
    Raw::new(0, 1).u64(200).bytes(b"short").assert_says("truncated");
    Raw::new(0, 1).text("k").u32(8).u64(1 << 60).assert_says("more than");
    Raw::new(1, 0).u64(1 << 40).assert_says("a tensor's name is announced with");
    Raw::new(0, 1).u64(2).bytes(&[0xC3, 0x28]).assert_says("not UTF-8");
    // Arrays: more elements than any file holds, sizes that overflow, arrays of arrays, unknown types.
    for kind in [0, 4, 6, 8, 10, 12] {
        Raw::new(0, 1).text("k").u32(9).u32(kind).u64(u64::MAX).assert_says("truncated");
        Raw::new(0, 1).text("k").u32(9).u32(kind).u64(1 << 61).assert_says("truncated");
    }
    Raw::new(0, 1).text("k").u32(9).u32(9).u64(1).assert_says("'k' has the unknown type 9");
    Raw::new(0, 1).text("k").u32(13).u64(0).assert_says("'k' has the unknown type 13");
    Raw::new(0, 2).text("k").u32(4).u32(1).text("k").u32(4).u32(1).assert_says("'k' occurs twice");
}

#[test]
fn shapes_are_checked_for_sense_and_overflow() {
    let one = |sides: &[u64], kind| Raw::new(1, 0).tensor("weights", sides, kind, 0).data(&[0; 4096]);
    one(&[], F32).assert_says("'weights' has 0 dimensions");
    one(&[1; 5], F32).assert_says("'weights' has 5 dimensions");
    one(&[4, 0], F32).assert_says("impossible shape");
    one(&[u64::MAX], F32).assert_says("impossible shape");
    one(&[1 << 32, 1 << 32], F32).assert_says("impossible shape");
    one(&[1 << 31, 1 << 31, 2, 2], F32).assert_says("impossible shape");
    one(&[1 << 40], F32).assert_says("reaches past its end");
    one(&[1025], F32).assert_says("reaches past its end");
    one(&[33], 8).assert_says("impossible shape");
    Raw::new(1, 0).text("weights").u32(u32::MAX).assert_says("dimensions");
}

#[test]
fn types_that_are_not_read_are_named() {
    Raw::new(1, 1)
        .text("general.architecture")
        .u32(8)
        .text("llama")
        .tensor("blk.0.attn_q.weight", &[256], 12, 0)
        .data(&[0; 4096])
        .assert_says("'blk.0.attn_q.weight' of this 'llama' model has type Q4_K");
    Raw::new(1, 0).tensor("a", &[256], 4711, 0).data(&[0; 4096]).assert_says("number 4711");
}

#[test]
fn places_must_be_inside_aligned_and_apart() {
    let at = |offset| Raw::new(1, 0).tensor("a", &[8], F32, offset).data(&[0; 64]);
    at(32).parse().unwrap();
    at(64).assert_says("reaches past its end");
    at(4).assert_says("not a multiple of 32");
    at(u64::MAX - 31).assert_says("reaches past its end");
    at(1 << 63).assert_says("reaches past its end");
    let two =
        |second| Raw::new(2, 0).tensor("a", &[16], F32, 0).tensor("b", &[8], F32, second).data(&[0; 128]);
    two(64).parse().unwrap();
    two(0).assert_says("'a' and 'b' overlap");
    two(32).assert_says("'a' and 'b' overlap");
    Raw::new(2, 0)
        .tensor("a", &[8], F32, 0)
        .tensor("a", &[8], F32, 32)
        .data(&[0; 64])
        .assert_says("'a' occurs twice");
    for alignment in [0, 1, 3, 48, 1 << 20] {
        Raw::new(0, 1).text("general.alignment").u32(4).u32(alignment).assert_says("general.alignment");
    }
    Raw::new(0, 1).text("general.alignment").u32(8).text("32").assert_says("general.alignment");
}

#[test]
fn weights_that_are_not_numbers_are_named() {
    for (kind, bytes, index) in [
        (TensorKind::F32, [[0; 4], f32::NAN.to_le_bytes()].concat(), 1),
        (TensorKind::F32, [f32::NEG_INFINITY.to_le_bytes(), [0; 4]].concat(), 0),
        (TensorKind::F16, vec![0, 0, 0, 0x7C], 1),
        (TensorKind::Q8_0, [&[0; 34][..], &[0, 0x7E], &[0; 32]].concat(), 32),
    ] {
        let sides = [if kind == TensorKind::Q8_0 { 64 } else { 2 }];
        let gguf = Raw::new(1, 0).tensor("bad", &sides, kind.id(), 0).data(&bytes).parse().unwrap();
        let message = gguf.check_finite().unwrap_err().to_string();
        assert!(message.contains("'bad'") && message.contains(&format!("element {index})")), "{message}");
    }
}

#[test]
fn opening_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("модель.gguf");
    assert!(Gguf::open(&path).unwrap_err().to_string().contains("модель.gguf"));
    std::fs::write(&path, "").unwrap();
    assert!(Gguf::open(&path).unwrap_err().to_string().contains("модель.gguf"));
    assert!(Gguf::open(folder.path()).is_err());
}
