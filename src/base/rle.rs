//! Run lengths of a mask in COCO's order: column by column, starting with the zeros.

use std::sync::Arc;

use super::{Mask, Size};

/// A mask as run lengths; a clone shares them. The runs alternate 0, 1, 0, ... in column-major order and add up to `width * height`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rle {
    size: Size,
    counts: Arc<[u32]>,
}

/// Why run lengths do not describe a mask.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RleError {
    /// The runs do not add up to the picture.
    #[error("the runs add up to {sum} pixels but the picture of {size} has {area}")]
    Sum {
        /// What they add up to.
        sum: u64,
        /// The picture's size.
        size: Size,
        /// Its number of pixels.
        area: u64,
    },
    /// A compressed string ends within a number, holds a foreign character or a negative run.
    #[error("the compressed run lengths are damaged at byte {0}")]
    Text(usize),
}

/// As COCO writes it: `{"size": [height, width], "counts": "..."}`.
#[derive(serde::Serialize, serde::Deserialize)]
struct Written {
    size: [u32; 2],
    counts: String,
}

impl serde::Serialize for Rle {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let size = [self.size.height, self.size.width];
        Written { size, counts: self.to_coco_text() }.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Rle {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { size: [height, width], counts } = Written::deserialize(deserializer)?;
        Self::from_coco_text(Size::new(width, height), &counts).map_err(serde::de::Error::custom)
    }
}

impl Rle {
    /// Run lengths of a mask without a pixel.
    pub fn empty(size: Size) -> Self {
        // More pixels than a run can count need several runs, with empty ones between.
        let mut rest = u64::from(size.width) * u64::from(size.height);
        let mut counts = Vec::new();
        while rest > u64::from(u32::MAX) {
            counts.extend([u32::MAX, 0]);
            rest -= u64::from(u32::MAX);
        }
        counts.push(rest as u32);
        Self { size, counts: counts.into() }
    }

    /// Run lengths of `mask`.
    pub fn encode(mask: &Mask) -> Self {
        let size = mask.size();
        let (width, height) = (size.width as usize, size.height as usize);
        let (mut counts, mut run, mut value) = (Vec::new(), 0u32, 0u8);
        for x in 0..width {
            for y in 0..height {
                let pixel = mask.data()[y * width + x];
                if pixel != value {
                    counts.push(run);
                    (run, value) = (0, pixel);
                }
                run += 1;
            }
        }
        counts.push(run);
        Self { size, counts: counts.into() }
    }

    /// Takes runs as they are.
    ///
    /// # Errors
    /// [`RleError::Sum`] when they do not add up to the picture.
    pub fn from_counts(size: Size, counts: Vec<u32>) -> Result<Self, RleError> {
        let sum = counts.iter().map(|&c| u64::from(c)).sum();
        let area = u64::from(size.width) * u64::from(size.height);
        if sum == area {
            Ok(Self { size, counts: counts.into() })
        } else {
            Err(RleError::Sum { sum, size, area })
        }
    }

    /// The mask.
    pub fn decode(&self) -> Mask {
        let (width, height) = (self.size.width as usize, self.size.height as usize);
        let mut data = vec![0u8; width * height];
        let (mut at, mut value) = (0usize, 0u8);
        for &count in self.counts.iter() {
            if value != 0 {
                for i in at..at + count as usize {
                    data[(i % height) * width + i / height] = 1;
                }
            }
            at += count as usize;
            value ^= 1;
        }
        Mask::new(self.size, data).unwrap_or_else(|| Mask::empty(self.size))
    }

    /// Width and height in pixels.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The runs.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Number of set pixels.
    pub fn area(&self) -> u64 {
        self.counts.iter().skip(1).step_by(2).map(|&c| u64::from(c)).sum()
    }

    /// The set pixels as vertical spans (`x`, rows), from the left column to the right and each column downwards.
    pub fn column_spans(&self) -> impl Iterator<Item = (u32, std::ops::Range<u32>)> + '_ {
        let height = u64::from(self.size.height);
        let mut at = 0u64;
        self.counts.iter().enumerate().flat_map(move |(i, &count)| {
            let start = at;
            at += u64::from(count);
            let (mut from, to) = if i % 2 == 1 { (start, at) } else { (at, at) };
            std::iter::from_fn(move || {
                (from < to).then(|| {
                    let x = from / height;
                    let end = to.min((x + 1) * height);
                    let span = (x as u32, (from % height) as u32..(end - x * height) as u32);
                    from = end;
                    span
                })
            })
        })
    }

    /// The tightest box around the set pixels as COCO has it, [x, y, width, height], or `None` when there is none.
    pub fn bounding_box(&self) -> Option<[u32; 4]> {
        let (mut x0, mut y0, mut x1, mut y1) = (u32::MAX, u32::MAX, 0, 0);
        for (x, rows) in self.column_spans() {
            (x0, x1) = (x0.min(x), x1.max(x + 1));
            (y0, y1) = (y0.min(rows.start), y1.max(rows.end));
        }
        (x1 > 0).then(|| [x0, y0, x1 - x0, y1 - y0])
    }

    /// COCO's compressed text: from the fourth run on the difference to the run two before, in groups of five bits
    /// (low first, 0x20 = more follows, the last group's 0x10 = sign), plus 48.
    pub fn to_coco_text(&self) -> String {
        let mut text = String::new();
        for (i, &count) in self.counts.iter().enumerate() {
            let mut rest = i64::from(count);
            if i > 2 {
                rest -= i64::from(self.counts[i - 2]);
            }
            loop {
                let group = (rest & 0x1f) as u8;
                rest >>= 5;
                let more = if group & 0x10 != 0 { rest != -1 } else { rest != 0 };
                text.push(char::from((group | if more { 0x20 } else { 0 }) + 48));
                if !more {
                    break;
                }
            }
        }
        text
    }

    /// Reads COCO's compressed text.
    ///
    /// # Errors
    /// [`RleError::Text`] at a damaged byte, [`RleError::Sum`] when the runs do not add up to the picture.
    pub fn from_coco_text(size: Size, text: &str) -> Result<Self, RleError> {
        let mut counts: Vec<u32> = Vec::new();
        let mut bytes = text.bytes().enumerate();
        while let Some((start, first)) = bytes.next() {
            let (mut value, mut shift, mut byte, mut at) = (0i64, 0u32, first, start);
            loop {
                let group =
                    byte.checked_sub(48).filter(|g| *g < 64 && shift < 60).ok_or(RleError::Text(at))?;
                value |= i64::from(group & 0x1f) << shift;
                shift += 5;
                if group & 0x20 == 0 {
                    if group & 0x10 != 0 {
                        value |= -1i64 << shift;
                    }
                    break;
                }
                (at, byte) = bytes.next().ok_or(RleError::Text(text.len()))?;
            }
            if counts.len() > 2 {
                value += i64::from(counts[counts.len() - 2]);
            }
            counts.push(u32::try_from(value).map_err(|_| RleError::Text(start))?);
        }
        Self::from_counts(size, counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A 5 x 7 mask with a hole; its values were taken from pycocotools 2.0.11.
    fn ring() -> Mask {
        let mut mask = Mask::empty(Size::new(7, 5));
        for (x, y) in (2..5).flat_map(|x| (1..4).map(move |y| (x, y))) {
            mask.set(x, y, (x, y) != (3, 2));
        }
        mask
    }

    #[test]
    fn golden_vectors() {
        let rle = Rle::encode(&ring());
        assert_eq!(rle.counts(), [11, 3, 2, 1, 1, 1, 2, 3, 11]);
        assert_eq!(rle.to_coco_text(), ";32NO0129");
        assert_eq!(rle.area(), 8);
        assert_eq!(rle.bounding_box(), Some([2, 1, 3, 3]));
        let size = Size::new(7, 5);
        assert_eq!(Rle::encode(&Mask::empty(size)).to_coco_text(), "S1");
        let full = Mask::new(size, vec![1; 35]).expect("35 pixels");
        assert_eq!(Rle::encode(&full).to_coco_text(), "0S1");
    }

    #[test]
    fn runs_must_add_up() {
        let size = Size::new(7, 5);
        assert!(matches!(Rle::from_counts(size, vec![1, 2]), Err(RleError::Sum { sum: 3, .. })));
        assert!(matches!(Rle::from_coco_text(size, "0S"), Err(RleError::Text(2))));
        assert!(matches!(Rle::from_coco_text(size, "\u{1}"), Err(RleError::Text(0))));
    }

    proptest! {
        #[test]
        fn there_and_back(width in 1u32..40, height in 1u32..40, seed in any::<u64>(), runs in 1u32..9) {
            let size = Size::new(width, height);
            let data = (0..size.area() as u64)
                .map(|i| u8::from((seed ^ (i / u64::from(runs)).wrapping_mul(0x9e37_79b9_7f4a_7c15)).count_ones() % 2 == 0))
                .collect();
            let mask = Mask::new(size, data).expect("data has the size's length");
            let rle = Rle::encode(&mask);
            prop_assert_eq!(&rle.decode(), &mask);
            prop_assert_eq!(rle.area(), mask.area());
            let bounds = rle.bounding_box().map(|[x, y, w, h]| [x, y, x + w, y + h].map(|v| v as f32));
            prop_assert_eq!(bounds, mask.bounding_box().map(|b| [b.x0, b.y0, b.x1, b.y1]));
            let mut painted = Mask::empty(size);
            for (x, rows) in rle.column_spans() {
                rows.for_each(|y| painted.set(x, y, true));
            }
            prop_assert_eq!(&painted, &mask);
            prop_assert_eq!(&Rle::from_coco_text(size, &rle.to_coco_text()).expect("own text"), &rle);
        }

        #[test]
        fn any_text_is_refused_or_read(text in "[ -~]{0,40}") {
            let _ = Rle::from_coco_text(Size::new(9, 9), &text);
        }
    }
}
