//! OpenEXR mattes: one file a frame, with a channel per object in half floats: 1 where the object is, 0 elsewhere.
//!
//! All channels lie in one part, which every reader of EXR takes; `A` is all objects together, `<object>.A` each alone.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use exr::prelude::{
    AnyChannel, AnyChannels, Encoding, FlatSamples, Image, ImageAttributes, IntegerBounds, Layer,
    LayerAttributes, ReadChannels, ReadLayers, SmallVec, Vec2, WritableImage, f16, read,
};

use super::binary_png::matte;
use super::findings::Findings;
use super::folder::FrameFolder;
use super::names::folder_name;
use super::registry::Opening;
use super::{ExportError, ExportFrame, ExportSummary, Exporter};
use crate::base::{Format, Size};

/// Writes `exr/<stem>.exr`.
struct ExrLayers(FrameFolder);

/// Starts the writer.
///
/// # Errors
/// A folder that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    Ok(Box::new(ExrLayers(FrameFolder::new(opening.plan, opening.target)?)))
}

/// A matte's name as a channel: ASCII, and no dot but the last.
fn channel_name(number: usize, name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    format!("{}.A", folder_name(number, name).chars().map(plain).take(60).collect::<String>())
}

fn encode(size: Size, channels: Vec<(String, Vec<u8>)>, comment: &str) -> Result<Vec<u8>, String> {
    let bounds = Vec2(size.width as usize, size.height as usize);
    let channel = |(name, matte): (String, Vec<u8>)| {
        let samples = matte.iter().map(|&v| if v == 0 { f16::ZERO } else { f16::ONE }).collect();
        AnyChannel::new(name.as_str(), FlatSamples::F16(samples))
    };
    let channels: SmallVec<[_; 4]> = channels.into_iter().map(channel).collect();
    let attributes = LayerAttributes {
        comments: Some(comment.into()),
        software_name: Some("masklet".into()),
        ..LayerAttributes::default()
    };
    let layer = Layer::new(bounds, attributes, Encoding::FAST_LOSSLESS, AnyChannels::sort(channels));
    let image = Image::empty(ImageAttributes::new(IntegerBounds::from_dimensions(bounds))).with_layer(layer);
    let mut bytes = Cursor::new(Vec::new());
    image.write().non_parallel().to_buffered(&mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes.into_inner())
}

/// The number of channels and the size, read whole.
fn decode(bytes: &[u8]) -> Result<(usize, Size), String> {
    let image = read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .non_parallel()
        .from_buffered(Cursor::new(bytes))
        .map_err(|e| e.to_string())?;
    let size = image.layer_data.size;
    Ok((image.layer_data.channel_data.list.len(), Size::new(size.0 as u32, size.1 as u32)))
}

impl Exporter for ExrLayers {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let Self(folder) = self;
        let size = folder.plan.size;
        let masks = folder.plan.in_list_order(frame);
        let mut channels = vec![("A".to_owned(), matte(size, frame.masks.iter().map(|mask| mask.mask)))];
        for ((number, object), mask) in (1..).zip(&folder.plan.objects).zip(masks) {
            let pixels = matte(size, mask.iter().map(|mask| mask.mask));
            channels.push((channel_name(number, &object.name), pixels));
        }
        let expected = (channels.len(), size);
        let name = PathBuf::from(format!("{}.exr", folder.stems.stem(frame)));
        let bytes = encode(size, channels, &folder.plan.stamp.to_line())
            .map_err(|reason| folder.invalid(&name, reason))?;
        folder.put(&name, &bytes, |back| {
            let found = decode(back)?;
            if found == expected {
                Ok(())
            } else {
                Err(format!("it holds {found:?} instead of {expected:?}"))
            }
        })?;
        folder.done(frame, 1, 0, 0);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        self.0.finish(Format::Exr)
    }
}

/// Looks through a folder of EXR files.
pub fn validate(path: &Path, findings: &mut Findings) {
    let mut files = 0u64;
    let entries: Vec<PathBuf> = if path.is_file() {
        vec![path.to_owned()]
    } else {
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let mut first = None;
    for path in entries.iter().filter(|path| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("exr")))
    {
        files += 1;
        match std::fs::read(path).map_err(|e| e.to_string()).and_then(|bytes| decode(&bytes)) {
            Err(reason) => findings.error(path.display(), reason),
            Ok(found) if found != *first.get_or_insert(found) => {
                findings.warn(path.display(), "its size or its channels differ from those of other files");
            }
            Ok(_) => {}
        }
    }
    if files == 0 {
        findings.error("", "there is no EXR file");
    }
    findings.count("files", files);
}
