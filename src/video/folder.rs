//! Owns a folder of pictures (or one picture file) seen as a video.
//! May import: base.
//! Must not: decode more than the picture asked for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::picture::{picture_size, read_picture};
use super::{VideoError, VideoInfo, VideoSource, natural_order};
use crate::base::{FrameIndex, Pts, Rational, RgbFrame, Size};

/// Pictures in natural order; there are no times.
pub(super) struct PictureFolder {
    info: VideoInfo,
    folder: PathBuf,
    /// Name on disk and the same as text.
    files: Vec<(PathBuf, String)>,
}

/// Whether a name is that of a frame: PNG or JPEG, and not hidden (macOS leaves `._1.jpg` files).
fn is_frame(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
    !name.starts_with('.') && ["png", "jpg", "jpeg", "jpe"].iter().any(|e| extension.eq_ignore_ascii_case(e))
}

impl PictureFolder {
    /// Lists the PNG and JPEG files of `folder` in natural order and checks that they have one size.
    ///
    /// # Errors
    /// [`VideoError::Io`] when the folder cannot be listed; [`VideoError::Unreadable`] when there is no picture in it, two
    /// sizes are mixed, two files have the same stem, or one is damaged.
    pub(super) fn open(folder: &Path) -> Result<Self, VideoError> {
        let io = |source| VideoError::Io { path: folder.into(), source };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(io)? {
            let entry = entry.map_err(io)?;
            let name = entry.file_name();
            let text = name.to_string_lossy().into_owned();
            // Follows links: a folder of links to frames is usual in data sets.
            if is_frame(&text) && entry.path().is_file() {
                files.push((PathBuf::from(name), text));
            }
        }
        files.sort_by(|a, b| natural_order(&a.1, &b.1).then_with(|| a.0.cmp(&b.0)));
        Self::from_files(folder, folder.to_path_buf(), files, "picture folder")
    }

    /// One PNG or JPEG as a video of one frame.
    ///
    /// # Errors
    /// As [`read_picture`].
    pub(super) fn single(file: &Path) -> Result<Self, VideoError> {
        let name = PathBuf::from(file.file_name().unwrap_or(file.as_os_str()));
        let text = name.to_string_lossy().into_owned();
        Self::from_files(
            file,
            file.parent().unwrap_or(Path::new("")).to_path_buf(),
            vec![(name, text)],
            "picture",
        )
    }

    fn from_files(
        path: &Path,
        folder: PathBuf,
        files: Vec<(PathBuf, String)>,
        format: &str,
    ) -> Result<Self, VideoError> {
        let refuse = |reason: String| VideoError::Unreadable { path: path.into(), reason };
        let Some((first, first_text)) = files.first() else {
            return Err(refuse(
                "there is no PNG or JPEG picture in this folder: choose the folder of the frames".into(),
            ));
        };
        let frames = u32::try_from(files.len()).map_err(|_| refuse("too many files".into()))?;
        let size = picture_size(&folder.join(first))?;
        let mut stems: HashMap<String, &str> = HashMap::with_capacity(files.len());
        for (name, text) in &files {
            let stem =
                Path::new(text).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            if let Some(other) = stems.insert(stem, text) {
                return Err(refuse(format!(
                    "{other} and {text} are the same frame twice: keep the frames alone in their folder"
                )));
            }
            let this = picture_size(&folder.join(name))?;
            if this != size {
                return Err(refuse(format!(
                    "{first_text} has {size} pixels but {text} has {this}: all pictures of a folder must have one size"
                )));
            }
        }
        let info = VideoInfo {
            path: path.into(),
            size,
            frames,
            frame_rate: Rational::new(0, 0),
            duration: None,
            format: format.into(),
            rotation: 0,
            sample_aspect: Rational::new(1, 1),
            variable_frame_rate: false,
            warnings: Vec::new(),
        };
        Ok(Self { info, folder, files })
    }
}

impl VideoSource for PictureFolder {
    fn info(&self) -> &VideoInfo {
        &self.info
    }

    fn frame(&mut self, frame: FrameIndex) -> Result<RgbFrame, VideoError> {
        let last = self.info.frames - 1;
        let path = self.info.path.clone();
        let Some((name, text)) = self.files.get(frame.index()) else {
            return Err(VideoError::NoSuchFrame { path, frame, last });
        };
        let wrong = |reason| VideoError::Frame { path: self.info.path.clone(), frame, reason };
        let picture = read_picture(&self.folder.join(name)).map_err(|error| match error {
            VideoError::Io { source, .. } => wrong(format!("{text}: {source}")),
            VideoError::Unreadable { reason, .. } => wrong(format!("{text}: {reason}")),
            other => other,
        })?;
        let (now, before): (Size, Size) = (picture.size(), self.info.size);
        if now != before {
            return Err(wrong(format!(
                "{text} had {before} pixels when the folder was opened and has {now} now"
            )));
        }
        Ok(picture)
    }

    fn pts(&self, _frame: FrameIndex) -> Option<Pts> {
        None
    }

    fn file_name(&self, frame: FrameIndex) -> Option<&str> {
        self.files.get(frame.index()).map(|(_, text)| text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, width: u32, height: u32, shade: u8) {
        image::RgbImage::from_pixel(width, height, image::Rgb([shade, 0, 0])).save(path).expect("written");
    }

    #[test]
    fn natural_order_and_strangers_ignored() {
        let folder = tempfile::tempdir().expect("folder");
        for n in [1u8, 2, 9, 10, 100] {
            write(&folder.path().join(format!("{n}.png")), 4, 3, n);
        }
        for stranger in ["Thumbs.db", ".DS_Store", "._1.png", "notes.txt"] {
            std::fs::write(folder.path().join(stranger), b"x").expect("written");
        }
        std::fs::create_dir(folder.path().join("sub.png")).expect("folder");
        let mut source = PictureFolder::open(folder.path()).expect("opens");
        let names: Vec<_> = (0..5).filter_map(|f| source.file_name(FrameIndex(f))).collect();
        assert_eq!(names, ["1.png", "2.png", "9.png", "10.png", "100.png"]);
        assert_eq!((source.info().frames, source.info().size), (5, Size::new(4, 3)));
        assert_eq!(source.frame(FrameIndex(3)).expect("frame").data()[0], 10);
        assert!(source.pts(FrameIndex(0)).is_none());
        assert!(matches!(source.frame(FrameIndex(5)), Err(VideoError::NoSuchFrame { last: 4, .. })));
        write(&folder.path().join("2.png"), 5, 3, 1);
        assert!(source.frame(FrameIndex(1)).expect_err("changed").to_string().contains("2.png had 4 x 3"));
        std::fs::remove_file(folder.path().join("2.png")).expect("removed");
        assert!(matches!(source.frame(FrameIndex(1)), Err(VideoError::Frame { .. })));
    }

    #[test]
    fn mixed_sizes_twins_and_emptiness_are_refused() {
        let folder = tempfile::tempdir().expect("folder");
        let message = || PictureFolder::open(folder.path()).err().expect("refused").to_string();
        assert!(message().contains("no PNG or JPEG"));
        write(&folder.path().join("a1.png"), 4, 3, 1);
        write(&folder.path().join("a2.png"), 3, 4, 1);
        let mixed = message();
        assert!(mixed.contains("a1.png has 4 x 3") && mixed.contains("a2.png has 3 x 4"), "{mixed}");
        std::fs::remove_file(folder.path().join("a2.png")).expect("removed");
        write(&folder.path().join("a1.JPG"), 4, 3, 1);
        assert!(message().contains("same frame twice"));
        std::fs::write(folder.path().join("a1.JPG"), b"").expect("written");
        assert!(message().contains("a1"));
    }

    #[test]
    fn one_picture_is_a_video_of_one_frame() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("视频 тест é😀 100%.png");
        write(&path, 1, 1, 7);
        let mut source = PictureFolder::single(&path).expect("opens");
        assert_eq!((source.info().frames, source.info().size), (1, Size::new(1, 1)));
        assert_eq!(source.frame(FrameIndex(0)).expect("frame").data(), [7, 0, 0]);
        assert_eq!(source.file_name(FrameIndex(0)), Some("视频 тест é😀 100%.png"));
    }
}
