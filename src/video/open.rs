//! Owns the choice of the reader for a path.
//! May import: base.
//! Must not: read frames.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::folder::PictureFolder;
use super::picture::{picture_format, read_picture};
use super::{VideoError, VideoSource};
use crate::base::{FrameIndex, RgbFrame};

/// How a video is opened.
pub struct OpenOptions<'a> {
    /// Folder where the indices of long videos are kept; made when it does not exist. `None`: nothing is kept.
    pub cache: Option<&'a Path>,
    /// Told now and then which share of the file was read, from 0 to 1; says whether to go on.
    pub progress: &'a mut dyn FnMut(f64) -> bool,
}

/// Opens a folder of PNG and JPEG pictures, one such picture, or (with the feature `ffmpeg`) a video file.
///
/// # Errors
/// [`VideoError::Io`] when there is nothing at `path` or it cannot be read; [`VideoError::Unreadable`] with the reason when
/// it is neither pictures nor a video that can be decoded.
pub fn open(path: &Path) -> Result<Box<dyn VideoSource>, VideoError> {
    open_with(path, OpenOptions { cache: None, progress: &mut |_| true })
}

/// As [`open`], for long videos: with an index that is kept, and with progress.
///
/// # Errors
/// As there, and [`VideoError::Stopped`] when the progress said no.
pub fn open_with(path: &Path, options: OpenOptions<'_>) -> Result<Box<dyn VideoSource>, VideoError> {
    match kind(path)? {
        Kind::Folder => Ok(Box::new(PictureFolder::open(path)?)),
        Kind::Picture => Ok(Box::new(PictureFolder::single(path)?)),
        Kind::File => open_file(path, options),
    }
}

/// The first picture of what is at `path`, at once: a long video is not read through for it.
///
/// # Errors
/// As [`open`].
pub fn first_picture(path: &Path) -> Result<RgbFrame, VideoError> {
    match kind(path)? {
        Kind::Folder => PictureFolder::open(path)?.frame(FrameIndex(0)),
        Kind::Picture => read_picture(path),
        Kind::File => first_of_file(path),
    }
}

/// What is at a path.
enum Kind {
    Folder,
    Picture,
    File,
}

fn kind(path: &Path) -> Result<Kind, VideoError> {
    let io = |source| VideoError::Io { path: path.into(), source };
    let metadata = std::fs::metadata(path).map_err(io)?;
    if metadata.is_dir() {
        return Ok(Kind::Folder);
    }
    if !metadata.is_file() {
        // Opening a pipe could wait for ever, and frames are found by going back and forth.
        let reason = "this is a pipe or a device: save the video to a file first".into();
        return Err(VideoError::Unreadable { path: path.into(), reason });
    }
    let mut file = BufReader::new(File::open(path).map_err(io)?);
    let picture = picture_format(&mut file).map_err(io)?;
    if picture.is_some() && (!cfg!(feature = "ffmpeg") || !moves(path, &mut file)) {
        return Ok(Kind::Picture);
    }
    Ok(Kind::File)
}

#[cfg(feature = "ffmpeg")]
fn open_file(path: &Path, options: OpenOptions<'_>) -> Result<Box<dyn VideoSource>, VideoError> {
    Ok(Box::new(super::ffmpeg::FfmpegSource::open(path, options)?))
}

#[cfg(feature = "ffmpeg")]
fn first_of_file(path: &Path) -> Result<RgbFrame, VideoError> {
    super::ffmpeg::FfmpegSource::first_picture(path)
}

#[cfg(not(feature = "ffmpeg"))]
fn first_of_file(path: &Path) -> Result<RgbFrame, VideoError> {
    Err(lean(path))
}

#[cfg(not(feature = "ffmpeg"))]
fn open_file(path: &Path, _: OpenOptions<'_>) -> Result<Box<dyn VideoSource>, VideoError> {
    Err(lean(path))
}

#[cfg(not(feature = "ffmpeg"))]
fn lean(path: &Path) -> VideoError {
    let reason = "this build reads folders of PNG or JPEG pictures only: use a build with FFmpeg, \
                  or write the frames into a folder";
    VideoError::Unreadable { path: path.into(), reason: reason.into() }
}

/// Whether a file that begins as a picture is a moving one: animated PNG, or JPEG pictures in a row.
fn moves(path: &Path, file: &mut impl Read) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    if ["mjpeg", "mjpg", "apng"].iter().any(|e| extension.eq_ignore_ascii_case(e)) {
        return true;
    }
    // An animated PNG says so in the chunk acTL, before its picture data.
    let mut start = Vec::new();
    let read = file.take(1 << 16).read_to_end(&mut start).is_ok();
    let mut rest = start.get(8..).filter(|_| read && start.starts_with(b"\x89PNG")).unwrap_or_default();
    while let [a, b, c, d, kind @ ..] = rest {
        match kind {
            [b'a', b'c', b'T', b'L', ..] => return true,
            [b'I', b'D', b'A', b'T', ..] => return false,
            _ => {}
        }
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        rest = rest.get(length.saturating_add(12)..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_pictures_are_told_from_still_ones() {
        let chunk = |kind: &[u8]| [&[0, 0, 0, 1], kind, &[9], &[0; 4]].concat();
        let file = |kinds: &[&[u8]]| -> Vec<u8> {
            [b"\x89PNG\r\n\x1a\n".to_vec(), kinds.iter().flat_map(|k| chunk(k)).collect()].concat()
        };
        let moves = |name: &str, bytes: &[u8]| moves(Path::new(name), &mut &*bytes);
        assert!(moves("a.png", &file(&[b"IHDR", b"acTL", b"IDAT"])));
        assert!(!moves("a.png", &file(&[b"IHDR", b"IDAT", b"acTL"])));
        assert!(!moves("a.png", &file(&[b"IHDR"])[..14]));
        assert!(!moves("a.png", b"") && !moves("a.jpg", &[0xff, 0xd8, 0xff, 0]) && moves("a.MJPEG", &[]));
    }

    #[cfg(not(feature = "ffmpeg"))]
    #[test]
    fn a_lean_build_says_what_it_lacks() {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        std::fs::write(file.path(), b"\0\0\0\x18ftypisom").expect("written");
        assert!(open(file.path()).err().expect("refused").to_string().contains("a build with FFmpeg"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_refused() {
        assert!(open(Path::new("/dev/zero")).err().expect("refused").to_string().contains("device"));
    }

    #[test]
    fn nothing_there() {
        let error = open(Path::new("no such file.mp4")).err().expect("nothing there");
        assert!(
            matches!(&error, VideoError::Io { .. }) && error.to_string().starts_with("no such file.mp4: ")
        );
    }
}
