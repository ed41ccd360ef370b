//! A decoded picture as the graphics card takes it.

use std::sync::Arc;

use crate::base::{RgbFrame, Size};

/// Four bytes a pixel, at most as large as a texture may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Size of these pixels.
    pub size: Size,
    /// Rows of R G B 255.
    pub rgba: Vec<u8>,
}

/// How many pixels of a picture of `size` become one, so that a texture of `limit` a side holds it.
pub fn step(size: Size, limit: u32) -> u32 {
    size.width.max(size.height).div_ceil(limit.max(1)).max(1)
}

impl Pixels {
    /// `picture`, every `step`-th pixel of it where it is larger than `limit`.
    pub fn of(picture: &RgbFrame, limit: u32) -> Arc<Self> {
        let size = picture.size();
        let step = step(size, limit);
        if step == 1 {
            let mut rgba = vec![255u8; size.area() * 4];
            for (to, from) in rgba.chunks_exact_mut(4).zip(picture.data().chunks_exact(3)) {
                to[..3].copy_from_slice(from);
            }
            return Arc::new(Self { size, rgba });
        }
        let small = Size::new(size.width.div_ceil(step), size.height.div_ceil(step));
        let mut rgba = Vec::with_capacity(small.area() * 4);
        let row = size.width as usize * 3;
        for line in picture.data().chunks_exact(row).step_by(step as usize) {
            for pixel in line.chunks_exact(3).step_by(step as usize) {
                rgba.extend([pixel[0], pixel[1], pixel[2], 255]);
            }
        }
        Arc::new(Self { size: small, rgba })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_thinned() {
        let mut picture = RgbFrame::filled(Size::new(5, 3), [1, 2, 3]);
        picture.data_mut()[..3].copy_from_slice(&[9, 8, 7]);
        let whole = Pixels::of(&picture, 5);
        assert_eq!(
            (whole.size, whole.rgba.len(), &whole.rgba[..5]),
            (Size::new(5, 3), 60, &[9, 8, 7, 255, 1][..])
        );
        let thin = Pixels::of(&picture, 4);
        assert_eq!((thin.size, thin.rgba.len(), thin.rgba[0]), (Size::new(3, 2), 24, 9));
        assert_eq!(step(Size::new(8200, 1), 8192), 2);
    }
}
