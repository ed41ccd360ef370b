//! A table: a line per object and frame, absent objects too, with time, area, centre, box and score.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::atomic::AtomicFile;
use super::findings::Findings;
use super::names::Stems;
use super::registry::Opening;
use super::spool::Spool;
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter};
use crate::base::{Format, FrameIndex, Rle};

/// The first line. Centres are in pixels; the centre of the top left pixel is (0, 0).
const HEAD: &str = "frame,pts_seconds,file_name,object,name,class,visible,area,centroid_x,centroid_y,box_x,box_y,box_width,box_height,score";

/// Writes `objects.csv`.
struct Csv {
    plan: Arc<ExportPlan>,
    file: AtomicFile,
    spool: Spool<FrameIndex, File>,
    stems: Stems,
}

#[derive(Serialize, Deserialize)]
struct Row {
    name: String,
    pts: Option<f64>,
    figures: Vec<(Option<Figures>, Option<f32>)>,
}

#[derive(Serialize, Deserialize)]
struct Figures {
    area: u64,
    centre: (f64, f64),
    bounds: [u32; 4],
}

/// Starts the writer.
///
/// # Errors
/// Files that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let Opening { plan, target, .. } = opening;
    let spool = Spool::new(tempfile::tempfile_in(&plan.out).map_err(ExportError::io(&target))?);
    let stems = Stems::new(&plan.options);
    Ok(Box::new(Csv { plan, file: AtomicFile::new(target)?, spool, stems }))
}

/// Mean place of the set pixels; `None` without one.
pub fn centre(mask: &Rle) -> Option<(f64, f64)> {
    let (mut count, mut sum_x, mut sum_y) = (0u64, 0u64, 0u64);
    for (x, rows) in mask.column_spans() {
        let length = u64::from(rows.end - rows.start);
        count += length;
        sum_x += u64::from(x) * length;
        // The sum of start..end; one of the two factors is even.
        sum_y += (u64::from(rows.start) + u64::from(rows.end) - 1) * length / 2;
    }
    (count > 0).then(|| (sum_x as f64 / count as f64, sum_y as f64 / count as f64))
}

/// A field of a table: quoted where commas, quotes or line ends are in it.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

impl Exporter for Csv {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let figures = self.plan.in_list_order(frame).into_iter().map(|mask| {
            let figures = mask.and_then(|mask| {
                let (centre, bounds) = (centre(mask.mask)?, mask.mask.bounding_box()?);
                Some(Figures { area: mask.mask.area(), centre, bounds })
            });
            (figures, mask.and_then(|mask| mask.probability()))
        });
        let pts = frame.pts.map(|pts| pts.seconds()).filter(|seconds| seconds.is_finite());
        let row = Row { name: self.stems.path(frame), pts, figures: figures.collect() };
        self.spool.put(frame.index, &row).map_err(ExportError::io(self.file.target()))
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let Self { plan, mut file, mut spool, .. } = *self;
        let target = file.target().to_owned();
        let mut summary = ExportSummary::new(Format::Csv, target.clone());
        if spool.is_empty() {
            return Ok(summary);
        }
        let mut out = BufWriter::new(file.file());
        let mut lines = 0;
        let mut write = || -> std::io::Result<()> {
            writeln!(out, "{HEAD}")?;
            spool.each(|frame, row: Row| {
                summary.frames += 1;
                let pts = row.pts.map(|pts| format!("{pts:.9}")).unwrap_or_default();
                for ((number, object), (figures, score)) in (1..).zip(&plan.objects).zip(row.figures) {
                    lines += 1;
                    let (picture, name, class) =
                        (field(&row.name), field(&object.name), field(&object.class));
                    write!(out, "{frame},{pts},{picture},{number},{name},{class},")?;
                    match figures {
                        Some(Figures { area, centre: (x, y), bounds: [left, top, width, height] }) => {
                            summary.annotations += 1;
                            write!(out, "1,{area},{x:.4},{y:.4},{left},{top},{width},{height},")?;
                        }
                        None => write!(out, "0,0,,,,,,,")?,
                    }
                    writeln!(out, "{}", score.map(|s| format!("{s:.6}")).unwrap_or_default())?;
                }
                Ok(())
            })?;
            out.flush()
        };
        write().map_err(ExportError::io(&target))?;
        drop(out);
        let mut findings = Findings::new(file.path(), Format::Csv);
        let found = lint(file.path(), &mut findings);
        let fault = findings.list.first().map(|f| format!("{}: {}", f.place, f.what));
        let fault =
            fault.or_else(|| (found != lines).then(|| format!("it holds {found} lines instead of {lines}")));
        if let Some(reason) = fault {
            return Err(ExportError::Invalid { path: target, reason });
        }
        file.commit()?;
        summary.files = 1;
        Ok(summary)
    }
}

/// Looks through a table that this program wrote.
pub fn validate(path: &Path, findings: &mut Findings) {
    let lines = lint(path, findings);
    findings.count("lines", lines);
}

fn lint(path: &Path, findings: &mut Findings) -> u64 {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => {
            findings.error("", error.to_string());
            return 0;
        }
    };
    let (mut lines, mut record, mut number) = (0u64, String::new(), 0u64);
    for line in BufReader::new(file).lines() {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                findings.error(format!("line {}", number + 1), error.to_string());
                break;
            }
        };
        number += 1;
        record.push_str(&line);
        // A quoted field may go on over the end of the line.
        if record.matches('"').count() % 2 == 1 && record.len() < 1 << 20 {
            record.push('\n');
            continue;
        }
        let fields = fields(&record);
        if lines == 0 && number == 1 && record == HEAD {
            record.clear();
            continue;
        } else if number == 1 {
            findings.error("line 1", "the names of the columns are not those of this table");
        }
        lines += 1;
        let expected = HEAD.split(',').count();
        if fields.len() != expected {
            findings.error(
                format!("line {number}"),
                format!("it has {} fields instead of {expected}", fields.len()),
            );
        } else if fields[0].parse::<u32>().is_err() || fields[3].parse::<u32>().is_err() {
            findings.error(format!("line {number}"), "frame or object is no number");
        }
        record.clear();
    }
    if number == 0 {
        findings.error("", "the file is empty");
    }
    lines
}

/// The fields of a record.
fn fields(record: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    let mut rest = record.chars().peekable();
    while let Some(c) = rest.next() {
        let last = fields.last_mut().expect("there is always a field");
        match c {
            '"' if quoted && rest.peek() == Some(&'"') => {
                rest.next();
                last.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => last.push(c),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Mask, Size};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fields_read_back(texts in prop::collection::vec("[ -~\n]{0,12}", 1..6)) {
            let record: Vec<_> = texts.iter().map(|text| field(text)).collect();
            prop_assert_eq!(fields(&record.join(",")), texts);
        }

        #[test]
        fn centres_are_means(width in 1u32..20, height in 1u32..20, seed in any::<u64>()) {
            let size = Size::new(width, height);
            let data: Vec<u8> = (0..size.area() as u64).map(|i| u8::from((seed ^ i).wrapping_mul(0x9e37_79b9).count_ones() % 3 == 0)).collect();
            let mask = Mask::new(size, data).expect("the size's length");
            let set: Vec<_> = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).filter(|&(x, y)| mask.get(x, y)).collect();
            let found = centre(&Rle::encode(&mask));
            prop_assert_eq!(found.is_some(), !set.is_empty());
            if let Some((x, y)) = found {
                let mean = |pick: fn(&(u32, u32)) -> u32| set.iter().map(|p| f64::from(pick(p))).sum::<f64>() / set.len() as f64;
                prop_assert!((x - mean(|p| p.0)).abs() < 1e-9 && (y - mean(|p| p.1)).abs() < 1e-9);
            }
        }
    }
}
