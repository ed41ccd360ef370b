//! CVAT XML 1.1 of a video task: one track per object with a mask for every frame on which it is visible.
//!
//! CVAT keeps a shape until the next one of its track, so a shape marked as outside ends each run of frames.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use super::atomic::AtomicFile;
use super::cvat_lint;
use super::findings::Findings;
use super::marks::Mark;
use super::registry::Opening;
use super::row_runs::row_runs;
use super::tracks::Tracks;
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter};
use crate::base::{Format, FrameIndex};
use crate::session::class_list;

/// Writes `cvat.xml`.
struct Cvat {
    plan: Arc<ExportPlan>,
    file: AtomicFile,
    tracks: Tracks,
}

/// Starts the writer.
///
/// # Errors
/// Files that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let Opening { plan, target, .. } = opening;
    let tracks = Tracks::new(&plan, &plan.out).map_err(ExportError::io(&target))?;
    Ok(Box::new(Cvat { plan, file: AtomicFile::new(target)?, tracks }))
}

/// Looks through a CVAT XML file.
pub fn validate(path: &Path, findings: &mut Findings) {
    cvat_lint::lint(path, findings);
}

/// `text` within XML, in attributes too. Characters that XML cannot hold become "?".
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('?'),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

impl Exporter for Cvat {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        self.tracks.put(&self.plan, frame).map_err(ExportError::io(self.file.target()))
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let Self { plan, mut file, mut tracks } = *self;
        let target = file.target().to_owned();
        let mut summary = ExportSummary::new(Format::Cvat, target.clone());
        let frames = tracks.frames().len();
        if frames == 0 {
            return Ok(summary);
        }
        let masks =
            write(BufWriter::new(file.file()), &plan, &mut tracks).map_err(ExportError::io(&target))?;
        let mut findings = Findings::new(file.path(), Format::Cvat);
        let found = cvat_lint::lint(file.path(), &mut findings);
        let fault = findings.list.first().map(|f| format!("{}: {}", f.place, f.what));
        let fault =
            fault.or_else(|| (found != masks).then(|| format!("it holds {found} masks instead of {masks}")));
        if let Some(reason) = fault {
            return Err(ExportError::Invalid { path: target, reason });
        }
        file.commit()?;
        (summary.frames, summary.files, summary.annotations) = (frames as u32, 1, masks);
        Ok(summary)
    }
}

/// Writes everything; gives the number of masks.
fn write(mut out: impl Write, plan: &ExportPlan, tracks: &mut Tracks) -> std::io::Result<u64> {
    head(&mut out, plan)?;
    let mut masks = 0;
    for (track, number) in tracks.numbers().into_iter().enumerate() {
        let Some(object) = plan.objects.get(number - 1) else { continue };
        let label = escaped(&object.class);
        writeln!(out, "  <track id=\"{track}\" label=\"{label}\" source=\"auto\">")?;
        let mut last: Option<(FrameIndex, Mark)> = None;
        tracks.each(number, |frame, mark| {
            match (mark, last.take()) {
                (Some(mark), before) => {
                    // Frames that were left out in between are no end of the object.
                    drop(before);
                    shape(&mut out, plan, frame, &mark, "0")?;
                    masks += 1;
                    last = Some((frame, mark));
                }
                (None, Some((_, mark))) => shape(&mut out, plan, frame, &mark, "1")?,
                (None, None) => {}
            }
            Ok(())
        })?;
        if let Some((frame, mark)) = last {
            let next = frame.0.saturating_add(1);
            if next < plan.frames {
                shape(&mut out, plan, FrameIndex(next), &mark, "1")?;
            }
        }
        writeln!(out, "  </track>")?;
    }
    writeln!(out, "</annotations>")?;
    out.flush()?;
    Ok(masks)
}

/// All before the tracks.
fn head(out: &mut impl Write, plan: &ExportPlan) -> std::io::Result<()> {
    let name = escaped(&plan.video);
    let stop = plan.frames.saturating_sub(1);
    writeln!(
        out,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<annotations>\n  <version>1.1</version>\n  <meta>\n    <task>"
    )?;
    writeln!(
        out,
        "      <name>{name}</name>\n      <size>{}</size>\n      <mode>interpolation</mode>",
        plan.frames
    )?;
    writeln!(
        out,
        "      <start_frame>0</start_frame>\n      <stop_frame>{stop}</stop_frame>\n      <labels>"
    )?;
    for class in class_list(&plan.objects) {
        let class = escaped(class);
        writeln!(
            out,
            "        <label>\n          <name>{class}</name>\n          <type>mask</type>\n          <attributes></attributes>\n        </label>"
        )?;
    }
    let (width, height) = (plan.size.width, plan.size.height);
    writeln!(
        out,
        "      </labels>\n      <original_size>\n        <width>{width}</width>\n        <height>{height}</height>\n      </original_size>"
    )?;
    writeln!(out, "      <source>{name}</source>\n    </task>\n  </meta>")?;
    // XML has no field for the stamp; "--" must not occur in a comment.
    let stamp = plan.stamp.to_line().replace("--", "- -");
    writeln!(out, "  <!-- masklet {stamp} -->")
}

fn shape(
    out: &mut impl Write,
    plan: &ExportPlan,
    frame: FrameIndex,
    mark: &Mark,
    outside: &str,
) -> std::io::Result<()> {
    let [left, top, width, height] = mark.bounds;
    let runs: Vec<String> =
        row_runs(&mark.rle(plan.size)?.decode(), mark.bounds).iter().map(u32::to_string).collect();
    writeln!(
        out,
        "    <mask frame=\"{frame}\" keyframe=\"1\" outside=\"{outside}\" occluded=\"0\" rle=\"{}\" left=\"{left}\" top=\"{top}\" width=\"{width}\" height=\"{height}\" z_order=\"0\"></mask>",
        runs.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_escaped() {
        assert_eq!(escaped("a<b> & \"c\" 'd'\n\u{1}é"), "a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos; ?é");
    }
}
