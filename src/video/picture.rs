//! Owns reading one picture or one mask from a PNG or JPEG file.
//! May import: base.
//! Must not: know videos.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader};

use super::VideoError;
use crate::base::{Mask, RgbFrame, Size};

/// Longest side of a picture that is read.
pub(super) const MAX_SIDE: u32 = 65_535;
/// Most pixels of a picture that is read (384 MiB as RGB): a few bytes of file can claim any size.
pub(super) const MAX_PIXELS: u64 = 1 << 27;

/// Whether a picture of this size is read; `Err` says why not.
pub(super) fn check_size(width: u32, height: u32) -> Result<Size, String> {
    let size = Size::new(width, height);
    if width == 0 || height == 0 {
        return Err(format!("the picture has no pixels ({size})"));
    }
    if width > MAX_SIDE || height > MAX_SIDE || u64::from(width) * u64::from(height) > MAX_PIXELS {
        let most = MAX_PIXELS / 1_000_000;
        return Err(format!(
            "the picture says it has {size} pixels; at most {MAX_SIDE} a side and {most} million in all are read: scale it down"
        ));
    }
    Ok(size)
}

/// Which of the formats that we read `file` holds, by its first bytes; the name plays no part.
pub(super) fn picture_format(file: &mut (impl Read + Seek)) -> std::io::Result<Option<ImageFormat>> {
    let mut start = [0; 8];
    let mut length = 0;
    while length < start.len() {
        match file.read(&mut start[length..])? {
            0 => break,
            count => length += count,
        }
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(match &start[..length] {
        b"\x89PNG\r\n\x1a\n" => Some(ImageFormat::Png),
        [0xff, 0xd8, 0xff, ..] => Some(ImageFormat::Jpeg),
        _ => None,
    })
}

fn io_error(path: &Path) -> impl Fn(std::io::Error) -> VideoError {
    move |source| VideoError::Io { path: path.into(), source }
}

fn unreadable(path: &Path, reason: impl Into<String>) -> VideoError {
    VideoError::Unreadable { path: path.into(), reason: reason.into() }
}

fn damaged(path: &Path, error: &impl std::fmt::Display) -> VideoError {
    unreadable(path, format!("the picture is damaged or cut off ({error}): export it again"))
}

/// Opens `path` as a picture whose size is allowed, and says which way up it is.
fn decoder(path: &Path) -> Result<(impl ImageDecoder, Orientation), VideoError> {
    let mut file = BufReader::new(File::open(path).map_err(io_error(path))?);
    let format = picture_format(&mut file).map_err(io_error(path))?;
    let format = format
        .ok_or_else(|| unreadable(path, "this is no PNG or JPEG picture: convert it to one of them"))?;
    let mut reader = ImageReader::with_format(file, format);
    let mut limits = image::Limits::no_limits();
    (limits.max_image_width, limits.max_image_height) = (Some(MAX_SIDE), Some(MAX_SIDE));
    // 16-bit RGBA is the widest layout; the size itself is checked below, before anything is allocated.
    limits.max_alloc = Some(MAX_PIXELS * 8);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|e| damaged(path, &e))?;
    let (width, height) = decoder.dimensions();
    check_size(width, height).map_err(|reason| unreadable(path, reason))?;
    // Damaged EXIF data is no reason to refuse the picture.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((decoder, orientation))
}

/// Size of the upright picture in `path`, without decoding its pixels.
///
/// # Errors
/// [`VideoError::Io`] or [`VideoError::Unreadable`], as [`read_picture`].
pub(super) fn picture_size(path: &Path) -> Result<Size, VideoError> {
    let (decoder, orientation) = decoder(path)?;
    let (width, height) = decoder.dimensions();
    Ok(match orientation {
        Orientation::Rotate90
        | Orientation::Rotate270
        | Orientation::Rotate90FlipH
        | Orientation::Rotate270FlipH => Size::new(height, width),
        _ => Size::new(width, height),
    })
}

/// Reads a PNG or JPEG (told apart by content, not by name) as an upright RGB picture.
///
/// Palettes are looked up, grey becomes RGB, 16 bits are rounded to 8, CMYK is converted, transparency is dropped (the
/// colour below it stays), and EXIF rotation is applied.
///
/// # Errors
/// [`VideoError::Io`] when the file cannot be opened; [`VideoError::Unreadable`] when it is no picture, is damaged, or
/// claims more than 65,535 pixels a side or 134 million in all.
pub fn read_picture(path: &Path) -> Result<RgbFrame, VideoError> {
    let (decoder, orientation) = decoder(path)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|e| damaged(path, &e))?;
    picture.apply_orientation(orientation);
    let picture = picture.into_rgb8();
    let size = Size::new(picture.width(), picture.height());
    RgbFrame::new(size, picture.into_raw()).ok_or_else(|| unreadable(path, "the picture has no pixels"))
}

/// A PNG as numbers: which object each pixel belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelPicture {
    size: Size,
    labels: Vec<u16>,
}

impl LabelPicture {
    /// Width and height in pixels.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The pixels that are not background.
    pub fn any(&self) -> Mask {
        self.select(|label| label != 0)
    }

    /// The pixels of one label.
    pub fn of(&self, label: u16) -> Mask {
        self.select(|l| l == label)
    }

    /// The labels that occur, ascending, without the background.
    pub fn present(&self) -> Vec<u16> {
        let mut seen = vec![false; 1 << 16];
        self.labels.iter().for_each(|&label| seen[usize::from(label)] = true);
        (1..=u16::MAX).filter(|&label| seen[usize::from(label)]).collect()
    }

    fn select(&self, pick: impl Fn(u16) -> bool) -> Mask {
        let data = self.labels.iter().map(|&label| u8::from(pick(label))).collect();
        Mask::new(self.size, data).unwrap_or_else(|| Mask::empty(self.size))
    }
}

/// Reads a PNG as labels: the index of an indexed PNG whatever its colour, the value of a grey one (8 or 16 bits), 255
/// where an RGB one is not pure black; 0 is the background. Otherwise as [`read_mask`].
///
/// # Errors
/// As [`read_mask`].
pub fn read_labels(path: &Path) -> Result<LabelPicture, VideoError> {
    let (size, labels) = read_values(path, |value| value)?;
    Ok(LabelPicture { size, labels })
}

/// Reads a PNG as a mask of the picture's size.
///
/// What belongs to the object: in an indexed PNG every pixel whose *index* is not 0, whatever its colour; in a grey PNG
/// every pixel that is not 0; in an RGB PNG every pixel that is not pure black. An alpha channel is ignored. EXIF rotation
/// is not applied: masks are stored upright.
///
/// # Errors
/// [`VideoError::Io`] when the file cannot be opened; [`VideoError::Unreadable`] when it is no PNG (JPEG blurs the edge of
/// a mask, so it is refused), is damaged or too large.
pub fn read_mask(path: &Path) -> Result<Mask, VideoError> {
    let (size, data) = read_values(path, |value| u8::from(value != 0))?;
    Mask::new(size, data).ok_or_else(|| unreadable(path, CUT_OFF))
}

const CUT_OFF: &str = "the picture is cut off: export it again";

/// What `keep` makes of each pixel's label, row by row.
fn read_values<T>(path: &Path, keep: impl Fn(u16) -> T) -> Result<(Size, Vec<T>), VideoError> {
    let mut file = BufReader::new(File::open(path).map_err(io_error(path))?);
    match picture_format(&mut file).map_err(io_error(path))? {
        Some(ImageFormat::Png) => {}
        Some(_) => {
            return Err(unreadable(path, "a JPEG cannot hold a mask, its edges are blurred: save it as PNG"));
        }
        None => return Err(unreadable(path, "this is no PNG picture: masks are read from PNG")),
    }
    let mut decoder = png::Decoder::new_with_limits(file, png::Limits { bytes: MAX_PIXELS as usize * 8 });
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info().map_err(|e| damaged(path, &e))?;
    let info = reader.info();
    let size = check_size(info.width, info.height).map_err(|reason| unreadable(path, reason))?;
    let length = reader.output_buffer_size().ok_or_else(|| unreadable(path, "the picture is too large"))?;
    let mut bytes = vec![0; length];
    let frame = reader.next_frame(&mut bytes).map_err(|e| damaged(path, &e))?;
    let (samples, coloured) = match frame.color_type {
        png::ColorType::Indexed | png::ColorType::Grayscale => (1, false),
        png::ColorType::GrayscaleAlpha => (2, false),
        png::ColorType::Rgb => (3, true),
        png::ColorType::Rgba => (4, true),
    };
    let bits = frame.bit_depth as usize;
    let width = size.width as usize;
    let mut values = Vec::with_capacity(size.area());
    for row in bytes.chunks_exact(frame.line_size).take(size.height as usize) {
        if bits < 8 {
            let mask = (1u8 << bits) - 1;
            let value = |x: usize| row[x * bits / 8] >> (8 - bits - x * bits % 8) & mask;
            values.extend((0..width).map(|x| keep(value(x).into())));
        } else {
            let bytes = bits / 8;
            let value = |pixel: &[u8]| match pixel {
                _ if coloured => u16::from(pixel[..3 * bytes].iter().any(|&v| v != 0)) * 255,
                [high, low, ..] if bytes == 2 => u16::from_be_bytes([*high, *low]),
                _ => pixel[0].into(),
            };
            values.extend(row.chunks_exact(samples * bytes).take(width).map(|pixel| keep(value(pixel))));
        }
    }
    if values.len() == size.area() { Ok((size, values)) } else { Err(unreadable(path, CUT_OFF)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png_file(
        color: png::ColorType,
        depth: png::BitDepth,
        width: u32,
        height: u32,
        data: &[u8],
    ) -> tempfile::TempPath {
        let file = tempfile::Builder::new().suffix(".png").tempfile().expect("temporary file");
        let mut encoder = png::Encoder::new(file.as_file(), width, height);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == png::ColorType::Indexed {
            encoder.set_palette(vec![9, 9, 9, 0, 0, 0, 255, 0, 0, 1, 2, 3]);
        }
        let mut writer = encoder.write_header().expect("header");
        writer.write_image_data(data).expect("data");
        writer.finish().expect("end");
        file.into_temp_path()
    }

    #[test]
    fn masks_of_every_kind() {
        use png::BitDepth::{Eight, One, Sixteen, Two};
        use png::ColorType::{Grayscale, GrayscaleAlpha, Indexed, Rgb, Rgba};
        let read = |c, d, w, h, bytes: &[u8]| {
            read_mask(&png_file(c, d, w, h, bytes)).expect("a mask").data().to_vec()
        };
        // Index 1 is black in the palette and counts, index 0 is grey and does not.
        assert_eq!(read(Indexed, Eight, 3, 1, &[0, 1, 2]), [0, 1, 1]);
        assert_eq!(read(Indexed, Two, 5, 1, &[0b00_01_10_11, 0b01_00_00_00]), [0, 1, 1, 1, 1]);
        assert_eq!(
            read(Grayscale, One, 9, 2, &[0b1010_0000, 0, 0, 0x80]),
            [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
        );
        assert_eq!(read(Grayscale, Sixteen, 2, 1, &[0, 0, 0, 1]), [0, 1]);
        assert_eq!(read(GrayscaleAlpha, Eight, 2, 1, &[0, 255, 1, 0]), [0, 1]);
        assert_eq!(read(Rgb, Eight, 2, 1, &[0, 0, 0, 0, 0, 1]), [0, 1]);
        assert_eq!(read(Rgba, Eight, 2, 1, &[0, 0, 0, 255, 7, 0, 0, 0]), [0, 1]);
    }

    #[test]
    fn labels_of_every_kind() {
        use png::BitDepth::{Eight, Sixteen, Two};
        use png::ColorType::{Grayscale, GrayscaleAlpha, Indexed, Rgb};
        let read = |c, d, w, bytes: &[u8]| read_labels(&png_file(c, d, w, 1, bytes)).expect("labels");
        assert_eq!(read(Indexed, Eight, 3, &[2, 0, 1]).labels, [2, 0, 1]);
        assert_eq!(read(Indexed, Two, 5, &[0b00_01_10_11, 0b01_00_00_00]).labels, [0, 1, 2, 3, 1]);
        assert_eq!(read(Grayscale, Sixteen, 3, &[0, 0, 0, 9, 1, 2]).labels, [0, 9, 258]);
        assert_eq!(read(GrayscaleAlpha, Eight, 2, &[7, 0, 0, 255]).labels, [7, 0]);
        assert_eq!(read(Rgb, Eight, 2, &[0, 0, 0, 0, 0, 1]).labels, [0, 255]);
        let grey = read(Grayscale, Eight, 5, &[0, 255, 7, 0, 255]);
        assert_eq!(grey.present(), [7, 255]);
        assert_eq!(grey.any().data(), [0, 1, 1, 0, 1]);
        assert_eq!(grey.of(255).data(), [0, 1, 0, 0, 1]);
    }

    #[test]
    fn pictures_of_every_kind() {
        let read = |c, d, w, h, bytes: &[u8]| read_picture(&png_file(c, d, w, h, bytes)).expect("a picture");
        assert_eq!(
            read(png::ColorType::Indexed, png::BitDepth::Eight, 2, 1, &[2, 3]).data(),
            [255, 0, 0, 1, 2, 3]
        );
        assert_eq!(
            read(png::ColorType::GrayscaleAlpha, png::BitDepth::Eight, 1, 1, &[77, 0]).data(),
            [77; 3]
        );
        assert_eq!(read(png::ColorType::Grayscale, png::BitDepth::One, 1, 1, &[0x80]).data(), [255; 3]);
        assert_eq!(
            read(png::ColorType::Rgba, png::BitDepth::Sixteen, 1, 1, &[255, 255, 128, 0, 0, 0, 0, 0]).data(),
            [255, 128, 0]
        );
        let wide = read(png::ColorType::Grayscale, png::BitDepth::Eight, 8_200, 1, &[5; 8_200]);
        assert_eq!(wide.size(), Size::new(8_200, 1));
    }

    #[test]
    fn jpegs_of_every_kind() {
        use image::ImageEncoder;
        use image::codecs::jpeg::JpegEncoder;
        let near = |frame: &RgbFrame, x: usize, y: usize, rgb: [u8; 3]| {
            let at = (y * frame.size().width as usize + x) * 3;
            assert!(frame.data()[at..at + 3].iter().zip(rgb).all(|(a, b)| a.abs_diff(b) < 20), "({x}, {y})");
        };
        // Four fields: red, cyan, black, white; written by another program, inverted as Adobe has it.
        let cmyk = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cmyk.jpg");
        let frame = read_picture(&cmyk).expect("CMYK");
        near(&frame, 2, 2, [255, 0, 0]);
        near(&frame, 12, 2, [0, 255, 255]);
        near(&frame, 2, 12, [0; 3]);
        near(&frame, 12, 12, [255; 3]);

        // 32 x 16, white on the left; 6 says: turn clockwise, so white comes to the top.
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        let stored: Vec<u8> = (0..32 * 16).map(|i| if i % 32 < 16 { 255 } else { 0 }).collect();
        let exif = |orientation: u8| {
            let mut exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
            exif.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
            exif
        };
        for (orientation, size, white) in [
            (1, Size::new(32, 16), (4, 8)),
            (3, Size::new(32, 16), (28, 8)),
            (6, Size::new(16, 32), (8, 4)),
            (8, Size::new(16, 32), (8, 28)),
        ] {
            let mut encoder = JpegEncoder::new_with_quality(file.reopen().expect("opens"), 95);
            encoder.set_exif_metadata(exif(orientation)).expect("JPEG has EXIF");
            encoder.write_image(&stored, 32, 16, image::ExtendedColorType::L8).expect("written");
            assert_eq!(picture_size(file.path()).expect("size"), size, "{orientation}");
            let frame = read_picture(file.path()).expect("turned");
            assert_eq!(frame.size(), size);
            near(&frame, white.0, white.1, [255; 3]);
            near(&frame, size.width as usize - 1 - white.0, size.height as usize - 1 - white.1, [0; 3]);
        }
        assert!(read_mask(file.path()).expect_err("a JPEG").to_string().contains("PNG"));
    }

    #[test]
    fn what_cannot_be_read_says_so() {
        let file = tempfile::Builder::new().suffix(".png").tempfile().expect("temporary file");
        std::fs::write(file.path(), b"hello").expect("written");
        for error in [read_picture(file.path()).map(drop), read_mask(file.path()).map(drop)] {
            assert!(error.expect_err("text").to_string().contains("no PNG"), "says what it is not");
        }
        std::fs::write(file.path(), b"").expect("written");
        assert!(read_picture(file.path()).is_err());
        assert!(matches!(read_picture(Path::new("nowhere.png")), Err(VideoError::Io { .. })));
        // Half a picture.
        let whole = png_file(png::ColorType::Rgb, png::BitDepth::Eight, 64, 64, &[200; 64 * 64 * 3]);
        let bytes = std::fs::read(&whole).expect("read");
        for cut in 0..bytes.len() {
            std::fs::write(file.path(), &bytes[..cut]).expect("written");
            let _ = (read_picture(file.path()), read_mask(file.path()));
        }
        std::fs::write(file.path(), &bytes[..60]).expect("written");
        assert!(read_picture(file.path()).expect_err("half").to_string().contains("damaged"));
        assert!(read_mask(file.path()).expect_err("half").to_string().contains("damaged"));
    }

    #[test]
    fn a_picture_that_claims_too_much_is_refused() {
        let whole = png_file(png::ColorType::Grayscale, png::BitDepth::Eight, 1, 1, &[1]);
        let mut bytes = std::fs::read(&whole).expect("read");
        bytes[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        // Checksum of the changed header.
        let crc = bytes[12..29].iter().fold(!0u32, |mut crc, &b| {
            crc ^= u32::from(b);
            (0..8).for_each(|_| crc = crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 });
            crc
        });
        bytes[29..33].copy_from_slice(&(!crc).to_be_bytes());
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        std::fs::write(file.path(), &bytes).expect("written");
        assert!(read_mask(file.path()).expect_err("huge").to_string().contains("65536 x 65536"));
        assert!(read_picture(file.path()).is_err());
    }
}
