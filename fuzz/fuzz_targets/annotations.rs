//! Any file of any annotation format is looked through and read or refused. The first byte chooses the format.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use masklet::base::{Format, Size};
use masklet::formats::import::{FrameNames, import};
use masklet::formats::validate;
use masklet::session::Session;

const FORMATS: [Format; 8] = [
    Format::Coco,
    Format::YoutubeVis,
    Format::YoutubeVisResults,
    Format::MotsTxt,
    Format::Cvat,
    Format::LabelStudio,
    Format::Csv,
    Format::Exr,
];

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let format = FORMATS[usize::from(*choice) % FORMATS.len()];
    let suffix = format!(".{}", format.facts().extension);
    let mut file =
        tempfile::Builder::new().suffix(&suffix).tempfile().expect("the temporary folder can be written");
    file.write_all(bytes).expect("the temporary folder has room");
    let _ = validate(file.path(), format);
    if let Ok(imported) = import(file.path(), format, &FrameNames::numbered(0)) {
        let _ = imported.put_results(&mut Session::new(Size::new(7, 5), 9));
    }
});
