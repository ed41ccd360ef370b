//! The network's answer for one object before it is thresholded.

/// Mask logits, row-major; a pixel belongs to the object where its logit is above 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Logits {
    /// Values per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `width * height` values, row by row.
    pub data: Vec<f32>,
}

impl Logits {
    /// Logits of one value everywhere.
    pub fn constant(width: u32, height: u32, value: f32) -> Self {
        Self { width, height, data: vec![value; width as usize * height as usize] }
    }
}
