//! Owns the files that leave the app: one file per format, the export job that feeds them, atomic writing, the stamp.
//! May import: base, session, video (writers).
//! Must not: know the engine or the pipeline, decode video, or leave a half-written file under its final name.

mod alpha_video;
mod ascii_json;
mod atomic;
mod binary_png;
mod brush_rle;
mod coco;
mod coco_check;
mod coco_lint;
mod csv;
mod cutout;
mod cvat;
mod cvat_lint;
mod draw;
mod error;
mod exr_layers;
mod findings;
mod folder;
mod frames;
mod indexed_png;
mod job;
mod label_studio;
mod luma_matte;
mod marks;
mod matte_png;
mod mots_png;
mod mots_txt;
mod names;
mod overlay;
mod plan;
mod png_file;
mod png_lint;
mod registry;
mod rings;
mod row_runs;
mod segmentation;
mod sink;
mod space;
mod spool;
mod stamp;
mod tracks;
mod video_file;
mod video_sink;
mod yolo;
mod youtube_vis;
mod youtube_vis_lint;

pub use coco_check::CocoCounts;
pub use draw::{Drawn, draw_masks};
pub use error::ExportError;
pub use findings::{Finding, Findings, Severity, validate};
pub use job::{ExportJob, Exporter, Pass};
pub use plan::{ExportFrame, ExportMask, ExportPlan, ExportSummary};
pub use sink::{FrameSink, OpenSink, SinkSpec};
pub use space::{bytes_in_words, check_space, estimate};
pub use stamp::Stamp;
