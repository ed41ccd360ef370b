//! One decoded frame.

use super::Size;

/// An upright 8-bit RGB picture, rows from the top, three bytes a pixel.
#[derive(Clone, PartialEq, Eq)]
pub struct RgbFrame {
    size: Size,
    data: Vec<u8>,
}

impl RgbFrame {
    /// Wraps `data`, or `None` when it does not hold exactly `width * height * 3` bytes or a side is 0.
    pub fn new(size: Size, data: Vec<u8>) -> Option<Self> {
        (size.area() > 0 && data.len() == size.area() * 3).then_some(Self { size, data })
    }

    /// A picture of one colour. Sides of 0 become 1.
    pub fn filled(size: Size, rgb: [u8; 3]) -> Self {
        let size = Size::new(size.width.max(1), size.height.max(1));
        Self { size, data: rgb.iter().copied().cycle().take(size.area() * 3).collect() }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The bytes, row by row, R G B.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The bytes, to draw into.
    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.data
    }

    /// Gives the bytes back, for re-use.
    pub fn into_data(self) -> Vec<u8> {
        self.data
    }
}

impl std::fmt::Debug for RgbFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RgbFrame({})", self.size)
    }
}
