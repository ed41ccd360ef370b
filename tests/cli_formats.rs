//! The subcommands about formats, through the real program: import, export, validate, formats.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_masklet"));
    command.args(line.split(' ')).current_dir(folder);
    // Nobody's own settings or caches.
    command.env("XDG_CONFIG_HOME", folder).env("XDG_CACHE_HOME", folder).env("HOME", folder);
    command.output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// Three pictures and their masks: two objects, the second not on the first picture.
fn files(folder: &Path) {
    for sub in ["frames", "given"] {
        std::fs::create_dir(folder.join(sub)).unwrap();
    }
    for frame in 0..3u32 {
        let picture = image::RgbImage::from_pixel(9, 7, image::Rgb([frame as u8 * 40, 90, 10]));
        picture.save(folder.join(format!("frames/f {frame}.png"))).unwrap();
        let mask = image::GrayImage::from_fn(9, 7, |x, y| {
            let second = frame > 0 && x > 5 && y < 4;
            image::Luma([if second { 2 } else { u8::from(x < 3 + frame && y > 1) }])
        });
        mask.save(folder.join(format!("given/f {frame}.png"))).unwrap();
    }
}

#[test]
fn masks_go_in_and_come_out_the_same() {
    let dir = tempfile::tempdir().unwrap();
    files(dir.path());
    let imported = run(dir.path(), "import frames given --as png -p p.masklet --json");
    assert_eq!(code(&imported), 0, "{imported:?}");
    assert_eq!(json(&imported)["objects"], serde_json::json!(["object 1", "object 2"]));
    assert_eq!(json(&imported)["masks"], 5);
    let again = run(dir.path(), "import frames given --as png -p p.masklet");
    assert_eq!(code(&again), 5);
    assert!(String::from_utf8_lossy(&again.stderr).contains("overwrite"), "{again:?}");

    let line = "export p.masklet --out out --format png,coco,csv --set coco.masks=polygons --set picture=jpg";
    let exported = run(dir.path(), line);
    assert_eq!(code(&exported), 0, "{exported:?}");
    for frame in 0..3 {
        let given = image::open(dir.path().join(format!("given/f {frame}.png"))).unwrap().to_luma8();
        let mut reader = png::Decoder::new(std::io::BufReader::new(
            std::fs::File::open(dir.path().join(format!("out/masks/f {frame}.png"))).unwrap(),
        ));
        reader.set_transformations(png::Transformations::IDENTITY);
        let mut reader = reader.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, given.into_raw(), "{frame}");
    }
    assert_eq!(code(&run(dir.path(), "validate out/coco.json --as coco")), 0);
    let text = std::fs::read_to_string(dir.path().join("out/coco.json")).unwrap();
    assert!(text.contains("f 0.jpg"));
    // The export comes back as a project too, and the project is the same.
    let back = run(dir.path(), "import frames out/coco.json --as coco -p q.masklet");
    assert_eq!(code(&back), 0, "{back:?}");
    assert_eq!(code(&run(dir.path(), "export q.masklet --out again --format png")), 0);
    for frame in 0..3 {
        let of = |out: &str| {
            let path = dir.path().join(format!("{out}/masks/f {frame}.png"));
            image::open(path).unwrap().to_rgb8().into_raw()
        };
        assert_eq!(of("out"), of("again"));
    }
    std::fs::write(dir.path().join("bad.json"), text.replace("\"iscrowd\":0", "\"iscrowd\":7")).unwrap();
    let bad = run(dir.path(), "validate bad.json --as coco --json");
    assert_eq!(code(&bad), 3);
    assert_eq!(json(&bad)["errors"], 5);
}

#[test]
fn what_does_not_fit_is_said() {
    let dir = tempfile::tempdir().unwrap();
    files(dir.path());
    let fails = |expected: i32, says: &str, line: &str| {
        let output = run(dir.path(), line);
        assert_eq!(code(&output), expected, "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(says), "{line}: {said}");
    };
    fails(2, "no export format", "import frames given --as gif -p p.masklet");
    fails(3, "cannot be read back", "import frames given --as csv -p p.masklet");
    fails(3, "nowhere.json", "import frames nowhere.json --as coco -p p.masklet");
    std::fs::rename(dir.path().join("given/f 1.png"), dir.path().join("given/g.png")).unwrap();
    fails(3, "g.png", "import frames given --as png -p p.masklet");
    fails(2, "rle, counts", "export p.masklet --out o --set coco.masks=x");
    assert!(!dir.path().join("p.masklet").exists());
}

#[test]
fn formats_are_listed_for_people_and_machines() {
    let dir = tempfile::tempdir().unwrap();
    let list = json(&run(dir.path(), "formats --json"));
    let formats = list["formats"].as_array().unwrap();
    assert!(formats.len() >= 20);
    assert!(formats.iter().all(|f| f["name"].is_string() && f["needs_ffmpeg"].is_boolean()));
    let text = run(dir.path(), "formats");
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(formats.iter().all(|f| text.contains(f["name"].as_str().unwrap())));
}
