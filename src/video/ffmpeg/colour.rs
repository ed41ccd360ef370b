//! Owns the conversion of decoded frames to upright RGB, with the matrix and range that the frame names.
//! May import: base, video/ffi.rs.
//! Must not: know where frames come from.

use ffmpeg_next::color::{Range, Space};
use ffmpeg_next::format::Pixel;
use ffmpeg_next::{Error, ffi, frame};

use super::orientation::Orientation;
use crate::base::{RgbFrame, Size};
use crate::video::ffi::{Conversion, Converter};

/// Turns decoded frames into RGB pictures of one size.
pub(super) struct RgbConverter {
    converter: Option<Converter>,
    rgb: frame::Video,
    stored: Size,
    orientation: Orientation,
    threads: usize,
}

/// FFmpeg's number of the matrix of `frame`. What does not name one is BT.601, as in FFmpeg's own conversion.
fn matrix_of(frame: &frame::Video) -> i32 {
    let space = match frame.color_space() {
        space @ (Space::BT709
        | Space::FCC
        | Space::BT470BG
        | Space::SMPTE170M
        | Space::SMPTE240M
        | Space::BT2020NCL
        | Space::BT2020CL) => space,
        _ => Space::BT470BG,
    };
    // BT.2020 with constant luminance has no matrix in swscale; its neighbour is the nearest.
    let space = if space == Space::BT2020CL { Space::BT2020NCL } else { space };
    ffi::AVColorSpace::from(space) as i32
}

impl RgbConverter {
    /// Converts to pictures that have `stored` pixels before they are turned upright.
    pub(super) fn new(stored: Size, orientation: Orientation) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        Self { converter: None, rgb: frame::Video::empty(), stored, orientation, threads }
    }

    /// The upright RGB picture of `frame`. Frames of another size (the stream changed) are scaled to the first one's.
    ///
    /// # Errors
    /// When swscale does not know the format.
    pub(super) fn convert(&mut self, frame: &frame::Video) -> Result<RgbFrame, Error> {
        let conversion = Conversion {
            from: (frame.format(), frame.width(), frame.height()),
            from_matrix: matrix_of(frame),
            from_full: frame.color_range() == Range::JPEG,
            to: (Pixel::RGB24, self.stored.width, self.stored.height),
            to_matrix: ffi::AVColorSpace::AVCOL_SPC_BT470BG as i32,
        };
        let converter = match &mut self.converter {
            Some(converter) if *converter.conversion() == conversion => converter,
            slot => slot.insert(Converter::new(conversion, self.threads)?),
        };
        converter.run(frame, &mut self.rgb)?;
        self.orientation.upright(self.rgb.data(0), self.rgb.stride(0), self.stored).ok_or(Error::InvalidData)
    }
}
