//! Owns video files through FFmpeg: the index of displayed frames, exact access to any of them, upright RGB; and writing.
//! May import: base, video/ffi.rs.
//! Must not: log, or keep more decoded frames than its bounds say.

mod cache;
mod colour;
mod demux;
mod describe;
mod encoding;
mod index;
mod index_cache;
mod orientation;
mod playback;
mod scan;
mod source;

pub(super) use encoding::Encoding;
pub(super) use source::FfmpegSource;

/// Keeps FFmpeg from writing to stderr, which belongs to the program.
fn silence() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| ffmpeg_next::log::set_level(ffmpeg_next::log::Level::Quiet));
}
