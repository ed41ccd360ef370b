//! Looks through folders of PNG masks and says what their readers trip over.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use png::{BitDepth, ColorType, Decoder, Limits, Transformations};

use super::findings::Findings;
use crate::base::Size;

/// What the pictures are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Object numbers in a palette, as DAVIS has it; one folder.
    Indexed,
    /// Black and white; one folder or folders of folders.
    Matte,
    /// With alpha; one folder or folders of folders.
    Cutout,
    /// Class x 1000 + object in 16 bits, as MOTS has it; one folder.
    Mots,
}

/// Deepest folder in a folder that is looked into.
const DEEPEST: usize = 4;

/// Looks through `path`.
pub fn folder(path: &Path, kind: Kind, findings: &mut Findings) {
    let mut look = Look { kind, files: 0, size: None, values: BTreeSet::new(), first: None };
    if path.is_file() {
        look.file(path, findings);
    } else {
        look.folder(path, 0, findings);
    }
    look.finish(findings);
}

struct Look {
    kind: Kind,
    files: u64,
    size: Option<Size>,
    /// All values that occur, without the background.
    values: BTreeSet<u16>,
    /// Those of the first frame.
    first: Option<BTreeSet<u16>>,
}

impl Look {
    fn folder(&mut self, path: &Path, depth: usize, findings: &mut Findings) {
        let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return findings.error(path.display(), error.to_string()),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            if path.is_dir() {
                if matches!(self.kind, Kind::Indexed | Kind::Mots) {
                    findings.error(
                        path.display(),
                        "a folder among the frames: readers count every entry as a frame",
                    );
                } else if depth < DEEPEST {
                    self.folder(&path, depth + 1, findings);
                }
            } else if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
                self.file(&path, findings);
            } else if matches!(self.kind, Kind::Indexed | Kind::Mots) {
                findings.error(path.display(), "no PNG: readers count every entry of the folder as a frame");
            } else {
                findings.warn(path.display(), "no PNG");
            }
        }
    }

    fn file(&mut self, path: &Path, findings: &mut Findings) {
        self.files += 1;
        let place = path.display().to_string();
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        if self.kind == Kind::Mots && (stem.len() != 6 || !stem.bytes().all(|b| b.is_ascii_digit())) {
            findings.error(&place, "KITTI MOTS reads names of 6 digits only: 000000.png");
        }
        let (colour, depth, size, pixels) = match read(path) {
            Ok(read) => read,
            Err(reason) => return findings.error(&place, reason),
        };
        let first = *self.size.get_or_insert(size);
        if size != first {
            findings.error(&place, format!("it has {size} pixels but the pictures before have {first}"));
        }
        match self.kind {
            Kind::Indexed => self.indexed(path, (colour, depth), &pixels, findings),
            Kind::Mots => self.mots(path, (colour, depth), &pixels, findings),
            Kind::Matte => {
                if (colour, depth) != (ColorType::Grayscale, BitDepth::Eight) {
                    findings.warn(&place, format!("it holds {colour:?} instead of 8-bit grey"));
                } else if pixels.iter().any(|&v| v != 0 && v != 255) {
                    findings.warn(&place, "there are greys between black and white");
                }
            }
            Kind::Cutout => {
                if !matches!(colour, ColorType::Rgba | ColorType::GrayscaleAlpha) {
                    findings.error(&place, "it has no alpha channel");
                }
            }
        }
    }

    fn indexed(
        &mut self,
        path: &Path,
        layout: (ColorType, BitDepth),
        pixels: &[u8],
        findings: &mut Findings,
    ) {
        let place = path.display().to_string();
        match layout {
            (ColorType::Indexed, BitDepth::Eight) => {}
            (ColorType::Grayscale, BitDepth::Eight) => {
                findings.warn(&place, "it is grey without a palette: numbers 1, 2, 3 look black in viewers");
            }
            (ColorType::Indexed, depth) => {
                findings.warn(&place, format!("its indices have {depth:?} bits: some readers expect 8"));
                return;
            }
            (other, _) => {
                return findings.error(
                    &place,
                    format!("it holds {other:?}: davis2017-evaluation reads palette pictures only"),
                );
            }
        }
        let values: BTreeSet<u16> = pixels.iter().filter(|v| **v != 0).map(|&v| v.into()).collect();
        self.first.get_or_insert_with(|| values.clone());
        self.values.extend(values);
    }

    fn mots(&mut self, path: &Path, layout: (ColorType, BitDepth), pixels: &[u8], findings: &mut Findings) {
        let place = path.display().to_string();
        if layout != (ColorType::Grayscale, BitDepth::Sixteen) {
            return findings.error(
                &place,
                format!("it holds {:?} of {:?} bits: MOTS is 16-bit grey", layout.0, layout.1),
            );
        }
        let values: BTreeSet<u16> =
            pixels.chunks_exact(2).map(|v| u16::from_be_bytes([v[0], v[1]])).filter(|v| *v != 0).collect();
        for value in &values {
            if *value != 10_000 && !matches!(value / 1_000, 1 | 2) {
                findings.error(
                    &place,
                    format!("value {value}: mots_tools knows classes 1 (car) and 2 (pedestrian), and 10000"),
                );
            }
        }
        self.values.extend(values);
    }

    fn finish(self, findings: &mut Findings) {
        if self.files == 0 {
            findings.error("", "there is no PNG");
        }
        findings.count("files", self.files);
        if matches!(self.kind, Kind::Indexed | Kind::Mots) {
            findings.count("objects", self.values.len() as u64);
        }
        if self.kind != Kind::Indexed {
            return;
        }
        let void = self.values.iter().filter(|v| **v >= 254).count();
        if void > 0 {
            findings.warn("", "values 254 and 255 mean \"void\", not an object");
        }
        let objects = self.values.len() - void;
        if self.values.iter().any(|v| usize::from(*v) > objects && *v < 254) {
            findings.warn(
                "",
                format!(
                    "the object numbers have gaps ({:?}): davis2017-evaluation expects 1 to N",
                    self.values
                ),
            );
        }
        let first = self.first.unwrap_or_default();
        let late: Vec<_> =
            self.values.iter().filter(|v| **v < 254 && Some(*v) > first.iter().max()).collect();
        if !late.is_empty() {
            findings.warn(
                "",
                format!("objects {late:?} are not on the first frame: davis2017-evaluation leaves them out"),
            );
        }
    }
}

/// Most pixels of a picture that is read.
const MOST_PIXELS: usize = 1 << 27;

type Read = (ColorType, BitDepth, Size, Vec<u8>);

fn read(path: &Path) -> Result<Read, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let mut decoder = Decoder::new_with_limits(BufReader::new(file), Limits { bytes: MOST_PIXELS * 8 });
    decoder.set_transformations(Transformations::IDENTITY);
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let info = reader.info();
    let (colour, depth, size) = (info.color_type, info.bit_depth, Size::new(info.width, info.height));
    if size.area() > MOST_PIXELS {
        return Err(format!("it says it has {size} pixels, which is too much"));
    }
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("it is too large")?];
    reader.next_frame(&mut pixels).map_err(|e| e.to_string())?;
    Ok((colour, depth, size, pixels))
}
