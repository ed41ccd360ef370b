//! Any bytes are a journal or an error; what is accepted can be played, and what came of it saved.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use masklet::project::{Media, Project, parse_journal};
use masklet::session::Session;

fuzz_target!(|data: &[u8]| {
    let path = Path::new("fuzzed.journal");
    if let Ok(journal) = parse_journal(path, data) {
        assert!(journal.length <= data.len() as u64);
        let mut session = Session::new(journal.header.size, journal.header.frames);
        journal.play(&mut session);
        let saved = Project::to_bytes(&session, Media::Drawn);
        // A journal may name a size that no project may have; everything else must fit.
        if journal.header.size.width.max(journal.header.size.height) < 65_536 && journal.header.size.area() > 0 {
            Project::parse(path, &saved).expect("what was recovered can be saved");
        }
    }
});
