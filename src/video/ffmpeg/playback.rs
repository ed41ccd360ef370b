//! Owns decoding in file order: packets in, frames out, each marked with the packet it came from.
//! May import: video/ffi.rs.
//! Must not: know display order beyond what it is asked, or convert.

use ffmpeg_next::codec::{Context, decoder};
use ffmpeg_next::format::context::Input;
use ffmpeg_next::threading::{Config, Type};
use ffmpeg_next::{Dictionary, Error, Rational, frame};

use super::demux::Demux;
use super::index::FrameTable;
use crate::video::picture::MAX_PIXELS;

/// Decoder threads. Each holds a frame or two, so few of them.
const THREADS: usize = 2;

/// A decoder over a demuxer.
pub(super) struct Playback {
    demux: Demux,
    decoder: decoder::Video,
    draining: bool,
    finished: bool,
}

/// A decoder for stream `stream` of `input`.
///
/// # Errors
/// FFmpeg's: no decoder for the codec, or parameters that it refuses.
pub(super) fn open_decoder(input: &Input, stream: usize) -> Result<decoder::Video, Error> {
    let stream = input.stream(stream).ok_or(Error::StreamNotFound)?;
    let mut context = Context::from_parameters(stream.parameters())?;
    context.set_threading(Config { kind: Type::Frame, count: THREADS, ..Config::default() });
    let mut decoder = context.decoder();
    decoder.set_packet_time_base(Rational::new(1, 1));
    let mut options = Dictionary::new();
    // A damaged header must not ask for any amount of memory.
    options.set("max_pixels", &MAX_PIXELS.to_string());
    let codec = decoder::find(stream.parameters().id()).ok_or(Error::DecoderNotFound)?;
    decoder.open_as_with(codec, options)?.video()
}

impl Playback {
    /// Decodes what `demux` delivers.
    pub(super) fn new(demux: Demux, decoder: decoder::Video) -> Self {
        Self { demux, decoder, draining: false, finished: false }
    }

    /// The next frame that the decoder gives and the ordinal of its packet; `None` at the end.
    ///
    /// Packets that cannot be decoded are passed over: their frames are missing.
    ///
    /// # Errors
    /// When the decoder stops for another reason than its input (memory).
    pub(super) fn next_frame(&mut self) -> Result<Option<(u32, frame::Video)>, Error> {
        const AGAIN: Error = Error::Other { errno: ffmpeg_next::error::EAGAIN };
        const NO_MEMORY: Error = Error::Other { errno: ffmpeg_next::error::ENOMEM };
        while !self.finished {
            let mut frame = frame::Video::empty();
            match self.decoder.receive_frame(&mut frame) {
                Ok(()) => match frame.pts().and_then(|p| u32::try_from(p).ok()) {
                    Some(ordinal) => return Ok(Some((ordinal, frame))),
                    None => continue,
                },
                Err(Error::Eof) => self.finished = true,
                Err(NO_MEMORY) => return Err(NO_MEMORY),
                // While draining, an error is about one frame; the next call gives the frame behind it.
                Err(error) if error != AGAIN && self.draining => {}
                Err(_) => self.feed()?,
            }
        }
        Ok(None)
    }

    /// Gives the decoder its next packet, or tells it that there are no more.
    fn feed(&mut self) -> Result<(), Error> {
        let Some((ordinal, mut packet)) = self.demux.read() else {
            if self.draining || self.decoder.send_eof().is_err() {
                self.finished = true;
            }
            self.draining = true;
            return Ok(());
        };
        // The decoder hands the time of a packet on to its frame. Ours are the packets' numbers, which are never missing,
        // negative or twice the same, as times are.
        packet.set_pts(Some(i64::from(ordinal)));
        packet.set_dts(None);
        match self.decoder.send_packet(&packet) {
            Err(error @ Error::Other { errno: ffmpeg_next::error::ENOMEM }) => Err(error),
            _ => Ok(()),
        }
    }

    /// Ordinal of the packet that the decoder is given next.
    pub(super) fn next_packet(&self) -> u32 {
        self.demux.next()
    }

    /// Starts again at packet `ordinal`, which must be a keyframe or the first packet.
    ///
    /// # Errors
    /// FFmpeg's, when the file cannot be read again.
    pub(super) fn start_at(&mut self, ordinal: u32, table: &FrameTable) -> Result<(), Error> {
        self.demux.go_to(ordinal, table)?;
        self.decoder.flush();
        (self.draining, self.finished) = (false, false);
        Ok(())
    }

    /// Decodes everything from the start and says in which order the packets' frames are shown.
    ///
    /// # Errors
    /// As [`Self::next_frame`] and [`Self::start_at`].
    pub(super) fn decoded_order(&mut self, table: &FrameTable) -> Result<Vec<u32>, Error> {
        self.start_at(0, table)?;
        let mut order = Vec::new();
        while let Some((ordinal, _)) = self.next_frame()? {
            if !table.packets().get(ordinal as usize).is_some_and(|p| p.hidden) {
                order.push(ordinal);
            }
        }
        Ok(order)
    }
}
