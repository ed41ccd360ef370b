//! Masks from files of others into a new project: the video is opened, names of frames are looked up, the project saved.

use std::path::PathBuf;

use super::PipelineError;
use super::factory::Tools;
use super::job::Input;
use crate::base::{Format, FrameIndex};
use crate::formats::import::{FrameNames, import};
use crate::project::{Media, MediaFile, Project, ProjectError};
use crate::session::Session;
use crate::video::VideoSource;

/// What masks become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportAs {
    /// Results on every frame that has a mask.
    Results,
    /// Each object's first mask becomes its prompt, to track from.
    Prompts,
}

/// Makes a project of a video and masks.
#[derive(Clone, Debug)]
pub struct ImportJob {
    /// The video that the masks belong to.
    pub video: Input,
    /// The file or folder of the masks.
    pub masks: PathBuf,
    /// Its format.
    pub format: Format,
    /// What the masks become.
    pub use_as: ImportAs,
    /// Number that frame 0 has in names of files; only for videos, whose frames have no names.
    pub start: u32,
    /// Where the project goes.
    pub project: PathBuf,
    /// Replace a project that is there already.
    pub overwrite: bool,
}

/// What was imported.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ImportReport {
    /// The project.
    pub project: PathBuf,
    /// Names of the objects.
    pub objects: Vec<String>,
    /// Masks that were read.
    pub masks: u64,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Does `job`.
///
/// # Errors
/// The video or the masks cannot be read, they do not fit each other, or the project cannot be written.
pub(super) fn run(job: &ImportJob, tools: &Tools) -> Result<ImportReport, PipelineError> {
    if !job.overwrite && job.project.exists() {
        return Err(PipelineError::Exists(job.project.clone()));
    }
    let source = tools.videos.open(&job.video)?;
    let info = source.info();
    let wrong = |reason: String| PipelineError::Input(reason);
    let imported = import(&job.masks, job.format, &names(source.as_ref(), job.start))
        .map_err(|e| wrong(e.to_string()))?;
    if imported.size != info.size {
        let (masks, video) = (imported.size, info.size);
        return Err(wrong(format!(
            "{}: the masks have {masks} pixels but the video has {video}: these masks belong to another video",
            job.masks.display()
        )));
    }
    let mut session = Session::new(info.size, info.frames);
    let put = match job.use_as {
        ImportAs::Results => imported.put_results(&mut session),
        ImportAs::Prompts => imported.put_prompts(&mut session),
    };
    put.map_err(|e| wrong(format!("{}: {e}", job.masks.display())))?;
    let media = match &job.video {
        Input::Demo => Media::Drawn,
        Input::Path(path) => {
            let described = MediaFile::describe(path, job.project.parent());
            Media::File(described.map_err(|source| ProjectError::Read { path: path.clone(), source })?)
        }
    };
    Project::save(&job.project, &session, media)?;
    Ok(ImportReport {
        project: job.project.clone(),
        objects: session.objects().iter().map(|object| object.name.clone()).collect(),
        masks: imported.tracks.iter().map(|track| track.masks.len() as u64).sum(),
        notes: imported.warnings,
    })
}

/// What files of masks may be called: as the pictures of a folder, or by the numbers of a video's frames.
fn names(source: &dyn VideoSource, start: u32) -> FrameNames {
    let files: Vec<&str> =
        (0..source.info().frames).map_while(|frame| source.file_name(FrameIndex(frame))).collect();
    if files.is_empty() { FrameNames::numbered(start) } else { FrameNames::of_files(files) }
}
