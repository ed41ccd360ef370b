//! Looks through a COCO file of anyone and says what its readers trip over. Masks are not kept.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::coco_check::Each;
use super::findings::Findings;
use super::segmentation::{Counts, Segmentation};
use crate::base::Size;

/// What is remembered of an annotation until all images are known.
struct Reference {
    id: u64,
    image: u64,
    category: u64,
    /// Size that its run lengths name.
    size: Option<Size>,
}

#[derive(Default)]
struct Seen {
    keys: HashSet<String>,
    images: HashMap<u64, Option<Size>>,
    categories: HashSet<u64>,
    annotations: HashSet<u64>,
    references: Vec<Reference>,
    crowds: u64,
    /// Polygons of annotations whose image comes later in the file cannot be drawn.
    undrawn: u64,
}

struct Top<'a> {
    seen: &'a mut Seen,
    findings: &'a mut Findings,
}

/// Looks through `path`.
pub fn lint(path: &Path, findings: &mut Findings) {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return findings.error("", error.to_string()),
    };
    let mut seen = Seen::default();
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(file));
    let read = Top { seen: &mut seen, findings }.deserialize(&mut json).and_then(|()| json.end());
    if let Err(error) = read {
        findings.error("", format!("this is no COCO file: {error}"));
    }
    seen.finish(findings);
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
        f.write_str("an object with images, annotations and categories")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { seen, findings } = self;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "categories" => map.next_value_seed(Each::new(|value: Value| {
                    seen.category(&value, findings);
                    Ok(())
                }))?,
                "images" => map.next_value_seed(Each::new(|value: Value| {
                    seen.image(&value, findings);
                    Ok(())
                }))?,
                "annotations" => map.next_value_seed(Each::new(|value: Value| {
                    seen.annotation(&value, findings);
                    Ok(())
                }))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            seen.keys.insert(key);
        }
        Ok(())
    }
}

/// The id under `key`, noting what is wrong with it.
fn id(value: &Value, key: &str, place: &str, findings: &mut Findings) -> Option<u64> {
    let id = value.get(key).and_then(Value::as_u64);
    match id {
        None => findings.error(place, format!("it has no whole number as {key}")),
        Some(0) if key == "id" => {
            findings.error(place, "its id is 0: evaluation takes that for \"no match\"; count from 1");
        }
        Some(_) => {}
    }
    id
}

impl Seen {
    fn category(&mut self, value: &Value, findings: &mut Findings) {
        let place = format!("category {}", value.get("id").unwrap_or(&Value::Null));
        if !value.get("name").is_some_and(Value::is_string) {
            findings.error(&place, "it has no name");
        }
        if let Some(id) = id(value, "id", &place, findings)
            && !self.categories.insert(id)
        {
            findings.error(place, "there are two of this id");
        }
    }

    fn image(&mut self, value: &Value, findings: &mut Findings) {
        let place = format!("image {}", value.get("id").unwrap_or(&Value::Null));
        if !value.get("file_name").is_some_and(Value::is_string) {
            findings.error(&place, "it has no file_name");
        }
        let side = |key| value.get(key).and_then(Value::as_u64).and_then(|v| u32::try_from(v).ok());
        let size = side("width").zip(side("height")).map(|(width, height)| Size::new(width, height));
        if size.is_none_or(|size| size.area() == 0) {
            findings.error(&place, "it has no width and height");
        }
        if let Some(id) = id(value, "id", &place, findings)
            && self.images.insert(id, size).is_some()
        {
            findings.error(place, "there are two of this id");
        }
    }

    fn annotation(&mut self, value: &Value, findings: &mut Findings) {
        let place = format!("annotation {}", value.get("id").unwrap_or(&Value::Null));
        if let Some(id) = id(value, "id", &place, findings)
            && !self.annotations.insert(id)
        {
            findings.error(&place, "there are two of this id");
        }
        let image = id(value, "image_id", &place, findings);
        let category = id(value, "category_id", &place, findings);
        match value.get("iscrowd") {
            None => findings.error(&place, "it has no iscrowd: pycocotools' evaluation needs it"),
            Some(Value::Bool(_)) => {
                findings.warn(&place, "its iscrowd is true or false: readers expect 0 or 1")
            }
            Some(Value::Number(n)) if n.as_u64() == Some(1) => self.crowds += 1,
            Some(Value::Number(n)) if n.as_u64() == Some(0) => {}
            Some(_) => findings.error(&place, "its iscrowd is neither 0 nor 1"),
        }
        let area = value.get("area").and_then(Value::as_f64);
        if area.is_none() {
            findings.error(&place, "it has no area: pycocotools' evaluation needs it");
        }
        let bbox: Option<[f64; 4]> = value.get("bbox").and_then(|b| serde_json::from_value(b.clone()).ok());
        if bbox.is_none() {
            findings.error(&place, "it has no bbox of four numbers: detectron2 and DIVE fail");
        }
        let size = self.mask(value, (area, bbox, image), &place, findings);
        if let (Some(image), Some(category)) = (image, category) {
            let id = value.get("id").and_then(Value::as_u64).unwrap_or(0);
            self.references.push(Reference { id, image, category, size });
        }
    }

    /// Checks the mask; gives the size that its run lengths name.
    fn mask(
        &mut self,
        value: &Value,
        (area, bbox, image): (Option<f64>, Option<[f64; 4]>, Option<u64>),
        place: &str,
        findings: &mut Findings,
    ) -> Option<Size> {
        let Some(segmentation) = value.get("segmentation") else {
            findings.warn(place, "it has no segmentation: it is a box only");
            return None;
        };
        let Ok(segmentation) = serde_json::from_value::<Segmentation>(segmentation.clone()) else {
            findings.error(
                place,
                "its segmentation is neither run lengths {size, counts} nor a list of lists of numbers",
            );
            return None;
        };
        let named = match &segmentation {
            Segmentation::Rle { size: [height, width], counts } => {
                if matches!(counts, Counts::List(list) if list.is_empty()) {
                    findings.error(place, "its run lengths are empty");
                }
                Some(Size::new(*width, *height))
            }
            Segmentation::Polygons(_) => None,
        };
        if let Some(fault) = segmentation.polygon_fault() {
            findings.error(place, fault);
            return None;
        }
        let known = image.and_then(|image| self.images.get(&image).copied().flatten());
        // A file may claim any size; what is drawn stays within what pictures may have.
        let Some(size) = named.or(known).filter(|size| size.area() <= 1 << 27) else {
            self.undrawn += 1;
            return named;
        };
        let mask = match segmentation.mask(size) {
            Ok(mask) => mask,
            Err(fault) => {
                findings
                    .error(place, format!("{fault}: pycocotools reads memory that is not there, or fails"));
                return named;
            }
        };
        let Some(bounds) = mask.bounding_box() else {
            findings.error(place, "its mask is empty: detectron2 and others fail");
            return named;
        };
        let exact = named.is_some();
        // Polygons of others may lie between the pixels.
        let slack = if exact { 0.5 } else { 2.0 + 0.05 * mask.area() as f64 };
        if area.is_some_and(|area| (area - mask.area() as f64).abs() > slack) {
            findings.warn(
                place,
                format!("its area is {} but the mask has {} pixels", area.unwrap_or(0.0), mask.area()),
            );
        }
        let slack = if exact { 0.01 } else { 1.0 };
        if let Some(bbox) = bbox
            && bbox.iter().zip(bounds).any(|(a, b)| (a - f64::from(b)).abs() > slack)
        {
            findings.warn(
                place,
                format!("its bbox is {bbox:?} but the mask's is {bounds:?}: FiftyOne cuts the mask to it"),
            );
        }
        named
    }

    fn finish(self, findings: &mut Findings) {
        for key in ["images", "annotations", "categories"] {
            if !self.keys.contains(key) {
                findings.error("", format!("there are no {key}"));
            }
        }
        for reference in &self.references {
            let place = format!("annotation {}", reference.id);
            match self.images.get(&reference.image) {
                None => findings.error(&place, format!("there is no image {}", reference.image)),
                Some(Some(size)) if reference.size.is_some_and(|named| named != *size) => {
                    let named = reference.size.unwrap_or(*size);
                    let swapped = (named.width, named.height) == (size.height, size.width);
                    let hint = if swapped { ": height comes first" } else { "" };
                    findings.error(
                        &place,
                        format!("its mask is for {named} pixels but the image has {size}{hint}"),
                    );
                }
                Some(_) => {}
            }
            if !self.categories.contains(&reference.category) {
                findings.error(&place, format!("there is no category {}", reference.category));
            }
        }
        let largest = self.categories.iter().max().copied().unwrap_or(0);
        if largest > self.categories.len() as u64 {
            findings
                .warn("categories", "their ids are not 1, 2, 3, ...: FiftyOne and detectron2 fill the gaps");
        }
        if self.crowds > 0 && self.crowds == self.annotations.len() as u64 {
            findings.warn("", "every annotation is marked as a crowd: training skips crowds");
        }
        findings.count("images", self.images.len() as u64);
        findings.count("annotations", self.annotations.len() as u64);
        findings.count("categories", self.categories.len() as u64);
        if self.undrawn > 0 {
            findings.warn("", format!("{} masks could not be compared with area and bbox: their image comes later or has no size", self.undrawn));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Format;
    use proptest::prelude::*;

    const GOOD: &str = r#"{"images":[{"id":1,"file_name":"0.png","width":7,"height":5}],"categories":[{"id":1,"name":"a"}],
        "annotations":[{"id":1,"image_id":1,"category_id":1,"segmentation":{"size":[5,7],"counts":";32NO0129"},
        "area":8,"bbox":[2,1,3,3],"iscrowd":0},{"id":2,"image_id":1,"category_id":1,"segmentation":[[0,0,2,0,2,2,0,2]],
        "area":4,"bbox":[0,0,2,2],"iscrowd":0}]}"#;

    fn run(text: &str) -> Findings {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut findings = Findings::new(file.path(), Format::Coco);
        lint(file.path(), &mut findings);
        findings
    }

    #[test]
    fn a_sound_file_has_no_findings() {
        let findings = run(GOOD);
        assert_eq!(findings.list, []);
        assert_eq!(findings.counts, [("images", 1), ("annotations", 2), ("categories", 1)]);
    }

    #[test]
    fn every_fault_is_named() {
        for (from, to, expected) in [
            ("\"area\":8", "\"area\":9", "area is 9"),
            ("\"area\":8,", "", "no area"),
            ("[2,1,3,3]", "[2,1,2,2]", "bbox"),
            ("\"iscrowd\":0}", "\"x\":0}", "no iscrowd"),
            ("\"iscrowd\":0}", "\"iscrowd\":true}", "true or false"),
            ("\"image_id\":1", "\"image_id\":2", "no image 2"),
            ("\"category_id\":1", "\"category_id\":7", "no category 7"),
            ("\"size\":[5,7]", "\"size\":[7,5]", "height comes first"),
            (";32NO0129", ";32NO0128", "add up"),
            (";32NO0129", "S1", "empty"),
            ("[{\"id\":1,\"image_id\"", "[{\"id\":0,\"image_id\"", "no match"),
            ("{\"id\":2,", "{\"id\":1,", "two of this id"),
            ("[[0,0,2,0,2,2,0,2]]", "[]", "empty"),
            ("[[0,0,2,0,2,2,0,2]]", "[[0,0,2,2]]", "box"),
            ("[[0,0,2,0,2,2,0,2]]", "[0,0,2,0,2,2,0,2]", "list of lists"),
            ("\"annotations\"", "\"annotation\"", "no annotations"),
            ("{\"id\":1,\"name\":\"a\"}", "{\"id\":1}", "no name"),
            ("\"file_name\":\"0.png\",", "", "file_name"),
            ("\"iscrowd\":0}]}", "\"iscrowd\":0}]", "no COCO file"),
        ] {
            let bad = GOOD.replacen(from, to, 1);
            assert_ne!(bad, GOOD, "{from}");
            let findings = run(&bad);
            assert!(findings.list.iter().any(|f| f.what.contains(expected)), "{to}: {:?}", findings.list);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn damage_never_panics(at in 0usize..GOOD.len(), byte in 32u8..127) {
            let mut bytes = GOOD.as_bytes().to_vec();
            bytes[at] = byte;
            run(&String::from_utf8_lossy(&bytes));
            run(&GOOD[..at]);
        }
    }
}
