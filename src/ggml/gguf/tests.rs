//! Owns the small checks of the reader and writer; hostile files are in `tests/model_file.rs`.
//! May import: the module it tests.
//! Must not: read files.

use super::*;

fn sample() -> Vec<u8> {
    let metadata = [
        ("general.architecture", WriteMeta::Str("edgetam".to_owned())),
        ("a", WriteMeta::U32(7)),
        ("b", WriteMeta::F32(0.5)),
        ("c", WriteMeta::U32s(vec![1, 2, 3])),
        ("d", WriteMeta::F32s(vec![0.25, -1.0])),
    ];
    let tensors: [(&str, &[u64], TensorKind); 3] =
        [("x", &[3, 2], TensorKind::F32), ("y", &[5], TensorKind::F16), ("z", &[32, 2], TensorKind::Q8_0)];
    let mut writer = GgufWriter::new(Vec::new(), &metadata, &tensors).unwrap();
    writer.data(&TensorKind::F32.encode(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
    writer.data(&TensorKind::F16.encode(&[0.5; 5])).unwrap();
    let ramp: Vec<f32> = (0..64).map(|i| i as f32 - 20.0).collect();
    writer.data(&TensorKind::Q8_0.encode(&ramp)).unwrap();
    writer.finish().unwrap()
}

#[test]
fn a_written_file_reads_back() {
    let gguf = Gguf::parse(sample().into()).unwrap();
    assert_eq!(gguf.meta_str("general.architecture").unwrap(), "edgetam");
    assert_eq!(gguf.meta_u32("a").unwrap(), 7);
    assert_eq!(gguf.meta_f32("b").unwrap(), 0.5);
    assert_eq!(gguf.meta_u32s("c").unwrap(), [1, 2, 3]);
    assert_eq!(gguf.meta_f32s("d").unwrap(), [0.25, -1.0]);
    let names: Vec<&str> = gguf.tensors().map(|(name, _)| name).collect();
    assert_eq!(names, ["x", "y", "z"]);
    let x = gguf.tensor("x").unwrap();
    assert_eq!((x.ne, x.kind), ([3, 2, 1, 1], TensorKind::F32));
    assert_eq!(x.to_f32(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(gguf.tensor("y").unwrap().to_f32(), [0.5; 5]);
    let z = gguf.tensor("z").unwrap().to_f32();
    assert!(z.iter().enumerate().all(|(i, v)| (v - (i as f32 - 20.0)).abs() < 0.25), "{z:?}");
    assert!(gguf.tensor("w").is_none());
    gguf.check_finite().unwrap();
}

#[test]
fn getters_name_the_key() {
    let gguf = Gguf::parse(sample().into()).unwrap();
    assert!(gguf.meta_u32("nothing").unwrap_err().to_string().contains("'nothing' is missing"));
    assert!(gguf.meta_u32("b").unwrap_err().to_string().contains("'b' is '0.5', not a u32"));
    assert!(gguf.meta_u32s("d").is_err() && gguf.meta_str("a").is_err() && gguf.meta_f32s("c").is_err());
}

#[test]
fn every_truncation_is_an_error() {
    let whole = sample();
    // The padding after the last tensor is the only part that may be missing.
    for len in 0..whole.len() - 28 {
        assert!(Gguf::parse(whole[..len].to_vec().into()).is_err(), "{len} bytes of {}", whole.len());
    }
}

#[test]
fn the_writer_refuses_what_it_did_not_announce() {
    let tensors: [(&str, &[u64], TensorKind); 1] = [("x", &[2], TensorKind::F32)];
    let mut writer = GgufWriter::new(Vec::new(), &[], &tensors).unwrap();
    assert!(writer.data(&[0; 4]).is_err());
    let writer = GgufWriter::new(Vec::new(), &[], &tensors).unwrap();
    assert!(writer.finish().is_err());
    let bad: [(&str, &[u64], TensorKind); 1] = [("x", &[33], TensorKind::Q8_0)];
    assert!(GgufWriter::new(Vec::new(), &[], &bad).is_err());
}

#[test]
fn q8_0_keeps_zero_blocks_and_extremes() {
    let bytes = quantise_q8_0(&[0.0; 32]);
    assert_eq!(bytes, [0; 34]);
    let mut values = [0.0; 32];
    values[3] = -127.0;
    values[4] = 63.5;
    let bytes = quantise_q8_0(&values);
    assert_eq!(bytes[..2], half::f16::from_f32(1.0).to_le_bytes());
    assert_eq!((bytes[2 + 3] as i8, bytes[2 + 4] as i8), (-127, 64));
}
