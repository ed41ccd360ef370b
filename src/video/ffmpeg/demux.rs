//! Owns reading the packets of one stream of a file, in order or from any packet on.
//! May import: video/ffi.rs.
//! Must not: decode.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use ffmpeg_next::format::context::{Input, StreamIo};
use ffmpeg_next::{Dictionary, Error, Packet, format};

use super::index::{FrameTable, PacketFacts};
use crate::video::ffi;

/// Damaged packets in a row after which a file counts as ended.
const MOST_BAD_READS: u32 = 1_000;

/// Opens `path` for FFmpeg. The file is read by us, so that any path works and nothing but this file is ever opened.
///
/// # Errors
/// FFmpeg's, or the system's as `Error::Other`.
pub(super) fn open_input(path: &Path) -> Result<Input, Error> {
    let system =
        |e: std::io::Error| Error::Other { errno: e.raw_os_error().unwrap_or(ffmpeg_next::error::EIO) };
    let mut file = File::open(path).map_err(system)?;
    file.rewind().map_err(system)?;
    let mut options = Dictionary::new();
    // Play lists must not open other files or addresses.
    options.set("protocol_whitelist", "none");
    // The name's ending settles what the first bytes leave open (raw streams).
    let name = path.extension().and_then(|e| e.to_str()).map(|e| format!("video.{e}"));
    format::input_from_stream(
        StreamIo::from_read_seek_with_capacity(file, 1 << 16)?,
        name.as_deref(),
        Some(options),
    )
}

/// Whether an MP4-like file ends without its index (`moov`), as a recording does that was cut off.
pub(super) fn lacks_moov(path: &Path) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    let (mut position, mut is_mp4) = (0u64, false);
    // A file has few top-level boxes before moov; the bound stops a hostile chain.
    for _ in 0..4_096 {
        let mut header = [0u8; 16];
        if file.seek(std::io::SeekFrom::Start(position)).is_err()
            || file.read_exact(&mut header[..8]).is_err()
        {
            return is_mp4;
        }
        let mut size = u64::from(u32::from_be_bytes([header[0], header[1], header[2], header[3]]));
        match &header[4..8] {
            b"moov" => return false,
            b"ftyp" => is_mp4 = true,
            b"mdat" | b"free" | b"skip" | b"wide" | b"uuid" => {}
            _ => return is_mp4 && position > 0,
        }
        if size == 1 {
            if file.read_exact(&mut header[8..]).is_err() {
                return is_mp4;
            }
            size = u64::from_be_bytes(header[8..].try_into().unwrap_or_default());
        }
        if size < 8 {
            return is_mp4;
        }
        position = position.saturating_add(size);
    }
    false
}

/// FNV-1a over the ends of a packet: equal sizes with equal ends are equal packets for our purpose.
fn hash(bytes: &[u8]) -> u32 {
    const PART: usize = 256;
    let tail = &bytes[bytes.len().saturating_sub(PART).max(PART.min(bytes.len()))..];
    let fold = |hash: u32, &b: &u8| (hash ^ u32::from(b)).wrapping_mul(0x0100_0193);
    let head = bytes.iter().take(PART).fold(0x811c_9dc5, fold);
    tail.iter().fold(head, fold)
}

/// What the index remembers of `packet`; `hides` looks into its bytes for a frame that is never shown.
pub(super) fn facts(packet: &Packet, hides: impl Fn(&[u8]) -> bool) -> PacketFacts {
    let bytes = packet.data().unwrap_or_default();
    PacketFacts {
        pts: packet.pts(),
        dts: packet.dts(),
        size: bytes.len() as u32,
        hash: hash(bytes),
        key: packet.is_key(),
        hidden: ffi::is_discarded(packet) || hides(bytes),
    }
}

/// The packets of one video stream.
pub(super) struct Demux {
    path: PathBuf,
    input: Input,
    stream: usize,
    /// Ordinal of the packet that is read next.
    next: u32,
    /// Read already while looking for it.
    pending: Option<Packet>,
    /// Seeking led astray in this file: count packets from the start instead.
    seek_fails: bool,
    /// Reading ended with an error rather than at the end.
    broken: bool,
}

impl Demux {
    /// Reads stream `stream` of `input`, which stands at the start.
    pub(super) fn new(path: &Path, mut input: Input, stream: usize) -> Self {
        ffi::keep_only_stream(&mut input, stream);
        Self { path: path.into(), input, stream, next: 0, pending: None, seek_fails: false, broken: false }
    }

    /// Ordinal of the packet that [`Self::read`] gives next.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Whether reading ended with an error rather than at the end of the file.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// The next packet and its ordinal; `None` at the end.
    pub(super) fn read(&mut self) -> Option<(u32, Packet)> {
        let packet = match self.pending.take() {
            Some(packet) => packet,
            None => self.read_any()?,
        };
        let ordinal = self.next;
        self.next += 1;
        Some((ordinal, packet))
    }

    fn read_any(&mut self) -> Option<Packet> {
        let mut bad = 0;
        loop {
            let mut packet = Packet::empty();
            match packet.read(&mut self.input) {
                Ok(()) if packet.stream() == self.stream && packet.size() > 0 => return Some(packet),
                Ok(()) => {}
                Err(Error::Eof) => return None,
                Err(Error::InvalidData | Error::Other { errno: ffmpeg_next::error::EAGAIN })
                    if bad < MOST_BAD_READS =>
                {
                    self.broken = true;
                    bad += 1;
                }
                Err(_) => {
                    self.broken = true;
                    return None;
                }
            }
        }
    }

    /// Makes [`Self::read`] give packet `ordinal` next: by seeking where the container can, verified by the packet's bytes,
    /// else by counting from the start.
    ///
    /// # Errors
    /// FFmpeg's, when the file cannot be opened again.
    pub(super) fn go_to(&mut self, ordinal: u32, table: &FrameTable) -> Result<(), Error> {
        if ordinal == self.next {
            return Ok(());
        }
        if ordinal > 0 && !self.seek_fails && !self.seek(ordinal, table) {
            self.seek_fails = true;
        }
        if self.next != ordinal {
            self.input = open_input(&self.path)?;
            ffi::keep_only_stream(&mut self.input, self.stream);
            (self.next, self.pending) = (0, None);
            while self.next < ordinal && self.read().is_some() {}
        }
        Ok(())
    }

    fn seek(&mut self, ordinal: u32, table: &FrameTable) -> bool {
        let packets = table.packets();
        let target = &packets[ordinal as usize];
        let time = |p: &PacketFacts| p.dts.into_iter().chain(p.pts).min();
        // The second attempt starts a keyframe earlier: some containers land behind the time asked for.
        let earlier = (0..ordinal).rev().find(|&o| packets[o as usize].key).unwrap_or(0);
        for aim in [ordinal, earlier] {
            let Some(ticks) = time(&packets[aim as usize]) else { return false };
            self.pending = None;
            if ffi::seek_back(&mut self.input, self.stream, ticks).is_err() {
                return false;
            }
            // At most what lies before the target can come first.
            for _ in 0..=ordinal {
                let Some(packet) = self.read_any() else { break };
                if facts(&packet, |_| false).is_same(target) {
                    (self.next, self.pending) = (ordinal, Some(packet));
                    return true;
                }
                if packet.is_key() && time(&facts(&packet, |_| false)) > time(target) {
                    break;
                }
            }
        }
        self.next = u32::MAX;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_packet_are_hashed() {
        let mut bytes = vec![0u8; 4_000];
        let plain = hash(&bytes);
        bytes[3_999] = 1;
        assert_ne!(hash(&bytes), plain);
        assert_ne!(hash(&[1]), hash(&[2]));
        assert_eq!(hash(&[]), 0x811c_9dc5);
        let _ = (hash(&[7; 255]), hash(&[7; 256]), hash(&[7; 257]), hash(&[7; 511]), hash(&[7; 513]));
    }
}
