//! The export formats as data: what a list, a dialog or a command line must know of each.

use std::fmt;
use std::str::FromStr;

use super::options::OptionFacts;

/// What is known of a format without writing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatFacts {
    /// Its name on the command line and in files.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// One line: what is written and who reads it.
    pub about: &'static str,
    /// Its file or folder within the output folder.
    pub output: &'static str,
    /// Extension of that file, or of the files in that folder.
    pub extension: &'static str,
    /// Frames must come in increasing order; the others take any order.
    pub order: bool,
    /// It needs the frames' pictures.
    pub picture: bool,
    /// It is written by FFmpeg: a build without it cannot.
    pub ffmpeg: bool,
    /// What can be set.
    pub options: &'static [OptionFacts],
}

/// Facts of a format of masks alone: any order, no pictures, no FFmpeg, nothing to set.
const MASKS: FormatFacts = FormatFacts {
    name: "",
    title: "",
    about: "",
    output: "",
    extension: "png",
    order: false,
    picture: false,
    ffmpeg: false,
    options: &[],
};
/// Facts of a video file.
const VIDEO: FormatFacts = FormatFacts { order: true, picture: true, ffmpeg: true, ..MASKS };

macro_rules! formats {
    ($($variant:ident = $name:literal, $title:literal, $about:literal, $output:literal, $extension:literal,
       $kind:ident $(, $options:expr)?;)*) => {
        /// A way to write masks or frames.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum Format {
            $(#[doc = $about] #[serde(rename = $name)] $variant,)*
        }

        impl Format {
            /// Every format.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// What is known of it.
            pub fn facts(self) -> &'static FormatFacts {
                match self {
                    $(Self::$variant => {
                        const FACTS: FormatFacts = FormatFacts {
                            name: $name, title: $title, about: $about, output: $output, extension: $extension,
                            $(options: $options,)? ..$kind
                        };
                        &FACTS
                    })*
                }
            }
        }
    };
}

/// As [`MASKS`], with the pictures.
const PICTURES: FormatFacts = FormatFacts { picture: true, ..MASKS };
/// A video of masks alone.
const MATTE: FormatFacts = FormatFacts { picture: false, ..VIDEO };

// One line a format: variant, name, title, what it is, output, extension, kind, options. Its writer is entered in
// `formats/registry.rs`.
formats! {
    Png = "png", "Indexed PNG (DAVIS)", "One palette PNG a frame, pixel = object number, as DAVIS has it", "masks", "png", MASKS;
    PngBinary = "png-binary", "Binary PNG", "One folder per object with a black and white PNG a frame", "objects", "png", MASKS;
    Matte = "matte", "PNG mattes", "One black and white PNG a frame with all objects together", "mattes", "png", MASKS;
    Cutout = "cutout", "RGBA cut-outs", "One PNG a frame with straight alpha: the objects, the rest transparent", "cutouts", "png", PICTURES, super::options::CUTOUT;
    Exr = "exr", "OpenEXR mattes", "One EXR a frame with a layer per object, for compositing", "exr", "exr", MASKS;
    Coco = "coco", "COCO instances", "COCO instances JSON with run lengths or polygons, and track ids", "coco.json", "json", MASKS, super::options::COCO;
    YoutubeVis = "youtube-vis", "YouTube-VIS ground truth", "YouTube-VIS JSON: a track per object, uncompressed run lengths", "youtube-vis.json", "json", MASKS;
    YoutubeVisResults = "youtube-vis-results", "YouTube-VIS results", "YouTube-VIS results: a bare list of scored tracks, compressed run lengths", "youtube-vis-results.json", "json", MASKS;
    MotsPng = "mots-png", "MOTS PNG", "One 16-bit PNG a frame, class x 1000 + object, as KITTI MOTS has it", "mots-png", "png", MASKS, super::options::MOTS_PNG;
    MotsTxt = "mots-txt", "MOTS text", "One text file with a line per object and frame, for KITTI MOTS or MOTSChallenge", "mots-txt", "txt", MASKS, super::options::MOTS_TXT;
    YoloSeg = "yolo-seg", "YOLO segmentation", "One text file of polygons a frame with data.yaml, as Ultralytics reads it", "yolo", "txt", MASKS, super::options::YOLO;
    Cvat = "cvat", "CVAT video 1.1", "CVAT XML 1.1 of a video task: a track of masks per object", "cvat.xml", "xml", MASKS;
    LabelStudio = "label-studio", "Label Studio brushes", "Label Studio tasks, one an image, with brush masks", "label-studio", "json", MASKS, super::options::LABEL_STUDIO;
    Csv = "csv", "Table (CSV)", "A line per object and frame: time, area, centre, box, score", "objects.csv", "csv", MASKS;
    Frames = "frames", "Frames", "The pictures that the annotations name, as PNG or JPEG", "frames", "png", PICTURES, super::options::FRAMES;
    Overlay = "overlay", "Overlay video", "MP4 of the video with the masks drawn over it", "overlay.mp4", "mp4", VIDEO;
    LumaMatte = "luma-matte", "Luma matte video", "MP4 in black and white: white where an object is", "luma-matte.mp4", "mp4", MATTE;
    Prores = "prores", "ProRes 4444", "MOV with straight alpha for editors: the objects, the rest transparent", "cutout.mov", "mov", VIDEO;
    Vp9Alpha = "vp9-alpha", "VP9 with alpha", "WebM with alpha for browsers; Premiere ignores its alpha", "cutout.webm", "webm", VIDEO;
    Ffv1 = "ffv1", "FFV1", "Lossless MKV with straight alpha", "cutout.mkv", "mkv", VIDEO;
}

/// A name that is no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no export format \"{0}\": the formats are {formats}", formats = Format::names())]
pub struct UnknownFormat(String);

impl Format {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Its file or folder within the output folder.
    pub fn output(self) -> &'static str {
        self.facts().output
    }

    /// Whether its frames must come in increasing order; the others take any order.
    pub fn needs_order(self) -> bool {
        self.facts().order
    }

    /// Whether it needs the frames' pictures.
    pub fn needs_picture(self) -> bool {
        self.facts().picture
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
        assert!(error.contains("\"gif\"") && error.contains("png, png-binary, "), "{error}");
    }

    #[test]
    fn no_two_formats_share_a_name_or_a_place() {
        let all = Format::ALL.map(Format::facts);
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a.name != b.name && a.output != b.output), "{}", a.name);
            assert!(!a.title.is_empty() && !a.about.ends_with('.'), "{}", a.name);
            for option in a.options {
                assert!(option.kind.fault(option.default).is_none(), "{}.{}", a.name, option.key);
            }
        }
    }
}
