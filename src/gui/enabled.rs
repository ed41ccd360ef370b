//! Which actions make sense now, and why the others do not.

use super::action::Action;
use super::work::Work;

/// Whether `action` can be done.
///
/// # Errors
/// Why not, in words for a tooltip.
pub fn enabled(action: Action, work: &Work) -> Result<(), &'static str> {
    use Action as A;
    let always = matches!(
        action,
        A::OpenVideo
            | A::OpenFolder
            | A::OpenPath
            | A::OpenDemo
            | A::Quit
            | A::FullScreen
            | A::Theme
            | A::Log
            | A::FocusControls
            | A::Palette
            | A::Shortcuts
            | A::Hints
            | A::CycleOverlay
            | A::PointTool
            | A::BoxTool
            | A::BrushTool
            | A::EraserTool
            | A::BrushSmaller
            | A::BrushLarger
            | A::SwapLabel
            | A::TrackScope
            | A::Stop
    );
    if always {
        return Ok(());
    }
    let Some(open) = &work.open else { return Err("Open a video first") };
    let session = open.document.session();
    let object = open.active.and_then(|id| session.object(id));
    let needs = |fits: bool, why| if fits { Ok(()) } else { Err(why) };
    match action {
        A::Undo => needs(open.document.undo_label().is_some(), "Nothing to undo"),
        A::Redo => needs(open.document.redo_label().is_some(), "Nothing to redo"),
        A::DeletePoint
        | A::ClearPrompts
        | A::FillHoles
        | A::DropIslands
        | A::GrowMask
        | A::ShrinkMask
        | A::ClearMask
        | A::NotHere
        | A::Verify
        | A::RenameObject
        | A::HideObject
        | A::LockObject
        | A::RemoveObject
        | A::RaiseObject
        | A::LowerObject
        | A::SplitObject
        | A::HideOthers
        | A::TrackedStart
        | A::TrackedEnd => needs(object.is_some(), "Choose an object first"),
        A::TrimToRange | A::DeleteInRange => {
            needs(object.is_some(), "Choose an object first")?;
            needs(session.range().is_some(), "Set the in and out marks first")
        }
        A::NextObject | A::PreviousObject => needs(!session.objects().is_empty(), "There is no object yet"),
        A::TrackForward | A::TrackBackward | A::TrackBoth | A::TrackOneForward | A::TrackOneBackward => {
            needs(work.run.is_none(), "A run is under way")?;
            needs(session.all_prompts().next().is_some(), "Click on an object in the picture first")
        }
        A::Export => needs(session.all_results().next().is_some(), "There are no masks yet"),
        A::ExportAgain => {
            needs(session.all_results().next().is_some(), "There are no masks yet")?;
            needs(work.exporting.is_none(), "An export is under way")
        }
        A::ClearMarks => needs(session.range().is_some(), "There are no marks"),
        _ => Ok(()),
    }
}
