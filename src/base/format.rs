//! The export formats by name.

use std::fmt;
use std::str::FromStr;

/// A way to write masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// One palette PNG a frame, pixel = object number, as DAVIS has it.
    Png,
    /// One folder per object with a black and white PNG a frame.
    PngBinary,
    /// COCO instances JSON with compressed run lengths.
    Coco,
    /// MP4 of the video with the masks drawn over it.
    Overlay,
}

/// A name that is no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no export format \"{0}\": the formats are {formats}", formats = Format::names())]
pub struct UnknownFormat(String);

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Png, Self::PngBinary, Self::Coco, Self::Overlay];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::PngBinary => "png-binary",
            Self::Coco => "coco",
            Self::Overlay => "overlay",
        }
    }

    /// Its file or folder within the output folder.
    pub fn output(self) -> &'static str {
        match self {
            Self::Png => "masks",
            Self::PngBinary => "objects",
            Self::Coco => "coco.json",
            Self::Overlay => "overlay.mp4",
        }
    }

    /// Whether its frames must come in increasing order; the others take any order.
    pub fn needs_order(self) -> bool {
        self == Self::Overlay
    }

    /// Whether it needs the frames' pictures.
    pub fn needs_picture(self) -> bool {
        self == Self::Overlay
    }

    /// All names, separated by commas.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        assert!(Format::ALL.into_iter().all(|format| format.name().parse() == Ok(format)));
        let error = "gif".parse::<Format>().expect_err("no format").to_string();
        assert!(error.contains("\"gif\"") && error.contains("png, png-binary, coco, overlay"), "{error}");
    }
}
