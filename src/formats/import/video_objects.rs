//! Masks from a YouTube-VIS file of either form. Of several videos the first is read.

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
    videos: Vec<Video>,
    categories: Vec<Category>,
    annotations: Vec<Track>,
}

#[derive(Deserialize)]
struct Video {
    id: u64,
    width: u32,
    height: u32,
    file_names: Vec<String>,
    /// Our own files name the frames.
    #[serde(default)]
    frame_indices: Vec<u32>,
}

#[derive(Deserialize)]
struct Category {
    id: u64,
    name: String,
}

#[derive(Deserialize)]
struct Track {
    video_id: u64,
    category_id: u64,
    segmentations: Vec<Option<Segmentation>>,
    score: Option<f64>,
    name: Option<String>,
}

/// Reads the ground-truth form.
pub fn truth(path: &Path, names: &FrameNames) -> Result<Imported, ImportError> {
    let file = BufReader::new(File::open(path).map_err(io(path))?);
    let document: Document = serde_json::from_reader(file).map_err(|e| {
        unreadable(path, format!("this is no YouTube-VIS file: {e}; `masklet validate` says more"))
    })?;
    let video = document.videos.first().ok_or_else(|| unreadable(path, "there is no video in it"))?;
    let frames: Vec<FrameIndex> = if video.frame_indices.len() == video.file_names.len() {
        video.frame_indices.iter().copied().map(FrameIndex).collect()
    } else {
        let frame = |name: &String| {
            names.frame(name).ok_or_else(|| unreadable(path, format!("{name} is the name of no frame")))
        };
        video.file_names.iter().map(frame).collect::<Result<_, _>>()?
    };
    let classes: HashMap<u64, &str> = document.categories.iter().map(|c| (c.id, c.name.as_str())).collect();
    let size = Size::new(video.width, video.height);
    let mut imported = read(path, &document.annotations, video.id, size, &frames, &classes)?;
    if document.videos.len() > 1 {
        imported.warnings.push(format!("the file has {} videos: the first was read", document.videos.len()));
    }
    Ok(imported)
}

/// Reads the results form, which names neither frames nor classes: frames are counted.
pub fn results(path: &Path) -> Result<Imported, ImportError> {
    let file = BufReader::new(File::open(path).map_err(io(path))?);
    let tracks: Vec<Track> = serde_json::from_reader(file)
        .map_err(|e| unreadable(path, format!("this is no YouTube-VIS results file: {e}")))?;
    let first = tracks.first().ok_or_else(|| unreadable(path, "the list is empty"))?;
    let sizes = tracks.iter().flat_map(|track| track.segmentations.iter().flatten());
    let size = sizes
        .filter_map(|segmentation| match segmentation {
            Segmentation::Rle { size: [height, width], .. } => Some(Size::new(*width, *height)),
            Segmentation::Polygons(_) => None,
        })
        .next();
    let size = size.ok_or_else(|| unreadable(path, "no mask says how large the picture is"))?;
    let longest = tracks.iter().map(|track| track.segmentations.len()).max().unwrap_or(0);
    let frames: Vec<_> = (0..longest as u32).map(FrameIndex).collect();
    let mut imported = read(path, &tracks, first.video_id, size, &frames, &HashMap::new())?;
    imported.warnings.push("a results file names no frames: its first mask was taken for frame 0".into());
    Ok(imported)
}

fn read(
    path: &Path,
    tracks: &[Track],
    video: u64,
    size: Size,
    frames: &[FrameIndex],
    classes: &HashMap<u64, &str>,
) -> Result<Imported, ImportError> {
    if size.area() > 1 << 27 {
        return Err(unreadable(path, format!("{size} pixels are too many")));
    }
    let mut found = Vec::new();
    for (number, track) in (1..).zip(tracks).filter(|(_, track)| track.video_id == video) {
        let fail = |reason: String| unreadable(path, format!("track {number}: {reason}"));
        if track.segmentations.len() > frames.len() {
            return Err(fail("it is longer than its video".into()));
        }
        let class = classes
            .get(&track.category_id)
            .map_or_else(|| format!("class {}", track.category_id), |class| (*class).to_owned());
        let mut masks = BTreeMap::new();
        for (&frame, segmentation) in frames.iter().zip(&track.segmentations) {
            let Some(segmentation) = segmentation else { continue };
            let mask = segmentation.mask(size).map_err(|reason| fail(format!("frame {frame}: {reason}")))?;
            if mask.area() > 0 {
                masks.insert(frame, result(mask, track.score));
            }
        }
        let name = track.name.clone().unwrap_or_else(|| class.clone());
        found.push(ImportedTrack { name, class, masks });
    }
    Ok(Imported { size, tracks: found, warnings: Vec::new() })
}
