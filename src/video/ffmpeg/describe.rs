//! Owns what is said about a video: format in words, rates, times, and why it cannot be opened.
//! May import: base.
//! Must not: decode.

use std::io::Read;
use std::path::Path;

use ffmpeg_next::codec::Id;
use ffmpeg_next::format::context::Input;
use ffmpeg_next::format::stream::Disposition;
use ffmpeg_next::{Error, decoder, media};

use super::demux::lacks_moov;
use crate::base::Rational;

/// The video stream to show: FFmpeg's choice unless that is a cover picture. `Err` says what the file holds instead.
pub(super) fn choose_stream(input: &Input) -> Result<usize, String> {
    let is_cover = |d: Disposition| d.contains(Disposition::ATTACHED_PIC);
    let videos: Vec<_> = input.streams().filter(|s| s.parameters().medium() == media::Type::Video).collect();
    let best = input.streams().best(media::Type::Video).map(|s| s.index());
    let moving = videos.iter().filter(|s| !is_cover(s.disposition()));
    if let Some(stream) = moving.clone().find(|s| Some(s.index()) == best).or_else(|| moving.clone().next()) {
        return Ok(stream.index());
    }
    let sound = input.streams().any(|s| s.parameters().medium() == media::Type::Audio);
    Err(match (videos.is_empty(), sound) {
        (false, _) => "there is only sound and a cover picture in this file: choose a video".into(),
        (true, true) => "there is only sound in this file, no picture: choose a video".into(),
        (true, false) if input.nb_streams() == 0 => {
            "there is no stream in this file: it is empty or damaged, export it again".into()
        }
        (true, false) => "there is no video in this file: choose a video".into(),
    })
}

/// Formats that FFmpeg draws as video although nobody means them so: text and text-mode pictures.
pub(super) fn is_text(input: &Input, codec: Id) -> bool {
    matches!(codec, Id::ANSI | Id::BINTEXT | Id::XBIN | Id::IDF) || input.format().name() == "tty"
}

/// Container, codec and pixel format in words.
pub(super) fn format_words(input: &Input, decoder: &decoder::Video) -> String {
    let container = input.format().name().split(',').next().unwrap_or_default().to_owned();
    let pixels = decoder.format().descriptor().map_or("unknown pixels", |d| d.name());
    format!("{container}, {}, {pixels}", decoder.id().name())
}

/// Why FFmpeg could not open `path`, and what to do.
pub(super) fn why_not_opened(path: &Path, error: Error) -> String {
    if std::fs::metadata(path).is_ok_and(|m| m.len() == 0) {
        return "the file is empty: export or copy it again".into();
    }
    if lacks_moov(path) {
        return "the recording was cut off before its index (moov) was written, so its frames cannot be found: \
                repair it with the recorder's own tool, or record again"
            .into();
    }
    match error {
        Error::InvalidData => {
            "this is not a video that FFmpeg can read, or it is damaged at its start".into()
        }
        error => format!("FFmpeg cannot open it: {error}"),
    }
}

/// Why no frame of `path` could be decoded, and what to do.
pub(super) fn why_no_frame(path: &Path) -> String {
    let mut start = [0; 21];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    // A RIFF file of WEBP whose extended header has the flag for animation.
    if read && &start[8..16] == b"WEBPVP8X" && start[20] & 2 != 0 {
        return "this FFmpeg cannot read moving WebP pictures: convert the file to MP4 or GIF".into();
    }
    "no frame of this video can be decoded: it is damaged or encrypted".into()
}

/// A ratio that means something, else `None`.
pub(super) fn known(ratio: ffmpeg_next::Rational) -> Option<Rational> {
    (ratio.numerator() > 0 && ratio.denominator() > 0)
        .then(|| Rational::new(ratio.numerator(), ratio.denominator()))
}

/// Whether frames at `times` (rising) are unevenly spaced, beyond the rounding of times to ticks.
pub(super) fn is_variable(times: &[i64]) -> bool {
    let mut steps: Vec<i64> = times.windows(2).map(|w| w[1].saturating_sub(w[0])).collect();
    if steps.is_empty() {
        return false;
    }
    steps.sort_unstable();
    let median = steps[steps.len() / 2];
    // Times are rounded to ticks, so steps may differ by one; coarse clocks jitter a little more.
    let slack = (median / 50).max(1);
    steps.iter().any(|step| (step - median).abs() > slack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_not_variation() {
        assert!(!is_variable(&[0, 33, 67, 100, 133]));
        assert!(!is_variable(&[0, 3003, 6006]) && !is_variable(&[7]) && !is_variable(&[]));
        assert!(is_variable(&[0, 33, 67, 133, 167]));
        assert!(is_variable(&[0, 3003, 6006, 10_510]));
    }
}
