//! Reads a COCO file back, annotation by annotation, and says what is wrong with it. Memory stays flat.

use std::collections::HashSet;
use std::fmt;
use std::io::{BufReader, Read};
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::segmentation::Segmentation;
use crate::base::Size;

/// How much a COCO file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CocoCounts {
    /// Images.
    pub images: u64,
    /// Annotations.
    pub annotations: u64,
    /// Categories.
    pub categories: u64,
}

/// Counts what `file` holds, or says in words what readers would trip over: not JSON; images, annotations or categories
/// not numbered 1, 2, 3, ...; an image of another size than `size`; an unknown image or category; two annotations of a
/// track on an image; a crowd; run lengths that do not add up; an area or box that is not the mask's; an empty mask.
pub fn check(file: impl Read, size: Size) -> Result<CocoCounts, String> {
    let mut counts = CocoCounts::default();
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(file));
    Top { counts: &mut counts, size }.deserialize(&mut json).map_err(|e| e.to_string())?;
    json.end().map_err(|e| e.to_string())?;
    Ok(counts)
}

#[derive(Deserialize)]
struct Category {
    id: u64,
}

#[derive(Deserialize)]
struct Image {
    id: u64,
    width: u32,
    height: u32,
}

#[derive(Deserialize)]
struct Annotation {
    id: u64,
    image_id: u64,
    category_id: u64,
    segmentation: Segmentation,
    area: u64,
    bbox: [u32; 4],
    iscrowd: u8,
    track_id: u64,
}

struct Top<'a> {
    counts: &'a mut CocoCounts,
    size: Size,
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
        let Self { counts, size } = self;
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "categories" => map.next_value_seed(Each::new(|category: Category| {
                    counts.categories += 1;
                    numbered("category", category.id, counts.categories)
                }))?,
                "images" => map.next_value_seed(Each::new(|image: Image| {
                    counts.images += 1;
                    numbered("image", image.id, counts.images)?;
                    let found = Size::new(image.width, image.height);
                    if found == size { Ok(()) } else { Err(format!("image {} has {found} pixels", image.id)) }
                }))?,
                "annotations" => {
                    let mut order = TrackOrder::default();
                    map.next_value_seed(Each::new(|annotation: Annotation| {
                        counts.annotations += 1;
                        numbered("annotation", annotation.id, counts.annotations)?;
                        annotation
                            .fault(counts, size)
                            .or_else(|| order.fault(&annotation))
                            .map_or(Ok(()), |fault| Err(format!("annotation {}: {fault}", annotation.id)))
                    }))?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            seen.insert(key);
        }
        match ["images", "annotations", "categories"].into_iter().find(|key| !seen.contains(*key)) {
            Some(key) => Err(de::Error::missing_field(key)),
            None => Ok(()),
        }
    }
}

fn numbered(what: &str, id: u64, expected: u64) -> Result<(), String> {
    if id == expected { Ok(()) } else { Err(format!("{what} {id} stands where {expected} should")) }
}

impl Annotation {
    fn fault(&self, counts: &CocoCounts, size: Size) -> Option<String> {
        if !(1..=counts.images).contains(&self.image_id) {
            return Some(format!("there is no image {}", self.image_id));
        }
        if !(1..=counts.categories).contains(&self.category_id) {
            return Some(format!("there is no category {}", self.category_id));
        }
        if self.iscrowd != 0 {
            return Some("it is marked as a crowd".into());
        }
        let rle = match self.segmentation.mask(size) {
            Ok(rle) => rle,
            Err(fault) => return Some(fault),
        };
        if rle.area() != self.area {
            return Some(format!("its area is {} but the mask has {} pixels", self.area, rle.area()));
        }
        match rle.bounding_box() {
            None => Some("its mask is empty".into()),
            Some(bounds) if bounds != self.bbox => {
                Some(format!("its box is {:?} but the mask's is {bounds:?}", self.bbox))
            }
            Some(_) => None,
        }
    }
}

/// Sees to it that annotations run by image and, within an image, by track.
#[derive(Default)]
struct TrackOrder(Option<(u64, u64)>);

impl TrackOrder {
    fn fault(&mut self, annotation: &Annotation) -> Option<String> {
        let (image, track) = (annotation.image_id, annotation.track_id);
        let before = self.0.replace((image, track));
        let late = before.is_some_and(|before| before >= (image, track));
        late.then(|| format!("track {track} of image {image} comes too late or twice"))
    }
}

/// Feeds each element of a list to a function and keeps none.
pub(super) struct Each<T, F>(F, PhantomData<T>);

impl<T, F: FnMut(T) -> Result<(), String>> Each<T, F> {
    pub(super) fn new(take: F) -> Self {
        Self(take, PhantomData)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), String>> DeserializeSeed<'de> for Each<T, F> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), String>> Visitor<'de> for Each<T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element()? {
            (self.0)(element).map_err(de::Error::custom)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &str = r#"{"info":{},"licenses":[],"categories":[{"id":1,"name":"a"}],
        "images":[{"id":1,"file_name":"0.png","width":7,"height":5}],
        "annotations":[{"id":1,"image_id":1,"category_id":1,"segmentation":{"size":[5,7],"counts":";32NO0129"},
        "area":8,"bbox":[2,1,3,3],"iscrowd":0,"track_id":1}]}"#;

    fn run(text: &str) -> Result<CocoCounts, String> {
        check(text.as_bytes(), Size::new(7, 5))
    }

    #[test]
    fn a_sound_file_is_counted() {
        assert_eq!(run(GOOD), Ok(CocoCounts { images: 1, annotations: 1, categories: 1 }));
    }

    #[test]
    fn every_fault_is_named() {
        for (from, to, expected) in [
            ("\"area\":8", "\"area\":9", "area is 9"),
            ("[2,1,3,3]", "[2,1,2,2]", "box"),
            ("\"iscrowd\":0", "\"iscrowd\":1", "crowd"),
            ("\"image_id\":1", "\"image_id\":2", "no image 2"),
            ("\"category_id\":1", "\"category_id\":0", "no category 0"),
            ("\"size\":[5,7]", "\"size\":[7,5]", "rows and columns"),
            (";32NO0129", ";32NO0128", "add up"),
            (";32NO0129", ";32NO01", "add up"),
            (";32NO0129", "S1", "area is 8"),
            ("\"annotations\":[{\"id\":1", "\"annotations\":[{\"id\":0", "annotation 0"),
            ("\"images\":[{\"id\":1", "\"images\":[{\"id\":0", "image 0"),
            ("\"width\":7", "\"width\":8", "pixels"),
            ("\"annotations\"", "\"annotation\"", "annotations"),
            ("\"track_id\":1}]", "\"track_id\":1}", "expected"),
        ] {
            let bad = GOOD.replacen(from, to, 1);
            assert_ne!(bad, GOOD, "{from}");
            let fault = run(&bad).unwrap_err();
            assert!(fault.contains(expected), "{to}: {fault}");
        }
        assert!(
            run(&GOOD.replace("\"area\":8", "\"area\":0").replace(";32NO0129", "S1"))
                .unwrap_err()
                .contains("empty")
        );
    }

    proptest! {
        #[test]
        fn damage_never_panics(at in 0usize..GOOD.len(), byte in any::<u8>()) {
            let mut bytes = GOOD.as_bytes().to_vec();
            let _ = check(&bytes[..at], Size::new(7, 5));
            bytes[at] = byte;
            let _ = check(&bytes[..], Size::new(7, 5));
        }
    }
}
