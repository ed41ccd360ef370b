//! Owns encoding frames to a video file with the best encoder that this FFmpeg has.
//! May import: base, video/ffi.rs.
//! Must not: decode.

use std::fs::File;
use std::path::{Path, PathBuf};

use ffmpeg_next::codec::{Context, Flags, encoder};
use ffmpeg_next::color::{Primaries, Range, Space, TransferCharacteristic};
use ffmpeg_next::format::Pixel;
use ffmpeg_next::format::context::{Output, StreamIo};
use ffmpeg_next::threading::{Config, Type};
use ffmpeg_next::{Dictionary, Error, Packet, Rational, ffi as av, format, frame};

use crate::base::{RgbFrame, Size};
use crate::video::ffi::{Conversion, Converter};
use crate::video::{FrameTiming, VideoError, VideoKind};

/// Encoders by preference. MPEG-4 part 2 is in every FFmpeg.
const ENCODERS: [&str; 5] = ["libx264", "libopenh264", "h264_videotoolbox", "h264_mf", "mpeg4"];
/// Encoder threads; few, because the tracker needs the processor and each thread holds frames.
const THREADS: usize = 2;

/// What FFmpeg is told of a [`VideoKind`].
struct Profile {
    container: &'static str,
    encoders: &'static [&'static str],
    pixels: Pixel,
}

fn profile(kind: VideoKind) -> Profile {
    match kind {
        VideoKind::H264 => Profile { container: "mp4", encoders: &ENCODERS, pixels: Pixel::YUV420P },
        VideoKind::Prores4444 => {
            Profile { container: "mov", encoders: &["prores_ks"], pixels: Pixel::YUVA444P10LE }
        }
        VideoKind::Vp9Alpha => {
            Profile { container: "webm", encoders: &["libvpx-vp9"], pixels: Pixel::YUVA420P }
        }
        VideoKind::Ffv1 => Profile { container: "matroska", encoders: &["ffv1"], pixels: Pixel::BGRA },
    }
}

/// A video file being written.
pub(in crate::video) struct Encoding {
    path: PathBuf,
    name: &'static str,
    kind: VideoKind,
    size: Size,
    output: Output,
    encoder: encoder::video::Encoder,
    converter: Converter,
    /// The padded picture, re-used.
    rgb: frame::Video,
    /// Unit of the ticks that the caller gives.
    given_base: Rational,
    /// Unit in which the encoder counts.
    encoder_base: Rational,
    file_base: Rational,
    first: Option<i64>,
    last: Option<i64>,
    /// Ticks between the last two frames: how long the last one lasts.
    step: i64,
}

/// Opens encoder `name` for pictures of size `size`, which it can hold.
fn open_encoder(
    name: &str,
    pixels: Pixel,
    size: Size,
    base: Rational,
    rate: Option<Rational>,
) -> Result<encoder::video::Encoder, Error> {
    let codec = encoder::find_by_name(name).ok_or(Error::EncoderNotFound)?;
    let mut context = Context::new_with_codec(codec);
    // MP4 keeps the parameter sets in its header, not in the packets.
    context.set_flags(Flags::GLOBAL_HEADER);
    context.set_threading(Config { kind: Type::Frame, count: THREADS, ..Config::default() });
    context.set_time_base(base);
    context.set_frame_rate(rate);
    let mut video = context.encoder().video()?;
    video.set_width(size.width);
    video.set_height(size.height);
    video.set_format(pixels);
    let (space, range) = colours(pixels);
    video.set_colorspace(space);
    video.set_color_range(range);
    video.set_color_primaries(Primaries::BT709);
    video.set_color_transfer_characteristic(TransferCharacteristic::BT709);
    video.set_gop(120);
    let mut options = Dictionary::new();
    match name {
        "prores_ks" => {
            options.set("profile", "4444");
            options.set("vendor", "apl0");
        }
        "libvpx-vp9" => {
            video.set_bit_rate(0);
            options.set("crf", "20");
            options.set("deadline", "good");
            options.set("cpu-used", "5");
            options.set("row-mt", "1");
            // Hidden frames and alpha do not go together.
            options.set("auto-alt-ref", "0");
        }
        "ffv1" => {
            options.set("level", "3");
            options.set("slicecrc", "1");
            video.set_gop(1);
        }
        "libx264" => {
            // Visually lossless at a speed that keeps up with tracking, and a short look-ahead, which holds whole frames.
            options.set("preset", "veryfast");
            options.set("crf", "18");
        }
        _ => {
            // About what x264 needs: 0.2 bits a pixel at 30 frames a second.
            video.set_bit_rate((size.area() * 6).max(200_000));
            if name == "mpeg4" {
                video.set_max_b_frames(0);
            }
        }
    }
    video.open_with(options)
}

/// Matrix and range of what is written as `pixels`.
fn colours(pixels: Pixel) -> (Space, Range) {
    if pixels == Pixel::BGRA { (Space::RGB, Range::JPEG) } else { (Space::BT709, Range::MPEG) }
}

impl Encoding {
    pub(in crate::video) fn create(
        path: &Path,
        kind: VideoKind,
        size: Size,
        timing: FrameTiming,
        comment: &str,
    ) -> Result<Self, VideoError> {
        super::silence();
        let (given_base, rate) = match timing {
            FrameTiming::Rate(r) => (Rational::new(r.den, r.num), Some(Rational::new(r.num, r.den))),
            FrameTiming::Times(t) => (Rational::new(t.num, t.den), None),
        };
        let refuse = |e: Error| VideoError::Write { path: path.into(), reason: e.to_string() };
        let padded = kind.padded(size);
        let Profile { container, encoders, pixels } = profile(kind);
        let mut failure = Error::EncoderNotFound;
        let opened = encoders.iter().find_map(|&name| {
            // MPEG-4 part 2 cannot count finer than this.
            let fine = name == "mpeg4" && given_base.denominator() > 65_535;
            let base = if fine { Rational::new(1, 60_000) } else { given_base };
            match open_encoder(name, pixels, padded, base, rate) {
                Ok(encoder) => Some((name, encoder, base)),
                Err(error) => {
                    failure = error;
                    None
                }
            }
        });
        let (name, encoder, encoder_base) = opened.ok_or_else(|| {
            let reason = format!(
                "this FFmpeg has no encoder ({}) for {padded} pixels ({failure}): export pictures instead",
                encoders.join(", ")
            );
            VideoError::Write { path: path.into(), reason }
        })?;
        let bt709 = av::AVColorSpace::AVCOL_SPC_BT709 as i32;
        let given = if kind.has_alpha() { Pixel::RGBA } else { Pixel::RGB24 };
        let conversion = Conversion {
            from: (given, padded.width, padded.height),
            from_matrix: bt709,
            from_full: true,
            to: (pixels, padded.width, padded.height),
            to_matrix: bt709,
        };
        let converter = Converter::new(conversion, 1).map_err(refuse)?;
        // Not buffered by us: FFmpeg buffers, and reports errors (a full disk) at the latest when the file is finished.
        let file = File::create(path).map_err(|source| VideoError::Io { path: path.into(), source })?;
        let stream = StreamIo::from_write_seek_with_capacity(file, 1 << 18).map_err(refuse)?;
        let mut output = format::output_to_stream(stream, None, Some(container)).map_err(refuse)?;
        {
            let mut stream = output.add_stream_with(&encoder).map_err(refuse)?;
            stream.set_time_base(encoder_base);
            if let Some(rate) = rate {
                stream.set_avg_frame_rate(rate);
            }
        }
        // The dictionary panics on a zero byte.
        if !comment.is_empty() && !comment.contains('\0') {
            let mut metadata = Dictionary::new();
            metadata.set("comment", comment);
            output.set_metadata(metadata);
        }
        output.write_header().map_err(refuse)?;
        let file_base = output.stream(0).map_or(encoder_base, |s| s.time_base());
        let rgb = frame::Video::new(given, padded.width, padded.height);
        Ok(Self {
            path: path.into(),
            name,
            kind,
            size,
            output,
            encoder,
            converter,
            rgb,
            given_base,
            encoder_base,
            file_base,
            first: None,
            last: None,
            step: 1,
        })
    }

    pub(in crate::video) fn encoder_name(&self) -> &str {
        self.name
    }

    pub(in crate::video) fn padded_size(&self) -> Size {
        self.kind.padded(self.size)
    }

    pub(in crate::video) fn last(&self) -> Option<i64> {
        self.last
    }

    fn failed(&self, reason: impl ToString) -> VideoError {
        VideoError::Write { path: self.path.clone(), reason: reason.to_string() }
    }

    /// Copies `picture` into the padded frame, repeating its last column and row.
    fn pad(&mut self, picture: &RgbFrame, alpha: Option<&[u8]>) {
        let padded = self.padded_size();
        let (width, height) = (self.size.width as usize, self.size.height as usize);
        let channels = if self.kind.has_alpha() { 4 } else { 3 };
        let stride = self.rgb.stride(0);
        let target = self.rgb.data_mut(0);
        for (y, row) in target.chunks_mut(stride).take(padded.height as usize).enumerate() {
            let y = y.min(height - 1);
            let source = &picture.data()[y * width * 3..][..width * 3];
            if channels == 3 {
                row[..width * 3].copy_from_slice(source);
            } else {
                for (x, (pixel, rgb)) in row.chunks_exact_mut(4).zip(source.chunks_exact(3)).enumerate() {
                    pixel[..3].copy_from_slice(rgb);
                    pixel[3] = alpha.and_then(|alpha| alpha.get(y * width + x)).copied().unwrap_or(255);
                }
            }
            if padded.width as usize > width {
                row.copy_within((width - 1) * channels..width * channels, width * channels);
            }
        }
    }

    pub(in crate::video) fn write_at(
        &mut self,
        picture: &RgbFrame,
        alpha: Option<&[u8]>,
        ticks: i64,
    ) -> Result<(), VideoError> {
        if picture.size() != self.size {
            return Err(self.failed(format!(
                "a frame has {} pixels, the video {}",
                picture.size(),
                self.size
            )));
        }
        let first = *self.first.get_or_insert(ticks);
        if let Some(last) = self.last {
            if ticks <= last {
                return Err(self
                    .failed(format!("the frame at time {ticks} comes after the one at {last}: sort them")));
            }
            self.step = ticks.saturating_sub(last);
        }
        self.last = Some(ticks);
        self.pad(picture, alpha);
        // A new one each time: the encoder may hold on to it.
        let mut yuv = frame::Video::empty();
        self.converter.run(&self.rgb, &mut yuv).map_err(|e| self.failed(e))?;
        let (space, range) = colours(yuv.format());
        yuv.set_color_space(space);
        yuv.set_color_range(range);
        let since = ticks.saturating_sub(first);
        yuv.set_pts(Some(ffmpeg_next::Rescale::rescale(&since, self.given_base, self.encoder_base)));
        self.encoder.send_frame(&yuv).map_err(|e| self.failed(e))?;
        self.drain()
    }

    /// Writes the packets that the encoder has ready.
    fn drain(&mut self) -> Result<(), VideoError> {
        loop {
            let mut packet = Packet::empty();
            match self.encoder.receive_packet(&mut packet) {
                Ok(()) => {}
                Err(Error::Eof | Error::Other { errno: ffmpeg_next::error::EAGAIN }) => return Ok(()),
                Err(error) => return Err(self.failed(error)),
            }
            packet.set_stream(0);
            if packet.duration() == 0 {
                packet.set_duration(ffmpeg_next::Rescale::rescale(
                    &self.step,
                    self.given_base,
                    self.encoder_base,
                ));
            }
            packet.rescale_ts(self.encoder_base, self.file_base);
            packet.write_interleaved(&mut self.output).map_err(|e| self.failed(e))?;
        }
    }

    pub(in crate::video) fn finish(mut self) -> Result<(), VideoError> {
        if self.last.is_none() {
            return Err(self.failed("no frame was written"));
        }
        self.encoder.send_eof().map_err(|e| self.failed(e))?;
        self.drain()?;
        self.output.write_trailer().map_err(|e| self.failed(e))
    }
}
