//! Which frame a file's name means.

use std::collections::HashMap;
use std::path::Path;

use crate::base::FrameIndex;

/// Names of a video's frames: those of the files of a picture folder; a video's frames are named by their numbers.
#[derive(Clone, Debug, Default)]
pub struct FrameNames {
    /// File names and their stems; a stem that two files share names none.
    known: HashMap<String, Option<FrameIndex>>,
    /// What is subtracted from numbers.
    start: u32,
}

impl FrameNames {
    /// Names of a picture folder's files in the order of its frames.
    pub fn of_files<'a>(files: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known = HashMap::new();
        for (frame, name) in (0..).map(FrameIndex).zip(files) {
            known.insert(name.to_owned(), Some(frame));
            if let Some(stem) = stem(name).filter(|stem| *stem != name) {
                known.entry(stem.to_owned()).and_modify(|frame| *frame = None).or_insert(Some(frame));
            }
        }
        Self { known, start: 0 }
    }

    /// Frames are named by numbers from `start`.
    pub fn numbered(start: u32) -> Self {
        Self { known: HashMap::new(), start }
    }

    /// The frame that `name` means, with or without folders: a known file or stem, else the number at the end of the stem.
    pub fn frame(&self, name: &str) -> Option<FrameIndex> {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let stem = stem(file).unwrap_or(file);
        if !self.known.is_empty() {
            return self.known.get(file).or_else(|| self.known.get(stem)).copied().flatten();
        }
        let digits = stem.len() - stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let number: u32 = stem[stem.len() - digits..].parse().ok()?;
        number.checked_sub(self.start).map(FrameIndex)
    }
}

fn stem(name: &str) -> Option<&str> {
    Path::new(name).file_stem().and_then(|stem| stem.to_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up_or_counted() {
        let folder = FrameNames::of_files(["a.jpg", "b 7.png", "b 7.jpg"]);
        assert_eq!(folder.frame("a.png"), Some(FrameIndex(0)));
        assert_eq!(folder.frame("train/b 7.jpg"), Some(FrameIndex(2)));
        assert_eq!((folder.frame("b 7"), folder.frame("c.jpg")), (None, None));
        let video = FrameNames::numbered(1);
        assert_eq!(video.frame("seq/f00012.png"), Some(FrameIndex(11)));
        assert_eq!(
            (video.frame("0.png"), video.frame("x.png"), video.frame("99999999999.png")),
            (None, None, None)
        );
    }
}
