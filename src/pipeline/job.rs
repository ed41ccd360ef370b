//! What a face of the app asks for: one job on one video, as plain data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::base::{BoxXyxy, Click, DeviceChoice, ExportOptions, Format, FrameIndex, Preprocess, Transport};

/// What is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A video file, a folder of pictures in natural order, or one picture.
    Path(PathBuf),
    /// The clip drawn by the code itself.
    Demo,
}

/// Which way objects are followed from their prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// From the first prompted frame to the end of the range.
    #[default]
    Forward,
    /// From the last prompted frame to the start of the range.
    Backward,
    /// Both: before an object's first prompt it is followed backward, after it forward.
    Both,
}

/// Which weights are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ModelChoice {
    /// Those inside the program.
    #[default]
    Embedded,
    /// A converted model file.
    File(PathBuf),
}

/// How the engine is set up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// Which weights.
    pub model: ModelChoice,
    /// Side of the square picture that the network sees, in pixels (a multiple of 256 up to 1024); the model's own
    /// when not given.
    pub size: Option<u32>,
    /// Number of threads; chosen by the machine when not given.
    pub threads: Option<usize>,
    /// Folder for a bounded file of what older frames remember, for later corrections on them; without one only the
    /// newest frames are remembered.
    pub spill: Option<PathBuf>,
    /// What is to compute.
    pub device: DeviceChoice,
    /// How memories get to tracked frames; the device's own way when not given.
    pub transport: Option<Transport>,
    /// Where pictures are brought to the network's size; the device's own way when not given.
    pub preprocess: Option<Preprocess>,
}

/// Where results go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportPlan {
    /// Folder; made when it does not exist.
    pub dir: PathBuf,
    /// What is written into it; nothing is allowed (the events carry the masks' figures).
    pub formats: Vec<Format>,
    /// Replace results that are there already.
    pub overwrite: bool,
    /// What was set about the formats.
    pub options: ExportOptions,
}

impl ExportPlan {
    /// The first file or folder that an export would replace.
    pub fn existing(&self) -> Option<PathBuf> {
        self.formats.iter().map(|format| self.dir.join(format.output())).find(|target| target.exists())
    }
}

/// What a person says about one object on one frame. Unlike [`crate::base::FramePrompts`] the mask is still a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptSpec {
    /// Clicks in the order they were made.
    pub clicks: Vec<Click>,
    /// A box around the object.
    pub bounds: Option<BoxXyxy>,
    /// A PNG of the picture's size; every pixel that is not black belongs to the object.
    pub mask: Option<PathBuf>,
}

/// One object to follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectSpec {
    /// Name; unique within a job.
    pub name: String,
    /// Class, the category of exports.
    pub class: String,
    /// What is said about it, by frame.
    pub prompts: BTreeMap<FrameIndex, PromptSpec>,
}

/// A saved project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectSpec {
    /// The `.masklet` file.
    pub path: PathBuf,
    /// Where its video is now, if it is not where the project says.
    pub video: Option<PathBuf>,
}

/// Export the masks that a project holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectExport {
    /// Which project.
    pub project: ProjectSpec,
    /// First frame; that of the project's in mark, else 0, when not given.
    pub from: Option<FrameIndex>,
    /// Last frame; that of the project's out mark, else the video's last, when not given.
    pub to: Option<FrameIndex>,
    /// Where to and in which formats.
    pub export: ExportPlan,
}

/// Follow objects through a video and export their masks.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackJob {
    /// A project that gives video, objects and prompts; the fields that name them are not looked at then.
    pub project: Option<ProjectSpec>,
    /// What is read.
    pub input: Input,
    /// The objects; their ids are 1, 2, ... in this order.
    pub objects: Vec<ObjectSpec>,
    /// A JSON file with more objects, which follow those above.
    pub prompts_file: Option<PathBuf>,
    /// First frame that is wanted; 0 when not given.
    pub from: Option<FrameIndex>,
    /// Last frame that is wanted; the last of the video when not given.
    pub to: Option<FrameIndex>,
    /// Which way.
    pub reach: Reach,
    /// How the engine is set up.
    pub engine: EngineOptions,
    /// Where results go.
    pub export: ExportPlan,
    /// How many decoded pictures may wait for the engine; 0 runs everything in one thread, with the same results.
    pub ahead: usize,
}

impl TrackJob {
    /// Depth of the decoder's queue unless a setting says otherwise.
    pub const AHEAD: usize = 4;

    /// A forward job over the whole of `input` that exports nothing.
    pub fn new(input: Input) -> Self {
        Self {
            project: None,
            input,
            objects: Vec::new(),
            prompts_file: None,
            from: None,
            to: None,
            reach: Reach::Forward,
            engine: EngineOptions::default(),
            export: ExportPlan::default(),
            ahead: Self::AHEAD,
        }
    }
}
