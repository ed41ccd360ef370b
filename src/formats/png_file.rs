//! PNG to and from memory, with the stamp as text chunks.

use std::io::Cursor;

use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Filter, Limits, Transformations};

use crate::base::Size;
use crate::session::palette;

/// What a pixel's bytes mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pixels {
    /// Index into the palette of labels.
    Indexed,
    /// Grey, 0 is black.
    Grey,
    /// Numbers up to 65,535, two bytes a pixel, high first.
    Grey16,
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, straight alpha.
    Rgba,
}

impl Pixels {
    fn layout(self) -> (ColorType, BitDepth) {
        match self {
            Self::Indexed => (ColorType::Indexed, BitDepth::Eight),
            Self::Grey => (ColorType::Grayscale, BitDepth::Eight),
            Self::Grey16 => (ColorType::Grayscale, BitDepth::Sixteen),
            Self::Rgb => (ColorType::Rgb, BitDepth::Eight),
            Self::Rgba => (ColorType::Rgba, BitDepth::Eight),
        }
    }

    /// Bytes of a pixel.
    pub fn bytes(self) -> usize {
        match self {
            Self::Indexed | Self::Grey => 1,
            Self::Grey16 => 2,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }
}

/// A PNG of `pixels` (row by row) with text chunks (keyword, Latin-1 text).
///
/// Sides of 0 or past PNG's limits are refused by the encoder, in words.
pub fn encode(kind: Pixels, size: Size, pixels: &[u8], texts: &[(&str, &str)]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, size.width, size.height);
    let (colour, depth) = kind.layout();
    encoder.set_color(colour);
    encoder.set_depth(depth);
    encoder.set_compression(Compression::Balanced);
    match kind {
        Pixels::Rgb | Pixels::Rgba => encoder.set_filter(Filter::Adaptive),
        // Labels are flat areas: any prediction from neighbours only makes them longer.
        _ => encoder.set_filter(Filter::NoFilter),
    }
    if kind == Pixels::Indexed {
        encoder.set_palette(palette());
    }
    let write = |mut encoder: Encoder<'_, &mut Vec<u8>>| {
        for &(keyword, text) in texts {
            encoder.add_text_chunk(keyword.to_owned(), text.to_owned())?;
        }
        let mut writer = encoder.write_header()?;
        writer.write_image_data(pixels)?;
        writer.finish()
    };
    write(encoder).map_err(|e| e.to_string())?;
    Ok(bytes)
}

/// The pixels of a PNG that [`encode`] may have written: of that kind and `size`; an indexed one with the palette of
/// labels.
pub fn decode(kind: Pixels, size: Size, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let limits = Limits { bytes: size.area().saturating_mul(8).max(1 << 20) };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::IDENTITY);
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let info = reader.info();
    if (info.color_type, info.bit_depth) != kind.layout() {
        return Err(format!("it holds {:?} of {:?} bits", info.color_type, info.bit_depth));
    }
    if (info.width, info.height) != (size.width, size.height) {
        return Err(format!("it has {} x {} pixels instead of {size}", info.width, info.height));
    }
    if kind == Pixels::Indexed && info.palette.as_deref() != Some(&palette()) {
        return Err("its palette is another one".into());
    }
    let mut pixels = vec![0; size.area() * kind.bytes()];
    reader.next_frame(&mut pixels).map_err(|e| e.to_string())?;
    Ok(pixels)
}

/// Whether `bytes` hold exactly `pixels`; in words what differs.
pub fn check(kind: Pixels, size: Size, pixels: &[u8], bytes: &[u8]) -> Result<(), String> {
    let back = decode(kind, size, bytes)?;
    match back.iter().zip(pixels).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => {
            let pixel = at / kind.bytes();
            let (x, y) = (pixel % size.width as usize, pixel / size.width as usize);
            Err(format!("pixel ({x}, {y}) is {} instead of {}", back[at], pixels[at]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn damage_is_noticed() {
        let size = Size::new(3, 2);
        let pixels = [0, 1, 2, 3, 254, 255];
        let bytes = encode(Pixels::Indexed, size, &pixels, &[("Comment", "{}")]).unwrap();
        check(Pixels::Indexed, size, &pixels, &bytes).unwrap();
        assert!(check(Pixels::Indexed, size, &[0; 6], &bytes).unwrap_err().contains("pixel (1, 0)"));
        check(Pixels::Grey, size, &pixels, &bytes).unwrap_err();
        check(Pixels::Indexed, Size::new(2, 3), &pixels, &bytes).unwrap_err();
        check(Pixels::Indexed, size, &pixels, &bytes[..bytes.len() / 2]).unwrap_err();
        encode(Pixels::Grey, Size::new(0, 0), &[], &[]).unwrap_err();
    }

    proptest! {
        #[test]
        fn there_and_back(width in 1u32..20, height in 1u32..20, seed in any::<u32>(), kind in 0usize..5) {
            let kinds = [Pixels::Indexed, Pixels::Grey, Pixels::Grey16, Pixels::Rgb, Pixels::Rgba];
            let (size, kind) = (Size::new(width, height), kinds[kind]);
            let pixels: Vec<u8> = (0..(size.area() * kind.bytes()) as u32).map(|i| (i.wrapping_mul(seed) >> 13) as u8).collect();
            let bytes = encode(kind, size, &pixels, &[]).expect("a valid picture");
            prop_assert_eq!(decode(kind, size, &bytes).expect("own file"), pixels);
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut whole = b"\x89PNG\r\n\x1a\n".to_vec();
            whole.extend(bytes);
            let _ = decode(Pixels::Grey, Size::new(4, 4), &whole);
        }
    }
}
