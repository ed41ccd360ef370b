//! MOTS as text: a line per object and frame, `frame id class height width rle`. Overlaps go to the earlier object:
//! evaluation refuses masks that overlap.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::atomic::AtomicFolder;
use super::findings::Findings;
use super::indexed_png::labels;
use super::marks::Mark;
use super::names::sequence_name;
use super::registry::Opening;
use super::spool::Spool;
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter, mots_png};
use crate::base::{Format, FrameIndex, Mask, Rle, Size};

/// Longest line that is read.
const LONGEST: u64 = 64 << 20;

/// Writes `mots-txt/<sequence>.txt`, or `mots-txt/<sequence>/gt/gt.txt` with its `seqinfo.ini`.
struct MotsTxt {
    plan: Arc<ExportPlan>,
    folder: AtomicFolder,
    values: Vec<u16>,
    spool: Spool<FrameIndex, File>,
    shared: BTreeMap<FrameIndex, u64>,
}

/// Starts the writer.
///
/// # Errors
/// Too many objects; files that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let Opening { plan, format, target, .. } = opening;
    let values = mots_png::values(&plan, format)?;
    let spool = Spool::new(tempfile::tempfile_in(&plan.out).map_err(ExportError::io(&target))?);
    let folder = AtomicFolder::new(target)?;
    Ok(Box::new(MotsTxt { plan, folder, values, spool, shared: BTreeMap::new() }))
}

/// The pixels of `label` as run lengths.
fn pixels_of(labels: &[u16], label: u16, size: Size) -> Rle {
    let data = labels.iter().map(|&l| u8::from(l == label)).collect();
    Rle::encode(&Mask::new(size, data).unwrap_or_else(|| Mask::empty(size)))
}

impl Exporter for MotsTxt {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let size = self.plan.size;
        let (labels, shared) = labels(&self.plan, frame);
        let marks: Vec<Mark> = (1..=self.plan.objects.len())
            .filter_map(|number| {
                let mask = pixels_of(&labels, number as u16, size);
                let bounds = mask.bounding_box()?;
                Some(Mark { number, counts: mask.to_coco_text(), area: mask.area(), bounds, score: None })
            })
            .collect();
        self.spool.put(frame.index, &marks).map_err(ExportError::io(self.folder.target()))?;
        self.shared.insert(frame.index, shared);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let Self { plan, folder, values, mut spool, shared } = *self;
        let format = Format::MotsTxt;
        let mut summary = ExportSummary::new(format, folder.target().to_owned());
        let Some(last) = spool.keys().last() else { return Ok(summary) };
        let challenge = plan.options.get(format, "base") == "motschallenge";
        let sequence = sequence_name(&plan.video);
        let (size, base) = (plan.size, u64::from(challenge));
        let name = if challenge {
            Path::new(&sequence).join("gt/gt.txt")
        } else {
            PathBuf::from(format!("{sequence}.txt"))
        };
        if challenge {
            folder.make(&sequence)?;
            folder.make(&format!("{sequence}/gt"))?;
            let info = sequence_info(&plan, &sequence, plan.frames.max(last.0.saturating_add(1)));
            folder.write(&Path::new(&sequence).join("seqinfo.ini"), info.as_bytes(), |_| Ok(()))?;
        }
        let mut lines = 0u64;
        folder
            .stream(
                &name,
                |file| {
                    let mut out = BufWriter::new(file);
                    spool.each(|frame, marks: Vec<Mark>| {
                        for mark in &marks {
                            let id = values[mark.number];
                            let (height, width) = (size.height, size.width);
                            let (time, class, rle) = (u64::from(frame.0) + base, id / 1_000, &mark.counts);
                            writeln!(out, "{time} {id} {class} {height} {width} {rle}")?;
                            lines += 1;
                        }
                        Ok(())
                    })?;
                    out.flush()
                },
                |path| {
                    let mut findings = Findings::new(path, format);
                    let found = lint(path, &mut findings);
                    match findings.list.first() {
                        Some(finding) if finding.severity == super::Severity::Error => {
                            Err(format!("{}: {}", finding.place, finding.what))
                        }
                        _ => Ok(found),
                    }
                },
            )
            .and_then(|found| {
                let reason = format!("it holds {found} lines instead of {lines}");
                let path = folder.target().join(&name);
                if found == lines { Ok(()) } else { Err(ExportError::Invalid { path, reason }) }
            })?;
        summary.frames = shared.len() as u32;
        (summary.annotations, summary.files) = (lines, 1 + u32::from(challenge));
        summary.overlapping_pixels = shared.values().sum();
        summary.left_files(folder.commit()?);
        summary.warnings.extend(mots_png::class_warning(&plan, format));
        Ok(summary)
    }
}

fn sequence_info(plan: &ExportPlan, name: &str, length: u32) -> String {
    let rate = plan.frame_rate.as_f64();
    let rate = if rate > 0.0 { rate } else { 25.0 };
    let Size { width, height } = plan.size;
    format!(
        "[Sequence]\nname={name}\nimDir=img1\nframeRate={rate}\nseqLength={length}\nimWidth={width}\nimHeight={height}\nimExt=.jpg\n"
    )
}

/// Looks through a MOTS text file, or all of a folder.
pub fn validate(path: &Path, findings: &mut Findings) {
    let (mut files, mut lines) = (0u64, 0u64);
    let mut stack = vec![(path.to_owned(), 0)];
    while let Some((path, depth)) = stack.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let mut entries: Vec<_> = entries.map(|entry| entry.path()).collect();
            entries.sort();
            if depth < 4 {
                stack.extend(entries.into_iter().rev().map(|entry| (entry, depth + 1)));
            }
        } else if depth == 0 || path.extension().is_some_and(|e| e == "txt") {
            files += 1;
            lines += lint(&path, findings);
        }
    }
    if files == 0 {
        findings.error("", "there is no text file");
    }
    if files > 0 && lines == 0 {
        findings.error("", "there is no mask: readers of results fail");
    }
    findings.count("sequences", files);
    findings.count("masks", lines);
}

/// Looks through one file; gives its number of lines.
fn lint(path: &Path, findings: &mut Findings) -> u64 {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => {
            findings.error(path.display(), error.to_string());
            return 0;
        }
    };
    let mut reader = BufReader::new(file);
    let (mut text, mut lines) = (String::new(), 0u64);
    let mut sizes: HashMap<u64, Size> = HashMap::new();
    let mut current: (u64, Option<Mask>, HashSet<u64>) = (0, None, HashSet::new());
    loop {
        text.clear();
        match std::io::Read::take(&mut reader, LONGEST).read_line(&mut text) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => {
                findings.error(path.display(), error.to_string());
                break;
            }
        }
        lines += 1;
        let place = format!("{}, line {lines}", path.display());
        let line = match Line::parse(text.trim_end_matches(['\r', '\n'])) {
            Ok(line) => line,
            Err(reason) => {
                findings.error(place, reason);
                continue;
            }
        };
        if line.class == 10 {
            continue;
        }
        if !matches!(line.class, 1 | 2) || line.id / 1_000 != line.class {
            findings.error(&place, format!("class {} with id {}: mots_tools knows 1 (car) and 2 (pedestrian), and ids are class x 1000 + object", line.class, line.id));
        }
        if *sizes.entry(0).or_insert(line.size) != line.size {
            findings.error(&place, "its picture has another size than those before");
        }
        if current.0 != line.frame || current.1.is_none() {
            if line.frame < current.0 {
                findings
                    .warn(&place, "frames do not rise: overlaps are only looked for within a run of lines");
            }
            current = (line.frame, Some(Mask::empty(line.size)), HashSet::new());
        }
        if !current.2.insert(line.id) {
            findings.error(&place, format!("frame {} has object {} twice", line.frame, line.id));
        }
        let Some(taken) = current.1.as_mut().filter(|taken| taken.size() == line.size) else { continue };
        let mut overlaps = false;
        for (x, rows) in line.mask.column_spans() {
            for y in rows {
                overlaps |= taken.get(x, y);
                taken.set(x, y, true);
            }
        }
        if overlaps {
            findings.error(&place, format!("masks of frame {} overlap: evaluation refuses that", line.frame));
        }
    }
    lines
}

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Frame, in the file's own counting.
    pub frame: u64,
    /// Class x 1000 + object.
    pub id: u64,
    /// Class.
    pub class: u64,
    /// The picture's size.
    pub size: Size,
    /// The mask.
    pub mask: Rle,
}

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(' ').collect();
        let [frame, id, class, height, width, rle] = parts[..] else {
            return Err(format!(
                "it has {} fields instead of 6: frame id class height width rle",
                parts.len()
            ));
        };
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("{text:?} is no number"));
        let side = |text| number(text).and_then(|v| u32::try_from(v).map_err(|_| format!("{v} is no size")));
        let size = Size::new(side(width)?, side(height)?);
        if size.area() > 1 << 27 {
            return Err(format!("{size} pixels are too many"));
        }
        let mask = Rle::from_coco_text(size, rle).map_err(|e| e.to_string())?;
        Ok(Self { frame: number(frame)?, id: number(id)?, class: number(class)?, size, mask })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Findings {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut findings = Findings::new(file.path(), Format::MotsTxt);
        validate(file.path(), &mut findings);
        findings
    }

    #[test]
    fn every_fault_is_named() {
        let good = "0 1001 1 5 7 ;32NO0129\n0 2002 2 5 7 01R1\n";
        assert_eq!(run(good).list, []);
        for (from, to, expected) in [
            ("1001 1", "3001 3", "knows 1"),
            ("1001", "2001", "knows 1"),
            ("01R1", ";32NO0129", "overlap"),
            ("2002 2", "1001 1", "twice"),
            ("01R1", "01S1", "add up"),
            ("5 7 ;", "5 ;", "6"),
            ("0 1001", "x 1001", "no number"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good);
            let findings = run(&bad);
            assert!(findings.list.iter().any(|f| f.what.contains(expected)), "{to}: {:?}", findings.list);
        }
    }
}
