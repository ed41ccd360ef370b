//! Masks that were exported come back as they were.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;
use std::path::Path;

use masklet::base::{ExportOptions, Format, FrameIndex, Mask, ObjectId, Rational, Rle, Size};
use masklet::formats::import::{FrameNames, ImportError, Imported, READ, import};
use masklet::formats::{ExportFrame, ExportJob, ExportMask, ExportPlan, Pass, Stamp};
use masklet::session::Session;
use proptest::prelude::*;

/// Masks by object and frame.
type Masks = BTreeMap<(u32, u32), Rle>;

fn export(
    out: &Path,
    format: Format,
    size: Size,
    names: &[&str],
    frames: &[u32],
    masks: &Masks,
    settings: &[&str],
) {
    let mut session = Session::new(size, 1_000);
    for name in names {
        session.add_object(name, Some(&format!("class of {name}"))).unwrap();
    }
    let mut options = ExportOptions::default();
    settings.iter().for_each(|setting| options.set(setting).unwrap());
    let mut job = ExportJob::new(ExportPlan {
        out: out.to_owned(),
        formats: vec![format],
        options,
        size,
        frames: 1_000,
        frame_rate: Rational::new(25, 1),
        video: "v.mp4".into(),
        objects: session.objects().to_vec(),
        stamp: Stamp::default(),
    })
    .unwrap();
    for &frame in frames {
        let masks: Vec<_> = (1..=names.len() as u32)
            .filter_map(|object| Some((object, masks.get(&(object, frame))?)))
            .map(|(object, mask)| ExportMask { object: ObjectId(object), mask, score: 1.5 })
            .collect();
        let index = FrameIndex(frame);
        let frame = ExportFrame { index, file_name: None, pts: None, picture: None, masks: &masks };
        job.frame(&frame, Pass::Single).unwrap();
    }
    job.finish().unwrap();
}

fn read(out: &Path, format: Format) -> Imported {
    import(&out.join(format.output()), format, &FrameNames::numbered(0)).unwrap()
}

/// Objects that do not overlap, so that every format can hold them.
fn scene(size: Size, frames: &[u32], objects: u32, seed: u64) -> Masks {
    let mut masks = Masks::new();
    for &frame in frames {
        let owner = |i: u64| (seed ^ u64::from(frame) ^ (i / 3)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        for object in 1..=objects {
            let data = (0..size.area() as u64)
                .map(|i| u8::from(owner(i) % u64::from(objects + 1) == u64::from(object)));
            let mask = Mask::new(size, data.collect()).unwrap();
            if mask.area() > 0 {
                masks.insert((object, frame), Rle::encode(&mask));
            }
        }
    }
    masks
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_exported_comes_back(width in 1u32..24, height in 1u32..24, objects in 1u32..4, seed in any::<u64>(), polygons in any::<bool>()) {
        let size = Size::new(width, height);
        let frames = [3, 4, 7];
        let names = &["a dog", "кот 😀", "3"][..objects as usize];
        let masks = scene(size, &frames, objects, seed);
        prop_assume!(!masks.is_empty());
        let setting = if polygons { "coco.masks=polygons" } else { "coco.masks=counts" };
        for format in READ {
            let dir = tempfile::tempdir().unwrap();
            export(dir.path(), format, size, names, &frames, &masks, &[setting]);
            let imported = read(dir.path(), format);
            prop_assert_eq!(imported.size, size);
            let mut session = Session::new(size, 1_000);
            let ids = imported.put_results(&mut session).unwrap();
            // A results file says neither names nor frames: the first of its masks is frame 0.
            let bare = format == Format::YoutubeVisResults;
            let place = |frame: u32| if bare { frames.iter().position(|f| *f == frame).unwrap() as u32 } else { frame };
            let visible: Vec<u32> = (1..=objects).filter(|o| masks.keys().any(|(object, _)| object == o)).collect();
            prop_assert_eq!(ids.len(), visible.len());
            let mut count = 0;
            for (id, object) in ids.iter().zip(&visible) {
                let known = session.object(*id).unwrap();
                if !bare {
                    prop_assert_eq!(&known.name, names[*object as usize - 1]);
                    prop_assert_eq!(&known.class, &format!("class of {}", known.name));
                }
                for frame in frames {
                    let found = session.result(*id, FrameIndex(place(frame)));
                    prop_assert_eq!(found.map(|r| &r.mask), masks.get(&(*object, frame)), "{} {}", format, frame);
                    count += usize::from(found.is_some());
                    if let Some(found) = found.filter(|_| format == Format::Coco) {
                        prop_assert!((found.score - 1.5).abs() < 1e-4);
                    }
                }
            }
            prop_assert_eq!(count, masks.len());
        }
    }

    #[test]
    fn damaged_files_are_refused_or_read(at in 0.0f64..1.0, byte in 32u8..127) {
        let size = Size::new(6, 5);
        let masks = scene(size, &[0, 1], 2, 7);
        for format in [Format::Coco, Format::YoutubeVis, Format::YoutubeVisResults] {
            let dir = tempfile::tempdir().unwrap();
            export(dir.path(), format, size, &["a", "b"], &[0, 1], &masks, &[]);
            let path = dir.path().join(format.output());
            let mut bytes = std::fs::read(&path).unwrap();
            let at = (at * (bytes.len() - 1) as f64) as usize;
            bytes[at] = byte;
            std::fs::write(&path, &bytes).unwrap();
            if let Ok(imported) = import(&path, format, &FrameNames::numbered(0)) {
                let _ = imported.put_results(&mut Session::new(size, 10));
            }
            std::fs::write(&path, &bytes[..at]).unwrap();
            prop_assert!(import(&path, format, &FrameNames::numbered(0)).is_err());
        }
    }
}

#[test]
fn masks_become_prompts() {
    let dir = tempfile::tempdir().unwrap();
    let size = Size::new(20, 10);
    let masks = scene(size, &[5, 6], 2, 99);
    export(dir.path(), Format::Png, size, &["a", "b"], &[5, 6], &masks, &[]);
    let imported = read(dir.path(), Format::Png);
    let mut session = Session::new(size, 10);
    session.add_object("other", None).unwrap();
    let ids = imported.put_prompts(&mut session).unwrap();
    assert_eq!(ids, [ObjectId(2), ObjectId(3)]);
    let prompts = session.prompts(ids[0], FrameIndex(5)).unwrap();
    assert_eq!(prompts.mask.as_ref(), Some(&masks[&(1, 5)]));
    assert_eq!(session.all_prompts().count(), 2);
    assert!(imported.put_results(&mut session).is_err(), "the names are taken");
    assert!(imported.put_results(&mut Session::new(Size::new(9, 9), 10)).is_err());
    assert!(imported.put_results(&mut Session::new(size, 6)).is_err(), "frame 6 is past the end");
}

#[test]
fn files_of_others_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.json");
    // No track ids, polygons, two of a class on a picture.
    let text = r#"{"images":[{"id":9,"file_name":"dir/b.jpg","width":7,"height":5}],"categories":[{"id":3,"name":"cat"}],
        "annotations":[{"id":1,"image_id":9,"category_id":3,"segmentation":[[0,0,2,0,2,2,0,2]],"area":4,"bbox":[0,0,2,2],"iscrowd":0},
        {"id":2,"image_id":9,"category_id":3,"segmentation":{"size":[5,7],"counts":";32NO0129"},"area":8,"bbox":[2,1,3,3],"iscrowd":0}]}"#;
    std::fs::write(&path, text).unwrap();
    let names = FrameNames::of_files(["a.jpg", "b.jpg"]);
    let imported = import(&path, Format::Coco, &names).unwrap();
    let found: Vec<_> =
        imported.tracks.iter().map(|t| (t.name.as_str(), t.masks[&FrameIndex(1)].mask.area())).collect();
    assert_eq!(found, [("cat", 4), ("cat 2", 8)]);
    assert!(imported.warnings[0].contains("track ids"));
    let error = import(&path, Format::Coco, &FrameNames::of_files(["c.jpg"])).unwrap_err().to_string();
    assert!(error.contains("x.json") && error.contains("dir/b.jpg"), "{error}");
    assert!(matches!(import(&path, Format::Csv, &names), Err(ImportError::NotRead(Format::Csv))));
    assert!(import(dir.path(), Format::Png, &names).unwrap_err().to_string().contains("no PNG"));
    assert!(matches!(import(Path::new("nowhere"), Format::PngBinary, &names), Err(ImportError::Io { .. })));
}
