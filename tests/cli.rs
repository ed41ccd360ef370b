//! The real binary: what it says and how it ends on arguments and files that cannot work.

#[cfg(all(feature = "ffmpeg", feature = "embedded-model"))]
mod support;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn masklet() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_masklet"));
    command.stdin(Stdio::null()).env_remove("RUST_BACKTRACE");
    // No window opens where a person runs the tests.
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(name);
    }
    command
}

fn run(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    masklet().args(arguments).output().expect("the binary starts")
}

/// Runs `arguments`, which must end with `code` and say `expected` on standard error, without a panic.
#[track_caller]
fn fails(code: i32, expected: &str, arguments: &[&OsStr]) {
    let output = run(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert!(text.contains(expected), "{arguments:?} does not say {expected:?}: {text}");
    assert!(!text.contains("panicked"), "{arguments:?}: {text}");
}

fn words(line: &str) -> Vec<&OsStr> {
    line.split(' ').map(OsStr::new).collect()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// A folder with `count` pictures of 40 x 30, with a name that not every program copes with.
fn pictures(dir: &Path, count: u32) -> PathBuf {
    let folder = dir.join("видео тест é😀 100%");
    std::fs::create_dir_all(&folder).expect("a folder");
    for i in 0..count {
        let picture =
            image::RgbImage::from_fn(40, 30, |x, y| image::Rgb([x as u8 * 6, y as u8 * 8, i as u8]));
        picture.save(folder.join(format!("{}.png", i + 8))).expect("a picture");
    }
    folder
}

#[test]
fn help_is_there_and_without_a_display_there_is_no_window() {
    #[cfg(all(feature = "gui", target_os = "linux"))]
    fails(4, "there is no display to open a window on: use `masklet track`", &[]);
    #[cfg(not(feature = "gui"))]
    assert!(stdout(&run([""; 0])).contains("Usage: masklet"));
    for arguments in ["--help", "track --help", "--version", "help eval"] {
        assert_eq!(run(arguments.split(' ')).status.code(), Some(0), "{arguments}");
    }
}

#[test]
fn usage_errors_end_with_2() {
    for (line, expected) in [
        ("juggle", "unrecognized subcommand"),
        ("track", "VIDEO"),
        ("track v.mp4", "--out"),
        ("track v.mp4 --out o", "nothing to track"),
        ("track v.mp4 --out o --point 1", "X,Y[@FRAME]"),
        ("track v.mp4 --out o --point 1,2@x", "frame number"),
        ("track v.mp4 --out o --box 1,2,3", "X0,Y0,X1,Y1[@FRAME]"),
        ("track v.mp4 --out o --box 1,2,3,4 --box 1,2,3,5", "two boxes"),
        ("track v.mp4 --out o --point 1,2 --size 300", "512"),
        ("track v.mp4 --out o --point 1,2 --size 2048", "1024"),
        ("track v.mp4 --out o --point 1,2 --backward --both", "cannot be used with"),
        ("track v.mp4 --out o --point 1,2 --format gif", "png-binary"),
        ("track v.mp4 --out o --point 1,2 --from -1", "unexpected argument"),
        ("track v.mp4 --out o --point 1,2 --threads 0", "0"),
        ("bench --frames 0", "0"),
        ("eval a --prompt twice", "click3"),
        ("model convert a", "--output"),
        ("model convert a -o b --type q4_0", "q8_0"),
        ("model convert a -o b --native-size 100", "512"),
    ] {
        fails(2, expected, &words(line));
    }
    assert!(!Path::new("o").exists());
}

#[test]
fn videos_that_cannot_be_read_end_with_3() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    let empty_folder = dir.path().join("пусто");
    std::fs::create_dir(&empty_folder).expect("a folder");
    let mut sound =
        b"RIFF\x24\x10\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\x10\0\0"
            .to_vec();
    sound.resize(44 + 4096, 0);
    let cases = [
        dir.path().join("нет.mp4"),
        file("empty é.mp4", b""),
        file("text.mp4", b"this is no video, whatever its name says"),
        file("brand only.mp4", b"\0\0\0\x14ftypisom\0\0\0\0isom"),
        file("sound.wav", &sound),
        file("cut.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0"),
        empty_folder,
    ];
    let out = dir.path().join("out");
    for path in &cases {
        let name = path.file_name().and_then(OsStr::to_str).expect("a name");
        let mut arguments = words("track --point 1,1 --out");
        arguments.extend([out.as_os_str(), path.as_os_str()]);
        fails(3, name, &arguments);
        fails(3, name, &[OsStr::new("info"), path.as_os_str()]);
    }
    assert!(!out.exists());
}

#[test]
fn prompts_that_do_not_fit_end_with_3() {
    let dir = tempfile::tempdir().expect("a folder");
    let (video, out) = (pictures(dir.path(), 3), dir.path().join("out"));
    let prompts = dir.path().join("prompts.json");
    std::fs::write(&prompts, r#"{"objects":[{"name":"a","prompts":[{"points":[[1e9,1]]}]}]}"#)
        .expect("a file");
    let prompts = prompts.to_str().expect("text").to_owned();
    for (line, expected) in [
        ("--point 41,5", "outside"),
        ("--point -1,5", "outside"),
        ("--point nan,5", "not a number"),
        ("--box 5,5,5,9", "covers nothing"),
        ("--box 9,9,5,5", "covers nothing"),
        ("--box 0,0,inf,5", "not a number"),
        ("--point 5,5@3", "0 to 2"),
        ("--mask none.png", "none.png"),
        ("--point 5,5 --from 3", "0 to 2"),
        ("--point 5,5 --from 2 --to 1", "ends before"),
        ("--point 5,5@2 --to 1", "--both"),
        ("--object a --object b --point 5,5", "\"a\""),
        ("--prompts none.json", "none.json"),
        (&format!("--prompts {prompts}"), "outside"),
    ] {
        let mut arguments = words("track --out");
        arguments.extend([out.as_os_str(), video.as_os_str()]);
        arguments.extend(words(line));
        fails(3, expected, &arguments);
    }
    assert!(!out.exists());
}

#[test]
fn models_that_are_none_end_with_4() {
    let dir = tempfile::tempdir().expect("a folder");
    let video = pictures(dir.path(), 2);
    let (out, other) = (dir.path().join("out"), dir.path().join("модель.gguf"));
    for bytes in [&b""[..], b"GGUF", b"PK\x03\x04 something else"] {
        std::fs::write(&other, bytes).expect("a file");
        let mut arguments = words("track --point 5,5 --out");
        arguments.extend([out.as_os_str(), video.as_os_str(), OsStr::new("--model"), other.as_os_str()]);
        fails(4, "модель.gguf", &arguments);
        fails(4, "модель.gguf", &[OsStr::new("model"), OsStr::new("info"), other.as_os_str()]);
        let target = dir.path().join("new.gguf");
        let mut arguments = words("model convert -o");
        arguments.extend([target.as_os_str(), other.as_os_str()]);
        fails(4, "модель.gguf", &arguments);
        assert!(!target.exists());
    }
    assert!(!out.exists());
}

#[test]
fn folders_that_cannot_be_written_end_with_5() {
    let dir = tempfile::tempdir().expect("a folder");
    let video = pictures(dir.path(), 2);
    let file = dir.path().join("a file");
    std::fs::write(&file, b"x").expect("a file");
    for out in [file.clone(), file.join("below")] {
        let mut arguments = words("track --point 5,5 --out");
        arguments.extend([out.as_os_str(), video.as_os_str()]);
        fails(5, "a file", &arguments);
        fails(5, "a file", &[OsStr::new("demo"), OsStr::new("--frames-only"), out.as_os_str()]);
    }
    assert_eq!(std::fs::read(&file).expect("still there"), b"x");
}

#[test]
fn info_describes_a_folder() {
    let dir = tempfile::tempdir().expect("a folder");
    let video = pictures(dir.path(), 3);
    let output = run([OsStr::new("info"), OsStr::new("--json"), video.as_os_str()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(json["frames"], 3);
    assert_eq!(json["size"], serde_json::json!({"width": 40, "height": 30}));
    let output = run([OsStr::new("info"), video.as_os_str()]);
    assert!(stdout(&output).contains("40 x 30"), "{output:?}");
}

#[test]
fn eval_says_what_is_no_sequence() {
    let dir = tempfile::tempdir().expect("a folder");
    let (video, empty) = (pictures(dir.path(), 2), dir.path().join("empty"));
    std::fs::create_dir(&empty).expect("a folder");
    fails(3, "no sequence", &[OsStr::new("eval"), empty.as_os_str()]);
    fails(3, "none", &[OsStr::new("eval"), dir.path().join("none").as_os_str()]);
    fails(3, "no mask", &[OsStr::new("eval"), video.as_os_str(), empty.as_os_str()]);
}

#[test]
fn the_demo_clip_is_drawn_and_never_overdrawn() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("clip");
    let arguments = [OsStr::new("demo"), OsStr::new("--frames-only"), out.as_os_str()];
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let count = |folder: PathBuf| std::fs::read_dir(folder).expect("a folder").count();
    let frames = count(out.join("frames"));
    assert!(frames > 24, "{frames}");
    for entry in std::fs::read_dir(out.join("masks")).expect("a folder") {
        assert_eq!(count(entry.expect("an entry").path()), frames);
    }
    fails(5, "--overwrite", &arguments);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("clip");
    let mut child = masklet()
        .args([OsStr::new("demo"), OsStr::new("--json"), OsStr::new("--frames-only"), out.as_os_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    reader.read_line(&mut line).expect("a line");
    assert!(line.contains("\"progress\""), "{line}");
    drop(reader);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_130_and_keeps_what_is_whole() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("clip");
    let mut child = masklet()
        .args([OsStr::new("demo"), OsStr::new("--json"), OsStr::new("--frames-only"), out.as_os_str()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    lines.next().expect("a line").expect("text");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let last = lines.map_while(Result::ok).last().expect("a last line");
    assert!(last.contains("\"interrupted\":true"), "{last}");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    for entry in std::fs::read_dir(out.join("frames")).expect("a folder") {
        image::open(entry.expect("an entry").path()).expect("a whole picture");
    }
}

/// A limit on the size of files stands in for a disk that is full.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_half_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("clip");
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" demo --frames-only \"$1\"";
    let output = Command::new("sh")
        .args([
            OsStr::new("-c"),
            OsStr::new(script),
            OsStr::new(env!("CARGO_BIN_EXE_masklet")),
            out.as_os_str(),
        ])
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{text}");
    assert!(text.contains("cannot be written") && !text.contains("panicked"), "{text}");
    assert_eq!(std::fs::read_dir(out.join("frames")).expect("a folder").count(), 0);
}

/// The whole way with the built-in model, at its smallest size.
#[cfg(feature = "embedded-model")]
mod with_the_model {
    use super::*;

    fn json_lines(output: &Output) -> Vec<serde_json::Value> {
        stdout(output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn listing(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut names: Vec<_> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_tracked_both_ways() {
        let dir = tempfile::tempdir().expect("a folder");
        let (video, out) = (pictures(dir.path(), 3), dir.path().join("выход 😀"));
        let mut arguments =
            words("track --json --size 256 --threads 1 --both --object мяч --class ball --point 20,15@1");
        arguments.extend(words("--object b --box 2,2,9,9@0 --format png,png-binary,coco --out"));
        arguments.extend([out.as_os_str(), video.as_os_str()]);
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let lines = json_lines(&output);
        let kinds: Vec<_> = lines.iter().map(|line| line["event"].as_str().expect("a kind")).collect();
        assert_eq!(kinds, ["opened", "frame", "frame", "frame", "frame", "finished"]);
        assert_eq!(lines[5]["tracked"], 4);
        assert_eq!(listing(&out), ["coco.json", "masklet.json", "masks", "objects"]);
        assert_eq!(listing(&out.join("masks")), ["10.png", "8.png", "9.png"]);
        let coco: serde_json::Value =
            serde_json::from_slice(&std::fs::read(out.join("coco.json")).expect("a file")).expect("JSON");
        assert_eq!(coco["images"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn very_small_and_very_wide_pictures_work() {
        let dir = tempfile::tempdir().expect("a folder");
        for (width, height) in [(1, 1), (8200, 3)] {
            let image = dir.path().join(format!("{width}.png"));
            image::RgbImage::from_pixel(width, height, image::Rgb([90, 120, 30]))
                .save(&image)
                .expect("a picture");
            let out = dir.path().join(format!("out {width}"));
            let mut arguments = words("segment --size 256 --threads 1 --quiet --point 0,0 --out");
            arguments.extend([out.as_os_str(), image.as_os_str()]);
            let output = run(&arguments);
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
            let mask = image::open(out.join("masks").join(format!("{width}.png"))).expect("a mask");
            assert_eq!((mask.width(), mask.height()), (width, height));
        }
    }

    #[cfg(unix)]
    #[test]
    fn ctrl_c_keeps_the_finished_frames() {
        let dir = tempfile::tempdir().expect("a folder");
        let (video, out) = (pictures(dir.path(), 200), dir.path().join("out"));
        let mut arguments = words("track --json --size 256 --threads 1 --point 20,15 --out");
        arguments.extend([out.as_os_str(), video.as_os_str()]);
        let mut child = masklet().args(&arguments).stdout(Stdio::piped()).spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        assert!(lines.by_ref().map_while(Result::ok).any(|line| line.contains("\"frame\"")));
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
        let last = lines.map_while(Result::ok).last().expect("a last line");
        let last: serde_json::Value = serde_json::from_str(&last).expect("JSON");
        assert_eq!((&last["event"], &last["interrupted"]), (&"finished".into(), &true.into()));
        assert_eq!(child.wait().expect("it ends").code(), Some(130));
        assert_eq!(Some(listing(&out.join("masks")).len() as u64), last["tracked"].as_u64());
    }

    /// Names of temporary files and folders, at any depth.
    #[cfg(unix)]
    fn rests(folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".masklet-")) {
                found.push(path);
            } else {
                found.extend(rests(&path));
            }
        }
        found
    }

    #[cfg(unix)]
    #[test]
    fn a_second_ctrl_c_leaves_no_rest() {
        for pause in [1, 30, 600] {
            let dir = tempfile::tempdir().expect("a folder");
            let (video, out) = (pictures(dir.path(), 200), dir.path().join("out"));
            let mut arguments =
                words("track --json --size 256 --threads 1 --point 20,15 --format png,png-binary,coco --out");
            arguments.extend([out.as_os_str(), video.as_os_str()]);
            let mut child =
                masklet().args(&arguments).stdout(Stdio::piped()).spawn().expect("the binary starts");
            let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
            assert!(lines.by_ref().map_while(Result::ok).any(|line| line.contains("\"frame\"")));
            assert!(!rests(&out).is_empty(), "nothing to clean up is no test");
            let id = child.id().to_string();
            for _ in 0..2 {
                // The second may come too late to find anyone.
                let _ =
                    Command::new("kill").args(["-INT", &id]).stderr(Stdio::null()).status().expect("kill");
                std::thread::sleep(std::time::Duration::from_millis(pause));
            }
            let last = lines.map_while(Result::ok).last().expect("a last line");
            assert!(last.contains("\"interrupted\":true"), "{last}");
            assert_eq!(child.wait().expect("it ends").code(), Some(130));
            assert_eq!(rests(&out), Vec::<PathBuf>::new());
            if pause == 1 {
                assert!(
                    out.join("masks").is_dir(),
                    "signals that come together are one and keep what is finished"
                );
            }
        }
    }

    /// Half-copied videos: with the index in front most can be shown, without an index nothing can.
    #[cfg(feature = "ffmpeg")]
    #[test]
    fn a_video_that_is_cut_off_is_tracked_as_far_as_it_goes() {
        let dir = tempfile::tempdir().expect("a folder");
        let out = dir.path().join("out");
        let cut = |name: &str, flags: &str| {
            let path = dir.path().join(name);
            let arguments = format!("-c:v libx264 -g 6 -pix_fmt yuv420p {flags}");
            support::encode_numbered(20, "25", &arguments, &path);
            let bytes = std::fs::read(&path).expect("a file");
            std::fs::write(&path, &bytes[..bytes.len() * 6 / 10]).expect("a file");
            path
        };
        let arguments = |path: &Path| {
            let mut arguments: Vec<_> =
                words("track --size 256 --threads 1 --json --format png,overlay --point 50,50 --out")
                    .into_iter()
                    .map(OsStr::to_owned)
                    .collect();
            arguments.extend([out.as_os_str().to_owned(), path.as_os_str().to_owned()]);
            arguments
        };
        let behind = cut("index behind é.mp4", "");
        let all = arguments(&behind);
        fails(3, "index behind é.mp4", &all.iter().map(AsRef::as_ref).collect::<Vec<_>>());
        fails(3, "cut off", &[OsStr::new("info"), behind.as_os_str()]);
        assert!(!out.exists());

        let output = run(arguments(&cut("index in front é.mp4", "-movflags +faststart")));
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let lines = json_lines(&output);
        let warnings = lines[0]["warnings"].to_string();
        assert!(warnings.contains("cut off"), "{warnings}");
        let last = lines.last().expect("a last line");
        let tracked = last["tracked"].as_u64().expect("a number");
        assert!((5..20).contains(&tracked), "{last}");
        assert_eq!(lines[0]["video"]["frames"], tracked);
        assert!(last["notes"].to_string().contains("overlay: encoded with "), "{last}");
        assert_eq!(listing(&out.join("masks")).len() as u64, tracked);
    }

    /// A limit on the size of files stands in for a disk that is full.
    #[cfg(unix)]
    #[test]
    fn a_full_disk_leaves_no_half_export() {
        let dir = tempfile::tempdir().expect("a folder");
        let (video, out) = (pictures(dir.path(), 2), dir.path().join("out"));
        let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" track --size 256 --threads 1 --point 20,15 --format coco --out \"$1\" \"$2\"";
        let output = Command::new("sh")
            .args([OsStr::new("-c"), OsStr::new(script), OsStr::new(env!("CARGO_BIN_EXE_masklet"))])
            .args([out.as_os_str(), video.as_os_str()])
            .output()
            .expect("a shell");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{text}");
        assert!(text.contains("cannot be written") && !text.contains("panicked"), "{text}");
        assert!(!out.exists(), "{:?}", listing(&out));
    }
}

/// A project beside its pictures: one object with masks on two of three frames, prompted on the first.
fn project(dir: &Path) -> PathBuf {
    use masklet::base::{BoxXyxy, FrameIndex, FramePrompts, Mask, Rle, Size};
    use masklet::project::{Media, MediaFile, Project};
    use masklet::session::{Edit, Session, TrackResult};

    let video = pictures(dir, 3);
    let size = Size::new(40, 30);
    let mut session = Session::new(size, 3);
    let object = session.add_object("Fuß", Some("foot")).expect("a free name");
    let bounds = Some(BoxXyxy { x0: 5.0, y0: 5.0, x1: 25.0, y1: 20.0 });
    let prompts = FramePrompts { bounds, ..FramePrompts::default() };
    session.set_prompts(object, FrameIndex(0), prompts).expect("it fits");
    for frame in [0, 2].map(FrameIndex) {
        let mut mask = Mask::empty(size);
        (5..20).for_each(|y| (5..25).for_each(|x| mask.set(x, y, true)));
        let result = TrackResult { mask: Rle::encode(&mask), score: 3.0 };
        session.change(Edit::SetResult { object, frame, result }).expect("it fits");
    }
    let media = Media::File(MediaFile::describe(&video, Some(dir)).expect("readable"));
    let path = dir.join("работа.masklet");
    Project::save(&path, &session, media).expect("writable");
    path
}

#[test]
fn a_project_is_exported_without_an_engine() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = project(dir.path());
    let (out, again) = (dir.path().join("out"), dir.path().join("again"));
    let export = |out: &Path, more: &[&str]| {
        let mut arguments: Vec<&OsStr> =
            vec!["export".as_ref(), path.as_ref(), "--out".as_ref(), out.as_ref()];
        arguments.extend(more.iter().map(OsStr::new));
        run(arguments)
    };
    let output = export(&out, &["--format", "coco,png", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stdout(&output).lines().last().expect("lines").contains("\"finished\""));
    let coco: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("coco.json")).expect("written"))
            .expect("JSON");
    assert_eq!(coco["images"].as_array().map(Vec::len), Some(3));
    assert_eq!(coco["annotations"].as_array().map(Vec::len), Some(2));
    assert_eq!(coco["annotations"][0]["area"], 300);
    assert_eq!(export(&out, &["--format", "coco"]).status.code(), Some(5), "results are there already");
    assert_eq!(export(&again, &["--format", "coco", "--from", "2"]).status.code(), Some(0));
    assert_eq!(export(&dir.path().join("x"), &["--from", "9"]).status.code(), Some(3));

    // Everything moves: the video is found beside the project. The video alone moves: it is asked for.
    let moved = dir.path().join("moved");
    std::fs::rename(dir.path().join("видео тест é😀 100%"), &moved).expect("renamed");
    let elsewhere = dir.path().join("elsewhere");
    let output = export(&elsewhere, &[]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3));
    assert!(text.contains("--video"), "{text}");
    assert_eq!(export(&elsewhere, &["--video", moved.to_str().expect("UTF-8")]).status.code(), Some(0));
    std::fs::remove_file(moved.join("8.png")).expect("removed");
    let output = export(&dir.path().join("y"), &["--video", moved.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("does not belong to"));
}

#[test]
fn what_is_no_project_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let text = dir.path().join("notes.masklet");
    std::fs::write(&text, "hello").expect("written");
    let out = dir.path().join("out");
    for task in ["export", "track"] {
        fails(3, "is no masklet project", &[task.as_ref(), text.as_ref(), "--out".as_ref(), out.as_ref()]);
    }
    assert!(!out.exists());
    fails(2, "its own objects", &words("track p.masklet --out o --point 1,1"));
    fails(2, ".masklet", &words("track p.mp4 --video q.mp4 --out o --point 1,1"));
}

#[cfg(feature = "embedded-model")]
#[test]
fn a_project_is_tracked_from_its_prompts() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = project(dir.path());
    let out = dir.path().join("out");
    let arguments: [&OsStr; 8] = [
        "track".as_ref(),
        path.as_ref(),
        "--out".as_ref(),
        out.as_ref(),
        "--size".as_ref(),
        "256".as_ref(),
        "--threads".as_ref(),
        "1".as_ref(),
    ];
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(std::fs::read_dir(out.join("masks")).expect("written").count(), 3);
    let note: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("masklet.json")).expect("written"))
            .expect("JSON");
    assert_eq!(note["objects"][0]["name"], "Fuß");
}
