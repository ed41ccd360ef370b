//! Any bytes are a checkpoint or an error.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use masklet::convert::Checkpoint;

fuzz_target!(|data: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("the temporary folder can be written");
    file.write_all(data).expect("the temporary folder has room");
    let _ = Checkpoint::open(file.path());
});
