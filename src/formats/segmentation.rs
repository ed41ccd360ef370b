//! A mask as COCO and its kin write it: run lengths as text or numbers, or polygons.

use serde::{Deserialize, Serialize};

use super::rings::fill;
use crate::base::{Rle, Size};

/// A mask in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Segmentation {
    /// Run lengths, column by column.
    Rle {
        /// Height and width.
        size: [u32; 2],
        /// The runs.
        counts: Counts,
    },
    /// Rings of x, y, x, y, ...
    Polygons(#[serde(serialize_with = "whole_numbers")] Vec<Vec<f64>>),
}

/// Run lengths in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Counts {
    /// COCO's compressed text.
    Text(String),
    /// The runs as numbers.
    List(Vec<u32>),
}

/// Writes 3 instead of 3.0 where that is the same.
fn whole_numbers<S: serde::Serializer>(rings: &[Vec<f64>], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Number {
        Whole(i64),
        Other(f64),
    }
    let number = |&v: &f64| if v.fract() == 0.0 { Number::Whole(v as i64) } else { Number::Other(v) };
    let rings: Vec<Vec<Number>> = rings.iter().map(|ring| ring.iter().map(number).collect()).collect();
    rings.serialize(serializer)
}

impl Segmentation {
    /// The mask in a picture of `size`. Polygons take the pixels whose centre they hold.
    ///
    /// # Errors
    /// In words: another size, runs that do not add up, rings that are none.
    pub fn mask(&self, size: Size) -> Result<Rle, String> {
        match self {
            Self::Rle { size: given, .. } if *given != [size.height, size.width] => {
                Err(format!("its mask has {given:?} rows and columns but the picture has {size} pixels"))
            }
            Self::Rle { counts: Counts::Text(text), .. } => {
                Rle::from_coco_text(size, text).map_err(|e| e.to_string())
            }
            Self::Rle { counts: Counts::List(list), .. } => {
                Rle::from_counts(size, list.clone()).map_err(|e| e.to_string())
            }
            Self::Polygons(rings) => {
                if let Some(fault) = self.polygon_fault() {
                    return Err(fault);
                }
                let pairs = |ring: &Vec<f64>| ring.chunks_exact(2).map(|p| (p[0], p[1])).collect();
                let rings: Vec<Vec<(f64, f64)>> = rings.iter().map(pairs).collect();
                Ok(Rle::encode(&fill(rings.iter().map(Vec::as_slice), size)))
            }
        }
    }

    /// What readers trip over in the form of the rings.
    pub fn polygon_fault(&self) -> Option<String> {
        let Self::Polygons(rings) = self else { return None };
        if rings.is_empty() {
            return Some("its list of polygons is empty".into());
        }
        rings.iter().find_map(|ring| match ring.len() {
            4 => Some("a polygon of 4 numbers is taken for a box".into()),
            odd if odd % 2 == 1 => Some(format!("a polygon has {odd} numbers, which are no pairs")),
            few if few < 6 => Some(format!("a polygon of {few} numbers is no area: 6 are needed")),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_give_the_same_mask() {
        let size = Size::new(7, 5);
        let expected = Rle::from_coco_text(size, ";32NO0129").unwrap();
        for text in [
            r#"{"size":[5,7],"counts":";32NO0129"}"#,
            r#"{"size":[5,7],"counts":[11,3,2,1,1,1,2,3,11]}"#,
            "[[2,1,5,1,5,4,2,4,2,2,3,2,3,3,4,3,4,2,2,2]]",
        ] {
            let segmentation: Segmentation = serde_json::from_str(text).unwrap();
            assert_eq!(segmentation.mask(size).as_ref(), Ok(&expected), "{text}");
            assert_eq!(serde_json::to_string(&segmentation).unwrap(), text);
        }
        for (text, fault) in [
            ("[]", "empty"),
            ("[[1,2,3,4]]", "box"),
            ("[[1,2,3,4,5]]", "pairs"),
            ("[[1,2]]", "no area"),
            (r#"{"size":[7,5],"counts":"S1"}"#, "rows"),
            (r#"{"size":[5,7],"counts":[1]}"#, "add up"),
        ] {
            let segmentation: Segmentation = serde_json::from_str(text).unwrap();
            assert!(segmentation.mask(size).unwrap_err().contains(fault), "{text}");
        }
    }
}
