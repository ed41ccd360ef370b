//! Frame identity, colours, orientation and bad input of video files, held against the ffmpeg program.
#![cfg(feature = "ffmpeg")]

mod support;

use std::path::{Path, PathBuf};

use masklet::base::{FrameIndex, Rational, RgbFrame, Size};
use masklet::video::{FrameTiming, OpenOptions, VideoError, VideoWriter, first_picture, open, open_with};
use support::hold::{frame, hold_against_ffmpeg, open_ok, refusal};
use support::{convert, encode_numbered, ffmpeg, numbered, read_number, set_matrix};

/// A folder for one test's files.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("temporary folder")
}

/// Encodes `count` numbered frames as `name`, holds them against ffmpeg, and expects exactly these numbers.
fn check(folder: &Path, name: &str, count: u32, arguments: &str) -> PathBuf {
    let path = folder.join(name);
    encode_numbered(count, "30", arguments, &path);
    let numbers = hold_against_ffmpeg(&path);
    assert_eq!(numbers, (0..count).map(Some).collect::<Vec<_>>(), "{name}");
    path
}

#[test]
fn h264_of_every_structure() {
    let at = folder();
    for (name, count, arguments) in [
        ("plain.mp4", 120, "-c:v libx264 -pix_fmt yuv420p"),
        ("long.mp4", 300, "-c:v libx264 -g 300 -bf 3 -sc_threshold 0 -pix_fmt yuv420p"),
        (
            "open.mp4",
            100,
            "-c:v libx264 -g 20 -bf 3 -sc_threshold 0 -x264-params open-gop=1 -pix_fmt yuv420p",
        ),
        (
            "uneven.mp4",
            100,
            "-c:v libx264 -g 90 -bf 2 -force_key_frames 0.3,0.333,1,2.1 -sc_threshold 0 -pix_fmt yuv420p",
        ),
        (
            "pyramid.mkv",
            100,
            "-c:v libx264 -g 40 -bf 8 -b_strategy 0 -refs 6 -sc_threshold 0 -pix_fmt yuv420p",
        ),
        ("refresh.mp4", 90, "-c:v libx264 -g 25 -x264-params intra-refresh=1 -pix_fmt yuv420p"),
        (
            "interlaced.mp4",
            60,
            "-c:v libx264 -flags +ilme+ildct -x264-params interlaced=1 -g 15 -pix_fmt yuv420p",
        ),
        (
            "interlaced.ts",
            60,
            "-c:v libx264 -flags +ilme+ildct -x264-params interlaced=1 -g 15 -pix_fmt yuv420p",
        ),
        ("plain.ts", 100, "-c:v libx264 -g 30 -bf 3 -sc_threshold 0 -pix_fmt yuv420p"),
        ("ten.mkv", 30, "-c:v libx264 -pix_fmt yuv420p10le -g 12"),
        ("422.mov", 30, "-c:v libx264 -pix_fmt yuv422p -g 12"),
        ("444.mp4", 30, "-c:v libx264 -pix_fmt yuv444p -g 12"),
        ("plain.flv", 60, "-c:v libx264 -g 20 -pix_fmt yuv420p"),
        ("plain.avi", 60, "-c:v libx264 -g 20 -bf 2 -pix_fmt yuv420p"),
        ("plain.h264", 60, "-c:v libx264 -g 20 -bf 2 -sc_threshold 0 -pix_fmt yuv420p"),
        ("fragments.mp4", 60, "-c:v libx264 -g 20 -movflags frag_keyframe+empty_moov -pix_fmt yuv420p"),
        ("one.mp4", 1, "-c:v libx264 -pix_fmt yuv420p"),
    ] {
        check(at.path(), name, count, arguments);
    }
}

#[test]
fn other_codecs_and_containers() {
    let at = folder();
    for (name, count, arguments) in [
        (
            "open.hevc.mp4",
            60,
            "-c:v libx265 -x265-params keyint=20:bframes=3:open-gop=1:log-level=none -pix_fmt yuv420p",
        ),
        ("ten.hevc.mkv", 30, "-c:v libx265 -x265-params keyint=10:log-level=none -pix_fmt yuv420p10le"),
        (
            "alt.vp8.webm",
            90,
            "-c:v libvpx -auto-alt-ref 1 -lag-in-frames 16 -g 40 -b:v 1M -deadline realtime -cpu-used 8",
        ),
        (
            "alt.vp9.webm",
            60,
            "-c:v libvpx-vp9 -auto-alt-ref 1 -lag-in-frames 16 -g 30 -b:v 1M -deadline realtime -cpu-used 8",
        ),
        ("two.av1.mp4", 20, "-c:v libsvtav1 -g 2 -preset 12 -pix_fmt yuv420p"),
        ("long.av1.mkv", 40, "-c:v libsvtav1 -g 33 -preset 12 -pix_fmt yuv420p"),
        ("prores.mov", 12, "-c:v prores_ks -profile:v 3 -pix_fmt yuv422p10le"),
        ("motion.avi", 20, "-c:v mjpeg -q:v 3 -pix_fmt yuvj420p"),
        ("packed.avi", 60, "-c:v mpeg4 -bf 2 -g 20 -q:v 4"),
        ("two.mpg", 60, "-c:v mpeg2video -bf 2 -g 15 -q:v 4"),
        ("two.vob.ts", 60, "-c:v mpeg2video -flags +ilme+ildct -bf 2 -g 15 -q:v 4"),
        ("one.mpeg", 60, "-c:v mpeg1video -bf 2 -g 15 -q:v 4"),
        ("windows.wmv", 40, "-c:v wmv2 -g 12 -q:v 4"),
        ("lossless.mkv", 20, "-c:v ffv1 -g 5 -pix_fmt bgr0"),
        ("moving.gif", 15, ""),
        ("moving.apng", 15, "-c:v apng"),
        ("flash.flv", 40, "-c:v flv -g 12 -q:v 3"),
        ("theora.ogv", 40, "-c:v libtheora -g 12 -q:v 8"),
        ("raw.y4m", 20, "-pix_fmt yuv420p"),
    ] {
        check(at.path(), name, count, arguments);
    }

    let source = open_ok(&at.path().join("packed.avi"));
    assert!((source.info().frame_rate.as_f64() - 30.0).abs() < 1e-3 && source.info().warnings.is_empty());
    // Two frames in a packet and a stub behind it. This encoder keeps its last two frames to itself.
    let packed = at.path().join("xvid.avi");
    encode_numbered(60, "30", "-c:v libxvid -bf 2 -g 20 -q:v 4", &packed);
    assert_eq!(hold_against_ffmpeg(&packed), (0..58).map(Some).collect::<Vec<_>>());
}

#[test]
fn times_of_every_kind() {
    let at = folder();
    let base = check(at.path(), "base.mp4", 100, "-c:v libx264 -g 30 -bf 3 -sc_threshold 0 -pix_fmt yuv420p");
    // Each name: what goes before the input, what behind it.
    for (name, before, behind) in [
        ("late.mkv", "", "-c copy -output_ts_offset 12.5"),
        ("late.mp4", "", "-c copy -output_ts_offset 3"),
        ("negative.mkv", "-itsoffset -1", "-c copy -avoid_negative_ts disabled"),
        ("edit.mp4", "-ss 1.3", "-c copy"),
        ("edit.mov", "-ss 0.45", "-c copy"),
        ("middle.ts", "", "-c copy -muxdelay 0"),
        ("nofaststart.mp4", "", "-c copy -movflags +faststart"),
        ("negative.mov", "-itsoffset -0.2", "-c copy -avoid_negative_ts disabled"),
        ("fragments.mp4", "-ss 0.7", "-c copy -movflags frag_keyframe+empty_moov+delay_moov"),
    ] {
        let path = at.path().join(name);
        convert(before, &base, behind, &path);
        let numbers = hold_against_ffmpeg(&path);
        assert!(
            numbers.windows(2).all(|w| matches!(w, [Some(a), Some(b)] if b == &(a + 1))),
            "{name}: {numbers:?}"
        );
        assert_eq!(numbers.last(), Some(&Some(99)), "{name}");
    }
    let edited = hold_against_ffmpeg(&at.path().join("edit.mp4"));
    assert_eq!(edited[0], Some(39), "the edit list starts at 1.3 s, not at the keyframe before");

    // A gap every third frame.
    let variable = at.path().join("variable.mp4");
    convert(
        "",
        &base,
        "-vf select=mod(n\\,3) -vsync passthrough -c:v libx264 -bf 2 -g 20 -pix_fmt yuv420p",
        &variable,
    );
    let numbers: Vec<_> = hold_against_ffmpeg(&variable).into_iter().flatten().collect();
    assert_eq!(numbers, (0..100).filter(|n| n % 3 != 0).collect::<Vec<_>>());
    let source = open_ok(&variable);
    assert!(source.info().variable_frame_rate && !open_ok(&base).info().variable_frame_rate);
    let second = |n| source.pts(FrameIndex(n)).expect("a time").seconds();
    assert!(
        (second(2) - second(1) - 2.0 / 30.0).abs() < 1e-3
            && (second(1) - second(0) - 1.0 / 30.0).abs() < 1e-3
    );

    // Every second frame at the time of the one before it.
    let twice = at.path().join("twice.mkv");
    convert("", &base, "-c copy -bsf:v setts=pts=floor(PTS/1024)*1024:dts=DTS", &twice);
    let source = open_ok(&twice);
    assert_eq!(source.info().frames, 100);
    let numbers: Vec<_> = hold_against_ffmpeg(&twice).into_iter().flatten().collect();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());

    // The second half of a broadcast begins between keyframes.
    let stream = at.path().join("stream.ts");
    convert("", &base, "-c copy", &stream);
    let bytes = std::fs::read(&stream).expect("readable");
    let middle = bytes.len() / 2 / 188 * 188;
    std::fs::write(&stream, &bytes[middle..]).expect("writable");
    let numbers: Vec<_> = hold_against_ffmpeg(&stream).into_iter().flatten().collect();
    assert_eq!(numbers.last(), Some(&99));

    for rate in ["120", "240", "24000/1001", "1"] {
        let path = at.path().join("rate.mp4");
        encode_numbered(30, rate, "-c:v libx264 -bf 2 -pix_fmt yuv420p", &path);
        assert_eq!(hold_against_ffmpeg(&path).len(), 30);
        let given = open_ok(&path).info().frame_rate.as_f64();
        let wanted =
            rate.split_once('/').map_or_else(|| rate.parse::<f64>().expect("a rate"), |_| 24_000.0 / 1_001.0);
        assert!((given - wanted).abs() < 1e-6, "{rate}: {given}");
    }
}

#[test]
fn an_index_is_kept_and_the_first_picture_does_not_wait_for_it() {
    let at = folder();
    let (path, cache) = (at.path().join("long.mp4"), at.path().join("cache/index"));
    ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=30:duration=80 -c:v mpeg4 -g 60 -bf 2", &path);
    let open_counting = |go_on: bool| {
        let mut told = Vec::new();
        let opened = open_with(
            &path,
            OpenOptions {
                cache: Some(&cache),
                progress: &mut |share| {
                    told.push(share);
                    go_on
                },
            },
        );
        (opened, told)
    };
    let (stopped, told) = open_counting(false);
    assert!(matches!(stopped, Err(VideoError::Stopped { .. })) && told.len() == 1);
    assert!(!cache.exists());
    let (mut first, told) = open_counting(true);
    let first = first.as_mut().expect("opens");
    assert!(told.len() > 4 && told.windows(2).all(|w| w[0] <= w[1]) && told.iter().all(|s| *s <= 1.0));
    assert_eq!(std::fs::read_dir(&cache).expect("made").count(), 1);
    let (mut again, told) = open_counting(true);
    let again = again.as_mut().expect("opens");
    assert!(told.is_empty(), "nothing was read through");
    assert_eq!(first.info(), again.info());
    for n in [0, 2_399, 1_000, 999, 61] {
        assert_eq!(frame(first.as_mut(), n), frame(again.as_mut(), n), "{n}");
        assert_eq!(first.pts(FrameIndex(n)), again.pts(FrameIndex(n)));
    }
    assert_eq!(first_picture(&path).expect("a picture"), frame(first.as_mut(), 0));
    // A damaged index is made again.
    let kept = std::fs::read_dir(&cache).expect("made").next().expect("one").expect("readable").path();
    std::fs::write(&kept, b"MSKIDX01 and nonsense").expect("written");
    assert_eq!(open_counting(true).0.expect("opens").info().frames, 2_400);
}

#[test]
fn upright_in_all_eight_ways() {
    let at = folder();
    let path = at.path().join("turned.mp4");
    for matrix in [
        [1, 0, 0, 1],
        [0, 1, -1, 0],
        [-1, 0, 0, -1],
        [0, -1, 1, 0],
        [-1, 0, 0, 1],
        [1, 0, 0, -1],
        [0, 1, 1, 0],
        [0, -1, -1, 0],
    ] {
        encode_numbered(4, "30", "-c:v libx264 -pix_fmt yuv420p", &path);
        set_matrix(&path, matrix);
        hold_against_ffmpeg(&path);
        let source = open_ok(&path);
        let turned = matrix[0] == 0;
        let size = if turned { Size::new(96, 192) } else { Size::new(192, 96) };
        assert_eq!(source.info().size, size, "{matrix:?}");
        assert_eq!(source.info().rotation % 180 == 90, turned);
        let mirrored = matrix[0] * matrix[3] - matrix[1] * matrix[2] < 0;
        assert_eq!(source.info().format.contains("mirrored"), mirrored);
    }
}

#[test]
fn colours_are_those_of_ffmpeg() {
    let at = folder();
    for (n, arguments) in [
        "-c:v libx264 -qp 4 -colorspace bt709 -pix_fmt yuv420p",
        "-c:v libx264 -qp 4 -colorspace smpte170m -pix_fmt yuv420p",
        "-c:v libx264 -qp 4 -colorspace bt470bg -color_range pc -pix_fmt yuvj420p",
        "-c:v libx264 -qp 4 -colorspace bt709 -color_range pc -pix_fmt yuv420p",
        "-c:v libx264 -qp 4 -colorspace bt2020nc -pix_fmt yuv420p10le",
        "-c:v libx264 -qp 4 -colorspace bt709 -color_range pc -pix_fmt yuv422p10le",
        "-c:v libx264 -qp 4 -colorspace smpte240m -pix_fmt yuv444p",
        "-c:v libx264rgb -qp 4 -pix_fmt rgb24",
        "-c:v ffv1 -pix_fmt gray",
        "-c:v ffv1 -pix_fmt gray16le",
        "-c:v ffv1 -pix_fmt yuva420p",
        "-c:v ffv1 -pix_fmt bgra",
        "-c:v ffv1 -pix_fmt yuv410p",
        "-c:v ffv1 -pix_fmt yuv411p",
        "-c:v png -pix_fmt rgba64be",
        "-c:v png -pix_fmt pal8",
        "-c:v rawvideo -pix_fmt nv12",
        "-c:v rawvideo -pix_fmt yuyv422",
        "-c:v prores_ks -profile:v 4 -pix_fmt yuva444p10le",
    ]
    .iter()
    .enumerate()
    {
        for size in ["128x72", "131x77", "64x48"] {
            let odd = size == "131x77";
            let subsampled =
                arguments.contains("420p") || arguments.contains("422") || arguments.contains("nv12");
            if odd && (subsampled || arguments.contains("41") || arguments.contains("prores")) {
                // Not what these encoders take; odd sizes of 4:2:0 are below.
                continue;
            }
            let path = at.path().join(format!("{n}.mkv"));
            ffmpeg(&format!("-f lavfi -i testsrc2=size={size}:rate=10:duration=0.3 {arguments}"), &path);
            hold_against_ffmpeg(&path);
        }
    }
    // Odd sizes of 4:2:0, as VP9 and cropping H.264 have them.
    for (name, arguments) in [
        ("odd.webm", "-vf crop=853:479:0:0:exact=1 -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 4M"),
        ("tiny.webm", "-vf crop=1:1:9:9:exact=1 -c:v libvpx-vp9 -deadline realtime -cpu-used 8"),
        ("wide.mp4", "-vf scale=8200:8 -c:v libx264 -pix_fmt yuv420p"),
    ] {
        let path = at.path().join(name);
        ffmpeg(&format!("-f lavfi -i testsrc2=size=960x540:rate=10:duration=0.5 {arguments}"), &path);
        hold_against_ffmpeg(&path);
    }
}

#[test]
fn moving_pictures_of_the_web() {
    let at = folder();
    for (name, count, arguments) in [
        ("moving.webp", 12, "-c:v libwebp_anim -lossless 1"),
        ("still.webp", 1, "-c:v libwebp -lossless 1"),
        ("two.avif", 8, "-c:v libaom-av1 -cpu-used 8 -crf 20 -pix_fmt yuv420p"),
    ] {
        let path = at.path().join(name);
        encode_numbered(count, "10", arguments, &path);
        match open(&path) {
            Ok(_) => {
                assert_eq!(hold_against_ffmpeg(&path), (0..count).map(Some).collect::<Vec<_>>(), "{name}")
            }
            // Not every FFmpeg reads moving WebP: then it must say so.
            Err(error) => {
                assert!(name == "moving.webp" && error.to_string().contains("moving WebP"), "{error}")
            }
        }
    }
}

#[test]
fn sample_aspect_and_names() {
    let at = folder();
    let path = at.path().join("视频 тест é😀 100% 'quoted' \"name\".mp4");
    ffmpeg(
        "-f lavfi -i testsrc2=size=720x576:rate=25:duration=0.2 -vf setsar=16/15 -c:v libx264 -pix_fmt yuv420p",
        &path,
    );
    let mut source = open_ok(&path);
    assert_eq!(source.info().size, Size::new(720, 576));
    assert_eq!(source.info().sample_aspect, Rational::new(16, 15));
    assert_eq!(source.info().frame_rate, Rational::new(25, 1));
    assert!((source.info().duration.expect("a duration") - 0.2).abs() < 1e-3);
    assert_eq!(source.file_name(FrameIndex(0)), None);
    frame(source.as_mut(), 4);
    let bare = at.path().join("no extension");
    std::fs::copy(&path, &bare).expect("copied");
    assert_eq!(open_ok(&bare).info().frames, 5);
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let strange = at.path().join(std::ffi::OsStr::from_bytes(b"not \xff utf-8.mp4"));
        std::fs::copy(&path, &strange).expect("copied");
        assert_eq!(open_ok(&strange).info().frames, 5);
        let deep = at.path().join("d".repeat(200)).join("e".repeat(200));
        std::fs::create_dir_all(&deep).expect("made");
        std::fs::copy(&path, deep.join("long.mp4")).expect("copied");
        assert_eq!(open_ok(&deep.join("long.mp4")).info().frames, 5);
    }
}

#[test]
fn what_is_no_video_says_so() {
    let at = folder();
    let file = |name: &str, bytes: &[u8]| {
        let path = at.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        path
    };
    assert!(refusal(&file("empty.mp4", b"")).contains("the file is empty"));
    assert!(refusal(&file("text.txt", "hello world\n".repeat(500).as_bytes())).contains("text.txt: "));
    assert!(refusal(&file("text.mp4", "hello world\n".repeat(500).as_bytes())).contains("not a video"));
    assert!(
        refusal(&file("escape.ans", "\x1b[31mred\x1b[0m\r\n".repeat(99).as_bytes())).contains("escape.ans: ")
    );
    assert!(
        refusal(&file("list.m3u8", b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nx.ts\n#EXT-X-ENDLIST\n"))
            .len()
            > 9
    );
    assert!(refusal(&file("list.txt", b"ffconcat version 1.0\nfile 'a.mp4'\n")).len() > 9);
    let ftyp = b"\0\0\0\x18ftypisom\0\0\x02\0isomiso2";
    assert!(refusal(&file("ftyp.mp4", ftyp)).contains("moov"));
    assert!(
        refusal(&file(
            "noise.mkv",
            &(0..40_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>()
        ))
        .len()
            > 9
    );
    let sound = at.path().join("sound.m4a");
    ffmpeg("-f lavfi -i sine=duration=1 -c:a aac", &sound);
    assert!(refusal(&sound).contains("only sound"));
    let cover = at.path().join("cover.mp3");
    ffmpeg(
        "-f lavfi -i sine=duration=1 -f lavfi -i testsrc2=size=64x64:duration=1:rate=1 -map 0 -map 1 -frames:v 1 -c:v png -disposition:v attached_pic",
        &cover,
    );
    assert!(refusal(&cover).contains("cover"));
    assert!(matches!(open(&at.path().join("missing.mp4")), Err(VideoError::Io { .. })));
}

#[test]
fn a_video_beside_sound_and_a_cover_is_found() {
    let at = folder();
    let (plain, cover, both) =
        (at.path().join("plain.mp4"), at.path().join("cover.jpg"), at.path().join("both.mp4"));
    encode_numbered(20, "30", "-c:v libx264 -pix_fmt yuv420p", &plain);
    ffmpeg("-f lavfi -i testsrc2=size=640x480:duration=1:rate=1 -frames:v 1", &cover);
    let input = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    ffmpeg(
        &format!(
            "-i {} -i {} -f lavfi -i sine=duration=1 -map 1:v -map 2:a -map 0:v -c:v:0 copy -c:v:1 copy \
             -disposition:v:1 attached_pic -c:a aac",
            input(&cover),
            input(&plain)
        ),
        &both,
    );
    assert_eq!(hold_against_ffmpeg(&both), (0..20).map(Some).collect::<Vec<_>>());
}

#[test]
fn truncated_files_keep_what_can_be_decoded() {
    let at = folder();
    let cut = at.path().join("cut.mp4");
    for (name, arguments) in [
        ("front.mp4", "-c:v libx264 -g 30 -bf 3 -movflags +faststart -pix_fmt yuv420p"),
        ("whole.mkv", "-c:v libx264 -g 30 -bf 3 -pix_fmt yuv420p"),
        ("whole.ts", "-c:v libx264 -g 30 -bf 3 -pix_fmt yuv420p"),
    ] {
        let path = at.path().join(name);
        encode_numbered(90, "30", arguments, &path);
        let bytes = std::fs::read(&path).expect("readable");
        std::fs::write(&cut, &bytes[..bytes.len() * 6 / 10]).expect("writable");
        let mut source = open_ok(&cut);
        let count = source.info().frames;
        assert!((20..85).contains(&count), "{name}: {count}");
        if name == "front.mp4" {
            assert!(
                source.info().warnings.iter().any(|w| w.contains("90") && w.contains("cut off")),
                "{name}"
            );
        }
        // The last picture may be half there; all before it are whole.
        for n in 0..count - 1 {
            assert_eq!(read_number(frame(source.as_mut(), n).data()), Some(n), "{name}");
        }
        frame(source.as_mut(), count - 1);
        // At any byte: an answer, never a panic, and what opens can be read to its end.
        for part in 1..24 {
            std::fs::write(&cut, &bytes[..bytes.len() * part / 24]).expect("writable");
            if let Ok(mut source) = open(&cut) {
                let last = source.info().frames - 1;
                let _ = (
                    source.frame(FrameIndex(last)),
                    source.frame(FrameIndex(0)),
                    source.frame(FrameIndex(last / 2)),
                );
            }
        }
    }
    let path = at.path().join("end.mp4");
    encode_numbered(60, "30", "-c:v libx264 -pix_fmt yuv420p", &path);
    let bytes = std::fs::read(&path).expect("readable");
    std::fs::write(&cut, &bytes[..bytes.len() * 6 / 10]).expect("writable");
    assert!(refusal(&cut).contains("moov"), "index at the end");
}

#[test]
fn damage_in_the_middle_is_no_panic() {
    let at = folder();
    for (name, arguments) in [
        ("a.mp4", "-c:v libx264 -g 20 -bf 2 -pix_fmt yuv420p"),
        ("b.mkv", "-c:v libx265 -x265-params keyint=20:log-level=none -pix_fmt yuv420p"),
        ("c.webm", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 20 -b:v 1M"),
    ] {
        let path = at.path().join(name);
        encode_numbered(60, "30", arguments, &path);
        let clean = std::fs::read(&path).expect("readable");
        let mut state = 99u64;
        for _ in 0..12 {
            let mut bytes = clean.clone();
            for _ in 0..20 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (state >> 24) as usize % bytes.len();
                bytes[at] = (state >> 16) as u8;
            }
            std::fs::write(&path, &bytes).expect("writable");
            if let Ok(mut source) = open(&path) {
                for n in 0..source.info().frames {
                    if let Err(error) = source.frame(FrameIndex(n)) {
                        assert!(error.to_string().contains(&format!("frame {n}")), "{error}");
                    }
                }
            }
        }
    }
}

/// Prints how fast frames come, in order and one by one backwards, beside the ffmpeg program that only decodes. Ours are
/// converted to RGB too, which the second figure of ffmpeg includes.
#[test]
#[ignore = "a measurement: run it alone, with --release and --nocapture"]
#[expect(clippy::print_stdout, reason = "its answer is what it prints")]
fn decode_speed() {
    let at = folder();
    let path = at.path().join("speed.mp4");
    ffmpeg(
        "-f lavfi -i testsrc2=size=1280x720:rate=30:duration=20 -vf noise=alls=12:allf=t -c:v libx264 -preset veryfast -crf 23 -g 60 -pix_fmt yuv420p",
        &path,
    );
    let timed = |what: &str, frames: u32, run: &mut dyn FnMut()| {
        let start = std::time::Instant::now();
        run();
        println!("{what}: {:.0} frames a second", f64::from(frames) / start.elapsed().as_secs_f64());
    };
    for _ in 0..3 {
        timed("ffmpeg -f null", 600, &mut || convert("", &path, "-f null", Path::new("-")));
        let rgb = "-sws_flags accurate_rnd+full_chroma_int -pix_fmt rgb24 -f null";
        timed("ffmpeg to RGB", 600, &mut || convert("", &path, rgb, Path::new("-")));
        let mut source = open_ok(&path);
        timed("in order", 600, &mut || (0..600).for_each(|n| drop(frame(source.as_mut(), n))));
        timed("backwards", 300, &mut || (300..600).rev().for_each(|n| drop(frame(source.as_mut(), n))));
        timed("at random", 40, &mut || (0..40).for_each(|n| drop(frame(source.as_mut(), n * 377 % 600))));
    }
}

#[test]
fn written_videos_come_back() {
    let at = folder();
    let path = at.path().join("视频 é😀.part");
    for size in
        [Size::new(192, 96), Size::new(1, 1), Size::new(853, 480), Size::new(31, 17), Size::new(8_200, 6)]
    {
        let mut writer =
            VideoWriter::create(&path, size, FrameTiming::Rate(Rational::new(30_000, 1_001))).expect("made");
        assert!(!writer.encoder_name().is_empty());
        let padded = writer.padded_size();
        assert!(
            padded.width - size.width < 2
                && padded.width.is_multiple_of(2)
                && padded.height.is_multiple_of(2)
        );
        for shade in [40u8, 120, 200] {
            writer.write(&RgbFrame::filled(size, [shade, 90, 255 - shade])).expect("written");
        }
        writer.finish().expect("finished");
        let mut source = open_ok(&path);
        assert_eq!((source.info().frames, source.info().size), (3, padded), "{size}");
        assert_eq!(source.info().frame_rate, Rational::new(30_000, 1_001));
        for (n, shade) in (0..).zip([40u8, 120, 200]) {
            let back = frame(source.as_mut(), n);
            for pixel in back.data().chunks_exact(3) {
                let near = |a: u8, b: u8| a.abs_diff(b) <= 4;
                assert!(
                    near(pixel[0], shade) && near(pixel[1], 90) && near(pixel[2], 255 - shade),
                    "{size} {pixel:?}"
                );
            }
        }
    }
}

#[test]
fn written_frames_and_times_survive() {
    let at = folder();
    let path = at.path().join("times.mp4");
    let mut writer =
        VideoWriter::create(&path, support::NUMBERED, FrameTiming::Times(Rational::new(1, 90_000)))
            .expect("made");
    let times: Vec<i64> = (0..100).map(|n| 5_000 + n * 3_000 + n % 7 * 400).collect();
    for (n, &time) in (0..).zip(&times) {
        writer.write_at(&numbered(n), time).expect("written");
    }
    let late = writer.write_at(&numbered(100), times[99]).expect_err("time does not rise").to_string();
    assert!(late.contains("times.mp4") && late.contains("sort"), "{late}");
    assert!(writer.write_at(&RgbFrame::filled(Size::new(2, 2), [0; 3]), 1 << 40).is_err());
    writer.finish().expect("finished");
    assert_eq!(hold_against_ffmpeg(&path), (0..100).map(Some).collect::<Vec<_>>());
    let source = open_ok(&path);
    assert!(source.info().variable_frame_rate);
    for (n, &time) in (0..).zip(&times) {
        let seconds = source.pts(FrameIndex(n)).expect("a time").seconds();
        assert!((seconds - (time - 5_000) as f64 / 90_000.0).abs() < 1e-4, "frame {n}: {seconds}");
    }
}

#[test]
fn what_cannot_be_written_says_so() {
    let at = folder();
    let rate = FrameTiming::Rate(Rational::new(25, 1));
    let create = |path: &Path, size, timing| {
        VideoWriter::create(path, size, timing).err().expect("refused").to_string()
    };
    assert!(create(&at.path().join("x.mp4"), Size::new(0, 4), rate).contains("no size"));
    assert!(
        create(&at.path().join("x.mp4"), Size::new(4, 4), FrameTiming::Rate(Rational::new(0, 0)))
            .contains("0/0")
    );
    assert!(create(&at.path().join("none/x.mp4"), Size::new(4, 4), rate).contains("none/x.mp4"));
    let empty = VideoWriter::create(&at.path().join("x.mp4"), Size::new(4, 4), rate).expect("made");
    assert!(empty.finish().expect_err("no frames").to_string().contains("no frame"));
    #[cfg(target_os = "linux")]
    {
        // Every write to this device answers "no space left".
        let full = Path::new("/dev/full");
        let result = VideoWriter::create(full, support::NUMBERED, rate).and_then(|mut writer| {
            (0..40).try_for_each(|n| writer.write(&numbered(n)))?;
            writer.finish()
        });
        assert!(result.expect_err("full").to_string().contains("/dev/full"));
    }
}
