//! A binary mask in pixels.

use super::{BoxXyxy, Size};

/// Which pixels belong to an object: one byte a pixel, row-major, 0 or 1.
#[derive(Clone, PartialEq, Eq)]
pub struct Mask {
    size: Size,
    data: Vec<u8>,
}

impl Mask {
    /// A mask without a pixel.
    pub fn empty(size: Size) -> Self {
        Self { size, data: vec![0; size.area()] }
    }

    /// Wraps `data` (any non-zero byte counts as 1), or `None` when its length is not `width * height`.
    pub fn new(size: Size, mut data: Vec<u8>) -> Option<Self> {
        if data.len() != size.area() {
            return None;
        }
        data.iter_mut().for_each(|v| *v = u8::from(*v != 0));
        Some(Self { size, data })
    }

    /// Width and height in pixels.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The bytes, 0 or 1, row by row.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Whether pixel (`x`, `y`) is set; false outside the picture.
    pub fn get(&self, x: u32, y: u32) -> bool {
        x < self.size.width
            && y < self.size.height
            && self.data[y as usize * self.size.width as usize + x as usize] != 0
    }

    /// Sets or clears pixel (`x`, `y`); outside the picture nothing happens.
    pub fn set(&mut self, x: u32, y: u32, on: bool) {
        if x < self.size.width && y < self.size.height {
            self.data[y as usize * self.size.width as usize + x as usize] = u8::from(on);
        }
    }

    /// Number of set pixels.
    pub fn area(&self) -> u64 {
        self.data.iter().map(|&v| u64::from(v)).sum()
    }

    /// The smallest half-open box around the set pixels, or `None` when there is none.
    pub fn bounding_box(&self) -> Option<BoxXyxy> {
        let (mut x0, mut y0, mut x1, mut y1) = (u32::MAX, u32::MAX, 0, 0);
        for (y, row) in (0u32..).zip(self.data.chunks_exact(self.size.width.max(1) as usize)) {
            let Some(first) = row.iter().position(|&v| v != 0) else { continue };
            let last = row.iter().rposition(|&v| v != 0).unwrap_or(first);
            (x0, x1) = (x0.min(first as u32), x1.max(last as u32 + 1));
            (y0, y1) = (y0.min(y), y + 1);
        }
        (x1 > 0).then_some(BoxXyxy { x0: x0 as f32, y0: y0 as f32, x1: x1 as f32, y1: y1 as f32 })
    }
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask({}, {} set)", self.size, self.area())
    }
}
