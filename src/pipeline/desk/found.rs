//! What lies behind a wish to open something: video, document, and what a person should know of them.

use std::path::{Path, PathBuf};

use super::request::OpenRequest;
use crate::base::Size;
use crate::pipeline::PipelineError;
use crate::pipeline::factory::Tools;
use crate::pipeline::job::Input;
use crate::project::{
    Journal, JournalHeader, Media, MediaFile, Project, ProjectError, Recovered, read_journal,
};
use crate::session::Session;
use crate::video::VideoSource;

/// What was found.
pub(in crate::pipeline) struct Found {
    pub(in crate::pipeline) input: Input,
    pub(in crate::pipeline) source: Box<dyn VideoSource>,
    pub(in crate::pipeline) session: Session,
    /// The project file and its hash.
    pub(in crate::pipeline) project: Option<(PathBuf, String)>,
    /// The journal that is gone on with.
    pub(in crate::pipeline) journal: Option<Journal>,
    pub(in crate::pipeline) notes: Vec<String>,
}

/// Why nothing was.
pub(in crate::pipeline) enum Missed {
    /// The video is not where it was.
    Media { project: PathBuf, media: PathBuf },
    /// Anything else.
    Failed(PipelineError),
}

impl Missed {
    /// The same for who cannot ask.
    pub(in crate::pipeline) fn into_error(self) -> PipelineError {
        match self {
            Self::Media { project, media } => PipelineError::Input(format!(
                "the video of {} is not at {}: say where it is with --video",
                project.display(),
                media.display()
            )),
            Self::Failed(error) => error,
        }
    }
}

impl<E: Into<PipelineError>> From<E> for Missed {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Opens `what`.
pub(super) fn find(what: &OpenRequest, tools: &Tools) -> Result<Found, Missed> {
    match what {
        OpenRequest::Video(input) => {
            let source = tools.videos.open(input)?;
            let session = Session::new(source.info().size, source.info().frames);
            let (project, journal, notes) = (None, None, Vec::new());
            Ok(Found { input: input.clone(), source, session, project, journal, notes })
        }
        OpenRequest::Project { path, media } => {
            let Project { session, media: known, hash } = Project::load(path)?;
            let mut notes = Vec::new();
            let input =
                media.clone().map_or_else(|| locate(path, &known, &mut notes), |m| Ok(Input::Path(m)))?;
            let source = open(tools, &input, path, (session.size(), session.frames()))?;
            let project = Some((path.clone(), hash));
            Ok(Found { input, source, session, project, journal: None, notes })
        }
        OpenRequest::Journal(path) => recover(path, tools),
    }
}

/// A saved project with its video, which lies at `media` if it is not where the project says.
pub(in crate::pipeline) fn open_project(
    path: &Path,
    media: Option<&Path>,
    tools: &Tools,
) -> Result<Found, Missed> {
    let Project { session, media: known, hash } = Project::load(path)?;
    let mut notes = Vec::new();
    let input = match media {
        Some(media) => Input::Path(media.to_owned()),
        None => locate(path, &known, &mut notes)?,
    };
    let source = open(tools, &input, path, (session.size(), session.frames()))?;
    let project = Some((path.to_owned(), hash));
    Ok(Found { input, source, session, project, journal: None, notes })
}

/// What a crash left behind.
fn recover(path: &Path, tools: &Tools) -> Result<Found, Missed> {
    let recovered = read_journal(path)?;
    let JournalHeader { size, frames, media, project, project_hash, .. } = recovered.header.clone();
    let mut notes = Vec::new();
    let (mut session, project) = base(&recovered, project.zip(project_hash), &mut notes);
    let failed = recovered.play(&mut session);
    if failed > 0 {
        notes.push(format!("{failed} changes of the journal did not fit and were left out"));
    }
    let beside = project.as_ref().map_or(path, |(project, _)| project.as_path());
    let input = locate(beside, &media, &mut notes)?;
    let source = open(tools, &input, beside, (size, frames))?;
    let journal = Some(recovered.resume(path)?);
    Ok(Found { input, source, session, project, journal, notes })
}

/// The document that the changes build upon.
fn base(
    recovered: &Recovered,
    project: Option<(PathBuf, String)>,
    notes: &mut Vec<String>,
) -> (Session, Option<(PathBuf, String)>) {
    let JournalHeader { size, frames, .. } = recovered.header;
    let empty = Session::new(size, frames);
    let Some((path, hash)) = project else { return (empty, None) };
    match Project::load(&path) {
        Ok(found) if (found.session.size(), found.session.frames()) == (size, frames) => {
            if found.hash != hash {
                notes.push(format!(
                    "{} was changed since: the recovered work was put upon it",
                    path.display()
                ));
            }
            (found.session, Some((path, hash)))
        }
        Ok(_) => {
            notes.push(format!("{} is another project now: only later work was recovered", path.display()));
            (empty, None)
        }
        Err(error) => {
            notes.push(format!("only what came after the last save was recovered: {error}"));
            (empty, None)
        }
    }
}

fn locate(project: &Path, media: &Media, notes: &mut Vec<String>) -> Result<Input, Missed> {
    let Media::File(file) = media else { return Ok(Input::Demo) };
    match file.locate(project.parent()) {
        Some((path, same)) => {
            if path != file.absolute {
                notes.push(format!("the video was found at {}", path.display()));
            }
            if !same {
                notes.push(format!("{} was changed since the project was saved", path.display()));
            }
            Ok(Input::Path(path))
        }
        None => Err(Missed::Media { project: project.into(), media: file.absolute.clone() }),
    }
}

/// Opens the video and refuses one of another size or length.
fn open(
    tools: &Tools,
    input: &Input,
    project: &Path,
    (size, frames): (Size, u32),
) -> Result<Box<dyn VideoSource>, PipelineError> {
    let source = tools.videos.open(input)?;
    let info = source.info();
    if (info.size, info.frames) == (size, frames) {
        return Ok(source);
    }
    let (project, media) = (project.to_owned(), info.path.clone());
    let (found, found_frames) = (info.size, info.frames);
    Err(ProjectError::OtherVideo { project, media, size, frames, found, found_frames }.into())
}

/// How `input` is written down in a project that lies in `folder`.
pub(super) fn media_of(input: &Input, folder: Option<&Path>) -> Result<Media, ProjectError> {
    match input {
        Input::Demo => Ok(Media::Drawn),
        Input::Path(path) => MediaFile::describe(path, folder)
            .map(Media::File)
            .map_err(|source| ProjectError::Read { path: path.clone(), source }),
    }
}
