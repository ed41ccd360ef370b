//! Owns the files that leave the app: one file per format, the export job that feeds them, atomic writing, the stamp.
//! May import: base, session, video (writers).
//! Must not: know the engine or the pipeline, decode video, or leave a half-written file under its final name.

mod ascii_json;
mod atomic;
mod binary_png;
mod coco;
mod coco_check;
mod error;
mod format;
mod indexed_png;
mod job;
mod names;
mod plan;
mod png_file;
mod stamp;

pub use coco_check::CocoCounts;
pub use error::ExportError;
pub use format::Format;
pub use job::{ExportJob, Exporter, Pass};
pub use plan::{ExportFrame, ExportMask, ExportPlan, ExportSummary};
pub use stamp::Stamp;
