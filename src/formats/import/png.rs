//! Masks from PNG: one folder of pictures with object numbers, or a folder of black and white pictures per object.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{FrameNames, ImportError, Imported, ImportedTrack, io, result, unreadable};
use crate::base::{FrameIndex, Rle, Size};
use crate::session::DEFAULT_CLASS;
use crate::video::{natural_order, read_labels, read_mask};

/// What `masklet.json` says of an object.
#[derive(Clone, Debug, Deserialize)]
struct Named {
    number: u16,
    name: String,
    class: String,
    folder: String,
}

#[derive(Deserialize)]
struct Sidecar {
    objects: Vec<Named>,
}

/// The objects that `masklet.json` beside `folder` names; none when there is no such file.
fn named(folder: &Path) -> Vec<Named> {
    let beside = folder.parent().unwrap_or(Path::new("")).join("masklet.json");
    let text = std::fs::read(beside).unwrap_or_default();
    serde_json::from_slice::<Sidecar>(&text).map(|sidecar| sidecar.objects).unwrap_or_default()
}

/// The PNG files of `folder` with their frames, in natural order.
fn files(folder: &Path, names: &FrameNames) -> Result<Vec<(FrameIndex, PathBuf)>, ImportError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io(folder))? {
        let path = entry.map_err(io(folder))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.starts_with('.') || !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
            continue;
        }
        let frame = names.frame(name).ok_or_else(|| {
            unreadable(&path, "its name is that of no frame: name masks as the frames, or by their numbers")
        })?;
        files.push((frame, path));
    }
    files.sort_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| natural_order(&a.1.to_string_lossy(), &b.1.to_string_lossy()))
    });
    if let Some(pair) = files.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let reason = format!("it and {} are masks of one frame", pair[0].1.display());
        return Err(unreadable(&pair[1].1, reason));
    }
    if files.is_empty() {
        return Err(unreadable(folder, "there is no PNG in this folder"));
    }
    Ok(files)
}

fn same_size(size: &mut Option<Size>, found: Size, path: &Path) -> Result<(), ImportError> {
    let first = *size.get_or_insert(found);
    if first == found {
        return Ok(());
    }
    Err(unreadable(path, format!("it has {found} pixels but the masks before have {first}")))
}

/// One folder; each value but 0 is an object.
pub fn indexed(folder: &Path, names: &FrameNames) -> Result<Imported, ImportError> {
    let (mut size, mut masks) = (None, BTreeMap::<u16, BTreeMap<FrameIndex, _>>::new());
    for (frame, path) in files(folder, names)? {
        let labels = read_labels(&path).map_err(|e| unreadable(&path, reason(&e, &path)))?;
        same_size(&mut size, labels.size(), &path)?;
        for label in labels.present() {
            let mask = Rle::encode(&labels.of(label));
            masks.entry(label).or_default().insert(frame, result(mask, None));
        }
    }
    let named = named(folder);
    let tracks = masks.into_iter().map(|(label, masks)| {
        let known = named.iter().find(|object| object.number == label);
        let name = known.map_or_else(|| format!("object {label}"), |object| object.name.clone());
        let class = known.map_or_else(|| DEFAULT_CLASS.to_owned(), |object| object.class.clone());
        ImportedTrack { name, class, masks }
    });
    Ok(Imported { tracks: tracks.collect(), size: size.unwrap_or(Size::new(0, 0)), warnings: Vec::new() })
}

/// A folder per object, or one folder with one object.
pub fn binary(folder: &Path, names: &FrameNames) -> Result<Imported, ImportError> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io(folder))? {
        let path = entry.map_err(io(folder))?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort_by(|a, b| natural_order(&a.to_string_lossy(), &b.to_string_lossy()));
    let single = folders.is_empty();
    if single {
        folders.push(folder.to_owned());
    }
    let named = named(folder);
    let (mut size, mut tracks) = (None, Vec::new());
    for path in folders {
        let own = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let known = named.iter().find(|object| object.folder == own && !single);
        let mut masks = BTreeMap::new();
        for (frame, path) in files(&path, names)? {
            let mask = read_mask(&path).map_err(|e| unreadable(&path, reason(&e, &path)))?;
            same_size(&mut size, mask.size(), &path)?;
            if mask.area() > 0 {
                masks.insert(frame, result(Rle::encode(&mask), None));
            }
        }
        tracks.push(ImportedTrack {
            name: known.map_or(own, |object| object.name.clone()),
            class: known.map_or_else(|| DEFAULT_CLASS.to_owned(), |object| object.class.clone()),
            masks,
        });
    }
    Ok(Imported { tracks, size: size.unwrap_or(Size::new(0, 0)), warnings: Vec::new() })
}

/// The error without the path that comes before it anyway.
fn reason(error: &crate::video::VideoError, path: &Path) -> String {
    let text = error.to_string();
    text.strip_prefix(&format!("{}: ", path.display())).map_or(text.clone(), str::to_owned)
}
