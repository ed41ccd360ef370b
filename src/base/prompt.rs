//! What a person says about an object on one frame: clicks, a box, a mask.

use super::{BoxXyxy, Point, Rle, Size};

/// Whether a click means "this is the object" or "this is not".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Belongs to the object.
    Positive,
    /// Does not belong to it.
    Negative,
}

/// One click.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Click {
    /// Where, in pixels of the upright picture.
    pub at: Point,
    /// Of which kind.
    pub label: Label,
}

/// All prompts of one object on one frame. A mask excludes clicks and a box, as in the reference.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FramePrompts {
    /// Clicks in the order they were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clicks: Vec<Click>,
    /// A box around the object.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "box")]
    pub bounds: Option<BoxXyxy>,
    /// The object's mask, of the picture's size; may be empty, which says "absent here".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<Rle>,
}

/// Why prompts cannot be used on a picture.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PromptError {
    /// Nothing was given.
    #[error("no prompt was given: add a click, a box or a mask")]
    Nothing,
    /// A coordinate is NaN or infinite.
    #[error("the prompt ({x}, {y}) is not a number: give pixel coordinates")]
    NotFinite {
        /// Coordinate to the right.
        x: f32,
        /// Coordinate downwards.
        y: f32,
    },
    /// A click or box corner lies outside the picture.
    #[error("the prompt ({x}, {y}) lies outside the picture of {size} pixels")]
    Outside {
        /// Coordinate to the right.
        x: f32,
        /// Coordinate downwards.
        y: f32,
        /// The picture's size.
        size: Size,
    },
    /// The box covers no pixel.
    #[error("the box {0:?} covers nothing: give x0 < x1 and y0 < y1")]
    EmptyBox([f32; 4]),
    /// The mask has another size than the picture.
    #[error("the mask has {mask} pixels but the picture has {picture}: give a mask of the picture's size")]
    MaskSize {
        /// The mask's size.
        mask: Size,
        /// The picture's size.
        picture: Size,
    },
    /// A mask came together with clicks or a box.
    #[error("a mask prompt cannot be combined with clicks or a box on the same frame: give one or the other")]
    Mixed,
}

impl FramePrompts {
    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        self.clicks.is_empty() && self.bounds.is_none() && self.mask.is_none()
    }

    /// Checks the prompts against a picture of `size`.
    ///
    /// # Errors
    /// Nothing given, not finite, outside the picture, a box of zero area, a mask of another size, a mix with a mask.
    pub fn validate(&self, size: Size) -> Result<(), PromptError> {
        if self.is_empty() {
            return Err(PromptError::Nothing);
        }
        for click in &self.clicks {
            inside(click.at, size)?;
        }
        if let Some(b) = self.bounds {
            inside(Point { x: b.x0, y: b.y0 }, size)?;
            inside(Point { x: b.x1, y: b.y1 }, size)?;
            if b.x0 >= b.x1 || b.y0 >= b.y1 {
                return Err(PromptError::EmptyBox([b.x0, b.y0, b.x1, b.y1]));
            }
        }
        if let Some(mask) = &self.mask {
            if mask.size() != size {
                return Err(PromptError::MaskSize { mask: mask.size(), picture: size });
            }
            if !self.clicks.is_empty() || self.bounds.is_some() {
                return Err(PromptError::Mixed);
            }
        }
        Ok(())
    }
}

/// The border itself is inside: a box may end at the picture's width and height.
fn inside(p: Point, size: Size) -> Result<(), PromptError> {
    if !p.x.is_finite() || !p.y.is_finite() {
        return Err(PromptError::NotFinite { x: p.x, y: p.y });
    }
    let within = p.x >= 0.0 && p.y >= 0.0 && p.x <= size.width as f32 && p.y <= size.height as f32;
    if within { Ok(()) } else { Err(PromptError::Outside { x: p.x, y: p.y, size }) }
}
