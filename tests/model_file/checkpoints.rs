//! Makes checkpoints as files: PyTorch zips with a hand-written pickle, and safetensors.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::sync::OnceLock;

use half::f16;
use masklet::convert::{Checkpoint, HfSource, expected, hugging_face_sources, random_checkpoint};

/// The random checkpoint, made once.
pub fn random() -> &'static Checkpoint {
    static RANDOM: OnceLock<Checkpoint> = OnceLock::new();
    RANDOM.get_or_init(random_checkpoint)
}

/// A tensor to be put in a file.
#[derive(Clone, Debug)]
pub struct Stored {
    pub name: String,
    pub shape: Vec<usize>,
    /// "FloatStorage", "HalfStorage" or "LongStorage".
    pub storage: &'static str,
    pub bytes: Vec<u8>,
}

impl Stored {
    pub fn f32(name: &str, shape: &[usize], values: &[f32]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name: name.to_owned(), shape: shape.to_vec(), storage: "FloatStorage", bytes }
    }

    pub fn f16(name: &str, shape: &[usize], values: &[f32]) -> Self {
        let bytes = values.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes()).collect();
        Self { name: name.to_owned(), shape: shape.to_vec(), storage: "HalfStorage", bytes }
    }

    fn element(&self) -> usize {
        match self.storage {
            "FloatStorage" => 4,
            "HalfStorage" => 2,
            _ => 8,
        }
    }
}

/// All 982 tensors of the random checkpoint as the official file has them.
pub fn official(half: bool) -> Vec<Stored> {
    let mut list = Vec::new();
    for (name, shape) in expected() {
        let data = &random().get(&name).unwrap().data;
        list.push(if half { Stored::f16(&name, &shape, data) } else { Stored::f32(&name, &shape, data) });
        if let Some(prefix) = name.strip_suffix("running_var") {
            let name = format!("{prefix}num_batches_tracked");
            list.push(Stored {
                name,
                shape: vec![],
                storage: "LongStorage",
                bytes: vec![7, 0, 0, 0, 0, 0, 0, 0],
            });
        }
    }
    list
}

/// A file as `torch.save({key: tensors})` writes it.
pub fn torch_zip(key: &str, tensors: &[Stored]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut add = |name: String, bytes: &[u8]| {
        zip.start_file(name, stored).unwrap();
        zip.write_all(bytes).unwrap();
    };
    add("archive/data.pkl".to_owned(), &pickle(key, tensors));
    add("archive/byteorder".to_owned(), b"little");
    for (index, tensor) in tensors.iter().enumerate() {
        add(format!("archive/data/{index}"), &tensor.bytes);
    }
    add("archive/version".to_owned(), b"3\n");
    zip.finish().unwrap().into_inner()
}

/// Pickle protocol 2 of `{key: {name: tensor, ...}}`.
fn pickle(key: &str, tensors: &[Stored]) -> Vec<u8> {
    let mut out = b"\x80\x02}".to_vec();
    text(&mut out, key);
    out.extend_from_slice(b"}(");
    for (index, tensor) in tensors.iter().enumerate() {
        text(&mut out, &tensor.name);
        out.extend_from_slice(b"ctorch._utils\n_rebuild_tensor_v2\n((");
        text(&mut out, "storage");
        out.extend_from_slice(format!("ctorch\n{}\n", tensor.storage).as_bytes());
        text(&mut out, &index.to_string());
        text(&mut out, "cpu");
        integer(&mut out, tensor.bytes.len() / tensor.element());
        out.extend_from_slice(b"tQ");
        integer(&mut out, 0);
        out.push(b'(');
        tensor.shape.iter().for_each(|&side| integer(&mut out, side));
        out.extend_from_slice(b"t(");
        for axis in 0..tensor.shape.len() {
            integer(&mut out, tensor.shape[axis + 1..].iter().product());
        }
        out.extend_from_slice(b"t\x89ccollections\nOrderedDict\n)RtR");
    }
    out.extend_from_slice(b"us.");
    out
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.push(b'X');
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn integer(out: &mut Vec<u8>, value: usize) {
    out.push(b'J');
    out.extend_from_slice(&(value as u32).to_le_bytes());
}

/// A tensor in the safetensors crate's terms.
pub struct View<'a>(pub &'a Stored);

impl safetensors::View for View<'_> {
    fn dtype(&self) -> safetensors::Dtype {
        match self.0.storage {
            "FloatStorage" => safetensors::Dtype::F32,
            "HalfStorage" => safetensors::Dtype::F16,
            _ => safetensors::Dtype::I64,
        }
    }

    fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.0.bytes)
    }

    fn data_len(&self) -> usize {
        self.0.bytes.len()
    }
}

/// The random checkpoint under Hugging Face names: 984 tensors, the counters among them.
pub fn hugging_face() -> Vec<Stored> {
    let mut list: BTreeMap<String, Stored> = BTreeMap::new();
    let mut put = |name: String, shape: &[usize], values: &[f32]| {
        let entry =
            list.entry(name.clone()).or_insert_with(|| Stored::f32(&name, &[0, shape[shape.len() - 1]], &[]));
        if entry.bytes.is_empty() {
            *entry = Stored::f32(&name, shape, values);
        } else {
            entry.shape[0] += shape[0];
            entry.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
    };
    for (name, shape) in expected() {
        let data = &random().get(&name).unwrap().data;
        match hugging_face_sources(&name) {
            HfSource::Whole(hf) | HfSource::Row(hf, _) => put(hf, &shape, data),
            HfSource::Copies(first, second) => {
                put(first, &shape, data);
                put(second, &shape, data);
            }
            HfSource::Stack(first, second) => {
                let (top, bottom) = data.split_at(data.len() / 2);
                put(first, &[shape[0] / 2, shape[1]], top);
                put(second, &[shape[0] / 2, shape[1]], bottom);
            }
        }
    }
    let counters: Vec<String> = list
        .keys()
        .filter_map(|name| {
            name.strip_suffix("running_var").map(|prefix| format!("{prefix}num_batches_tracked"))
        })
        .collect();
    for name in counters {
        let counter = Stored { name: name.clone(), shape: vec![], storage: "LongStorage", bytes: vec![0; 8] };
        list.insert(name, counter);
    }
    list.into_values().collect()
}

/// A safetensors file.
pub fn safetensors_file(tensors: &[Stored]) -> Vec<u8> {
    safetensors::serialize(tensors.iter().map(|tensor| (tensor.name.clone(), View(tensor))), None).unwrap()
}
