//! Holds the code against the table of ARCHITECTURE.md: who may import whom, where unsafe code lives, how a module opens.
//!
//! The source is parsed, so comments and strings do not count, and every way to write a path does: `use` trees, inline
//! paths, `super::super::`, `self::`, paths inside macros and attributes, and names that another room re-exports.

#[path = "architecture/walk.rs"]
mod walk;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use walk::{Reference, Source};

/// Which rooms a room may import. The same table stands in ARCHITECTURE.md.
const TABLE: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("kernels", &["base"]),
    ("ggml", &["base", "kernels"]),
    ("model", &["base", "kernels", "ggml"]),
    ("convert", &["base", "ggml", "model"]),
    ("engine", &["base", "kernels", "ggml", "model"]),
    ("video", &["base"]),
    ("session", &["base"]),
    ("project", &["base", "session"]),
    ("formats", &["base", "session", "video"]),
    ("metrics", &["base"]),
    ("demo", &["base"]),
    ("settings", &["base"]),
    ("pipeline", &["base", "engine", "video", "session", "project", "formats", "metrics", "demo"]),
    ("cli", &["base", "pipeline", "session", "settings", "convert"]),
    ("gui", &["base", "pipeline", "session", "settings", "convert"]),
    ("capi", &["base", "engine", "convert", "video", "pipeline"]),
    // The binary only chooses a face.
    ("main", &["cli", "gui"]),
];

/// Where unsafe code may stand; everywhere else the word itself is refused.
const UNSAFE: &[&str] = &["ggml/ffi.rs", "ggml/ffi/", "kernels/", "video/ffi.rs", "video/ffi/", "capi/"];

/// Rooms of pure data: they can be tested without a file, a thread or a network.
const PURE: &[&str] = &["base", "session"];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All `.rs` files under `root`, parsed, in the order of their names.
fn sources(root: &Path) -> Vec<Source> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the source folder can be read") {
            let path = entry.expect("the source folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.iter().map(|file| Source::read(root, file)).collect()
}

fn may_import(from: &str, to: &str) -> bool {
    // lib.rs declares the rooms and re-exports a few types for outsiders.
    from == to || from == "lib" || TABLE.iter().any(|(room, rooms)| *room == from && rooms.contains(&to))
}

fn is_room(name: &str) -> bool {
    TABLE.iter().any(|(room, _)| *room == name && name != "main")
}

/// Everything that goes against the table, one line each, in the order of files and lines.
fn findings(sources: &[Source]) -> Vec<String> {
    // What a room or the crate's root offers of another room: (offering room or "", name, room it comes from).
    let exports: BTreeSet<(&str, &str, &str)> = sources
        .iter()
        .flat_map(|s| &s.references)
        .filter_map(|r| {
            let name = r.exposes.as_deref()?;
            let offering = if r.room == "lib" { "" } else { r.room.as_str() };
            let origin = r.path.first().map(String::as_str).filter(|to| is_room(to) && *to != r.room)?;
            Some((offering, name, origin))
        })
        .collect();
    let mut found = BTreeSet::new();
    for source in sources {
        for odd in &source.oddities {
            found.insert((source.file.clone(), odd.line, odd.what.clone()));
        }
        for reference in &source.references {
            for (to, how) in rooms_named(reference, &exports) {
                if !may_import(&reference.room, to) {
                    let what = format!("{} may not import {to}{how}: {}", reference.room, reference.written);
                    found.insert((source.file.clone(), reference.line, what));
                }
            }
        }
    }
    found.into_iter().map(|(file, line, what)| format!("{file}:{line}: {what}")).collect()
}

/// The rooms that a path reaches: the one it names, and those whose items that one passes on.
fn rooms_named<'a>(
    reference: &'a Reference,
    exports: &BTreeSet<(&'a str, &'a str, &'a str)>,
) -> Vec<(&'a str, String)> {
    let Some((first, rest)) = reference.path.split_first() else { return Vec::new() };
    let passed_on = |offering: &str, name: &String| {
        exports
            .iter()
            .filter(|(o, n, _)| *o == offering && n == name)
            .map(|(_, _, origin)| *origin)
            .collect::<Vec<_>>()
    };
    if !is_room(first) {
        return passed_on("", first)
            .into_iter()
            .map(|to| (to, " through the crate's root".to_owned()))
            .collect();
    }
    let mut rooms = vec![(first.as_str(), String::new())];
    if *first != reference.room {
        let more = rest.iter().flat_map(|name| passed_on(first, name));
        rooms.extend(more.map(|to| (to, format!(" through {first}"))));
    }
    rooms
}

#[test]
fn imports_follow_the_table() {
    let findings = findings(&sources(&src()));
    assert!(findings.is_empty(), "imports against ARCHITECTURE.md:\n{}", findings.join("\n"));
}

#[test]
fn wrong_imports_of_every_kind_are_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/architecture/src");
    let found = findings(&sources(&root));
    let expected: Vec<&str> = include_str!("fixtures/architecture/findings.txt").lines().collect();
    assert_eq!(found, expected, "found:\n{}\n", found.join("\n"));
}

#[test]
fn every_room_is_in_the_table() {
    let rooms: BTreeSet<String> =
        sources(&src()).into_iter().map(|s| s.room).filter(|r| r != "lib").collect();
    for room in rooms {
        assert!(
            TABLE.iter().any(|(known, _)| *known == room),
            "src/{room} is not in the table of ARCHITECTURE.md"
        );
    }
}

#[test]
fn the_table_stands_in_the_document() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(path).expect("ARCHITECTURE.md can be read");
    for (room, rooms) in TABLE {
        let list = if rooms.is_empty() { "nothing".to_owned() } else { rooms.join(", ") };
        let row = format!("| `{room}` | {list} |");
        assert!(text.contains(&row), "ARCHITECTURE.md lacks the row\n{row}");
    }
}

#[test]
fn the_table_has_no_circle() {
    // Rooms stand in the table after everything that they import.
    for (at, (room, rooms)) in TABLE.iter().enumerate() {
        for to in *rooms {
            let earlier = TABLE[..at].iter().any(|(known, _)| known == to);
            assert!(earlier, "{room} imports {to}, which stands below it");
        }
    }
}

#[test]
fn unsafe_stays_in_its_rooms() {
    for source in sources(&src()) {
        let allowed = UNSAFE
            .iter()
            .any(|place| source.file == *place || place.ends_with('/') && source.file.starts_with(place));
        assert!(
            allowed || source.unsafe_lines.is_empty(),
            "src/{}: unsafe code in lines {:?}",
            source.file,
            source.unsafe_lines
        );
    }
}

#[test]
fn pure_rooms_do_no_work_outside_themselves() {
    for source in sources(&src()).iter().filter(|s| PURE.contains(&s.room.as_str())) {
        for (line, module) in &source.std_modules {
            let pure = !["fs", "thread", "net", "process", "env"].contains(&module.as_str());
            assert!(pure, "src/{}:{line}: {} is pure data but uses std::{module}", source.file, source.room);
        }
    }
}

#[test]
fn modules_say_what_they_own() {
    for source in sources(&src()) {
        let opens_room =
            source.file == format!("{}/mod.rs", source.room) || source.file == format!("{}.rs", source.room);
        if !opens_room || ["lib", "main"].contains(&source.room.as_str()) {
            continue;
        }
        let mut lines = source.text.lines();
        for start in ["//! Owns ", "//! May import: ", "//! Must not: "] {
            let line = lines.next().unwrap_or_default();
            assert!(line.starts_with(start), "src/{} opens with {line:?}, not with {start:?}", source.file);
        }
    }
}

#[test]
fn main_is_short() {
    let text = std::fs::read_to_string(src().join("main.rs")).expect("src/main.rs can be read");
    assert!(
        text.lines().count() <= 40,
        "src/main.rs has {} lines; it only chooses a face",
        text.lines().count()
    );
}
