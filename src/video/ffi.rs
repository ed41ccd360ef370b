//! Owns the few calls into FFmpeg that ffmpeg-next does not wrap: packet flags, exact seeks, colour conversion.
//! May import: nothing of this crate.
//! Must not: decide anything; every function does one thing and is safe to call.
#![allow(unsafe_code)]

use std::ffi::CStr;

use ffmpeg_next::format::Pixel;
use ffmpeg_next::format::context::Input;
use ffmpeg_next::packet::Ref as _;
use ffmpeg_next::{Error, Packet, ffi, frame};

/// Whether the container says that this packet is decoded but not shown (edit lists).
pub fn is_discarded(packet: &Packet) -> bool {
    // SAFETY: the pointer is that of a live packet; one field is read.
    unsafe { (*packet.as_ptr()).flags & ffi::AV_PKT_FLAG_DISCARD != 0 }
}

/// Makes `input` deliver the packets of stream `wanted` only, so that sound is skipped rather than read.
pub fn keep_only_stream(input: &mut Input, wanted: usize) {
    for mut stream in input.streams_mut() {
        let keep = stream.index() == wanted;
        // SAFETY: the stream belongs to `input`, which is borrowed mutably; `discard` is a public option of it.
        unsafe {
            (*stream.as_mut_ptr()).discard =
                if keep { ffi::AVDiscard::AVDISCARD_DEFAULT } else { ffi::AVDiscard::AVDISCARD_ALL };
        }
    }
}

/// Moves `input` to the keyframe of `stream` at or before `ticks` (units of the stream's time base).
///
/// # Errors
/// FFmpeg's, when the container cannot seek.
pub fn seek_back(input: &mut Input, stream: usize, ticks: i64) -> Result<(), Error> {
    let stream = i32::try_from(stream).map_err(|_| Error::StreamNotFound)?;
    // SAFETY: `input` is a live, exclusively borrowed context; FFmpeg checks the stream number.
    let result = unsafe { ffi::av_seek_frame(input.as_mut_ptr(), stream, ticks, ffi::AVSEEK_FLAG_BACKWARD) };
    if result < 0 { Err(result.into()) } else { Ok(()) }
}

/// What the container says of stream `index` and ffmpeg-next does not pass on.
#[derive(Clone, Copy, Debug)]
pub struct StreamFacts {
    /// Width of a pixel divided by its height; numerator 0 when unknown.
    pub sample_aspect: (i32, i32),
    /// The fields of a picture were taken at different times.
    pub interlaced: bool,
    /// Frames that the decoder holds back to put them in order.
    pub delay: i32,
}

/// Reads [`StreamFacts`]; `None` without such a stream.
pub fn stream_facts(input: &mut Input, index: usize) -> Option<StreamFacts> {
    let context = input.stream_mut(index).map(|mut stream| {
        // SAFETY: the stream exists (checked by `stream_mut`) and its parameters live as long as it does.
        unsafe { stream.as_mut_ptr() }
    })?;
    // SAFETY: as above; the frame may be null by FFmpeg's contract of av_guess_sample_aspect_ratio.
    unsafe {
        let parameters = &*(*context).codecpar;
        let aspect = ffi::av_guess_sample_aspect_ratio(input.as_mut_ptr(), context, std::ptr::null_mut());
        let interlaced = !matches!(
            parameters.field_order,
            ffi::AVFieldOrder::AV_FIELD_UNKNOWN | ffi::AVFieldOrder::AV_FIELD_PROGRESSIVE
        );
        Some(StreamFacts {
            sample_aspect: (aspect.num, aspect.den),
            interlaced,
            delay: parameters.video_delay,
        })
    }
}

/// What a [`Converter`] converts between. Matrices are FFmpeg's `AVCOL_SPC` numbers (1 = BT.709, 5 = BT.601, 9 = BT.2020).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Format, width and height of what comes in.
    pub from: (Pixel, u32, u32),
    /// Matrix of what comes in.
    pub from_matrix: i32,
    /// What comes in uses 0..255, not 16..235.
    pub from_full: bool,
    /// Format, width and height of what goes out.
    pub to: (Pixel, u32, u32),
    /// Matrix of what goes out.
    pub to_matrix: i32,
}

/// A swscale context with accurate rounding and full chroma interpolation.
pub struct Converter {
    context: *mut ffi::SwsContext,
    conversion: Conversion,
}

// SAFETY: the context is owned alone and not tied to the thread that made it.
unsafe impl Send for Converter {}

impl Converter {
    /// Prepares a conversion on `threads` threads.
    ///
    /// # Errors
    /// When swscale does not know one of the formats.
    pub fn new(conversion: Conversion, threads: usize) -> Result<Self, Error> {
        // SAFETY: plain allocation; null is checked.
        let context = unsafe { ffi::sws_alloc_context() };
        if context.is_null() {
            return Err(Error::Other { errno: ffmpeg_next::error::ENOMEM });
        }
        // From here on Drop frees the context.
        let converter = Self { context, conversion };
        let flags = ffi::SWS_BICUBIC as i64 | ffi::SWS_ACCURATE_RND as i64 | ffi::SWS_FULL_CHR_H_INT as i64;
        let (from, to) = (conversion.from, conversion.to);
        let number = |p: Pixel| ffi::AVPixelFormat::from(p) as i64;
        let mut options: Vec<(&CStr, i64)> = vec![
            (c"srcw", from.1.into()),
            (c"srch", from.2.into()),
            (c"src_format", number(from.0)),
            (c"dstw", to.1.into()),
            (c"dsth", to.2.into()),
            (c"dst_format", number(to.0)),
            (c"sws_flags", flags),
            (c"threads", threads as i64),
        ];
        if from.0 == Pixel::YUV420P {
            // Where MPEG-2 and all after it put the chroma samples of progressive 4:2:0, and what FFmpeg's scaler assumes.
            options.push((c"src_v_chr_pos", 128));
        }
        if matches!(to.0, Pixel::YUV420P | Pixel::YUVA420P) {
            options.push((c"dst_v_chr_pos", 128));
        }
        for (name, value) in options {
            // SAFETY: an SwsContext is an AVOptions object; the name is a C string.
            let result = unsafe { ffi::av_opt_set_int(context.cast(), name.as_ptr(), value, 0) };
            if result < 0 {
                return Err(result.into());
            }
        }
        // SAFETY: the context is allocated and its options set; filters may be null. The tables are static in swscale.
        let result = unsafe { ffi::sws_init_context(context, std::ptr::null_mut(), std::ptr::null_mut()) };
        if result < 0 {
            return Err(result.into());
        }
        // Of no meaning between RGB formats: swscale answers with an error that can be ignored.
        // SAFETY: the context is initialised; sws_getCoefficients falls back to BT.601 for unknown numbers.
        unsafe {
            ffi::sws_setColorspaceDetails(
                context,
                ffi::sws_getCoefficients(conversion.from_matrix),
                i32::from(conversion.from_full),
                ffi::sws_getCoefficients(conversion.to_matrix),
                0,
                0,
                1 << 16,
                1 << 16,
            );
        }
        Ok(converter)
    }

    /// What this converts between.
    pub fn conversion(&self) -> &Conversion {
        &self.conversion
    }

    /// Converts `from` into `to`, which is allocated when empty.
    ///
    /// # Errors
    /// When a frame does not have the format and size of the conversion, or memory is short.
    pub fn run(&mut self, from: &frame::Video, to: &mut frame::Video) -> Result<(), Error> {
        let shape = |f: &frame::Video| (f.format(), f.width(), f.height());
        if shape(from) != self.conversion.from {
            return Err(Error::InputChanged);
        }
        // SAFETY: both frames are alive; the source's format and size are those of the context. A destination with data is
        // checked, an empty one is allocated by FFmpeg to the size set here.
        unsafe {
            let (format, width, height) = self.conversion.to;
            if to.is_empty() {
                to.alloc(format, width, height);
            }
            if to.is_empty() || shape(to) != self.conversion.to {
                return Err(Error::OutputChanged);
            }
            let result = ffi::sws_scale_frame(self.context, to.as_mut_ptr(), from.as_ptr());
            if result < 0 { Err(result.into()) } else { Ok(()) }
        }
    }
}

impl Drop for Converter {
    fn drop(&mut self) {
        // SAFETY: the context is owned and not used after this.
        unsafe { ffi::sws_freeContext(self.context) }
    }
}
