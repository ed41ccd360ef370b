//! COCO instances JSON: one annotation per object and frame, with run lengths or polygons.
//!
//! Annotations must end sorted by frame but may come in any order, and there may be very many: each frame is spooled as
//! one line into an unnamed temporary file, and only its place is kept in memory.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::atomic::AtomicFile;
use super::coco_check::{CocoCounts, check};
use super::findings::Findings;
use super::marks::{FrameMarks, Mark};
use super::names::Stems;
use super::registry::Opening;
use super::rings::{as_floats, fill, iou, trace};
use super::segmentation::{Counts, Segmentation};
use super::spool::Spool;
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter, Stamp, ascii_json, coco_lint};
use crate::base::{Format, FrameIndex};
use crate::session::class_list;

/// Writes `coco.json`.
struct Coco {
    plan: Arc<ExportPlan>,
    file: AtomicFile,
    spool: Spool<FrameIndex, File>,
    stems: Stems,
}

/// What was written, and what polygons lost.
#[derive(Default)]
struct Written {
    counts: CocoCounts,
    polygons: u64,
    /// Masks with holes that were cut open, and those that were written as run lengths instead.
    bridged: u64,
    kept: u64,
    worst: Option<f64>,
}

#[derive(Serialize)]
struct Info<'a> {
    description: String,
    version: &'a str,
    masklet: &'a Stamp,
    tracks: Vec<Track<'a>>,
}

#[derive(Serialize)]
struct Track<'a> {
    id: usize,
    name: &'a str,
    category_id: usize,
}

#[derive(Serialize)]
struct Category<'a> {
    id: usize,
    name: &'a str,
    supercategory: &'a str,
}

#[derive(Serialize)]
struct Image<'a> {
    id: u64,
    file_name: &'a str,
    width: u32,
    height: u32,
    frame_index: FrameIndex,
    #[serde(skip_serializing_if = "Option::is_none")]
    pts_seconds: Option<f64>,
}

#[derive(Serialize)]
struct Annotation {
    id: u64,
    image_id: u64,
    category_id: usize,
    segmentation: Segmentation,
    area: u64,
    bbox: [u32; 4],
    iscrowd: u8,
    track_id: usize,
    attributes: Attributes,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

#[derive(Serialize)]
struct Attributes {
    track_id: usize,
}

/// Starts the writer.
///
/// # Errors
/// Files that cannot be made.
pub fn open(opening: Opening<'_>) -> Result<Box<dyn Exporter>, ExportError> {
    let Opening { plan, target, .. } = opening;
    let spool = tempfile::tempfile_in(&plan.out).map_err(ExportError::io(&target))?;
    let stems = Stems::new(&plan.options);
    Ok(Box::new(Coco { plan, file: AtomicFile::new(target)?, spool: Spool::new(spool), stems }))
}

/// Looks through any COCO instances file.
pub fn validate(path: &Path, findings: &mut Findings) {
    coco_lint::lint(path, findings);
}

impl Exporter for Coco {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let marks = FrameMarks::new(&self.plan, &mut self.stems, frame);
        self.spool.put(frame.index, &marks).map_err(ExportError::io(self.file.target()))
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let Self { plan, mut file, mut spool, .. } = *self;
        let target = file.target().to_owned();
        let mut summary = ExportSummary::new(Format::Coco, target.clone());
        if spool.is_empty() {
            return Ok(summary);
        }
        let written =
            write(BufWriter::new(file.file()), &plan, &mut spool).map_err(ExportError::io(&target))?;
        read_back(file.path(), &plan, &written.counts)
            .map_err(|reason| ExportError::Invalid { path: target.clone(), reason })?;
        file.commit()?;
        summary.frames = written.counts.images as u32;
        summary.files = 1;
        summary.annotations = written.counts.annotations;
        summary.warnings = written.warnings();
        Ok(summary)
    }
}

impl Written {
    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(worst) = self.worst.filter(|_| self.polygons > 0) {
            warnings
                .push(format!("{} masks as polygons: IoU with the masks at least {worst:.4}", self.polygons));
        }
        if self.bridged > 0 {
            warnings.push(format!("{} masks have holes, which were cut open with bridges", self.bridged));
        }
        if self.kept > 0 {
            warnings.push(format!("{} masks have holes and were written as run lengths", self.kept));
        }
        warnings
    }

    /// The mask as the options want it.
    fn segmentation(&mut self, plan: &ExportPlan, mark: &Mark) -> std::io::Result<Segmentation> {
        let size = [plan.size.height, plan.size.width];
        let as_text = || Segmentation::Rle { size, counts: Counts::Text(mark.counts.clone()) };
        match plan.options.get(Format::Coco, "masks") {
            "rle" => return Ok(as_text()),
            "counts" => {
                let counts = Counts::List(mark.rle(plan.size)?.counts().to_vec());
                return Ok(Segmentation::Rle { size, counts });
            }
            _ => {}
        }
        let mask = mark.rle(plan.size)?;
        let parts = trace(&mask);
        if parts.iter().any(super::rings::Part::has_holes) {
            if plan.options.get(Format::Coco, "holes") == "rle" {
                self.kept += 1;
                return Ok(as_text());
            }
            self.bridged += 1;
        }
        let rings: Vec<_> = parts.iter().map(|part| as_floats(&part.bridged())).collect();
        let same = iou(&fill(rings.iter().map(Vec::as_slice), plan.size), &mask.decode());
        self.worst = Some(self.worst.map_or(same, |worst| worst.min(same)));
        self.polygons += 1;
        let flat = |ring: &Vec<(f64, f64)>| ring.iter().flat_map(|&(x, y)| [x, y]).collect();
        Ok(Segmentation::Polygons(rings.iter().map(flat).collect()))
    }
}

fn read_back(path: &Path, plan: &ExportPlan, written: &CocoCounts) -> Result<(), String> {
    let found = File::open(path).map_err(|e| e.to_string()).and_then(|file| check(file, plan.size))?;
    if found == *written { Ok(()) } else { Err(format!("it holds {found:?} instead of {written:?}")) }
}

/// The whole file, one image or annotation a line. Images, annotations and categories are numbered from 1: evaluation
/// takes 0 for "no match". `iscrowd` is 0 although run lengths are used: a tracked object is no crowd.
fn write<F: Read + Write + Seek>(
    mut out: impl Write,
    plan: &ExportPlan,
    spool: &mut Spool<FrameIndex, F>,
) -> std::io::Result<Written> {
    let classes = class_list(&plan.objects);
    let category = |class: &str| classes.iter().position(|c| *c == class).map_or(0, |at| at + 1);
    let tracks = plan.objects.iter().enumerate().map(|(at, object)| Track {
        id: at + 1,
        name: &object.name,
        category_id: category(&object.class),
    });
    let info = Info {
        description: format!("Objects tracked in {}", plan.video),
        version: &plan.stamp.version,
        masklet: &plan.stamp,
        tracks: tracks.collect(),
    };
    let categories: Vec<_> =
        (1..).zip(&classes).map(|(id, name)| Category { id, name, supercategory: "" }).collect();
    out.write_all(b"{\"info\":")?;
    ascii_json::write(&mut out, &info)?;
    out.write_all(b",\n\"licenses\":[],\n\"categories\":")?;
    ascii_json::write(&mut out, &categories)?;
    let mut written = Written::default();
    written.counts.categories = categories.len() as u64;
    out.write_all(b",\n\"images\":[")?;
    spool.each(|frame_index, frame: FrameMarks| {
        let counts = &mut written.counts;
        out.write_all(if counts.images == 0 { b"\n" } else { b",\n" })?;
        counts.images += 1;
        let (width, height) = (plan.size.width, plan.size.height);
        let (id, file_name, pts_seconds) = (counts.images, frame.name.as_str(), frame.pts);
        ascii_json::write(&mut out, &Image { id, file_name, width, height, frame_index, pts_seconds })
    })?;
    out.write_all(b"],\n\"annotations\":[")?;
    let mut image_id = 0;
    spool.each(|_, frame: FrameMarks| {
        image_id += 1;
        for mark in &frame.marks {
            let segmentation = written.segmentation(plan, mark)?;
            let counts = &mut written.counts;
            out.write_all(if counts.annotations == 0 { b"\n" } else { b",\n" })?;
            counts.annotations += 1;
            let annotation = Annotation {
                id: counts.annotations,
                image_id,
                category_id: plan.objects.get(mark.number - 1).map_or(0, |object| category(&object.class)),
                segmentation,
                area: mark.area,
                bbox: mark.bounds,
                iscrowd: 0,
                track_id: mark.number,
                attributes: Attributes { track_id: mark.number },
                score: mark.score,
            };
            ascii_json::write(&mut out, &annotation)?;
        }
        Ok(())
    })?;
    out.write_all(b"]}\n")?;
    out.flush()?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Error, ErrorKind, Result, SeekFrom};
    use std::path::PathBuf;

    use super::*;
    use crate::base::{ExportOptions, Mask, Rational, Size};
    use crate::formats::ExportMask;
    use crate::session::Session;

    /// Memory that is full after so many bytes.
    struct SmallDisk(Cursor<Vec<u8>>, usize);

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            if self.0.position() as usize + bytes.len() > self.1 {
                return Err(Error::from(ErrorKind::StorageFull));
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    impl Read for SmallDisk {
        fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
            self.0.read(bytes)
        }
    }

    impl Seek for SmallDisk {
        fn seek(&mut self, to: SeekFrom) -> Result<u64> {
            self.0.seek(to)
        }
    }

    fn plan() -> ExportPlan {
        let mut session = Session::new(Size::new(7, 5), 9);
        session.add_object("a", None).unwrap();
        ExportPlan {
            out: PathBuf::new(),
            formats: vec![Format::Coco],
            options: ExportOptions::default(),
            size: session.size(),
            frames: 9,
            frame_rate: Rational::new(0, 0),
            video: "v".into(),
            objects: session.objects().to_vec(),
            stamp: Stamp::default(),
        }
    }

    fn marks(plan: &ExportPlan, index: u32, pixels: u32) -> FrameMarks {
        let mut mask = Mask::empty(plan.size);
        (0..pixels).for_each(|x| mask.set(x, 0, true));
        let rle = crate::base::Rle::encode(&mask);
        let masks = [ExportMask { object: plan.objects[0].id, mask: &rle, score: 0.0 }];
        let frame = ExportFrame {
            index: FrameIndex(index),
            file_name: None,
            pts: None,
            picture: None,
            masks: &masks,
        };
        FrameMarks::new(plan, &mut Stems::new(&plan.options), &frame)
    }

    #[test]
    fn a_full_disk_stops_at_any_byte_and_spares_the_spool() {
        let plan = plan();
        let mut spool = Spool::new(SmallDisk(Cursor::default(), 450));
        let mut kept = 0u32;
        let error = loop {
            match spool.put(FrameIndex(kept), &marks(&plan, kept, 3)) {
                Ok(()) => kept += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert!(kept > 1);
        let mut whole = Vec::new();
        let counts = write(&mut whole, &plan, &mut spool).unwrap().counts;
        assert_eq!(counts, CocoCounts { images: kept.into(), annotations: kept.into(), categories: 1 });
        assert_eq!(check(&whole[..], plan.size), Ok(counts));
        for room in 0..whole.len() {
            let error = write(SmallDisk(Cursor::default(), room), &plan, &mut spool).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::StorageFull);
        }
    }
}
