//! YouTube-VIS JSON: one annotation is one track, with a mask or null for every frame of its video.
//!
//! The ground-truth form holds uncompressed run lengths: TrackEval reads nothing else there. The results form is a bare
//! list with compressed ones: its readers take nothing else.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::atomic::AtomicFile;
use super::findings::Findings;
use super::names::sequence_name;
use super::registry::Opening;
use super::segmentation::{Counts, Segmentation};
use super::tracks::Tracks;
use super::youtube_vis_lint::{self, Form, Found};
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter, Stamp, ascii_json};
use crate::base::Format;
use crate::session::class_list;

/// Writes `youtube-vis.json` or `youtube-vis-results.json`.
struct YoutubeVis {
    plan: Arc<ExportPlan>,
    format: Format,
    file: AtomicFile,
    tracks: Tracks,
}

#[derive(Serialize)]
struct Info<'a> {
    description: String,
    version: &'a str,
    masklet: &'a Stamp,
}

#[derive(Serialize)]
struct Category<'a> {
    id: usize,
    name: &'a str,
    supercategory: &'a str,
}

#[derive(Serialize)]
struct Video<'a> {
    id: u32,
    width: u32,
    height: u32,
    length: usize,
    file_names: Vec<String>,
    /// Frame numbers in the source, for going back to it.
    frame_indices: Vec<u32>,
    pts_seconds: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_rate: Option<[i32; 2]>,
    name: &'a str,
}

/// Starts the writer of either form.
///
/// # Errors
/// Files that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let Opening { plan, format, target, .. } = opening;
    let tracks = Tracks::new(&plan, &plan.out).map_err(ExportError::io(&target))?;
    Ok(Box::new(YoutubeVis { plan, format, file: AtomicFile::new(target)?, tracks }))
}

/// Looks through a ground-truth file.
pub fn validate(path: &Path, findings: &mut Findings) {
    youtube_vis_lint::lint(path, Form::Truth, findings);
}

/// Looks through a results file.
pub fn validate_results(path: &Path, findings: &mut Findings) {
    youtube_vis_lint::lint(path, Form::Results, findings);
}

impl Exporter for YoutubeVis {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        self.tracks.put(&self.plan, frame).map_err(ExportError::io(self.file.target()))
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let Self { plan, format, mut file, mut tracks } = *self;
        let target = file.target().to_owned();
        let mut summary = ExportSummary::new(format, target.clone());
        let frames = tracks.frames().len();
        if frames == 0 {
            return Ok(summary);
        }
        let form = if format == Format::YoutubeVis { Form::Truth } else { Form::Results };
        if form == Form::Results && tracks.numbers().is_empty() {
            summary.warnings.push("no object is visible: readers of results fail on an empty list".into());
        }
        let out = BufWriter::new(file.file());
        let written = write(out, &plan, form, &mut tracks).map_err(ExportError::io(&target))?;
        let mut findings = Findings::new(file.path(), format);
        let found = youtube_vis_lint::lint(file.path(), form, &mut findings);
        let fault = findings.list.iter().find(|f| f.severity == super::Severity::Error);
        if let Some(fault) = fault.filter(|_| written.tracks > 0) {
            let reason = format!("{}: {}", fault.place, fault.what);
            return Err(ExportError::Invalid { path: target, reason });
        }
        if found != written {
            let reason = format!("it holds {found:?} instead of {written:?}");
            return Err(ExportError::Invalid { path: target, reason });
        }
        file.commit()?;
        (summary.frames, summary.files, summary.annotations) = (frames as u32, 1, written.masks);
        Ok(summary)
    }
}

fn write(mut out: impl Write, plan: &ExportPlan, form: Form, tracks: &mut Tracks) -> std::io::Result<Found> {
    if form == Form::Truth {
        head(&mut out, plan, tracks)?;
    } else {
        out.write_all(b"[")?;
    }
    let mut found = Found::default();
    for number in tracks.numbers() {
        let Some(object) = plan.objects.get(number - 1) else { continue };
        out.write_all(if found.tracks == 0 { b"\n" } else { b",\n" })?;
        found.tracks += 1;
        let category = plan.category(object);
        if form == Form::Truth {
            let (width, height) = (plan.size.width, plan.size.height);
            write!(
                out,
                "{{\"id\":{},\"video_id\":1,\"category_id\":{category},\"iscrowd\":0,\"width\":{width},\"height\":{height},\"track_id\":{number},\"name\":",
                found.tracks
            )?;
            ascii_json::write(&mut out, &object.name)?;
        } else {
            write!(out, "{{\"video_id\":1,\"category_id\":{category}")?;
        }
        out.write_all(b",\"segmentations\":[")?;
        let (mut areas, mut boxes, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        tracks.each(number, |_, mark| {
            if !areas.is_empty() {
                out.write_all(b",")?;
            }
            areas.push(mark.as_ref().map(|mark| mark.area));
            boxes.push(mark.as_ref().map(|mark| mark.bounds));
            let Some(mark) = mark else { return out.write_all(b"null") };
            found.masks += 1;
            scores.extend(mark.score);
            let counts = match form {
                Form::Truth => Counts::List(mark.rle(plan.size)?.counts().to_vec()),
                Form::Results => Counts::Text(mark.counts),
            };
            ascii_json::write(
                &mut out,
                &Segmentation::Rle { size: [plan.size.height, plan.size.width], counts },
            )
        })?;
        out.write_all(b"]")?;
        if form == Form::Truth {
            out.write_all(b",\"areas\":")?;
            ascii_json::write(&mut out, &areas)?;
            out.write_all(b",\"bboxes\":")?;
            ascii_json::write(&mut out, &boxes)?;
        } else {
            let count = scores.len();
            let mean = scores.iter().sum::<f32>() / count.max(1) as f32;
            out.write_all(b",\"score\":")?;
            ascii_json::write(&mut out, &if count == 0 { 1.0 } else { mean })?;
        }
        out.write_all(b"}")?;
    }
    out.write_all(if form == Form::Truth { b"]}\n" } else { b"]\n" })?;
    out.flush()?;
    Ok(found)
}

/// All before the annotations.
fn head(out: &mut impl Write, plan: &ExportPlan, tracks: &Tracks) -> std::io::Result<()> {
    let sequence = sequence_name(&plan.video);
    let classes = class_list(&plan.objects);
    let categories: Vec<_> =
        (1..).zip(&classes).map(|(id, name)| Category { id, name, supercategory: "" }).collect();
    let frames = tracks.frames();
    let rate = plan.frame_rate;
    let video = Video {
        id: 1,
        width: plan.size.width,
        height: plan.size.height,
        length: frames.len(),
        // TrackEval takes what stands before the first "/" for the sequence.
        file_names: frames.values().map(|frame| format!("{sequence}/{}", frame.name)).collect(),
        frame_indices: frames.keys().map(|frame| frame.0).collect(),
        pts_seconds: frames.values().map(|frame| frame.pts).collect(),
        frame_rate: (rate.num > 0 && rate.den > 0).then_some([rate.num, rate.den]),
        name: &sequence,
    };
    let description = format!("Objects tracked in {}", plan.video);
    let info = Info { description, version: &plan.stamp.version, masklet: &plan.stamp };
    out.write_all(b"{\"info\":")?;
    ascii_json::write(out, &info)?;
    out.write_all(b",\n\"licenses\":[],\n\"categories\":")?;
    ascii_json::write(out, &categories)?;
    out.write_all(b",\n\"videos\":[")?;
    ascii_json::write(out, &video)?;
    out.write_all(b"],\n\"annotations\":[")
}
