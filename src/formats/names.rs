//! Names of files and folders made from frames and objects, whatever the user called them.

use std::collections::HashMap;
use std::path::Path;

use super::ExportFrame;
use crate::base::FrameIndex;

/// Longest part of an object's name that goes into a folder's name, in bytes; file systems allow 255 in all.
const LONGEST: usize = 100;

/// File stems of frames: the stem of the frame's own file, else its number with five digits or more.
#[derive(Debug, Default)]
pub struct Stems {
    /// Which frame a stem belongs to; only filled for picture folders, where two files may share a stem.
    taken: HashMap<String, FrameIndex>,
}

impl Stems {
    /// The stem for `frame`, the same whenever it is asked again. When `a.jpg` and `a.png` are both frames, the later
    /// one asked for keeps its whole name.
    pub fn stem(&mut self, frame: &ExportFrame<'_>) -> String {
        let number = || format!("{:05}", frame.index.0);
        let Some(name) = frame.file_name.and_then(|name| Path::new(name).file_name()?.to_str()) else {
            return number();
        };
        let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
        for candidate in [stem, name] {
            let owner = self.taken.entry(candidate.to_owned()).or_insert(frame.index);
            if *owner == frame.index {
                return candidate.to_owned();
            }
        }
        number()
    }
}

/// Folder name for object `number` called `name`: "01_dog". The number makes it unique also where case does not count,
/// and no system's reserved word; characters that some system refuses become "_".
pub fn folder_name(number: usize, name: &str) -> String {
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
    format!("{number:02}_{}", safe.trim_end_matches(['.', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(index: u32, file_name: Option<&str>) -> ExportFrame<'_> {
        ExportFrame { index: FrameIndex(index), file_name, pts: None, picture: None, masks: &[] }
    }

    #[test]
    fn stems_follow_the_frames() {
        let mut stems = Stems::default();
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
    fn folders_are_safe_everywhere() {
        assert_eq!(folder_name(1, "dog"), "01_dog");
        assert_eq!(folder_name(2, "../a:b\n"), "02_.._a_b");
        assert_eq!(folder_name(3, "CON"), "03_CON");
        assert_eq!(folder_name(4, "собака 😀."), "04_собака 😀");
        assert_eq!(folder_name(5, "..."), "05_");
        assert!(folder_name(6, &"ж".repeat(500)).len() <= LONGEST + 4);
    }
}
