//! COCO instances JSON: one annotation per object and frame, with compressed run lengths.
//!
//! Annotations must end sorted by frame but may come in any order, and there may be very many: each frame is spooled as
//! one line into an unnamed temporary file, and only its place is kept in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::atomic::AtomicFile;
use super::coco_check::{CocoCounts, check};
use super::{ExportError, ExportFrame, ExportPlan, ExportSummary, Exporter, Stamp, ascii_json};
use crate::base::{Format, FrameIndex};
use crate::session::class_list;

/// Writes `coco.json`.
pub struct Coco {
    plan: Arc<ExportPlan>,
    file: AtomicFile,
    spool: Spool<File>,
}

/// A frame as it lies in the spool, without the ids that only the sorted file can give.
#[derive(Serialize, Deserialize)]
struct SpooledFrame {
    name: String,
    pts: Option<f64>,
    marks: Vec<Mark>,
}

/// One object's mask on a frame.
#[derive(Serialize, Deserialize)]
struct Mark {
    number: usize,
    counts: String,
    area: u64,
    bounds: [u32; 4],
    score: Option<f32>,
}

/// Lines in a file, found again by frame.
struct Spool<F> {
    file: F,
    end: u64,
    places: BTreeMap<FrameIndex, (u64, usize)>,
}

impl<F: Read + Write + Seek> Spool<F> {
    fn new(file: F) -> Self {
        Self { file, end: 0, places: BTreeMap::new() }
    }

    /// Adds a line for `frame`, in place of an earlier one. After a failed write the spool is as it was before.
    fn put(&mut self, frame: FrameIndex, line: &[u8]) -> std::io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(line)?;
        self.places.insert(frame, (self.end, line.len()));
        self.end += line.len() as u64;
        Ok(())
    }

    /// Calls `visit` with every line, in the order of frames.
    fn each(
        &mut self,
        mut visit: impl FnMut(FrameIndex, SpooledFrame) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let mut line = Vec::new();
        for (&frame, &(start, length)) in &self.places {
            line.resize(length, 0);
            self.file.seek(SeekFrom::Start(start))?;
            self.file.read_exact(&mut line)?;
            visit(frame, serde_json::from_slice(&line)?)?;
        }
        Ok(())
    }
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
struct Annotation<'a> {
    id: u64,
    image_id: u64,
    category_id: usize,
    segmentation: Segmentation<'a>,
    area: u64,
    bbox: [u32; 4],
    iscrowd: u8,
    track_id: usize,
    attributes: Attributes,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

#[derive(Serialize)]
struct Segmentation<'a> {
    size: [u32; 2],
    counts: &'a str,
}

#[derive(Serialize)]
struct Attributes {
    track_id: usize,
}

impl Coco {
    /// # Errors
    /// Files that cannot be made.
    pub fn new(plan: Arc<ExportPlan>, target: PathBuf) -> Result<Self, ExportError> {
        let spool = tempfile::tempfile_in(&plan.out).map_err(ExportError::io(&target))?;
        Ok(Self { plan, file: AtomicFile::new(target)?, spool: Spool::new(spool) })
    }
}

impl Exporter for Coco {
    fn frame(&mut self, frame: &ExportFrame<'_>) -> Result<(), ExportError> {
        let line = ascii_json::to_string(&spooled(&self.plan, frame));
        self.spool.put(frame.index, line.as_bytes()).map_err(ExportError::io(self.file.target()))
    }

    fn finish(self: Box<Self>) -> Result<ExportSummary, ExportError> {
        let Self { plan, mut file, mut spool } = *self;
        let target = file.target().to_owned();
        let mut summary = ExportSummary::new(Format::Coco, target.clone());
        if spool.places.is_empty() {
            return Ok(summary);
        }
        let written =
            write(BufWriter::new(file.file()), &plan, &mut spool).map_err(ExportError::io(&target))?;
        validate(file.path(), &plan, &written)
            .map_err(|reason| ExportError::Invalid { path: target.clone(), reason })?;
        file.commit()?;
        summary.frames = written.images as u32;
        summary.files = 1;
        summary.annotations = written.annotations;
        Ok(summary)
    }
}

fn validate(path: &Path, plan: &ExportPlan, written: &CocoCounts) -> Result<(), String> {
    let found = File::open(path).map_err(|e| e.to_string()).and_then(|file| check(file, plan.size))?;
    if found == *written { Ok(()) } else { Err(format!("it holds {found:?} instead of {written:?}")) }
}

fn spooled(plan: &ExportPlan, frame: &ExportFrame<'_>) -> SpooledFrame {
    let masks = plan.in_list_order(frame);
    let marks = (1..).zip(masks).filter_map(|(number, mask)| {
        let mask = mask?;
        // An absent object has no annotation: loaders trip over empty ones.
        let bounds = mask.mask.bounding_box()?;
        Some(Mark {
            number,
            counts: mask.mask.to_coco_text(),
            area: mask.mask.area(),
            bounds,
            score: mask.score.is_finite().then(|| 1.0 / (1.0 + (-mask.score).exp())),
        })
    });
    SpooledFrame {
        name: frame.file_name.map_or_else(|| format!("{:05}.png", frame.index.0), str::to_owned),
        pts: frame.pts.map(|pts| pts.seconds()).filter(|seconds| seconds.is_finite()),
        marks: marks.collect(),
    }
}

/// The whole file, one image or annotation a line. Images, annotations and categories are numbered from 1: evaluation
/// takes 0 for "no match". `iscrowd` is 0 although run lengths are used: a tracked object is no crowd.
fn write<F: Read + Write + Seek>(
    mut out: impl Write,
    plan: &ExportPlan,
    spool: &mut Spool<F>,
) -> std::io::Result<CocoCounts> {
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
    let mut counts = CocoCounts { categories: categories.len() as u64, ..CocoCounts::default() };
    out.write_all(b",\n\"images\":[")?;
    spool.each(|frame_index, frame| {
        out.write_all(if counts.images == 0 { b"\n" } else { b",\n" })?;
        counts.images += 1;
        let (width, height) = (plan.size.width, plan.size.height);
        let (id, file_name, pts_seconds) = (counts.images, frame.name.as_str(), frame.pts);
        ascii_json::write(&mut out, &Image { id, file_name, width, height, frame_index, pts_seconds })
    })?;
    out.write_all(b"],\n\"annotations\":[")?;
    let mut image_id = 0;
    spool.each(|_, frame| {
        image_id += 1;
        for mark in &frame.marks {
            out.write_all(if counts.annotations == 0 { b"\n" } else { b",\n" })?;
            counts.annotations += 1;
            let annotation = Annotation {
                id: counts.annotations,
                image_id,
                category_id: plan.objects.get(mark.number - 1).map_or(0, |object| category(&object.class)),
                segmentation: Segmentation {
                    size: [plan.size.height, plan.size.width],
                    counts: &mark.counts,
                },
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
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Error, ErrorKind, Result};

    use super::*;
    use crate::base::{Mask, Rational, Size};
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
            size: session.size(),
            frame_rate: Rational::new(0, 0),
            video: "v".into(),
            objects: session.objects().to_vec(),
            stamp: Stamp::default(),
        }
    }

    fn line(plan: &ExportPlan, index: u32, pixels: u32) -> String {
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
        ascii_json::to_string(&spooled(plan, &frame))
    }

    #[test]
    fn a_full_disk_stops_at_any_byte_and_spares_the_spool() {
        let plan = plan();
        let mut spool = Spool::new(SmallDisk(Cursor::default(), 450));
        let mut kept = 0u32;
        let error = loop {
            match spool.put(FrameIndex(kept), line(&plan, kept, 3).as_bytes()) {
                Ok(()) => kept += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert!(kept > 1);
        let mut whole = Vec::new();
        let counts = write(&mut whole, &plan, &mut spool).unwrap();
        assert_eq!(counts, CocoCounts { images: kept.into(), annotations: kept.into(), categories: 1 });
        assert_eq!(check(&whole[..], plan.size), Ok(counts));
        for room in 0..whole.len() {
            let error = write(SmallDisk(Cursor::default(), room), &plan, &mut spool).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StorageFull);
        }
    }

    #[test]
    fn a_frame_given_again_replaces_the_earlier_one() {
        let plan = plan();
        let mut spool = Spool::new(Cursor::new(Vec::new()));
        for (frame, pixels) in [(4, 1), (2, 2), (4, 3)] {
            spool.put(FrameIndex(frame), line(&plan, frame, pixels).as_bytes()).unwrap();
        }
        let mut areas = Vec::new();
        spool
            .each(|frame, line| {
                areas.push((frame.0, line.marks[0].area));
                Ok(())
            })
            .unwrap();
        assert_eq!(areas, [(2, 2), (4, 3)]);
    }
}
