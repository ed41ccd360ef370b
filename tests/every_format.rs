//! Every export format from the outside: written from one scene, looked through by its own check, read by others.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs;
use std::path::Path;

use masklet::base::{ExportOptions, Format, FrameIndex, Mask, ObjectId, Pts, Rational, RgbFrame, Rle, Size};
use masklet::formats::{
    ExportFrame, ExportJob, ExportMask, ExportPlan, ExportSummary, Pass, Stamp, validate,
};
use masklet::session::Session;
use proptest::prelude::*;

const SIZE: Size = Size::new(40, 30);
const FRAMES: u32 = 12;

fn plan(out: &Path, formats: &[Format], settings: &[&str]) -> ExportPlan {
    let mut session = Session::new(SIZE, FRAMES);
    for (name, class) in [("the car", "car"), ("Größe <\"&'>, 😀", "pedestrian"), ("dog", "animal, other")]
    {
        session.add_object(name, Some(class)).unwrap();
    }
    let mut options = ExportOptions::default();
    settings.iter().for_each(|setting| options.set(setting).unwrap());
    ExportPlan {
        out: out.to_owned(),
        formats: formats.to_vec(),
        options,
        size: SIZE,
        frames: FRAMES,
        frame_rate: Rational::new(30_000, 1_001),
        video: "street 1.mp4".into(),
        objects: session.objects().to_vec(),
        stamp: Stamp { version: "1.2.3".into(), device: "--".into(), ..Stamp::default() },
    }
}

/// A car that moves, a ring with a hole in two parts that is gone on some frames, and specks that overlap both.
fn masks(frame: u32) -> [Mask; 3] {
    let mut masks = [Mask::empty(SIZE), Mask::empty(SIZE), Mask::empty(SIZE)];
    for (x, y) in (0..SIZE.height).flat_map(|y| (0..SIZE.width).map(move |x| (x, y))) {
        masks[0].set(x, y, (frame..frame + 9).contains(&x) && (2..8).contains(&y));
        let ring = (12..24).contains(&x)
            && (10..22).contains(&y)
            && !((15..20).contains(&x) && (13..18).contains(&y));
        masks[1].set(x, y, !(4..7).contains(&frame) && (ring || (x > 30 && y > 25)));
        masks[2].set(x, y, frame > 0 && (x * 7 + y * 5 + frame).is_multiple_of(11) && x < 20);
    }
    masks
}

fn export(plan: ExportPlan, count: u32) -> Vec<ExportSummary> {
    let mut job = ExportJob::new(plan).unwrap();
    for index in 0..count {
        let masks = masks(index).map(|mask| Rle::encode(&mask));
        let masks: Vec<_> = (1..)
            .zip(&masks)
            .map(|(id, mask)| ExportMask { object: ObjectId(id), mask, score: 2.0 })
            .collect();
        let mut picture = RgbFrame::filled(SIZE, [40, 90, 200]);
        for (i, value) in picture.data_mut().iter_mut().enumerate() {
            *value = value.wrapping_add((i as u32 / 40 + index) as u8 % 50);
        }
        let frame = ExportFrame {
            index: FrameIndex(index),
            file_name: None,
            pts: Some(Pts { ticks: i64::from(index) * 1_001, time_base: Rational::new(1, 30_000) }),
            picture: Some(&picture),
            masks: &masks,
        };
        job.frame(&frame, Pass::Single).unwrap();
    }
    job.finish().unwrap()
}

fn formats() -> Vec<Format> {
    Format::ALL.into_iter().filter(|format| cfg!(feature = "ffmpeg") || !format.facts().ffmpeg).collect()
}

fn visible() -> u64 {
    (0..FRAMES).flat_map(masks).filter(|mask| mask.area() > 0).count() as u64
}

#[test]
fn every_format_passes_its_own_check() {
    let dir = tempfile::tempdir().unwrap();
    let summaries = export(plan(dir.path(), &formats(), &[]), FRAMES);
    for summary in &summaries {
        let format = summary.format;
        assert_eq!((summary.frames, summary.path.exists()), (FRAMES, true), "{format}");
        let findings = validate(&summary.path, format);
        assert_eq!(findings.errors, 0, "{format}: {:?}", findings.list);
        let late = findings.list.iter().all(|f| f.what.contains("not on the first frame"));
        assert!(findings.warnings == 0 || late, "{format}: {:?}", findings.list);
        assert!(!findings.counts.is_empty(), "{format}");
    }
    let of = |format| summaries.iter().find(|s| s.format == format).unwrap();
    for format in [
        Format::Coco,
        Format::YoutubeVis,
        Format::YoutubeVisResults,
        Format::Cvat,
        Format::LabelStudio,
        Format::Csv,
        Format::YoloSeg,
    ] {
        assert_eq!(of(format).annotations, visible(), "{format}");
    }
    // Where labels exclude each other, what overlapped is counted.
    assert!(of(Format::MotsTxt).overlapping_pixels > 0);
    assert_eq!(of(Format::MotsTxt).overlapping_pixels, of(Format::MotsPng).overlapping_pixels);
    assert!(of(Format::MotsPng).warnings[0].contains("animal"));
}

#[test]
fn every_format_notices_another_one() {
    let dir = tempfile::tempdir().unwrap();
    let summaries = export(plan(dir.path(), &formats(), &[]), 2);
    fs::write(dir.path().join("empty"), "").unwrap();
    for summary in &summaries {
        assert!(validate(&dir.path().join("empty"), summary.format).errors > 0, "{}", summary.format);
        assert!(validate(&dir.path().join("missing"), summary.format).errors > 0, "{}", summary.format);
        for other in [Format::Coco, Format::YoutubeVisResults, Format::Cvat] {
            if other != summary.format {
                assert!(validate(&summary.path, other).errors > 0, "{} as {other}", summary.format);
            }
        }
    }
}

#[test]
fn nothing_tracked_is_nothing_written() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let summaries = export(plan(&out, &formats(), &[]), 0);
    assert!(summaries.iter().all(|summary| summary.frames == 0));
    assert!(!out.exists());
}

#[test]
fn the_choice_of_frames_and_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let settings = [
        "every=3",
        "annotated=yes",
        "names=number",
        "digits=3",
        "start=1",
        "prefix=f",
        "picture=jpg",
        "split=1/1",
    ];
    let formats = [Format::Frames, Format::Coco, Format::YoloSeg, Format::Png];
    let summaries = export(plan(dir.path(), &formats, &settings), FRAMES);
    assert!(summaries.iter().all(|summary| summary.frames == 4), "{summaries:?}");
    let coco: serde_json::Value =
        serde_json::from_slice(&fs::read(dir.path().join("coco.json")).unwrap()).unwrap();
    for (image, number) in coco["images"].as_array().unwrap().iter().zip(["001", "004", "007", "010"]) {
        let name = image["file_name"].as_str().unwrap();
        let (part, file) = name.split_once('/').unwrap();
        assert_eq!(file, format!("f{number}.jpg"));
        assert!(dir.path().join("frames").join(name).is_file());
        assert!(dir.path().join(format!("yolo/labels/{part}/f{number}.txt")).is_file());
        assert!(dir.path().join(format!("masks/f{number}.png")).is_file());
    }
    let yaml = fs::read_to_string(dir.path().join("yolo/data.yaml")).unwrap();
    assert_eq!(
        yaml,
        "path: .\ntrain: images/train\nval: images/val\nnames:\n  0: \"car\"\n  1: \"pedestrian\"\n  2: \"animal, other\"\n"
    );
    let sidecar: serde_json::Value =
        serde_json::from_slice(&fs::read(dir.path().join("masklet.json")).unwrap()).unwrap();
    assert_eq!(sidecar["options"]["every"], "3");
}

#[test]
fn other_forms_of_the_same() {
    for (settings, formats) in [
        (
            &[
                "coco.masks=polygons",
                "mots-txt.base=motschallenge",
                "yolo-seg.parts=lines",
                "yolo-seg.empty=no",
                "cutout.objects=each",
            ][..],
            &[Format::Coco, Format::MotsTxt, Format::YoloSeg, Format::Cutout][..],
        ),
        (&["coco.masks=polygons", "coco.holes=rle", "mots-txt.class=car"], &[Format::Coco, Format::MotsTxt]),
        (&["coco.masks=counts"], &[Format::Coco]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        for summary in export(plan(dir.path(), formats, settings), FRAMES) {
            let findings = validate(&summary.path, summary.format);
            assert_eq!(findings.list, [], "{} {settings:?}", summary.format);
            if summary.format == Format::Coco {
                let said = summary.warnings.join("; ");
                assert_eq!(said.contains("1.0000"), settings[0] == "coco.masks=polygons", "{said}");
                assert_eq!(said.contains("bridges"), settings.len() == 5, "{said}");
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    export(plan(dir.path(), &[Format::MotsTxt], &["mots-txt.base=motschallenge"]), 3);
    let info = fs::read_to_string(dir.path().join("mots-txt/street 1/seqinfo.ini")).unwrap();
    assert!(info.contains("seqLength=12\n") && info.contains("imWidth=40\n"), "{info}");
    let text = fs::read_to_string(dir.path().join("mots-txt/street 1/gt/gt.txt")).unwrap();
    assert!(text.starts_with("1 1001 1 30 40 "), "{text}");
}

#[test]
fn tracks_of_cvat_end_where_the_object_does() {
    let dir = tempfile::tempdir().unwrap();
    export(plan(dir.path(), &[Format::Cvat], &[]), 9);
    let xml = fs::read_to_string(dir.path().join("cvat.xml")).unwrap();
    let second = xml.split("<track ").nth(2).unwrap();
    let shapes: Vec<(&str, &str)> = second
        .lines()
        .filter(|line| line.contains("<mask"))
        .map(|line| (line.split('"').nth(1).unwrap(), line.split('"').nth(5).unwrap()))
        .collect();
    let expected =
        [("0", "0"), ("1", "0"), ("2", "0"), ("3", "0"), ("4", "1"), ("7", "0"), ("8", "0"), ("9", "1")];
    assert_eq!(shapes, expected);
}

/// The alpha of a video as the ffmpeg program sees it, frame by frame.
#[cfg(feature = "ffmpeg")]
fn alpha_of(path: &Path, decoder: &[&str]) -> Vec<u8> {
    let output = std::process::Command::new("ffmpeg")
        .args(["-nostdin", "-v", "error"])
        .args(decoder)
        .arg("-i")
        .arg(path)
        .args(["-pix_fmt", "rgba", "-f", "rawvideo", "-"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
#[cfg(feature = "ffmpeg")]
fn videos_keep_their_alpha_and_times() {
    let dir = tempfile::tempdir().unwrap();
    let formats = [Format::Prores, Format::Vp9Alpha, Format::Ffv1, Format::LumaMatte];
    export(plan(dir.path(), &formats, &[]), FRAMES);
    let area = SIZE.area();
    for (name, decoder, slack) in
        [("cutout.mov", &[][..], 3u8), ("cutout.webm", &["-c:v", "libvpx-vp9"], 40), ("cutout.mkv", &[], 0)]
    {
        let bytes = alpha_of(&dir.path().join(name), decoder);
        assert_eq!(bytes.len(), area * 4 * FRAMES as usize, "{name}");
        for (index, frame) in (0..).zip(bytes.chunks_exact(area * 4)) {
            let [a, b, c] = masks(index);
            for (at, pixel) in frame.chunks_exact(4).enumerate() {
                let wanted = if a.data()[at] | b.data()[at] | c.data()[at] == 1 { 255u8 } else { 0 };
                // VP9 blurs specks of a pixel; what counts is that blocks are opaque and the ground is not.
                let speck = name.ends_with("webm") && c.data()[at] == 1;
                let near = name.ends_with("webm") && at % 40 < 21;
                if !speck && !near {
                    assert!(
                        pixel[3].abs_diff(wanted) <= slack,
                        "{name}, frame {index}, {at}: {} for {wanted}",
                        pixel[3]
                    );
                }
            }
        }
        let mut video = masklet::video::open(&dir.path().join(name)).unwrap();
        assert_eq!((video.info().frames, video.info().size), (FRAMES, SIZE), "{name}");
        let second = video.pts(FrameIndex(11)).unwrap().seconds();
        assert!((second - 11.0 * 1_001.0 / 30_000.0).abs() < 2e-3, "{name}: {second}");
        if name == "cutout.mkv" {
            let picture = video.frame(FrameIndex(0)).unwrap();
            assert_eq!(picture.data()[..6], [40, 90, 200, 40, 90, 200]);
        }
    }
    let mut matte = masklet::video::open(&dir.path().join("luma-matte.mp4")).unwrap();
    let picture = matte.frame(FrameIndex(0)).unwrap();
    assert!(picture.data()[(5 * 40 + 4) * 3] > 230 && picture.data()[(28 * 40 + 20) * 3] < 20);
}

/// Writes every format and the exact masks for `tests/formats/read_back.py`, which reads them with the tools of others.
#[test]
#[ignore = "for ./dev test-formats"]
fn write_for_others() {
    let out = std::path::PathBuf::from(std::env::var_os("FORMATS_OUT").expect("FORMATS_OUT names a folder"));
    export(plan(&out.join("plain"), &formats(), &["picture=png"]), FRAMES);
    let bare = &[Format::Coco];
    export(plan(&out.join("counts"), bare, &["coco.masks=counts"]), FRAMES);
    export(plan(&out.join("polygons"), bare, &["coco.masks=polygons"]), FRAMES);
    export(plan(&out.join("challenge"), &[Format::MotsTxt], &["mots-txt.base=motschallenge"]), FRAMES);
    let masks: Vec<Vec<String>> = (0..FRAMES)
        .map(|frame| {
            let text = |mask: &Mask| mask.data().iter().map(|&v| char::from(b'0' + v)).collect();
            masks(frame).iter().map(text).collect()
        })
        .collect();
    let objects = plan(&out, bare, &[]).objects;
    let objects: Vec<_> =
        objects.iter().map(|o| serde_json::json!({"name": o.name, "class": o.class})).collect();
    let truth =
        serde_json::json!({"width": SIZE.width, "height": SIZE.height, "objects": objects, "masks": masks});
    fs::write(out.join("truth.json"), truth.to_string()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    /// Another reader of COCO sees the same masks in all three forms.
    #[test]
    fn all_forms_of_coco_are_one_mask(width in 1u32..24, height in 1u32..24, seed in any::<u64>(), density in 1u32..4) {
        let size = Size::new(width, height);
        let pixel = |i: u64| u8::from((seed ^ (i / 2)).wrapping_mul(0x9e37_79b9_7f4a_7c15).count_ones() % 4 < density);
        let mask = Mask::new(size, (0..size.area() as u64).map(pixel).collect()).unwrap();
        prop_assume!(mask.area() > 0);
        let ours = Rle::encode(&mask);
        for form in ["rle", "counts", "polygons"] {
            let dir = tempfile::tempdir().unwrap();
            let mut plan = plan(dir.path(), &[Format::Coco], &[&format!("coco.masks={form}")]);
            plan.size = size;
            let mut job = ExportJob::new(plan).unwrap();
            let masks = [ExportMask { object: ObjectId(1), mask: &ours, score: 0.0 }];
            let frame = ExportFrame { index: FrameIndex(0), file_name: None, pts: None, picture: None, masks: &masks };
            job.frame(&frame, Pass::Single).unwrap();
            job.finish().unwrap();
            let coco = hotcoco::COCO::new(&dir.path().join("coco.json")).unwrap();
            let found = coco.get_ann(1).unwrap();
            prop_assert_eq!(found.area, Some(mask.area() as f64));
            let rle = coco.ann_to_rle(found).unwrap();
            prop_assert_eq!(&rle.counts[..], ours.counts(), "{}", form);
        }
    }
}
