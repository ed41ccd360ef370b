//! What can be set about an export, as data, and the values that were set.

use std::collections::BTreeMap;

use super::Format;

/// Which values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A whole number from the first to the second.
    Number(u32, u32),
    /// Up to three shares of a whole, separated by "/", such as "80/10/10"; empty for none.
    Shares,
    /// Any text that can be part of a file name.
    Text,
}

/// One thing that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionFacts {
    /// Its name.
    pub key: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Which values it takes.
    pub kind: OptionKind,
    /// Its value when nothing is set.
    pub default: &'static str,
}

const fn one_of(key: &'static str, about: &'static str, words: &'static [&'static str]) -> OptionFacts {
    OptionFacts { key, about, kind: OptionKind::OneOf(words), default: words[0] }
}

const fn number(
    key: &'static str,
    about: &'static str,
    (least, most): (u32, u32),
    default: &'static str,
) -> OptionFacts {
    OptionFacts { key, about, kind: OptionKind::Number(least, most), default }
}

/// Options that hold for all formats: names of frames and the choice of frames.
pub const SHARED_OPTIONS: &[OptionFacts] = &[
    one_of(
        "names",
        "how frames are called: by their own file, where there is one, or by number",
        &["own", "number"],
    ),
    number("digits", "digits of frame numbers in names", (1, 12), "5"),
    number("start", "number that frame 0 gets in names", (0, 1_000_000_000), "0"),
    OptionFacts {
        key: "prefix",
        about: "what stands before the number in names",
        kind: OptionKind::Text,
        default: "",
    },
    one_of("picture", "kind of the pictures that annotations name", &["own", "png", "jpg"]),
    number("every", "take every n-th frame (not for videos)", (1, 1_000_000), "1"),
    one_of("annotated", "take only frames with an object on them (not for videos)", &["no", "yes"]),
    OptionFacts {
        key: "split",
        about: "shares of train/val/test, e.g. 80/10/10; neighbouring frames stay together",
        kind: OptionKind::Shares,
        default: "",
    },
];

pub(super) const CUTOUT: &[OptionFacts] =
    &[one_of("objects", "all objects in one picture, or a folder for each", &["together", "each"])];
pub(super) const COCO: &[OptionFacts] = &[
    one_of(
        "masks",
        "compressed run lengths, run lengths as numbers, or polygons along pixel corners",
        &["rle", "counts", "polygons"],
    ),
    one_of(
        "holes",
        "polygons have no holes: cut them open with a bridge, or write such a mask as run lengths",
        &["bridge", "rle"],
    ),
];
const MOTS_CLASS: OptionFacts = one_of(
    "class",
    "MOTS knows car (1) and pedestrian (2): by the class's name (car, else pedestrian), or one for all",
    &["name", "car", "pedestrian"],
);
pub(super) const MOTS_PNG: &[OptionFacts] = &[MOTS_CLASS];
pub(super) const MOTS_TXT: &[OptionFacts] = &[
    MOTS_CLASS,
    one_of(
        "base",
        "KITTI MOTS counts frames from 0, MOTSChallenge from 1 and has a seqinfo.ini",
        &["kitti", "motschallenge"],
    ),
];
pub(super) const YOLO: &[OptionFacts] = &[
    one_of(
        "parts",
        "a line holds one ring: join an object's parts with bridges, or give each a line of its own",
        &["bridge", "lines"],
    ),
    one_of("empty", "write an empty file for frames without objects", &["yes", "no"]),
];
pub(super) const LABEL_STUDIO: &[OptionFacts] = &[OptionFacts {
    key: "root",
    about: "address of the folder of the pictures, as Label Studio sees it",
    kind: OptionKind::Text,
    default: "/data/local-files/?d=frames/",
}];
pub(super) const FRAMES: &[OptionFacts] = &[number("quality", "quality of JPEG files", (1, 100), "95")];

impl OptionKind {
    /// What is wrong with `value`, in words; `None` when it is allowed.
    pub fn fault(self, value: &str) -> Option<String> {
        match self {
            Self::OneOf(words) => {
                (!words.contains(&value)).then(|| format!("choose one of {}", words.join(", ")))
            }
            Self::Number(least, most) => {
                let number = value.parse::<u32>().ok().filter(|n| (least..=most).contains(n));
                number.is_none().then(|| format!("give a whole number from {least} to {most}"))
            }
            Self::Shares => {
                shares(value).is_none().then(|| "give two or three shares, such as 80/10/10".into())
            }
            Self::Text => {
                value.contains(char::is_control).then(|| "control characters cannot be used".into())
            }
        }
    }
}

/// Reads "80/10/10". No text at all means no split: no shares.
fn shares(text: &str) -> Option<Vec<u32>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let shares: Vec<u32> = text.split('/').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    let sum: u64 = shares.iter().map(|&share| u64::from(share)).sum();
    ((2..=3).contains(&shares.len()) && (1..=1_000_000).contains(&sum)).then_some(shares)
}

/// The values that were set, by format; everything else has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    values: BTreeMap<(Option<Format>, &'static str), String>,
}

/// A setting that does not exist or a value that it does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {reason}")]
pub struct OptionError {
    setting: String,
    reason: String,
}

impl ExportOptions {
    /// Sets an option by its text: `every=5`, or `coco.masks=polygons` for one of a format.
    ///
    /// # Errors
    /// No such format or option, or a value that it does not take.
    pub fn set(&mut self, setting: &str) -> Result<(), OptionError> {
        let fail = |reason: String| OptionError { setting: setting.to_owned(), reason };
        let (name, value) =
            setting.split_once('=').ok_or_else(|| fail("write KEY=VALUE or FORMAT.KEY=VALUE".into()))?;
        let (format, key) = match name.trim().split_once('.') {
            None => (None, name.trim()),
            Some((format, key)) => (Some(format.parse::<Format>().map_err(|e| fail(e.to_string()))?), key),
        };
        let known = facts(format);
        let facts = known.iter().find(|facts| facts.key == key).ok_or_else(|| {
            let keys: Vec<_> = known.iter().map(|facts| facts.key).collect();
            let all = if keys.is_empty() { "there is nothing to set".into() } else { keys.join(", ") };
            fail(format!("there is no option {key:?}; known are: {all}"))
        })?;
        if let Some(fault) = facts.kind.fault(value) {
            return Err(fail(fault));
        }
        self.values.insert((format, facts.key), value.to_owned());
        Ok(())
    }

    /// The value of `key` of `format`, or of an option for all formats. An unknown key has the value "".
    pub fn get(&self, format: impl Into<Option<Format>>, key: &str) -> &str {
        let format = format.into();
        let Some(facts) = facts(format).iter().find(|facts| facts.key == key) else { return "" };
        self.values.get(&(format, facts.key)).map_or(facts.default, String::as_str)
    }

    /// The value of `key` as a number.
    pub fn number(&self, format: impl Into<Option<Format>>, key: &str) -> u32 {
        self.get(format, key).parse().unwrap_or(0)
    }

    /// The shares of train, val and test; empty when there is no split.
    pub fn shares(&self) -> Vec<u32> {
        shares(self.get(None, "split")).unwrap_or_default()
    }

    /// What was set, as `FORMAT.KEY` or `KEY` with the value.
    pub fn given(&self) -> impl Iterator<Item = (String, &str)> {
        self.values.iter().map(|((format, key), value)| {
            let name = format.map_or_else(|| (*key).to_owned(), |format| format!("{format}.{key}"));
            (name, value.as_str())
        })
    }
}

fn facts(format: Option<Format>) -> &'static [OptionFacts] {
    format.map_or(SHARED_OPTIONS, |format| format.facts().options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked_and_default() {
        let mut options = ExportOptions::default();
        assert_eq!(options.get(Format::Coco, "masks"), "rle");
        options.set("coco.masks=polygons").expect("known");
        options.set("every=5").expect("known");
        options.set("split=8/2").expect("known");
        assert_eq!(options.get(Format::Coco, "masks"), "polygons");
        assert_eq!((options.number(None, "every"), options.shares()), (5, vec![8, 2]));
        let given: Vec<_> = options.given().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(given, ["every=5", "split=8/2", "coco.masks=polygons"]);
        for (wrong, expected) in [
            ("every", "KEY=VALUE"),
            ("every=0", "from 1"),
            ("gif.x=1", "no export format"),
            ("coco.every=1", "masks, holes"),
            ("png.x=1", "nothing to set"),
            ("coco.masks=x", "rle, counts"),
            ("split=1", "80/10/10"),
            ("split=0/0", "80/10/10"),
            ("prefix=a\n", "control"),
        ] {
            let error = options.set(wrong).expect_err("refused").to_string();
            assert!(error.contains(expected) && error.starts_with(wrong), "{error}");
        }
    }

    #[test]
    fn shared_defaults_are_allowed() {
        assert!(SHARED_OPTIONS.iter().all(|facts| facts.kind.fault(facts.default).is_none()));
    }
}
