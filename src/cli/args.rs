//! The command line's grammar.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::model::ModelTask;
use super::object_args::ObjectArgs;
use crate::base::{DeviceChoice, ExportOptions, Format, FrameIndex, Preprocess, Transport};
use crate::pipeline::{EngineOptions, ModelChoice};

/// Cuts objects out of video: say what you mean with a click, a box or a mask, and get its masks on every frame.
#[derive(Debug, Parser)]
#[command(name = "masklet", version, max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(super) struct Arguments {
    /// Open the window on a video, a picture folder or a .masklet project
    pub file: Option<PathBuf>,
    #[command(subcommand)]
    pub task: Option<Task>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Task {
    /// Follow objects through a video and write their masks
    Track(TrackArgs),
    /// Write the masks that a project holds
    Export(ProjectArgs),
    /// Cut objects out of one picture
    Segment(SegmentArgs),
    /// Say what a video is
    Info(InfoArgs),
    /// List what can compute
    Devices(DevicesArgs),
    /// Measure the speed on this machine
    Bench(BenchArgs),
    /// Track the built-in clip and compare with its exact masks
    Demo(DemoArgs),
    /// Make a project of a video and masks that you have
    Import(ImportArgs),
    /// Say what readers would trip over in an annotation file or folder
    Validate(ValidateArgs),
    /// List the export formats and what can be set about them
    Formats(FormatsArgs),
    /// Compare tracked masks with given ones (J, F, J&F)
    Eval(EvalArgs),
    /// Convert and describe model files
    #[command(subcommand)]
    Model(ModelTask),
}

#[derive(Debug, Args)]
pub(super) struct TrackArgs {
    /// A video file, a folder of pictures, or a project (.masklet) with its own objects
    pub video: PathBuf,
    #[command(flatten)]
    pub objects: ObjectArgs,
    /// Where a project's video is now
    #[arg(long = "video", value_name = "FILE")]
    pub moved: Option<PathBuf>,
    /// First frame that is wanted
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    pub from: Option<FrameIndex>,
    /// Last frame that is wanted
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    pub to: Option<FrameIndex>,
    /// Follow from the last prompt towards the first frame
    #[arg(long, conflicts_with = "both")]
    pub backward: bool,
    /// Follow both ways
    #[arg(long)]
    pub both: bool,
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub export: ExportArgs,
    /// How many decoded pictures may wait; 0 works in one thread
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub ahead: Option<usize>,
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
pub(super) struct ProjectArgs {
    /// A project (.masklet)
    pub project: PathBuf,
    /// Where its video is now [default: where the project says, or beside it]
    #[arg(long = "video", value_name = "FILE")]
    pub moved: Option<PathBuf>,
    /// First frame [default: the in mark, else the first]
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    pub from: Option<FrameIndex>,
    /// Last frame [default: the out mark, else the last]
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    pub to: Option<FrameIndex>,
    #[command(flatten)]
    pub export: ExportArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
pub(super) struct SegmentArgs {
    /// A picture file
    pub image: PathBuf,
    #[command(flatten)]
    pub objects: ObjectArgs,
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub export: ExportArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
pub(super) struct EngineArgs {
    /// Side of the square picture that the network sees: 256, 512, 768 or 1024 [default: the model's]
    #[arg(long, value_name = "N", value_parser = side)]
    pub size: Option<u32>,
    /// A converted model file [default: the built-in one]
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// What computes: auto, cpu, cuda, cuda:1, vulkan, vulkan:1, metal; where it cannot, the next one does
    #[arg(long, value_name = "DEVICE", default_value_t = DeviceChoice::Auto)]
    pub device: DeviceChoice,
    /// How memories get to tracked frames, host or device [default: the device's own way]; the results are the same
    #[arg(long, value_name = "WAY", hide_short_help = true)]
    pub transport: Option<Transport>,
    /// Where pictures are brought to the network's size: cpu, device, or verify, which does both and holds them together
    /// [default: the device's own way]
    #[arg(long, value_name = "WHERE", hide_short_help = true)]
    pub preprocess: Option<Preprocess>,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Folder for the results; made when it does not exist
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// What is written, separated by commas: png, coco, overlay, ...; `masklet formats` lists all
    #[arg(long = "format", value_name = "FORMATS", value_delimiter = ',', default_value = "png")]
    pub formats: Vec<Format>,
    /// Sets an option, as `every=5` or `coco.masks=polygons`; `masklet formats` lists all. Can be repeated
    #[arg(long = "set", value_name = "OPTION=VALUE", value_parser = setting)]
    pub settings: Vec<String>,
    /// Replace results that are there already
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Debug, Args)]
pub(super) struct ValidateArgs {
    /// The file or folder
    pub path: PathBuf,
    /// Which format it is to have; `masklet formats` lists all
    #[arg(long = "as", value_name = "FORMAT")]
    pub format: Format,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The video file or folder of pictures that the masks belong to
    pub video: PathBuf,
    /// The file or folder of the masks
    pub masks: PathBuf,
    /// Its format: png, png-binary, coco, youtube-vis or youtube-vis-results
    #[arg(long = "as", value_name = "FORMAT")]
    pub format: Format,
    /// The project to make
    #[arg(long, short, value_name = "FILE.masklet")]
    pub project: PathBuf,
    /// Take each object's first mask as its prompt, instead of all masks as results
    #[arg(long)]
    pub prompts: bool,
    /// Number that frame 0 has in the names of files
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub start: u32,
    /// Replace a project that is there already
    #[arg(long)]
    pub overwrite: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(super) struct FormatsArgs {
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, Args)]
pub(super) struct TalkArgs {
    /// One JSON value a line on standard output
    #[arg(long)]
    pub json: bool,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct InfoArgs {
    /// A video file, a folder of pictures or a picture
    pub video: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(super) struct DevicesArgs {
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(super) struct BenchArgs {
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Number of frames that count
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: u32,
    /// Number of objects that are tracked
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=4))]
    pub objects: u8,
    /// Also say what computes each kind of work
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Folder for the results; made when it does not exist
    #[arg(long, value_name = "DIR", default_value = "masklet-demo")]
    pub out: PathBuf,
    /// What is written, separated by commas; `masklet formats` lists all
    #[arg(long = "format", value_name = "FORMATS", value_delimiter = ',', default_value = "png,overlay")]
    pub formats: Vec<Format>,
    /// Replace results that are there already
    #[arg(long)]
    pub overwrite: bool,
    /// Only draw the clip: its pictures and exact masks as PNG into this folder
    #[arg(long, value_name = "DIR")]
    pub frames_only: Option<PathBuf>,
    /// Last frame that is tracked
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    pub to: Option<FrameIndex>,
    /// Show the result in the window [default: when run in a terminal with a display]
    #[arg(long)]
    pub window: bool,
    /// Never open the window
    #[arg(long, conflicts_with = "window")]
    pub no_window: bool,
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// What the first frame is prompted with.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum PromptArg {
    /// Its given mask
    Mask,
    /// One click in the middle of the object
    Click,
    /// Three clicks, each in the middle of the largest error
    Click3,
}

#[derive(Debug, Args)]
pub(super) struct EvalArgs {
    /// A folder of pictures, or a folder of sequences (NAME/frames with NAME/masks)
    pub frames: PathBuf,
    /// Its masks, one PNG a frame, named as the pictures
    pub masks: Option<PathBuf>,
    /// What the first frame is prompted with
    #[arg(long, value_enum, default_value_t = PromptArg::Mask)]
    pub prompt: PromptArg,
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}

impl From<EngineArgs> for EngineOptions {
    fn from(args: EngineArgs) -> Self {
        Self {
            model: args.model.map_or(ModelChoice::Embedded, ModelChoice::File),
            size: args.size,
            threads: args.threads.map(usize::from),
            spill: None,
            device: args.device,
            transport: args.transport,
            preprocess: args.preprocess,
        }
    }
}

fn frame(text: &str) -> Result<FrameIndex, String> {
    text.parse().map(FrameIndex).map_err(|_| "not a frame number; frames count from 0".into())
}

/// Whether an option exists and takes the value.
fn setting(text: &str) -> Result<String, String> {
    ExportOptions::default().set(text).map(|()| text.to_owned()).map_err(|e| e.to_string())
}

pub(super) fn side(text: &str) -> Result<u32, String> {
    let side = text.parse().ok().filter(|n: &u32| (256..=1024).contains(n) && n.is_multiple_of(256));
    side.ok_or_else(|| "choose 256, 512, 768 or 1024".into())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_sound() {
        super::Arguments::command().debug_assert();
    }
}
