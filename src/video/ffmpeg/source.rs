//! Owns a video file as a [`VideoSource`]: opening, the choice between going on and seeking, the cache.
//! May import: base, video/ffi.rs.
//! Must not: read packets itself.

use std::path::{Path, PathBuf};

use ffmpeg_next::{Error, decoder, packet};

use super::cache::FrameCache;
use super::colour::RgbConverter;
use super::demux::{Demux, open_input};
use super::describe::{
    choose_stream, format_words, is_text, is_variable, known, why_no_frame, why_not_opened,
};
use super::index::FrameTable;
use super::index_cache::{Kept, Place};
use super::orientation::Orientation;
use super::playback::{Playback, open_decoder};
use super::scan::{Scan, scan};
use crate::base::{FrameIndex, Pts, Rational, RgbFrame};
use crate::video::picture::check_size;
use crate::video::{OpenOptions, VideoError, VideoInfo, VideoSource, ffi};

/// Packets that are decoded rather than skipped by a seek: a seek costs about as much.
const NEAR: u32 = 8;
/// An index of more packets is kept for the next time; a shorter one is made again at once.
const WORTH_KEEPING: usize = 2_000;
/// Keyframes, one before the other, from which decoding a frame is tried before it counts as lost.
const MOST_STARTS: u32 = 3;

/// A video file. Decodes on a few threads of its own; keeps a bounded number of frames.
pub(in crate::video) struct FfmpegSource {
    info: VideoInfo,
    table: FrameTable,
    time_base: Rational,
    playback: Playback,
    cache: FrameCache,
    converter: RgbConverter,
    /// Packet from which decoding began; frames shown before it are not whole.
    floor: u32,
}

impl FfmpegSource {
    /// Opens a video file, reads through its packets, and decodes its first frame.
    ///
    /// # Errors
    /// [`VideoError::Io`] when the file cannot be read, [`VideoError::Unreadable`] with the reason when there is no video in
    /// it that can be decoded.
    pub(in crate::video) fn open(path: &Path, options: OpenOptions<'_>) -> Result<Self, VideoError> {
        let Parts { demux, decoder, header, facts, stream } = Parts::of(path)?;
        let place = options.cache.and_then(|folder| Place::of(folder, path, stream));
        let mut source = Self::index(path, demux, decoder, &header, facts, place.as_ref(), options.progress)?;
        source.info.sample_aspect =
            known(ffmpeg_next::Rational::new(facts.sample_aspect.0, facts.sample_aspect.1))
                .unwrap_or(Rational::new(1, 1));
        Ok(source)
    }

    /// The first picture that is shown, without reading through the file: at once, however long it is.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(in crate::video) fn first_picture(path: &Path) -> Result<RgbFrame, VideoError> {
        let Parts { demux, decoder, header, .. } = Parts::of(path)?;
        let refuse = |reason: String| VideoError::Unreadable { path: path.into(), reason };
        let first = Playback::new(demux, decoder).next_frame().map_err(|e| refuse(e.to_string()))?;
        let Some((_, frame)) = first else {
            return Err(refuse(why_no_frame(path)));
        };
        let stored = check_size(frame.width(), frame.height()).map_err(refuse)?;
        let picture = RgbConverter::new(stored, header.orientation).convert(&frame);
        picture.map_err(|e| refuse(format!("its colours cannot be converted: {e}")))
    }

    fn index(
        path: &Path,
        mut demux: Demux,
        decoder: decoder::Video,
        header: &Header,
        facts: ffi::StreamFacts,
        place: Option<&Place>,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Self, VideoError> {
        let refuse = |reason: String| VideoError::Unreadable { path: path.into(), reason };
        let remembered = place.and_then(Place::load);
        let known = remembered.is_some();
        let Kept { packets, damaged, order: remembered_order } = match remembered {
            Some(kept) => kept,
            None => {
                let length = std::fs::metadata(path).map_or(0, |m| m.len()).max(1) as f64;
                let Scan { packets, damaged } =
                    scan(&mut demux, decoder.id(), &mut |at| progress(at as f64 / length))
                        .ok_or_else(|| VideoError::Stopped { path: path.into() })?;
                Kept { packets, damaged, order: Vec::new() }
            }
        };
        let mut decoded_order = remembered_order;
        let short = header.frames > packets.len() as u64;
        // Fields may come in packets of their own; reordered pictures whose times are not are wrongly timed.
        let doubtful = damaged
            || short
            || (facts.interlaced && !header.one_packet_a_frame)
            || (facts.delay > 0 && packets.len() > 2 && packets.iter().all(|p| p.pts == p.dts));
        let doubtful = doubtful || !decoded_order.is_empty();
        let trusted = if doubtful { Err(packets) } else { FrameTable::from_times(packets) };
        let mut playback = Playback::new(demux, decoder);
        let mut first = None;
        let mut table = match trusted {
            Ok(table) => {
                playback.start_at(0, &table).map_err(|e| refuse(e.to_string()))?;
                first = playback.next_frame().map_err(|e| refuse(e.to_string()))?;
                table
            }
            Err(packets) => FrameTable::from_order(packets, Vec::new(), 1),
        };
        if first.as_ref().and_then(|(ordinal, _)| table.frame_of(*ordinal)) != Some(0) {
            // The times do not tell; the decoder does, at the price of decoding everything once.
            if decoded_order.is_empty() {
                decoded_order = playback.decoded_order(&table).map_err(|e| refuse(e.to_string()))?;
            }
            table = FrameTable::from_order(table.into_packets(), decoded_order.clone(), header.spacing());
            playback.start_at(0, &table).map_err(|e| refuse(e.to_string()))?;
            first = playback.next_frame().map_err(|e| refuse(e.to_string()))?;
        }
        if let Some(place) = place.filter(|_| !known && table.packets().len() > WORTH_KEEPING) {
            place.store(&Kept { packets: table.packets().to_vec(), damaged, order: decoded_order });
        }
        // Frames before the first displayed one are possible here: trimmed ones that FFmpeg gives all the same.
        while let Some((ordinal, _)) = &first
            && table.frame_of(*ordinal).is_none()
        {
            first = playback.next_frame().map_err(|e| refuse(e.to_string()))?;
        }
        let Some((ordinal, frame)) = first else {
            return Err(refuse(why_no_frame(path)));
        };
        let stored = check_size(frame.width(), frame.height()).map_err(refuse)?;
        let mut warnings = header.warnings.clone();
        let frames = table.frames();
        if short {
            let promised = header.frames;
            warnings.push(format!(
                "the header says {promised} frames, {frames} can be decoded: the end may be cut off"
            ));
        } else if damaged {
            warnings.push(format!("parts of the file are damaged: {frames} frames can be decoded"));
        }
        let mut cache = FrameCache::default();
        cache.push(table.frame_of(ordinal).unwrap_or(0), frame);
        let info = VideoInfo {
            path: path.into(),
            size: header.orientation.turn_size(stored),
            frames,
            frame_rate: header.rate(&table),
            duration: header.duration(&table),
            format: header.format.clone(),
            rotation: header.orientation.degrees(),
            sample_aspect: Rational::new(1, 1),
            variable_frame_rate: is_variable(table.times()),
            warnings,
        };
        let converter = RgbConverter::new(stored, header.orientation);
        Ok(Self { info, table, time_base: header.time_base, playback, cache, converter, floor: 0 })
    }

    /// Brings frame `target` into the cache; `false` when it cannot be decoded.
    fn fetch(&mut self, target: u32) -> Result<bool, Error> {
        let mut start = self.table.start_for(target, u32::MAX);
        let newest = self.cache.newest();
        let ahead = newest.is_some_and(|n| n < target);
        if ahead && start <= self.playback.next_packet().saturating_add(NEAR) {
            if newest == target.checked_sub(1) {
                self.cache.narrow();
            }
            if self.run_to(target)? {
                return Ok(true);
            }
        }
        for _ in 0..MOST_STARTS {
            self.cache.restart(true);
            self.floor = start;
            self.playback.start_at(start, &self.table)?;
            if self.run_to(target)? {
                return Ok(true);
            }
            if start == 0 {
                break;
            }
            // Not every packet that is marked as a keyframe is one.
            start = self.table.start_for(target, start);
        }
        Ok(false)
    }

    /// Decodes on until `target` or a later frame comes out; whether it was `target`.
    fn run_to(&mut self, target: u32) -> Result<bool, Error> {
        while let Some((ordinal, frame)) = self.playback.next_frame()? {
            let Some(number) = self.table.frame_of(ordinal) else { continue };
            if self.table.is_shown_before(ordinal, self.floor) {
                continue;
            }
            self.cache.push(number, frame);
            if number >= target {
                return Ok(number == target);
            }
        }
        Ok(false)
    }
}

/// A file that is open, before anything is known of its frames.
struct Parts {
    demux: Demux,
    decoder: decoder::Video,
    header: Header,
    facts: ffi::StreamFacts,
    stream: usize,
}

impl Parts {
    fn of(path: &Path) -> Result<Self, VideoError> {
        super::silence();
        let refuse = |reason: String| VideoError::Unreadable { path: path.into(), reason };
        std::fs::File::open(path).map_err(|source| VideoError::Io { path: path.into(), source })?;
        let mut input = open_input(path).map_err(|e| refuse(why_not_opened(path, e)))?;
        let stream = choose_stream(&input).map_err(refuse)?;
        let facts =
            ffi::stream_facts(&mut input, stream).ok_or_else(|| refuse("the video stream is gone".into()))?;
        let decoder = open_decoder(&input, stream).map_err(|e| {
            let codec = input.stream(stream).map(|s| s.parameters().id().name()).unwrap_or_default();
            refuse(format!("this FFmpeg cannot decode {codec} ({e}): convert the video to H.264"))
        })?;
        if is_text(&input, decoder.id()) {
            return Err(refuse("this is a text file: choose a video".into()));
        }
        let header = Header::read(&input, stream, &decoder);
        Ok(Self { demux: Demux::new(path, input, stream), decoder, header, facts, stream })
    }
}

impl VideoSource for FfmpegSource {
    fn info(&self) -> &VideoInfo {
        &self.info
    }

    fn frame(&mut self, frame: FrameIndex) -> Result<RgbFrame, VideoError> {
        let path = || -> PathBuf { self.info.path.clone() };
        if frame.0 >= self.info.frames {
            return Err(VideoError::NoSuchFrame {
                path: path(),
                frame,
                last: self.info.frames.saturating_sub(1),
            });
        }
        if self.cache.get(frame.0).is_none() {
            match self.fetch(frame.0) {
                Ok(true) => {}
                Ok(false) => {
                    let reason =
                        "the file is damaged here and the frame cannot be decoded: leave it out of the range";
                    return Err(VideoError::Frame {
                        path: self.info.path.clone(),
                        frame,
                        reason: reason.into(),
                    });
                }
                Err(error) => {
                    let reason = error.to_string();
                    return Err(VideoError::Frame { path: self.info.path.clone(), frame, reason });
                }
            }
        }
        let wrong = |reason: String| VideoError::Frame { path: self.info.path.clone(), frame, reason };
        let decoded = self.cache.get(frame.0).ok_or_else(|| wrong("the decoder lost the frame".into()))?;
        self.converter.convert(decoded).map_err(|e| wrong(format!("its colours cannot be converted: {e}")))
    }

    fn pts(&self, frame: FrameIndex) -> Option<Pts> {
        Some(Pts { ticks: self.table.time(frame.0)?, time_base: self.time_base })
    }

    fn file_name(&self, _frame: FrameIndex) -> Option<&str> {
        None
    }
}

/// What the container's header says of the stream.
struct Header {
    format: String,
    time_base: Rational,
    average: Option<Rational>,
    base: Option<Rational>,
    /// Number of frames promised; 0 when nothing is said.
    frames: u64,
    orientation: Orientation,
    /// The container keeps both fields of a picture in one packet.
    one_packet_a_frame: bool,
    warnings: Vec<String>,
}

impl Header {
    fn read(input: &ffmpeg_next::format::context::Input, index: usize, decoder: &decoder::Video) -> Self {
        let format = format_words(input, decoder);
        let mut header = Self {
            time_base: Rational::new(1, 1),
            average: None,
            base: None,
            frames: 0,
            orientation: Orientation::default(),
            one_packet_a_frame: ["mov", "matroska"].iter().any(|c| format.starts_with(c)),
            warnings: Vec::new(),
            format,
        };
        let Some(stream) = input.stream(index) else { return header };
        header.time_base = known(stream.time_base()).unwrap_or(Rational::new(1, 1));
        (header.average, header.base) = (known(stream.avg_frame_rate()), known(stream.rate()));
        // AVI counts the gaps between its frames as frames.
        if !header.format.starts_with("avi") {
            header.frames = u64::try_from(stream.frames()).unwrap_or(0);
        }
        if let Some(matrix) = stream.side_data().find(|d| d.kind() == packet::side_data::Type::DisplayMatrix)
        {
            match Orientation::from_matrix(matrix.data()) {
                Some(orientation) => header.orientation = orientation,
                None => header
                    .warnings
                    .push("the video asks for a turn that is no quarter turn: it is shown as stored".into()),
            }
        }
        if header.orientation.is_mirrored() {
            header.format.push_str(", mirrored");
        }
        header
    }

    /// Ticks between frames by the header's rate, for files without times.
    fn spacing(&self) -> i64 {
        let rate = self.average.or(self.base).map_or(25.0, Rational::as_f64);
        (1.0 / (rate * self.time_base.as_f64())).round().max(1.0) as i64
    }

    /// Frames a second: the header's rate, unless the frames' own times say something else.
    fn rate(&self, table: &FrameTable) -> Rational {
        let said = self.average.or(self.base);
        let [first, .., last] = table.times() else { return said.unwrap_or(Rational::new(0, 0)) };
        let seconds = last.saturating_sub(*first) as f64 * self.time_base.as_f64();
        let measured = f64::from(table.frames() - 1) / seconds;
        if seconds <= 0.0 || !measured.is_finite() {
            return said.unwrap_or(Rational::new(0, 0));
        }
        // The header may count the time before the first frame or after the last one: a little off is right.
        let slack = 0.02 + 2.0 / f64::from(table.frames());
        match said {
            Some(said) if (said.as_f64() / measured - 1.0).abs() < slack => said,
            _ => Rational::new((measured * 1_000.0).round() as i32, 1_000),
        }
    }

    /// From the first frame's time to the end of the last one, taken as long as the average.
    fn duration(&self, table: &FrameTable) -> Option<f64> {
        let (first, last) = (*table.times().first()?, *table.times().last()?);
        let span = last.saturating_sub(first) as f64 * self.time_base.as_f64();
        let rate = self.rate(table).as_f64();
        let last_one = if rate > 0.0 { 1.0 / rate } else { 0.0 };
        Some(span + last_one)
    }
}
