//! Masks from a COCO instances file. Annotations of a track belong together; without track ids those of a class do, the
//! n-th of a picture to the n-th track.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::Deserialize;

use super::{FrameNames, ImportError, Imported, ImportedTrack, io, result, unreadable};
use crate::base::{FrameIndex, Size};
use crate::formats::segmentation::Segmentation;

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    info: Option<Info>,
    images: Vec<Image>,
    categories: Vec<Category>,
    annotations: Vec<Annotation>,
}

#[derive(Deserialize, Default)]
struct Info {
    #[serde(default)]
    tracks: Vec<Track>,
}

#[derive(Deserialize)]
struct Track {
    id: u64,
    name: String,
}

#[derive(Deserialize)]
struct Image {
    id: u64,
    file_name: String,
    width: u32,
    height: u32,
    /// Our own files name the frame.
    frame_index: Option<u32>,
}

#[derive(Deserialize)]
struct Category {
    id: u64,
    name: String,
}

#[derive(Deserialize)]
struct Annotation {
    id: u64,
    image_id: u64,
    category_id: u64,
    segmentation: Option<Segmentation>,
    track_id: Option<u64>,
    #[serde(default)]
    attributes: HashMap<String, serde_json::Value>,
    score: Option<f64>,
}

impl Annotation {
    fn track(&self) -> Option<u64> {
        self.track_id.or_else(|| self.attributes.get("track_id").and_then(serde_json::Value::as_u64))
    }
}

/// Which annotations belong together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Track(u64),
    /// The n-th of a class on its picture.
    Nth(u64, usize),
}

/// Reads the file.
pub fn read(path: &Path, names: &FrameNames) -> Result<Imported, ImportError> {
    let file = BufReader::new(File::open(path).map_err(io(path))?);
    let document: Document = serde_json::from_reader(file)
        .map_err(|e| unreadable(path, format!("this is no COCO file: {e}; `masklet validate` says more")))?;
    let mut warnings = Vec::new();
    let mut images: HashMap<u64, (FrameIndex, Size)> = HashMap::new();
    let mut size = None;
    for image in &document.images {
        let found = Size::new(image.width, image.height);
        let first = *size.get_or_insert(found);
        if found != first {
            return Err(unreadable(
                path,
                format!("image {} has {found} pixels but others have {first}", image.id),
            ));
        }
        let frame = image
            .frame_index
            .map(FrameIndex)
            .or_else(|| names.frame(&image.file_name))
            .ok_or_else(|| unreadable(path, format!("{} is the name of no frame", image.file_name)))?;
        images.insert(image.id, (frame, found));
    }
    let classes: HashMap<u64, &str> = document.categories.iter().map(|c| (c.id, c.name.as_str())).collect();
    let tracks: Vec<Track> = document.info.map(|info| info.tracks).unwrap_or_default();
    let mut found: BTreeMap<Key, ImportedTrack> = BTreeMap::new();
    let mut nth: HashMap<(u64, u64), usize> = HashMap::new();
    let mut without = 0u32;
    for annotation in &document.annotations {
        let fail = |reason: String| unreadable(path, format!("annotation {}: {reason}", annotation.id));
        let (frame, size) = *images
            .get(&annotation.image_id)
            .ok_or_else(|| fail(format!("there is no image {}", annotation.image_id)))?;
        let class = classes
            .get(&annotation.category_id)
            .ok_or_else(|| fail(format!("there is no category {}", annotation.category_id)))?;
        let Some(segmentation) = &annotation.segmentation else {
            without += 1;
            continue;
        };
        let key = match annotation.track() {
            Some(track) => Key::Track(track),
            None => {
                let count = nth.entry((annotation.image_id, annotation.category_id)).or_default();
                *count += 1;
                Key::Nth(annotation.category_id, *count)
            }
        };
        let mask = segmentation.mask(size).map_err(fail)?;
        if mask.area() == 0 {
            continue;
        }
        let track = found.entry(key).or_insert_with(|| {
            let name = match key {
                Key::Track(id) => tracks.iter().find(|track| track.id == id).map(|track| track.name.clone()),
                Key::Nth(..) => None,
            };
            let name = name.unwrap_or_else(|| (*class).to_owned());
            ImportedTrack { name, class: (*class).to_owned(), masks: BTreeMap::new() }
        });
        if track.masks.insert(frame, result(mask, annotation.score)).is_some() {
            return Err(fail("its track has two masks on this frame".into()));
        }
    }
    if found.keys().any(|key| matches!(key, Key::Nth(_, n) if *n > 1)) {
        warnings
            .push("the file has no track ids: which masks belong together was taken from their order".into());
    }
    if without > 0 {
        warnings.push(format!("{without} annotations have no mask and were left out"));
    }
    Ok(Imported { size: size.unwrap_or(Size::new(0, 0)), tracks: found.into_values().collect(), warnings })
}
