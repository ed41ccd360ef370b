//! Names of files and folders made from frames and objects, whatever the user called them.

use std::collections::HashMap;
use std::path::Path;

use super::ExportFrame;
use crate::base::{ExportOptions, FrameIndex};

/// Longest part of an object's name that goes into a folder's name, in bytes; file systems allow 255 in all.
const LONGEST: usize = 100;

/// Frames in a row that a split keeps together: neighbours are too alike to be apart.
const TOGETHER: u32 = 32;

/// Names of frames: that of the frame's own file, or its number, as the options say.
#[derive(Debug)]
pub struct Stems {
    own: bool,
    digits: usize,
    start: u32,
    prefix: String,
    extension: Option<&'static str>,
    shares: Vec<u32>,
    /// Which frame a stem belongs to; only filled for picture folders, where two files may share a stem.
    taken: HashMap<String, FrameIndex>,
}

impl Stems {
    /// Names by `options`.
    pub fn new(options: &ExportOptions) -> Self {
        Self {
            own: options.get(None, "names") == "own",
            digits: options.number(None, "digits") as usize,
            start: options.number(None, "start"),
            prefix: safe(options.get(None, "prefix")),
            extension: match options.get(None, "picture") {
                "png" => Some("png"),
                "jpg" => Some("jpg"),
                _ => None,
            },
            shares: options.shares(),
            taken: HashMap::new(),
        }
    }

    /// The stem for `frame`, the same whenever it is asked again. When `a.jpg` and `a.png` are both frames, the later
    /// one asked for keeps its whole name.
    pub fn stem(&mut self, frame: &ExportFrame<'_>) -> String {
        let Some(name) = own_name(frame).filter(|_| self.own) else { return self.number(frame.index) };
        let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
        for candidate in [stem, name] {
            let owner = self.taken.entry(candidate.to_owned()).or_insert(frame.index);
            if *owner == frame.index {
                return candidate.to_owned();
            }
        }
        self.number(frame.index)
    }

    /// Name of the picture of `frame` with its extension: its own where nothing else is wanted.
    pub fn picture(&mut self, frame: &ExportFrame<'_>) -> String {
        let own = own_name(frame);
        match (self.extension, own) {
            (None, Some(name)) if self.own => name.to_owned(),
            (None, Some(name)) => {
                let extension = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or("png");
                format!("{}.{extension}", self.stem(frame))
            }
            (wanted, _) => format!("{}.{}", self.stem(frame), wanted.unwrap_or("png")),
        }
    }

    /// As [`Stems::picture`], with the folder of its part of the split before it: what annotations name.
    pub fn path(&mut self, frame: &ExportFrame<'_>) -> String {
        let picture = self.picture(frame);
        self.part(frame.index).map_or_else(|| picture.clone(), |part| format!("{part}/{picture}"))
    }

    /// Which part of the split `frame` belongs to, the same on every run; `None` without a split.
    pub fn part(&self, frame: FrameIndex) -> Option<&'static str> {
        let total: u32 = self.shares.iter().sum();
        let block = u64::from(frame.0 / TOGETHER);
        // A well-mixed number from the block's: the golden ratio's digits, then the high bits.
        let mixed = (block + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mut place = (mixed % u64::from(total.max(1))) as u32;
        for (share, name) in self.shares.iter().zip(self.parts()) {
            if place < *share {
                return Some(name);
            }
            place -= share;
        }
        None
    }

    /// The parts of the split.
    pub fn parts(&self) -> &'static [&'static str] {
        &["train", "val", "test"][..self.shares.len()]
    }

    fn number(&self, frame: FrameIndex) -> String {
        let number = u64::from(frame.0) + u64::from(self.start);
        format!("{}{number:0digits$}", self.prefix, digits = self.digits)
    }
}

fn own_name<'a>(frame: &ExportFrame<'a>) -> Option<&'a str> {
    frame.file_name.and_then(|name| Path::new(name).file_name()?.to_str())
}

/// Folder name for object `number` called `name`: "01_dog". The number makes it unique also where case does not count,
/// and no system's reserved word; characters that some system refuses become "_".
pub fn folder_name(number: usize, name: &str) -> String {
    format!("{number:02}_{}", safe(name))
}

/// `name` as part of a file's name: characters that some system refuses become "_".
pub fn safe(name: &str) -> String {
    let mut safe = String::new();
    for c in name.trim().chars() {
        let refused = c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
        let c = if refused { '_' } else { c };
        if safe.len() + c.len_utf8() > LONGEST {
            break;
        }
        safe.push(c);
    }
    // Windows drops dots and blanks at the end.
    safe.trim_end_matches(['.', ' ']).to_owned()
}

/// A name for the whole sequence, made from the video's: its stem, or "video" when nothing is left of it.
pub fn sequence_name(video: &str) -> String {
    let stem = Path::new(video).file_stem().and_then(|stem| stem.to_str()).unwrap_or(video);
    let name = safe(stem);
    if name.is_empty() || name.starts_with('.') { "video".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(index: u32, file_name: Option<&str>) -> ExportFrame<'_> {
        ExportFrame { index: FrameIndex(index), file_name, pts: None, picture: None, masks: &[] }
    }

    #[test]
    fn stems_follow_the_frames() {
        let mut stems = Stems::new(&ExportOptions::default());
        assert_eq!(stems.stem(&frame(7, None)), "00007");
        assert_eq!(stems.stem(&frame(123_456, None)), "123456");
        assert_eq!(stems.stem(&frame(0, Some("a.b.jpg"))), "a.b");
        assert_eq!(stems.stem(&frame(1, Some("a.b.png"))), "a.b.png");
        assert_eq!(stems.stem(&frame(0, Some("a.b.jpg"))), "a.b");
        assert_eq!(stems.stem(&frame(2, Some("кадр"))), "кадр");
        assert_eq!(stems.stem(&frame(3, Some("../../etc/x.jpg"))), "x");
        assert_eq!(stems.stem(&frame(4, Some(".."))), "00004");
    }

    #[test]
    fn pictures_are_named_as_the_options_say() {
        let stems = |settings: &[&str]| {
            let mut options = ExportOptions::default();
            settings.iter().for_each(|setting| options.set(setting).unwrap());
            Stems::new(&options)
        };
        let own = frame(3, Some("a.jpeg"));
        assert_eq!(stems(&[]).picture(&own), "a.jpeg");
        assert_eq!(stems(&[]).picture(&frame(3, None)), "00003.png");
        assert_eq!(stems(&["picture=png"]).picture(&own), "a.png");
        assert_eq!(stems(&["names=number", "digits=2", "start=1", "prefix=f:"]).picture(&own), "f_04.jpeg");
        let split = stems(&["split=50/50"]);
        assert_eq!(split.parts(), ["train", "val"]);
        let parts: Vec<_> = (0..2000).map(|f| split.part(FrameIndex(f)).unwrap()).collect();
        assert!(parts.chunks(32).all(|block| block.iter().all(|part| *part == block[0])));
        let train = parts.iter().filter(|part| **part == "train").count();
        assert!((800..1200).contains(&train), "{train}");
        assert_eq!(stems(&[]).part(FrameIndex(0)), None);
        assert!(stems(&["split=0/1"]).path(&own).starts_with("val/"));
    }

    #[test]
    fn folders_are_safe_everywhere() {
        assert_eq!(folder_name(1, "dog"), "01_dog");
        assert_eq!(folder_name(2, "../a:b\n"), "02_.._a_b");
        assert_eq!(folder_name(3, "CON"), "03_CON");
        assert_eq!(folder_name(4, "собака 😀."), "04_собака 😀");
        assert_eq!(folder_name(5, "..."), "05_");
        assert!(folder_name(6, &"ж".repeat(500)).len() <= LONGEST + 4);
    }
}
