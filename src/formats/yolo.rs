//! YOLO segmentation: a text file a frame, a line an object: class, then the corners of one ring from 0 to 1.

use std::fs;
use std::path::{Path, PathBuf};

use super::findings::Findings;
use super::folder::FrameFolder;
use super::registry::Opening;
use super::rings::{Corner, Part, as_floats, fill, iou, joined, trace};
use super::{ExportError, ExportFrame, ExportSummary, Exporter};
use crate::base::{Format, Size};
use crate::session::class_list;

/// Writes `yolo/labels/<part>/<stem>.txt` and `yolo/data.yaml`.
struct Yolo {
    folder: FrameFolder,
    /// Folder of each part of the split.
    parts: Vec<&'static str>,
    lines: bool,
    empty: bool,
    bridged: u64,
    worst: f64,
}

/// Starts the writer.
///
/// # Errors
/// A folder that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let Opening { plan, format, target, .. } = opening;
    let lines = plan.options.get(format, "parts") == "lines";
    let empty = plan.options.get(format, "empty") == "yes";
    let folder = FrameFolder::new(plan, target)?;
    let parts = match folder.stems.parts() {
        [] => vec!["train"],
        parts => parts.to_vec(),
    };
    folder.make("labels")?;
    for part in &parts {
        folder.make(&format!("labels/{part}"))?;
    }
    Ok(Box::new(Yolo { folder, parts, lines, empty, bridged: 0, worst: 1.0 }))
}

/// One line: the class, counted from 0, and the ring with both sides from 0 to 1.
fn line(class: usize, ring: &[Corner], size: Size) -> String {
    let mut line = class.to_string();
    for &(x, y) in ring {
        let share = |v: u32, side: u32| f64::from(v) / f64::from(side);
        // Enough digits for a hundredth of a pixel at any size that is read.
        line.push_str(&format!(" {:.7} {:.7}", share(x, size.width), share(y, size.height)));
    }
    line
}

/// Reads a line: class and ring, in pixels of `size`.
///
/// # Errors
/// In words.
fn parse(line: &str, size: Size) -> Result<(usize, Vec<(f64, f64)>), String> {
    let mut parts = line.split_ascii_whitespace();
    let class = parts.next().unwrap_or_default();
    let class = class.parse().map_err(|_| format!("{class:?} is no class, which count from 0"))?;
    let numbers: Vec<f64> = parts
        .map(|part| part.parse().map_err(|_| format!("{part:?} is no number")))
        .collect::<Result<_, _>>()?;
    match numbers.len() {
        4 => return Err("4 numbers are a box, not a polygon".into()),
        odd if odd % 2 == 1 => return Err(format!("{odd} numbers are no pairs")),
        few if few < 6 => return Err(format!("{few} numbers are no polygon: 6 are needed")),
        _ => {}
    }
    if let Some(wrong) = numbers.iter().find(|v| !(0.0..=1.0).contains(*v)) {
        return Err(format!("{wrong} is not from 0 to 1: Ultralytics leaves out the whole file"));
    }
    let (width, height) = (f64::from(size.width), f64::from(size.height));
    Ok((class, numbers.chunks_exact(2).map(|p| (p[0] * width, p[1] * height)).collect()))
}

impl Yolo {
    /// The lines of a frame and the mask of each object as they hold it.
    fn lines(&mut self, frame: &ExportFrame<'_>) -> (Vec<String>, u64) {
        let plan = &self.folder.plan;
        let (mut lines, mut masks) = (Vec::new(), 0);
        for (object, mask) in plan.objects.iter().zip(plan.in_list_order(frame)) {
            let Some(mask) = mask.filter(|mask| mask.mask.area() > 0) else { continue };
            masks += 1;
            let parts = trace(mask.mask);
            let rings: Vec<_> = parts.iter().map(Part::bridged).collect();
            let together = if self.lines { rings.clone() } else { vec![joined(&rings)] };
            let bridges = parts.iter().any(Part::has_holes) || together.len() < rings.len();
            self.bridged += u64::from(bridges);
            let floats: Vec<_> = together.iter().map(|ring| as_floats(ring)).collect();
            let filled = fill(floats.iter().map(Vec::as_slice), plan.size);
            self.worst = self.worst.min(iou(&filled, &mask.mask.decode()));
            let class = plan.category(object) - 1;
            lines.extend(together.iter().map(|ring| line(class, ring, plan.size)));
        }
        (lines, masks)
    }
}

impl Exporter for Yolo {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let (lines, masks) = self.lines(frame);
        let part = self.folder.stems.part(frame.index).unwrap_or("train");
        let name = PathBuf::from(format!("labels/{part}/{}.txt", self.folder.stems.stem(frame)));
        if lines.is_empty() && !self.empty {
            self.folder.done(frame, 0, 0, 0);
            return Ok(());
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let size = self.folder.plan.size;
        self.folder.put(&name, text.as_bytes(), |back| {
            let back = String::from_utf8_lossy(back);
            back.lines().try_for_each(|line| parse(line, size).map(drop))?;
            if back == text { Ok(()) } else { Err("it differs".into()) }
        })?;
        self.folder.done(frame, 1, masks, 0);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let plan = self.folder.plan.clone();
        if !self.folder.is_empty() {
            let mut text = String::from("path: .\n");
            for part in ["train", "val", "test"] {
                // Ultralytics insists on val.
                let folder = if self.parts.contains(&part) { part } else { "train" };
                if part != "test" || self.parts.contains(&part) {
                    text.push_str(&format!("{part}: images/{folder}\n"));
                }
            }
            text.push_str("names:\n");
            for (id, class) in class_list(&plan.objects).iter().enumerate() {
                // A JSON string is a YAML string.
                text.push_str(&format!("  {id}: {}\n", super::ascii_json::to_string(class)));
            }
            self.folder.put(Path::new("data.yaml"), text.as_bytes(), |_| Ok(()))?;
        }
        let (bridged, worst) = (self.bridged, self.worst);
        let mut summary = self.folder.finish(Format::YoloSeg)?;
        if summary.frames > 0 {
            summary.files += 1;
            if bridged > 0 {
                summary.warnings.push(format!("{bridged} masks have holes or several parts, which were joined by bridges or stand on lines of their own"));
            }
            summary.warnings.push(format!(
                "polygons: IoU with the masks at least {worst:.4}; the pictures go to images/ beside labels/"
            ));
        }
        Ok(summary)
    }
}

/// Looks through a folder with data.yaml and labels, or of text files alone.
pub fn validate(path: &Path, findings: &mut Findings) {
    let (mut files, mut lines) = (0u64, 0u64);
    let names = fs::read_to_string(path.join("data.yaml")).ok().map(|yaml| classes(&yaml));
    match &names {
        None => findings.warn(path.display(), "there is no data.yaml"),
        Some(0) => findings.error("data.yaml", "it has no names"),
        Some(_) => {}
    }
    let labels = path.join("labels");
    let mut stack = vec![(if labels.is_dir() { labels } else { path.to_owned() }, 0)];
    while let Some((path, depth)) = stack.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            let mut entries: Vec<_> = entries.map(|entry| entry.path()).collect();
            entries.sort();
            if depth < 4 {
                stack.extend(entries.into_iter().rev().map(|entry| (entry, depth + 1)));
            }
            continue;
        }
        if path.extension().is_none_or(|e| e != "txt") {
            continue;
        }
        files += 1;
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                findings.error(path.display(), error.to_string());
                continue;
            }
        };
        for (number, line) in (1..).zip(text.lines()) {
            let place = format!("{}, line {number}", path.display());
            lines += 1;
            match parse(line, Size::new(1_000, 1_000)) {
                Err(fault) => findings.error(place, fault),
                Ok((class, _)) if names.is_some_and(|names| class >= names && names > 0) => {
                    findings.error(place, format!("class {class} is not among the names of data.yaml"));
                }
                Ok(_) => {}
            }
        }
    }
    if files == 0 {
        findings.error("", "there is no text file of labels");
    }
    findings.count("files", files);
    findings.count("lines", lines);
}

/// Number of names in data.yaml: of the forms `names:` with an indented line each, and `names: [a, b]`.
fn classes(yaml: &str) -> usize {
    let mut lines = yaml.lines().skip_while(|line| !line.starts_with("names:"));
    let Some(first) = lines.next() else { return 0 };
    let list = first.trim_start_matches("names:").trim();
    if list.starts_with('[') {
        return list.trim_matches(['[', ']']).split(',').filter(|name| !name.trim().is_empty()).count();
    }
    lines.take_while(|line| line.starts_with([' ', '-'])).filter(|line| !line.trim().is_empty()).count()
}

/// The mask that the lines of a frame give class by class; what a reader makes of them.
#[cfg(test)]
fn masks(text: &str, size: Size) -> Vec<(usize, crate::base::Mask)> {
    text.lines()
        .map(|line| {
            let (class, ring) = parse(line, size).unwrap();
            (class, fill([ring.as_slice()], size))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Mask, Rle};
    use proptest::prelude::*;

    #[test]
    fn every_fault_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("labels")).unwrap();
        fs::write(folder.path().join("data.yaml"), "path: .\nnames:\n  0: a\n").unwrap();
        let run = |line: &str| {
            fs::write(folder.path().join("labels/0.txt"), line).unwrap();
            super::super::validate(folder.path(), Format::YoloSeg)
        };
        assert_eq!(run("0 0 0 1 0 1 1\n").list, []);
        for (line, expected) in [
            ("1 0 0 1 0 1 1", "class 1"),
            ("x 0 0 1 0 1 1", "no class"),
            ("0 0 0 1 0", "box"),
            ("0 0 0 1 0 1", "pairs"),
            ("0 0 0", "no polygon"),
            ("0 0 0 1 0 1 1.01", "0 to 1"),
        ] {
            assert!(run(line).list.iter().any(|f| f.what.contains(expected)), "{line}");
        }
        assert_eq!(classes("names: ['a', \"b\"]\n"), 2);
    }

    proptest! {
        #[test]
        fn lines_hold_the_mask(width in 1u32..30, height in 1u32..30, seed in any::<u64>()) {
            let size = Size::new(width, height);
            let data = (0..size.area() as u64).map(|i| u8::from((seed ^ (i / 2)).wrapping_mul(0x9e37_79b9_7f4a).count_ones() % 2 == 0)).collect();
            let mask = Mask::new(size, data).expect("the size's length");
            prop_assume!(mask.area() > 0);
            let rings: Vec<_> = trace(&Rle::encode(&mask)).iter().map(Part::bridged).collect();
            let text = line(3, &joined(&rings), size);
            prop_assert_eq!(masks(&text, size), [(3, mask)]);
        }
    }
}
