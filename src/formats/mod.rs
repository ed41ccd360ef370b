//! Owns the files that leave the app: one file per format, the export job that feeds them, atomic writing, the stamp.
//! May import: base, session, video (writers).
//! Must not: know the engine or the pipeline, decode video, or leave a half-written file under its final name.

mod ascii_json;
mod atomic;
mod binary_png;
mod coco;
mod coco_check;
mod draw;
mod error;
mod indexed_png;
mod job;
mod mp4;
mod names;
mod overlay;
mod plan;
mod png_file;
mod sink;
mod stamp;

pub use coco_check::CocoCounts;
pub use draw::{Drawn, draw_masks};
pub use error::ExportError;
pub use job::{ExportJob, Exporter, Pass};
pub use plan::{ExportFrame, ExportMask, ExportPlan, ExportSummary};
pub use sink::{FrameSink, OpenSink, SinkSpec};
pub use stamp::Stamp;
