//! Looks through a YouTube-VIS file of either form and says what its readers trip over. One track is kept at a time.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::coco_check::Each;
use super::findings::Findings;
use super::segmentation::{Counts, Segmentation};
use crate::base::Size;

/// Which of the two forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Videos, categories and annotations.
    Truth,
    /// A bare list of scored tracks.
    Results,
}

/// How much a file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Tracks.
    pub tracks: u64,
    /// Masks.
    pub masks: u64,
}

struct Video {
    size: Size,
    length: usize,
}

#[derive(Default)]
struct Seen {
    keys: HashSet<String>,
    videos: HashMap<u64, Video>,
    categories: HashSet<u64>,
    ids: HashSet<u64>,
    references: Vec<(String, u64, u64, usize)>,
    found: Found,
}

/// Looks through `path`.
pub fn lint(path: &Path, form: Form, findings: &mut Findings) -> Found {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => {
            findings.error("", error.to_string());
            return Found::default();
        }
    };
    let mut seen = Seen::default();
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(file));
    let read = match form {
        Form::Truth => Top { seen: &mut seen, findings }.deserialize(&mut json),
        Form::Results => Each::new(|value: Value| {
            seen.track(&value, form, findings);
            Ok(())
        })
        .deserialize(&mut json),
    };
    if let Err(error) = read.and_then(|()| json.end()) {
        findings.error("", format!("this is no YouTube-VIS file: {error}"));
    }
    seen.finish(form, findings)
}

struct Top<'a> {
    seen: &'a mut Seen,
    findings: &'a mut Findings,
}

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with videos, annotations and categories")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { seen, findings } = self;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "videos" => map.next_value_seed(Each::new(|value: Value| {
                    seen.video(&value, findings);
                    Ok(())
                }))?,
                "categories" => map.next_value_seed(Each::new(|value: Value| {
                    match value.get("id").and_then(Value::as_u64) {
                        Some(id) if id > 0 => drop(seen.categories.insert(id)),
                        _ => findings.error("category", "its id is no whole number from 1"),
                    }
                    Ok(())
                }))?,
                "annotations" => map.next_value_seed(Each::new(|value: Value| {
                    seen.track(&value, Form::Truth, findings);
                    Ok(())
                }))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            seen.keys.insert(key);
        }
        Ok(())
    }
}

impl Seen {
    fn video(&mut self, value: &Value, findings: &mut Findings) {
        #[derive(Deserialize)]
        struct Entry {
            id: u64,
            width: u32,
            height: u32,
            length: usize,
            file_names: Vec<String>,
        }
        let place = format!("video {}", value.get("id").unwrap_or(&Value::Null));
        let entry: Entry = match serde_json::from_value(value.clone()) {
            Ok(entry) => entry,
            Err(error) => return findings.error(place, error.to_string()),
        };
        if entry.length != entry.file_names.len() {
            findings.error(
                &place,
                format!("its length is {} but it has {} file_names", entry.length, entry.file_names.len()),
            );
        }
        if entry.file_names.iter().any(|name| !name.contains('/')) {
            findings.error(&place, "file_names must look like sequence/00000.jpg: TrackEval takes the part before \"/\" as the sequence");
        }
        if entry.id == 0 {
            findings.error(&place, "its id is 0: count from 1");
        }
        let size = Size::new(entry.width, entry.height);
        if self.videos.insert(entry.id, Video { size, length: entry.length }).is_some() {
            findings.error(place, "there are two of this id");
        }
    }

    fn track(&mut self, value: &Value, form: Form, findings: &mut Findings) {
        self.found.tracks += 1;
        let place = match form {
            Form::Truth => format!("annotation {}", value.get("id").unwrap_or(&Value::Null)),
            Form::Results => format!("track {}", self.found.tracks),
        };
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        let Some(masks) = value.get("segmentations").and_then(Value::as_array) else {
            return findings.error(place, "it has no list of segmentations");
        };
        for key in ["video_id", "category_id"] {
            if number(key).is_none_or(|id| id == 0) {
                findings.error(&place, format!("its {key} is no whole number from 1"));
            }
        }
        let lists = match form {
            Form::Truth => {
                match number("id") {
                    Some(id) if id > 0 && self.ids.insert(id) => {}
                    _ => findings.error(&place, "its id is not unique or no whole number from 1"),
                }
                for key in ["iscrowd", "width", "height"] {
                    if number(key).is_none() {
                        findings.error(
                            &place,
                            format!("it has no {key}: TrackEval needs it on every annotation"),
                        );
                    }
                }
                [value.get("areas"), value.get("bboxes")]
            }
            Form::Results => {
                if !value.get("score").is_some_and(Value::is_number) {
                    findings.error(&place, "it has no score");
                }
                [None, None]
            }
        };
        if form == Form::Truth {
            for (name, list) in ["areas", "bboxes"].into_iter().zip(lists) {
                match list.and_then(Value::as_array) {
                    None => findings.error(&place, format!("it has no list of {name}")),
                    Some(list) if list.len() != masks.len() => {
                        findings.error(
                            &place,
                            format!("it has {} {name} but {} segmentations", list.len(), masks.len()),
                        );
                    }
                    Some(_) => {}
                }
            }
        }
        let item = |list: Option<&Value>, at: usize| list.and_then(|list| list.get(at)).cloned();
        for (at, mask) in masks.iter().enumerate() {
            let figures = (item(lists[0], at), item(lists[1], at));
            if mask.is_null() {
                if figures.0.is_some_and(|v| !v.is_null()) || figures.1.is_some_and(|v| !v.is_null()) {
                    findings.warn(&place, format!("frame {at} has an area or box but no mask"));
                }
                continue;
            }
            self.found.masks += 1;
            if let Err(fault) = one(mask, form, figures) {
                findings.error(&place, format!("frame {at}: {fault}"));
            }
        }
        if masks.iter().all(Value::is_null) {
            findings.error(&place, "it has no mask on any frame");
        }
        if let (Some(video), Some(category)) = (number("video_id"), number("category_id")) {
            self.references.push((place, video, category, masks.len()));
        }
    }

    fn finish(self, form: Form, findings: &mut Findings) -> Found {
        if form == Form::Truth {
            for key in ["videos", "annotations", "categories"] {
                if !self.keys.contains(key) {
                    findings.error("", format!("there are no {key}"));
                }
            }
            for (place, video, category, length) in &self.references {
                match self.videos.get(video) {
                    None => findings.error(place, format!("there is no video {video}")),
                    Some(video) if video.length != *length => {
                        findings.error(
                            place,
                            format!("it has {length} frames but its video has {}", video.length),
                        );
                    }
                    Some(_) => {}
                }
                if !self.categories.contains(category) {
                    findings.error(place, format!("there is no category {category}"));
                }
            }
            if self.videos.values().any(|video| video.size.area() == 0) {
                findings.error("videos", "one has no pixels");
            }
            findings.count("videos", self.videos.len() as u64);
        } else if self.found.tracks == 0 {
            findings.error("", "the list is empty: readers of results fail");
        }
        findings.count("tracks", self.found.tracks);
        findings.count("masks", self.found.masks);
        self.found
    }
}

/// Checks one mask and its area and box.
fn one(mask: &Value, form: Form, (area, bbox): (Option<Value>, Option<Value>)) -> Result<(), String> {
    let mask: Segmentation = serde_json::from_value(mask.clone())
        .map_err(|_| "its mask is neither run lengths {size, counts} nor polygons".to_owned())?;
    let Segmentation::Rle { size: [height, width], counts } = &mask else {
        return Err("polygons are read by some readers only: write run lengths".into());
    };
    match (form, counts) {
        (Form::Truth, Counts::Text(_)) => {
            return Err(
                "its run lengths are compressed: TrackEval reads uncompressed ones only in ground truth"
                    .into(),
            );
        }
        (Form::Results, Counts::List(_)) => {
            return Err("its run lengths are not compressed: readers of results need compressed ones".into());
        }
        _ => {}
    }
    let size = Size::new(*width, *height);
    if size.area() > 1 << 27 {
        return Err(format!("{size} pixels are too many"));
    }
    let rle = mask.mask(size)?;
    let bounds = rle.bounding_box().ok_or("its mask is empty: write null instead")?;
    if form == Form::Truth {
        if area.as_ref().and_then(Value::as_f64) != Some(rle.area() as f64) {
            return Err(format!(
                "its area is {} but the mask has {} pixels",
                area.unwrap_or_default(),
                rle.area()
            ));
        }
        let bbox: Option<[f64; 4]> = bbox.and_then(|b| serde_json::from_value(b).ok());
        if bbox != Some(bounds.map(f64::from)) {
            return Err(format!("its box is {bbox:?} but the mask's is {bounds:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Format;

    const TRUTH: &str = r#"{"videos":[{"id":1,"width":7,"height":5,"length":2,"file_names":["a/0.jpg","a/1.jpg"]}],
        "categories":[{"id":1,"name":"a"}],"annotations":[{"id":1,"video_id":1,"category_id":1,"iscrowd":0,"width":7,
        "height":5,"segmentations":[null,{"size":[5,7],"counts":[11,3,2,1,1,1,2,3,11]}],"areas":[null,8],
        "bboxes":[null,[2,1,3,3]]}]}"#;
    const RESULTS: &str = r#"[{"video_id":1,"category_id":1,"score":0.5,"segmentations":[null,{"size":[5,7],"counts":";32NO0129"}]}]"#;

    fn run(text: &str, form: Form) -> Findings {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut findings = Findings::new(file.path(), Format::YoutubeVis);
        let _ = lint(file.path(), form, &mut findings);
        findings
    }

    #[test]
    fn every_fault_is_named() {
        assert_eq!(run(TRUTH, Form::Truth).list, []);
        assert_eq!(run(RESULTS, Form::Results).list, []);
        for (from, to, expected) in [
            ("[11,3,2,1,1,1,2,3,11]", "\";32NO0129\"", "uncompressed"),
            ("[11,3,2,1,1,1,2,3,11]", "[11,3,2,1,1,1,2,3,10]", "add up"),
            ("\"areas\":[null,8]", "\"areas\":[null]", "1 areas"),
            ("null,8", "null,9", "area is 9"),
            ("[2,1,3,3]", "[2,1,3,4]", "box"),
            ("a/0.jpg", "0.jpg", "sequence/"),
            ("\"length\":2", "\"length\":3", "length is 3"),
            ("\"width\":7,\n", "\n", "no width"),
            ("\"video_id\":1", "\"video_id\":2", "no video 2"),
            ("\"categories\":[{\"id\":1", "\"categories\":[{\"id\":2", "no category 1"),
            ("\"videos\"", "\"images\"", "no videos"),
        ] {
            let bad = TRUTH.replacen(from, to, 1);
            assert_ne!(bad, TRUTH, "{from}");
            let findings = run(&bad, Form::Truth);
            assert!(findings.list.iter().any(|f| f.what.contains(expected)), "{to}: {:?}", findings.list);
        }
        for (from, to, expected) in [
            ("\";32NO0129\"", "[11,3,2,1,1,1,2,3,11]", "compressed"),
            (",\"score\":0.5", "", "no score"),
            ("{\"size\":[5,7],\"counts\":\";32NO0129\"}", "null", "on any frame"),
            (RESULTS, "[]", "empty"),
            (RESULTS, "{}", "no YouTube-VIS"),
        ] {
            let bad = RESULTS.replacen(from, to, 1);
            let findings = run(&bad, Form::Results);
            assert!(findings.list.iter().any(|f| f.what.contains(expected)), "{to}: {:?}", findings.list);
        }
    }
}
