//! The file behind `--prompts`: many objects with many prompts, as JSON. Parsing only; masks stay paths.

use crate::base::{BoxXyxy, Click, FrameIndex, FramePrompts, Label, Point, Rle};

/// The whole file.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptsFile {
    /// The objects, at least one; their order decides overlaps.
    pub objects: Vec<PromptsObject>,
}

/// One object with its prompts.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptsObject {
    /// Its name; unique and not blank.
    pub name: String,
    /// Its class, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Its prompts, one entry a frame, at least one.
    pub prompts: Vec<PromptEntry>,
}

/// The prompts of one object on one frame. Coordinates are pixels of the upright picture.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptEntry {
    /// On which frame, counted from 0; 0 when left out.
    #[serde(default)]
    pub frame: FrameIndex,
    /// Clicks on the object, x and y.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<[f32; 2]>,
    /// Clicks beside the object, x and y.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub negatives: Vec<[f32; 2]>,
    /// A box, x0, y0, x1, y1, half-open.
    #[serde(default, rename = "box", skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f32; 4]>,
    /// A picture file whose non-black pixels are the object, beside this file unless absolute; excludes the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
}

/// Why a prompts file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptsFileError {
    /// Not JSON, or not of this shape.
    #[error(
        "not a prompts file: {0}; expected {{\"objects\":[{{\"name\":\"dog\",\"prompts\":[{{\"frame\":0,\"points\":[[x,y]]}}]}}]}}"
    )]
    Json(#[from] serde_json::Error),
    /// The list is empty.
    #[error("the prompts file names no object: add at least one to \"objects\"")]
    NoObjects,
    /// Nothing but white space for a name.
    #[error("object number {0} of the prompts file has a blank name: give it one")]
    BlankName(usize),
    /// Two objects of one name.
    #[error("the prompts file names the object \"{0}\" twice: put all its prompts into one entry")]
    NameTwice(String),
    /// An object without prompts.
    #[error("object \"{0}\" of the prompts file has no prompts: give it a point, a box or a mask")]
    NoPrompts(String),
    /// What is wrong with the prompts of one object on one frame.
    #[error("object \"{name}\", frame {frame} of the prompts file: {reason}")]
    Entry {
        /// Name of the object.
        name: String,
        /// On which frame.
        frame: FrameIndex,
        /// What is wrong and what to do.
        reason: &'static str,
    },
}

impl PromptsFile {
    /// Reads the text of a prompts file. A byte-order mark is skipped; unknown keys are refused, so that a misspelt one
    /// is not silently ignored.
    ///
    /// # Errors
    /// Not JSON of this shape; no objects; blank or repeated names; objects or entries without prompts; a frame listed
    /// twice for one object; numbers past what fits; a mask together with points or a box.
    pub fn parse(text: &str) -> Result<Self, PromptsFileError> {
        let file: Self = serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
        if file.objects.is_empty() {
            return Err(PromptsFileError::NoObjects);
        }
        for (i, object) in file.objects.iter().enumerate() {
            if object.name.trim().is_empty() {
                return Err(PromptsFileError::BlankName(i + 1));
            }
            if file.objects[..i].iter().any(|other| other.name.trim() == object.name.trim()) {
                return Err(PromptsFileError::NameTwice(object.name.clone()));
            }
            object.check()?;
        }
        Ok(file)
    }
}

impl PromptsObject {
    fn check(&self) -> Result<(), PromptsFileError> {
        if self.prompts.is_empty() {
            return Err(PromptsFileError::NoPrompts(self.name.clone()));
        }
        for (i, entry) in self.prompts.iter().enumerate() {
            let twice = self.prompts[..i].iter().any(|other| other.frame == entry.frame);
            let reason =
                if twice { Some("the frame is listed twice: merge the two entries") } else { entry.fault() };
            if let Some(reason) = reason {
                return Err(PromptsFileError::Entry { name: self.name.clone(), frame: entry.frame, reason });
            }
        }
        Ok(())
    }
}

impl PromptEntry {
    fn fault(&self) -> Option<&'static str> {
        let clicks = !self.points.is_empty() || !self.negatives.is_empty();
        if !clicks && self.bounds.is_none() && self.mask.is_none() {
            Some("there is no prompt: give a point, a box or a mask")
        } else if self.mask.is_some() && (clicks || self.bounds.is_some()) {
            Some("a mask cannot be combined with points or a box: give one or the other")
        } else if self.mask.as_deref().is_some_and(|path| path.trim().is_empty()) {
            Some("the mask has no file name: give the path of a picture")
        } else {
            None
        }
    }

    /// The prompts in the engine's words: points first, then negatives. `mask` is what the caller read from
    /// [`PromptEntry::mask`].
    pub fn frame_prompts(&self, mask: Option<Rle>) -> FramePrompts {
        let click = |label| move |&[x, y]: &[f32; 2]| Click { at: Point { x, y }, label };
        let clicks = self.points.iter().map(click(Label::Positive));
        FramePrompts {
            clicks: clicks.chain(self.negatives.iter().map(click(Label::Negative))).collect(),
            bounds: self.bounds.map(|[x0, y0, x1, y1]| BoxXyxy { x0, y0, x1, y1 }),
            mask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FULL: &str = r#"{"objects":[
        {"name":"dog","class":"animal","prompts":[
            {"frame":3,"points":[[1,2.5],[3,4]],"negatives":[[5,6]],"box":[0,0,9,8]},
            {"points":[[7,7]]}]},
        {"name":"мяч","prompts":[{"frame":1,"mask":"m é.png"}]}]}"#;

    #[test]
    fn a_full_file_is_read() {
        let file = PromptsFile::parse(&format!("\u{feff}{FULL}")).unwrap();
        assert_eq!(file.objects.len(), 2);
        let first = &file.objects[0].prompts[0];
        let prompts = first.frame_prompts(None);
        assert_eq!(prompts.clicks.len(), 3);
        assert_eq!(prompts.clicks[0].at, Point { x: 1.0, y: 2.5 });
        assert_eq!(prompts.clicks[2].label, Label::Negative);
        assert_eq!(prompts.bounds, Some(BoxXyxy { x0: 0.0, y0: 0.0, x1: 9.0, y1: 8.0 }));
        assert_eq!(file.objects[0].prompts[1].frame, FrameIndex(0));
        assert_eq!(file.objects[1].prompts[0].mask.as_deref(), Some("m é.png"));
        let again = PromptsFile::parse(&serde_json::to_string(&file).unwrap()).unwrap();
        assert_eq!(again, file);
    }

    #[test]
    fn faults_name_the_object() {
        let one = |entry: &str| format!(r#"{{"objects":[{{"name":"dog","prompts":[{entry}]}}]}}"#);
        for (text, expected) in [
            ("".to_owned(), "not a prompts file"),
            ("[]".to_owned(), "not a prompts file"),
            (r#"{"objects":[]}"#.to_owned(), "names no object"),
            (r#"{"objects":[{"name":" ","prompts":[]}]}"#.to_owned(), "number 1"),
            (r#"{"objects":[{"name":"dog","prompts":[]}]}"#.to_owned(), "\"dog\""),
            (one(r#"{"frame":2}"#), "frame 2"),
            (one(r#"{"frame":-1,"points":[[1,1]]}"#), "not a prompts file"),
            (one(r#"{"point":[[1,1]]}"#), "unknown field `point`"),
            (one(r#"{"points":[[1]]}"#), "not a prompts file"),
            (one(r#"{"points":[[1e39,1]]}"#), "number out of range"),
            (one(r#"{"points":[[1,1]],"mask":"a.png"}"#), "cannot be combined"),
            (one(r#"{"mask":""}"#), "no file name"),
            (one(r#"{"points":[[1,1]]},{"points":[[2,2]]}"#), "listed twice"),
            (
                r#"{"objects":[{"name":"a","prompts":[{"points":[[1,1]]}]},{"name":"a ","prompts":[]}]}"#
                    .to_owned(),
                "twice",
            ),
        ] {
            let message = PromptsFile::parse(&text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_read(text in ".{0,80}", cut in 0usize..300) {
            let _ = PromptsFile::parse(&text);
            let cut = FULL.char_indices().map(|(at, _)| at).take_while(|at| *at <= cut).last().unwrap_or(0);
            let _ = PromptsFile::parse(&FULL[..cut]);
        }
    }
}
