//! The formats by name.

use std::fmt;
use std::str::FromStr;

use super::ExportError;

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

    /// Reads a list such as `png,coco`; repetitions count once.
    ///
    /// # Errors
    /// [`ExportError::UnknownFormat`], [`ExportError::NoFormat`].
    pub fn parse_list(text: &str) -> Result<Vec<Self>, ExportError> {
        let mut formats = Vec::new();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let format = name.parse()?;
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        if formats.is_empty() { Err(ExportError::NoFormat) } else { Ok(formats) }
    }

    /// All names, separated by commas.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl FromStr for Format {
    type Err = ExportError;

    fn from_str(name: &str) -> Result<Self, ExportError> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| ExportError::UnknownFormat(name.to_owned()))
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
    fn lists_are_read() {
        let all = Format::parse_list("png, png-binary,coco,overlay,png,").unwrap();
        assert_eq!(all, Format::ALL);
        assert!(all.iter().all(|format| format.name().parse::<Format>().unwrap() == *format));
        assert!(
            Format::parse_list("gif").unwrap_err().to_string().contains("png, png-binary, coco, overlay")
        );
        assert!(matches!(Format::parse_list(" , "), Err(ExportError::NoFormat)));
    }
}
