//! Any bytes are a project or an error; what is accepted can be edited, saved and read again.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use masklet::project::Project;
use masklet::session::{Document, Edit};

fuzz_target!(|data: &[u8]| {
    let path = Path::new("fuzzed.masklet");
    if let Ok(project) = Project::parse(path, data) {
        let mut document = Document::of(project.session);
        let _ = document.apply(Edit::AddObject { name: None, class: None });
        while document.undo().is_some() {}
        let again = Project::to_bytes(document.session(), project.media);
        Project::parse(path, &again).expect("what was read can be saved");
    }
});
