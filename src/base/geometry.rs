//! Points, boxes and sizes, in pixels of the upright picture before sample aspect.

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Size {
    /// Pixels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Size {
    /// `width` x `height`.
    pub const fn new(width: u32, height: u32) -> Self {
        Self { width, height }
    }

    /// Number of pixels.
    pub fn area(self) -> usize {
        self.width as usize * self.height as usize
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {}", self.width, self.height)
    }
}

/// A place in the picture, in pixels; the centre of the top-left pixel is (0, 0), as in the reference.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Point {
    /// To the right.
    pub x: f32,
    /// Downwards.
    pub y: f32,
}

/// A box, half-open: it covers `x0 <= x < x1` and `y0 <= y < y1`, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BoxXyxy {
    /// Left edge.
    pub x0: f32,
    /// Top edge.
    pub y0: f32,
    /// Right edge, excluded.
    pub x1: f32,
    /// Bottom edge, excluded.
    pub y1: f32,
}
