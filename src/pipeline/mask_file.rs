//! Reads a mask from a PNG: whose pixel values are labels (palette index or grey), 0 the background.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::PipelineError;
use crate::base::{Mask, Size};

/// Larger sides are refused before anything is allocated.
const MAX_SIDE: u32 = 16_384;

/// One label a pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LabelPicture {
    /// Width and height in pixels.
    pub size: Size,
    /// `width * height` labels, row by row.
    pub labels: Vec<u8>,
}

impl LabelPicture {
    /// Reads `path`. Indexed pictures give their indices, grey ones their values, colour ones 255 where not black;
    /// transparent pixels are background.
    ///
    /// # Errors
    /// Not a readable PNG.
    pub fn read(path: &Path) -> Result<Self, PipelineError> {
        let fail = |reason: String| PipelineError::MaskFile { path: path.into(), reason };
        let file = File::open(path).map_err(|e| fail(format!("{e}; give the path of a PNG")))?;
        let not_png = |e: png::DecodingError| fail(format!("not a readable PNG: {e}"));
        let mut decoder = png::Decoder::new(BufReader::new(file));
        decoder.set_transformations(png::Transformations::STRIP_16);
        let mut reader = decoder.read_info().map_err(not_png)?;
        let (width, height) = (reader.info().width, reader.info().height);
        if width > MAX_SIDE || height > MAX_SIDE {
            return Err(fail(format!("{width} x {height} pixels are too many; at most {MAX_SIDE} a side")));
        }
        let bytes = reader.output_buffer_size().ok_or_else(|| fail("the picture is too large".into()))?;
        let mut data = vec![0; bytes];
        let frame = reader.next_frame(&mut data).map_err(not_png)?;
        let bits = frame.bit_depth as usize;
        let labels = data
            .chunks_exact(frame.line_size)
            .take(height as usize)
            .flat_map(|row| (0..width as usize).map(move |x| label(row, x, frame.color_type, bits)))
            .collect();
        Ok(Self { size: Size::new(width, height), labels })
    }

    /// The pixels that are not background.
    pub fn any(&self) -> Mask {
        self.select(|label| label != 0)
    }

    /// The pixels of one label.
    pub fn of(&self, label: u8) -> Mask {
        self.select(|l| l == label)
    }

    /// The labels that occur, ascending, without the background.
    pub fn present(&self) -> Vec<u8> {
        let mut seen = [false; 256];
        self.labels.iter().for_each(|&l| seen[usize::from(l)] = true);
        (1..=255).filter(|&l| seen[usize::from(l)]).collect()
    }

    fn select(&self, pick: impl Fn(u8) -> bool) -> Mask {
        let data = self.labels.iter().map(|&l| u8::from(pick(l))).collect();
        Mask::new(self.size, data).unwrap_or_else(|| Mask::empty(self.size))
    }
}

fn label(row: &[u8], x: usize, colour: png::ColorType, bits: usize) -> u8 {
    use png::ColorType::{Grayscale, GrayscaleAlpha, Indexed, Rgb, Rgba};
    let solid = |alpha: u8, label: u8| if alpha == 0 { 0 } else { label };
    match colour {
        Indexed | Grayscale if bits < 8 => {
            let at = x * bits;
            (row[at / 8] >> (8 - bits - at % 8)) & ((1 << bits) - 1)
        }
        Indexed | Grayscale => row[x],
        GrayscaleAlpha => solid(row[2 * x + 1], row[2 * x]),
        Rgb => u8::from(row[3 * x..][..3] != [0; 3]) * 255,
        Rgba => solid(row[4 * x + 3], u8::from(row[4 * x..][..3] != [0; 3]) * 255),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(colour: png::ColorType, depth: png::BitDepth, data: &[u8]) -> LabelPicture {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("м é.png");
        let mut encoder = png::Encoder::new(File::create(&path).expect("a file"), 3, 2);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        if colour == png::ColorType::Indexed {
            encoder.set_palette(vec![0, 0, 0, 128, 0, 0, 0, 128, 0, 5, 5, 5]);
        }
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(data).expect("pixels");
        writer.finish().expect("an end");
        LabelPicture::read(&path).expect("a mask")
    }

    #[test]
    fn every_kind_of_png() {
        use png::{BitDepth, ColorType};
        let expected = [0, 1, 2, 3, 0, 1];
        assert_eq!(written(ColorType::Indexed, BitDepth::Eight, &expected).labels, expected);
        assert_eq!(written(ColorType::Indexed, BitDepth::Two, &[0b0001_1000, 0b1100_0100]).labels, expected);
        let grey = written(ColorType::Grayscale, BitDepth::Eight, &[0, 255, 0, 0, 7, 255]);
        assert_eq!(grey.present(), [7, 255]);
        assert_eq!(grey.any().area(), 3);
        assert_eq!(grey.of(255).area(), 2);
        let colour = [0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 9, 9, 0, 0, 0, 0, 0, 0];
        assert_eq!(written(ColorType::Rgb, BitDepth::Eight, &colour).any().area(), 2);
        let bits = written(ColorType::Grayscale, BitDepth::One, &[0b0100_0000, 0b1010_0000]);
        assert_eq!(bits.labels, [0, 1, 0, 1, 0, 1]);
        let sixteen =
            written(ColorType::Grayscale, BitDepth::Sixteen, &[0, 0, 9, 0, 255, 255, 0, 0, 0, 0, 0, 0]);
        assert_eq!(sixteen.labels, [0, 9, 255, 0, 0, 0]);
    }

    #[test]
    fn what_is_no_png_is_said() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.png");
        for bytes in [&b""[..], b"GIF89a", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xff\xff\xff\0\0\0\x01"] {
            std::fs::write(&path, bytes).expect("a file");
            let error = LabelPicture::read(&path).expect_err("no PNG").to_string();
            assert!(error.contains("a.png"), "{error}");
        }
        assert!(LabelPicture::read(&dir.path().join("b.png")).is_err());
    }
}
