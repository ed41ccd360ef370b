//! Exports from the outside: what lies in the folder, that other readers take it, and that failures leave nothing.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use masklet::base::{ExportOptions, FrameIndex, Mask, ObjectId, Pts, Rational, RgbFrame, Rle, Size};
use masklet::formats::{ExportError, ExportFrame, ExportJob, ExportMask, ExportPlan, FrameSink, Pass, Stamp};
use masklet::session::{Session, palette};
use proptest::prelude::*;

const SIZE: Size = Size::new(20, 14);

fn stamp() -> Stamp {
    let mut stamp = Stamp { version: "1.2.3".into(), model_hash: "00ff".into(), ..Stamp::default() };
    stamp.settings.insert("note".into(), "Größe 😀".into());
    stamp
}

fn plan(out: &Path, formats: &str, size: Size, objects: &[(&str, Option<&str>)]) -> ExportPlan {
    let mut session = Session::new(size, 1000);
    for (name, class) in objects {
        session.add_object(name, *class).unwrap();
    }
    ExportPlan {
        out: out.to_owned(),
        formats: formats.split(',').map(|name| name.parse().unwrap()).collect(),
        options: ExportOptions::default(),
        size,
        frames: 1000,
        frame_rate: Rational::new(25, 1),
        video: "clip.mp4".into(),
        objects: session.objects().to_vec(),
        stamp: stamp(),
    }
}

fn block(size: Size, x: std::ops::Range<u32>, y: std::ops::Range<u32>) -> Rle {
    let mut mask = Mask::empty(size);
    x.flat_map(|x| y.clone().map(move |y| (x, y))).for_each(|(x, y)| mask.set(x, y, true));
    Rle::encode(&mask)
}

fn give(job: &mut ExportJob, index: u32, pass: Pass, masks: &[&Rle]) -> Result<(), ExportError> {
    let picture = RgbFrame::filled(masks.first().map_or(SIZE, |m| m.size()), [40, 50, 60]);
    let masks: Vec<_> =
        (1..).zip(masks).map(|(id, &mask)| ExportMask { object: ObjectId(id), mask, score: 2.0 }).collect();
    let pts = Some(Pts { ticks: i64::from(index) * 3, time_base: Rational::new(1, 75) });
    let frame = ExportFrame {
        index: FrameIndex(index),
        file_name: None,
        pts,
        picture: Some(&picture),
        masks: &masks,
    };
    job.frame(&frame, pass)
}

/// All files under `folder`, hidden ones too, with "/" between names.
fn files(folder: &Path) -> Vec<String> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.sort();
    found
}

/// What a PNG holds.
struct Png {
    pixels: Vec<u8>,
    palette: Option<Vec<u8>>,
    texts: Vec<(String, String)>,
}

fn read_png(path: &Path) -> Png {
    let mut decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap()));
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let info = reader.info();
    let texts = info.uncompressed_latin1_text.iter().map(|t| (t.keyword.clone(), t.text.clone())).collect();
    Png { pixels, palette: info.palette.as_ref().map(|p| p.to_vec()), texts }
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn every_format_of_pictures_and_json() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("выход é");
    let objects = [("dog", Some("animal")), ("ball", None), ("cat", Some("animal"))];
    let mut job = ExportJob::new(plan(&out, "png,png-binary,coco", SIZE, &objects)).unwrap();
    assert!(!job.needs_order() && !job.needs_picture(Pass::Single));
    let (dog, ball, none) = (block(SIZE, 2..6, 3..7), block(SIZE, 5..9, 3..7), block(SIZE, 0..0, 0..0));
    // Backwards and with one frame twice: only the order of the files may tell.
    give(&mut job, 11, Pass::AnyOrder, &[&none, &ball]).unwrap();
    give(&mut job, 10, Pass::AnyOrder, &[&ball, &ball]).unwrap();
    give(&mut job, 10, Pass::AnyOrder, &[&dog, &ball, &none]).unwrap();
    assert!(!out.join("masks").exists() && !out.join("coco.json").exists());
    let summaries = job.finish().unwrap();
    assert_eq!(
        files(&out),
        [
            "coco.json",
            "masklet.json",
            "masks/00010.png",
            "masks/00011.png",
            "objects/01_dog/00010.png",
            "objects/01_dog/00011.png",
            "objects/02_ball/00010.png",
            "objects/02_ball/00011.png",
            "objects/03_cat/00010.png",
            "objects/03_cat/00011.png",
        ]
    );
    assert_eq!(summaries.iter().map(|s| (s.frames, s.files)).collect::<Vec<_>>(), [(2, 2), (2, 6), (2, 1)]);
    assert_eq!(summaries[2].annotations, 3);

    let Png { pixels: labels, palette: colours, texts } = read_png(&out.join("masks/00010.png"));
    assert_eq!(colours, Some(palette()));
    assert_eq!((labels[3 * 20 + 4], labels[3 * 20 + 5], labels[3 * 20 + 6], labels[0]), (1, 1, 2, 0));
    let comment = &texts.iter().find(|(keyword, _)| keyword == "Comment").unwrap().1;
    assert_eq!(serde_json::from_str::<Stamp>(comment).unwrap(), stamp());
    let Png { pixels, texts, .. } = read_png(&out.join("objects/02_ball/00010.png"));
    assert_eq!((pixels[3 * 20 + 4], pixels[3 * 20 + 5]), (0, 255));
    assert!(texts.contains(&("Software".into(), "masklet 1.2.3".into())));
    assert!(read_png(&out.join("objects/03_cat/00011.png")).pixels.iter().all(|&v| v == 0));

    let coco = json(&out.join("coco.json"));
    assert!(fs::read(out.join("coco.json")).unwrap().is_ascii());
    assert_eq!(coco["info"]["masklet"]["settings"]["note"], "Größe 😀");
    assert_eq!(coco["categories"][0]["name"], "animal");
    assert_eq!(
        coco["images"][0],
        serde_json::json!({"id": 1, "file_name": "00010.png", "width": 20, "height": 14,
        "frame_index": 10, "pts_seconds": 0.4})
    );
    let first = &coco["annotations"][0];
    assert_eq!(
        (first["id"].as_u64(), first["image_id"].as_u64(), first["category_id"].as_u64()),
        (Some(1), Some(1), Some(1))
    );
    assert_eq!((first["area"].as_u64(), &first["iscrowd"]), (Some(16), &0.into()));
    assert_eq!(first["bbox"], serde_json::json!([2, 3, 4, 4]));
    assert_eq!(first["segmentation"]["size"], serde_json::json!([14, 20]));
    assert_eq!(coco["annotations"][1]["track_id"], 2);
    assert_eq!(coco["annotations"][1]["attributes"]["track_id"], 2);
    assert_eq!(coco["annotations"][1]["category_id"], 2);
    assert_eq!(coco["annotations"].as_array().unwrap().len(), 3);

    let sidecar = json(&out.join("masklet.json"));
    assert_eq!(sidecar["stamp"]["model_hash"], "00ff");
    assert_eq!(
        sidecar["objects"][2],
        serde_json::json!({"number": 3, "name": "cat", "class": "animal",
        "category_id": 1, "colour": [128, 128, 0], "folder": "03_cat"})
    );
}

#[test]
fn overlaps_go_to_the_first_and_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut job =
        ExportJob::new(plan(dir.path(), "png", SIZE, &[("a", None), ("b", None), ("c", None)])).unwrap();
    let (a, b) = (block(SIZE, 0..4, 0..4), block(SIZE, 2..6, 0..4));
    give(&mut job, 0, Pass::Single, &[&a, &b, &a]).unwrap();
    let summary = job.finish().unwrap().remove(0);
    // A pixel that three masks share counts once.
    assert_eq!(summary.overlapping_pixels, 16);
    let labels = read_png(&dir.path().join("masks/00000.png")).pixels;
    assert_eq!(labels[..8], [1, 1, 1, 1, 2, 2, 0, 0]);
    assert_eq!(json(&dir.path().join("masklet.json"))["exports"][0]["overlapping_pixels"], 16);
}

#[test]
fn smallest_largest_and_absent_masks() {
    for size in [Size::new(1, 1), Size::new(1, 9), Size::new(8200, 2)] {
        let dir = tempfile::tempdir().unwrap();
        let mut job = ExportJob::new(plan(dir.path(), "png,png-binary,coco", size, &[("a", None)])).unwrap();
        let full = block(size, 0..size.width, 0..size.height);
        give(&mut job, 0, Pass::Single, &[&full]).unwrap();
        give(&mut job, 1, Pass::Single, &[&block(size, 0..0, 0..0)]).unwrap();
        give(&mut job, 2, Pass::Single, &[&block(size, 0..1, 0..1)]).unwrap();
        assert_eq!(job.finish().unwrap()[2].annotations, 2);
        assert!(read_png(&dir.path().join("masks/00000.png")).pixels.iter().all(|&v| v == 1));
        let coco = json(&dir.path().join("coco.json"));
        assert_eq!(coco["annotations"][0]["bbox"], serde_json::json!([0, 0, size.width, size.height]));
        assert_eq!(coco["annotations"][1]["image_id"], 3);
    }
}

#[test]
fn names_of_picture_folders_survive() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = ExportJob::new(plan(dir.path(), "png,coco", SIZE, &[("../é:", None)])).unwrap();
    let mask = block(SIZE, 0..3, 0..3);
    let masks = [ExportMask { object: ObjectId(1), mask: &mask, score: f32::NAN }];
    for (index, name) in (0..).zip(["кадр 1.jpeg", "a.b.png", "a.b.jpg", "no extension"]) {
        let frame = ExportFrame {
            index: FrameIndex(index),
            file_name: Some(name),
            pts: None,
            picture: None,
            masks: &masks,
        };
        job.frame(&frame, Pass::Single).unwrap();
    }
    job.finish().unwrap();
    let names = ["a.b.jpg.png", "a.b.png", "no extension.png", "кадр 1.png"];
    assert_eq!(files(&dir.path().join("masks")), names);
    let coco = json(&dir.path().join("coco.json"));
    assert_eq!(coco["images"][0]["file_name"], "кадр 1.jpeg");
    assert!(coco["images"][0].get("pts_seconds").is_none() && coco["annotations"][0].get("score").is_none());
}

#[test]
fn what_does_not_fit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<_> = (0..254).map(|i| i.to_string()).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), None)).collect();
    let refused = ExportJob::new(plan(&dir.path().join("x"), "png", SIZE, &many)).err();
    assert!(matches!(refused, Some(ExportError::TooManyObjects { objects: 254, .. })));
    assert!(!dir.path().join("x").exists());
    ExportJob::new(plan(&dir.path().join("y"), "png", SIZE, &many[..253])).unwrap();
    assert!(matches!(ExportJob::new(plan(dir.path(), "png", SIZE, &[])).err(), Some(ExportError::NoObjects)));

    let mut job = ExportJob::new(plan(dir.path(), "png", SIZE, &[("a", None)])).unwrap();
    let (mask, other) = (block(SIZE, 0..1, 0..1), block(Size::new(14, 20), 0..1, 0..1));
    assert!(matches!(
        give(&mut job, 0, Pass::Single, &[&mask, &mask]),
        Err(ExportError::UnknownObject { .. })
    ));
    assert!(matches!(
        give(&mut job, 0, Pass::Single, &[&other]),
        Err(ExportError::Size { what: "mask", .. })
    ));
    let twice = [ExportMask { object: ObjectId(1), mask: &mask, score: 0.0 }; 2];
    let frame =
        ExportFrame { index: FrameIndex(0), file_name: None, pts: None, picture: None, masks: &twice };
    assert!(matches!(job.frame(&frame, Pass::Single), Err(ExportError::TwoMasks { .. })));
    // Nothing was finished, so nothing is written.
    assert_eq!(job.finish().unwrap()[0].frames, 0);
    assert!(files(dir.path()).is_empty());
}

#[test]
fn a_dropped_job_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut job = ExportJob::new(plan(&out, "png,png-binary,coco", SIZE, &[("a", None)])).unwrap();
    give(&mut job, 0, Pass::Single, &[&block(SIZE, 0..1, 0..1)]).unwrap();
    drop(job);
    assert!(!out.exists());
}

#[test]
fn a_full_folder_keeps_other_files_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("masks")).unwrap();
    fs::write(dir.path().join("masks/00007.png"), "old").unwrap();
    fs::write(dir.path().join("coco.json"), "old").unwrap();
    let mut job = ExportJob::new(plan(dir.path(), "png,coco", SIZE, &[("a", None)])).unwrap();
    give(&mut job, 0, Pass::Single, &[&block(SIZE, 0..1, 0..1)]).unwrap();
    let summaries = job.finish().unwrap();
    assert!(summaries[0].warnings[0].contains("already held 1 file"), "{:?}", summaries[0].warnings);
    assert_eq!(files(dir.path()), ["coco.json", "masklet.json", "masks/00000.png", "masks/00007.png"]);
    json(&dir.path().join("coco.json"));
}

#[test]
fn failures_name_the_file_and_leave_what_was_whole() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let error =
        ExportJob::new(plan(&dir.path().join("file/out"), "png", SIZE, &[("a", None)])).err().unwrap();
    assert!(error.to_string().contains("out") && error.to_string().contains("cannot be written"), "{error}");

    let out = dir.path().join("out");
    let mut job = ExportJob::new(plan(&out, "png", SIZE, &[("a", None)])).unwrap();
    let mask = block(SIZE, 0..1, 0..1);
    give(&mut job, 0, Pass::Single, &[&mask]).unwrap();
    // A folder in the place of the next file makes its write fail.
    let temp = fs::read_dir(&out).unwrap().next().unwrap().unwrap().path();
    fs::create_dir(temp.join("00001.png")).unwrap();
    let error = give(&mut job, 1, Pass::Single, &[&mask]).unwrap_err();
    assert!(error.to_string().contains(out.join("masks").join("00001.png").to_str().unwrap()), "{error}");
    fs::remove_dir(temp.join("00001.png")).unwrap();
    assert_eq!(job.finish().unwrap()[0].frames, 1);
    assert_eq!(files(&out), ["masklet.json", "masks/00000.png"]);
}

/// A disk of 64 kB. Mounting one takes rights that not every machine gives: then there is nothing to test.
#[cfg(target_os = "linux")]
struct SmallDisk(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn new() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(dir.path());
        mount.output().is_ok_and(|o| o.status.success()).then_some(Self(dir))
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0.path()).output();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_nothing_half_written() {
    let Some(disk) = SmallDisk::new() else { return };
    for format in ["png", "png-binary", "coco"] {
        let out = disk.0.path().join(format);
        let mut job = ExportJob::new(plan(&out, format, SIZE, &[("a", None)])).unwrap();
        let mask = block(SIZE, 0..9, 0..9);
        let failed = (0..4000).find_map(|i| give(&mut job, i, Pass::Single, &[&mask]).err());
        let error = failed.expect("64 kB do not hold 4,000 frames");
        assert!(
            matches!(&error, ExportError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull)
        );
        assert!(error.to_string().contains("free some space"), "{error}");
        drop(job);
        assert!(!out.exists());
    }
}

type Recorded = Vec<(RgbFrame, Option<Pts>)>;

struct Recorder {
    frames: Arc<Mutex<Recorded>>,
    path: PathBuf,
}

impl FrameSink for Recorder {
    fn frame(&mut self, picture: &RgbFrame, _: Option<&[u8]>, pts: Option<Pts>) -> Result<(), String> {
        self.frames.lock().unwrap().push((picture.clone(), pts));
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<u32, String> {
        fs::write(&self.path, "video").map_err(|e| e.to_string())?;
        Ok(self.frames.lock().unwrap().len() as u32)
    }
}

#[test]
fn the_overlay_takes_a_second_pass_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let frames = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&frames);
    let open = move |path: &Path, spec: &masklet::formats::SinkSpec<'_>| {
        assert!(spec.comment.contains("\"version\":\"1.2.3\"") && path.extension().unwrap() == "mp4");
        Ok(Box::new(Recorder { frames: Arc::clone(&kept), path: path.to_owned() }) as Box<dyn FrameSink>)
    };
    let refuse =
        |path: &Path, _: &masklet::formats::SinkSpec<'_>| Err(format!("{}: no encoder", path.display()));
    let refused =
        ExportJob::with_sink(plan(dir.path(), "overlay", SIZE, &[("a", None)]), &refuse).err().unwrap();
    let expected =
        format!("{} cannot be written as video: no encoder", dir.path().join("overlay.mp4").display());
    assert_eq!(refused.to_string(), expected);
    let mut job = ExportJob::with_sink(plan(dir.path(), "png,overlay", SIZE, &[("a", None)]), &open).unwrap();
    assert!(job.needs_order() && job.needs_picture(Pass::Ordered) && !job.needs_picture(Pass::AnyOrder));
    let mask = block(SIZE, 0..9, 0..9);
    for index in [3, 2] {
        give(&mut job, index, Pass::AnyOrder, &[&mask]).unwrap();
    }
    assert!(frames.lock().unwrap().is_empty());
    for index in [2, 3] {
        give(&mut job, index, Pass::Ordered, &[&mask]).unwrap();
    }
    assert!(matches!(give(&mut job, 3, Pass::Ordered, &[&mask]), Err(ExportError::Order { .. })));
    let summaries = job.finish().unwrap();
    assert_eq!((summaries[0].frames, summaries[1].frames), (2, 2));
    assert_eq!(files(dir.path()), ["masklet.json", "masks/00002.png", "masks/00003.png", "overlay.mp4"]);
    let frames = frames.lock().unwrap();
    assert_eq!(frames[0].1.unwrap().ticks, 6);
    assert_ne!(frames[0].0.data()[..3], [40, 50, 60]);
    assert_eq!(frames[0].0.data()[27..30], [40, 50, 60]);
}

#[test]
#[cfg(feature = "ffmpeg")]
fn the_overlay_is_a_video_with_the_times_of_the_source() {
    // An odd size, times that are not even, one that repeats, and a track that does not begin at 0.
    let size = Size::new(53, 31);
    let dir = tempfile::tempdir().unwrap();
    let mut job = ExportJob::new(plan(&dir.path().join("é"), "overlay", size, &[("a", None)])).unwrap();
    let mask = block(size, 10..40, 5..25);
    let picture = RgbFrame::filled(size, [90; 3]);
    let masks = [ExportMask { object: ObjectId(1), mask: &mask, score: 1.0 }];
    for (index, ticks) in (7..).zip([9000, 12_000, 18_000, 18_000, 24_000]) {
        let pts = Some(Pts { ticks, time_base: Rational::new(1, 90_000) });
        let (index, picture) = (FrameIndex(index), Some(&picture));
        job.frame(&ExportFrame { index, file_name: None, pts, picture, masks: &masks }, Pass::Single)
            .unwrap();
    }
    let summary = job.finish().unwrap().remove(0);
    assert_eq!((summary.frames, summary.files), (5, 1));
    assert!(summary.encoder.is_some());
    let file = ffmpeg_next::format::input(&dir.path().join("é/overlay.mp4")).unwrap();
    let comment = file.metadata().get("comment").map(str::to_owned).unwrap();
    assert_eq!(serde_json::from_str::<Stamp>(&comment).unwrap(), stamp());
    let mut video = masklet::video::open(&dir.path().join("é/overlay.mp4")).unwrap();
    assert_eq!((video.info().frames, video.info().size), (5, Size::new(54, 32)));
    let times: Vec<_> = (0..5).map(|i| video.pts(FrameIndex(i)).unwrap().seconds()).collect();
    for (found, expected) in times.iter().zip([0.0, 1.0 / 30.0, 0.1, 0.1, 1.0 / 6.0]) {
        assert!((found - expected).abs() < 1e-3, "{times:?}");
    }
    let frame = video.frame(FrameIndex(2)).unwrap();
    let at = |x: usize, y: usize| frame.data()[(y * 54 + x) * 3];
    // Red grows inside the mask and stays outside, as far as the codec keeps it.
    assert!(at(25, 15) > 130 && at(3, 28).abs_diff(90) < 12, "{} {}", at(25, 15), at(3, 28));
    assert_eq!(files(dir.path()), ["é/masklet.json", "é/overlay.mp4"]);
}

#[test]
#[cfg(feature = "ffmpeg")]
fn folders_without_times_and_one_pixel_become_video_too() {
    for size in [Size::new(1, 1), Size::new(853, 480)] {
        let dir = tempfile::tempdir().unwrap();
        let mut plan = plan(dir.path(), "overlay", size, &[("a", None)]);
        plan.frame_rate = Rational::new(0, 0);
        let mut job = ExportJob::new(plan).unwrap();
        let picture = RgbFrame::filled(size, [90; 3]);
        for index in 0..3 {
            let (index, picture) = (FrameIndex(index), Some(&picture));
            let frame = ExportFrame { index, file_name: Some("a.png"), pts: None, picture, masks: &[] };
            job.frame(&frame, Pass::Single).unwrap();
        }
        assert_eq!(job.finish().unwrap()[0].frames, 3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Another COCO reader finds the masks that were exported, and the indexed PNG holds them in list order.
    #[test]
    fn other_readers_find_the_same_masks(
        width in 1u32..24, height in 1u32..24, seeds in prop::collection::vec(any::<u64>(), 1..4), frames in 1u32..4,
    ) {
        let size = Size::new(width, height);
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<_> = seeds.iter().map(|seed| format!("o{seed}é")).collect();
        let objects: Vec<_> = seeds.iter().zip(&names).map(|(s, n)| (n.as_str(), s.is_multiple_of(2).then_some("c"))).collect();
        prop_assume!(names.iter().collect::<std::collections::HashSet<_>>().len() == names.len());
        let draw = |seed: u64, frame: u32| {
            let pixel = |i: u64| u8::from((i / 3 + 1).wrapping_mul(seed ^ u64::from(frame)).count_ones().is_multiple_of(3));
            Mask::new(size, (0..size.area() as u64).map(pixel).collect()).unwrap()
        };
        let mut job = ExportJob::new(plan(dir.path(), "png,coco", size, &objects)).unwrap();
        for frame in (0..frames).rev() {
            let masks: Vec<_> = seeds.iter().map(|&seed| Rle::encode(&draw(seed, frame))).collect();
            give(&mut job, frame, Pass::AnyOrder, &masks.iter().collect::<Vec<_>>()).unwrap();
        }
        job.finish().unwrap();
        let coco = hotcoco::COCO::new(&dir.path().join("coco.json")).unwrap();
        prop_assert!(coco.load_warnings().is_empty(), "{:?}", coco.load_warnings());
        for frame in 0..frames {
            let mut labels = vec![0u8; size.area()];
            for (label, &seed) in (1u8..).zip(&seeds) {
                let mask = draw(seed, frame);
                for (to, &set) in labels.iter_mut().zip(mask.data()) {
                    *to = if *to == 0 { set * label } else { *to };
                }
                let ids = coco.get_ann_ids_for_img(u64::from(frame) + 1);
                let found = ids.iter().filter_map(|&id| coco.get_ann(id)).find(|a| {
                    serde_json::to_value(a).unwrap()["track_id"] == label
                });
                prop_assert_eq!(found.is_some(), mask.area() > 0);
                let Some(found) = found else { continue };
                prop_assert_eq!(found.area, Some(mask.area() as f64));
                let rle = coco.ann_to_rle(found).unwrap();
                let ours = Rle::encode(&mask);
                prop_assert_eq!(&rle.counts[..], ours.counts());
                prop_assert_eq!(found.bbox, Some(hotcoco::mask::to_bbox(&rle)));
            }
            prop_assert_eq!(read_png(&dir.path().join(format!("masks/{frame:05}.png"))).pixels, labels);
        }
    }
}
