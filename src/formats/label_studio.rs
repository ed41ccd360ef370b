//! Label Studio: one task per frame's picture, with a brush mask per object. Video projects of Label Studio know boxes
//! only, so the pictures must be imported as images.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeSeed;
use serde_json::{Value, json};

use super::atomic::AtomicFolder;
use super::coco_check::Each;
use super::findings::Findings;
use super::marks::FrameMarks;
use super::names::Stems;
use super::registry::Opening;
use super::spool::Spool;
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter, ascii_json, brush_rle};
use crate::base::{Format, FrameIndex, Size};
use crate::session::class_list;

/// Writes `label-studio/tasks.json` and `label-studio/config.xml`.
struct LabelStudio {
    plan: Arc<ExportPlan>,
    folder: AtomicFolder,
    spool: Spool<FrameIndex, File>,
    stems: Stems,
}

/// Starts the writer.
///
/// # Errors
/// Files that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let Opening { plan, target, .. } = opening;
    let spool = Spool::new(tempfile::tempfile_in(&plan.out).map_err(ExportError::io(&target))?);
    let (stems, folder) = (Stems::new(&plan.options), AtomicFolder::new(target)?);
    Ok(Box::new(LabelStudio { plan, folder, spool, stems }))
}

impl Exporter for LabelStudio {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let marks = FrameMarks::new(&self.plan, &mut self.stems, frame);
        self.spool.put(frame.index, &marks).map_err(ExportError::io(self.folder.target()))
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let Self { plan, folder, mut spool, .. } = *self;
        let format = Format::LabelStudio;
        let mut summary = ExportSummary::new(format, folder.target().to_owned());
        if spool.is_empty() {
            return Ok(summary);
        }
        let name = Path::new("tasks.json");
        let found = folder.stream(
            name,
            |file| {
                (summary.frames, summary.annotations) = write(BufWriter::new(file), &plan, &mut spool)?;
                Ok(())
            },
            |path| {
                let mut findings = Findings::new(path, format);
                let found = lint(path, &mut findings);
                findings.list.first().map_or(Ok(found), |f| Err(format!("{}: {}", f.place, f.what)))
            },
        )?;
        if found != (u64::from(summary.frames), summary.annotations) {
            let reason = format!("it holds {found:?} tasks and masks");
            return Err(ExportError::Invalid { path: folder.target().join(name), reason });
        }
        let config = config(&plan);
        folder.write(Path::new("config.xml"), config.as_bytes(), |_| Ok(()))?;
        summary.files = 2;
        summary.left_files(folder.commit()?);
        Ok(summary)
    }
}

/// Writes all tasks; gives their number and that of the masks.
fn write(
    mut out: impl Write,
    plan: &ExportPlan,
    spool: &mut Spool<FrameIndex, File>,
) -> std::io::Result<(u32, u64)> {
    let root = plan.options.get(Format::LabelStudio, "root");
    let (mut tasks, mut masks) = (0u32, 0u64);
    out.write_all(b"[")?;
    spool.each(|frame, marks: FrameMarks| {
        out.write_all(if tasks == 0 { b"\n" } else { b",\n" })?;
        tasks += 1;
        let mut results = Vec::new();
        for mark in &marks.marks {
            let Some(object) = plan.objects.get(mark.number - 1) else { continue };
            let mask = mark.rle(plan.size)?.decode();
            let rle = brush_rle::encode(&mask)
                .ok_or_else(|| std::io::Error::other("the picture is too large for Label Studio"))?;
            masks += 1;
            results.push(json!({
                "id": format!("{frame}-{}", mark.number),
                "type": "brushlabels",
                "from_name": "tag",
                "to_name": "image",
                "original_width": plan.size.width,
                "original_height": plan.size.height,
                "image_rotation": 0,
                "value": {"format": "rle", "rle": rle, "brushlabels": [object.class]},
                "meta": {"text": [object.name]},
            }));
        }
        let task = json!({
            "data": {"image": format!("{root}{}", marks.name), "frame": frame.0, "pts_seconds": marks.pts},
            "annotations": [{"result": results}],
        });
        ascii_json::write(&mut out, &task)
    })?;
    out.write_all(b"]\n")?;
    out.flush()?;
    Ok((tasks, masks))
}

/// The labelling interface that the tasks fit.
fn config(plan: &ExportPlan) -> String {
    let quoted = |text: &str| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    };
    let labels: String = class_list(&plan.objects)
        .iter()
        .map(|class| format!("    <Label value=\"{}\"/>\n", quoted(class)))
        .collect();
    format!(
        "<View>\n  <Image name=\"image\" value=\"$image\" zoom=\"true\"/>\n  <BrushLabels name=\"tag\" toName=\"image\">\n{labels}  </BrushLabels>\n</View>\n"
    )
}

/// Looks through a file of tasks, or the folder that has it.
pub fn validate(path: &Path, findings: &mut Findings) {
    let file = if path.is_dir() { path.join("tasks.json") } else { path.to_owned() };
    let (tasks, masks) = lint(&file, findings);
    findings.count("tasks", tasks);
    findings.count("masks", masks);
}

fn lint(path: &Path, findings: &mut Findings) -> (u64, u64) {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => {
            findings.error(path.display(), error.to_string());
            return (0, 0);
        }
    };
    let (mut tasks, mut masks) = (0u64, 0u64);
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(file));
    let read = Each::new(|task: Value| {
        tasks += 1;
        let place = format!("task {tasks}");
        if !task["data"].is_object() {
            findings.error(&place, "it has no data");
        }
        let results = task["annotations"].as_array().into_iter().flatten();
        for result in results.filter_map(|annotation| annotation["result"].as_array()).flatten() {
            if result["type"] != "brushlabels" {
                continue;
            }
            masks += 1;
            if let Err(fault) = brush(result) {
                findings.error(&place, format!("mask {}: {fault}", result["id"]));
            }
        }
        Ok(())
    })
    .deserialize(&mut json)
    .and_then(|()| json.end());
    if let Err(error) = read {
        findings.error("", format!("this is no list of tasks: {error}"));
    }
    (tasks, masks)
}

fn brush(result: &Value) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Brush {
        original_width: u32,
        original_height: u32,
        value: BrushValue,
    }
    #[derive(Deserialize)]
    struct BrushValue {
        format: String,
        rle: Vec<u8>,
        brushlabels: Vec<String>,
    }
    let brush = Brush::deserialize(result).map_err(|e| e.to_string())?;
    let size = Size::new(brush.original_width, brush.original_height);
    if brush.value.format != "rle" {
        return Err(format!("its format is {:?}, not \"rle\"", brush.value.format));
    }
    if brush.value.brushlabels.is_empty() {
        return Err("it has no label".into());
    }
    if size.area() > 1 << 27 {
        return Err(format!("{size} pixels are too many"));
    }
    let mask = brush_rle::decode(&brush.value.rle, size)?;
    if mask.area() == 0 { Err("it is empty".into()) } else { Ok(()) }
}
