//! Checkpoints that must be refused, each with one message that says why.

use std::fs;

use masklet::convert::Checkpoint;

use super::checkpoints::{Stored, hugging_face, official, safetensors_file, torch_zip};

/// The message for a file of these bytes.
fn refusal(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("файл.pt");
    fs::write(&path, bytes).unwrap();
    let message = Checkpoint::open(&path).unwrap_err().to_string();
    assert!(message.contains("файл.pt") && !message.contains('\n'), "{message}");
    message
}

fn assert_says(bytes: &[u8], wanted: &str) {
    let message = refusal(bytes);
    assert!(message.contains(wanted), "{message:?} should contain {wanted:?}");
}

/// The official list with one tensor changed.
fn changed(name: &str, change: impl Fn(&mut Stored)) -> Vec<u8> {
    let mut tensors = official(true);
    change(tensors.iter_mut().find(|tensor| tensor.name == name).unwrap());
    torch_zip("model", &tensors)
}

#[test]
fn foreign_files_are_named_as_such() {
    for bytes in [&b""[..], b"P", b"hello, world", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &[0; 4096], &[0xFF; 64]]
    {
        assert_says(bytes, "neither a PyTorch checkpoint");
    }
    assert_says(b"GGUF\x03\0\0\0", "GGUF file already");
    assert_says(b"PK\x05\x06 but no zip", "PyTorch checkpoint is damaged");
    assert_says(&torch_zip("weights", &[Stored::f32("a", &[1], &[1.0])]), "no key 'model'");
    assert_says(&torch_zip("model", &[]), "no key 'model'");
    assert_says(&torch_zip("model", &[Stored::f32("a", &[1], &[1.0])]), "876 of 876 are");
    assert_says(&safetensors_file(&[Stored::f32("a", &[1], &[1.0])]), "is missing");
    assert_says(b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F{}", "safetensors file is damaged");
    assert_says(b"\x02\0\0\0\0\0\0\0{}", "is missing");
}

#[test]
fn a_tensor_too_few_or_too_many_is_named() {
    let mut tensors = official(true);
    tensors.retain(|tensor| tensor.name != "memory_encoder.fuser.layers.1.gamma");
    assert_says(&torch_zip("model", &tensors), "'memory_encoder.fuser.layers.1.gamma' is missing (1 of 876");
    let mut tensors = official(true);
    tensors.push(Stored::f32("obj_ptr_tpos_proj.weight", &[2], &[0.0; 2]));
    assert_says(&torch_zip("model", &tensors), "'obj_ptr_tpos_proj.weight' does not belong to EdgeTAM");
    let mut tensors = hugging_face();
    tensors.push(Stored::f32("occlusion_spatial_embedding_parameter", &[2], &[0.0; 2]));
    assert_says(&safetensors_file(&tensors), "'occlusion_spatial_embedding_parameter' does not belong");
}

#[test]
fn counters_may_be_absent() {
    let mut tensors = official(true);
    tensors.retain(|tensor| !tensor.name.ends_with("num_batches_tracked"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pt");
    fs::write(&path, torch_zip("model", &tensors)).unwrap();
    Checkpoint::open(&path).unwrap();
}

#[test]
fn wrong_shapes_and_types_are_named() {
    let name = "memory_attention.layers.1.cross_attn_image.k_proj.weight";
    let shape = changed(name, |tensor| tensor.shape = vec![64, 256]);
    assert_says(&shape, "k_proj.weight' has shape [64, 256], EdgeTAM's has [256, 64]");
    let flat = changed(name, |tensor| tensor.shape = vec![256 * 64]);
    assert_says(&flat, "has shape [16384]");
    let whole = changed("no_obj_ptr", |tensor| {
        tensor.storage = "LongStorage";
        tensor.bytes = vec![0; 8 * 256];
    });
    assert_says(&whole, "'no_obj_ptr' has type I64");
}

#[test]
fn data_shorter_than_its_shape_is_an_error() {
    let short = changed("no_obj_ptr", |tensor| tensor.bytes.truncate(100));
    refusal(&short);
    // The pickle tells the truth about the storage, the zip entry does not have it.
    let huge = changed("no_obj_ptr", |tensor| tensor.shape = vec![1 << 30, 1 << 30]);
    refusal(&huge);
}

#[test]
fn weights_that_are_not_numbers_are_named() {
    let nan =
        changed("no_mem_embed", |tensor| tensor.bytes[10..12].copy_from_slice(&0x7E00u16.to_le_bytes()));
    assert_says(&nan, "'no_mem_embed' holds a NaN or an infinity (element 5)");
    let name = "image_encoder.trunk.body.stages_2.blocks.7.token_mixer.conv1.bn.running_var";
    let negative = changed(name, |tensor| tensor.bytes[..2].copy_from_slice(&0xBC00u16.to_le_bytes()));
    assert_says(&negative, "running_var' holds a negative variance (element 0)");
}

#[test]
fn differing_copies_are_refused() {
    let mut tensors = hugging_face();
    let name = "shared_image_embedding.positional_embedding";
    tensors.iter_mut().find(|tensor| tensor.name == name).unwrap().bytes[0] ^= 1;
    assert_says(&safetensors_file(&tensors), "should be equal and are not");
}

#[test]
fn truncated_checkpoints_are_errors() {
    for whole in [torch_zip("model", &official(true)), safetensors_file(&hugging_face())] {
        let mut lengths = vec![1, 9, 100, 1000, whole.len() / 2, whole.len() - 100, whole.len() - 1];
        lengths.extend((1..8).map(|step| whole.len() * step / 8));
        for length in lengths {
            refusal(&whole[..length]);
        }
    }
}

#[test]
fn a_pickle_that_inflates_is_refused_unread() {
    use std::io::{Cursor, Write};
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("archive/data.pkl", stored).unwrap();
    zip.write_all(&vec![b'N'; 5 << 20]).unwrap();
    assert_says(&zip.finish().unwrap().into_inner(), "'archive/data.pkl' has 5242880 bytes");
}
