//! Any bytes are a picture, a mask, or an error.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use masklet::video::{read_labels, read_mask, read_picture};

fuzz_target!(|data: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("the temporary folder can be written");
    file.write_all(data).expect("the temporary folder has room");
    let _ = (read_picture(file.path()), read_mask(file.path()), read_labels(file.path()));
});
