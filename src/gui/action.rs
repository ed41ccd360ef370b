//! Everything that a person can ask for by menu, palette or key: one table.

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the table below says what each is")]
pub enum Action {
    OpenVideo,
    OpenFolder,
    OpenPath,
    OpenDemo,
    Save,
    SaveAs,
    Export,
    ExportAgain,
    Close,
    Quit,
    Undo,
    Redo,
    DeletePoint,
    ClearPrompts,
    SwapLabel,
    PointTool,
    BoxTool,
    BrushTool,
    EraserTool,
    BrushSmaller,
    BrushLarger,
    FillHoles,
    DropIslands,
    GrowMask,
    ShrinkMask,
    ClearMask,
    NotHere,
    Verify,
    NewObject,
    NextObject,
    PreviousObject,
    RenameObject,
    HideObject,
    HideOthers,
    LockObject,
    RemoveObject,
    RaiseObject,
    LowerObject,
    TrimToRange,
    DeleteInRange,
    SplitObject,
    TrackForward,
    TrackBackward,
    TrackBoth,
    TrackOneForward,
    TrackOneBackward,
    TrackScope,
    Stop,
    Accept,
    PlayPause,
    ShuttleForward,
    ShuttleBackward,
    StepForward,
    StepBackward,
    LeapForward,
    LeapBackward,
    First,
    Last,
    NextPrompt,
    PreviousPrompt,
    TrackedStart,
    TrackedEnd,
    NextDoubtful,
    GoTo,
    MarkIn,
    MarkOut,
    ClearMarks,
    CycleOverlay,
    ZoomIn,
    ZoomOut,
    ZoomFit,
    ZoomActual,
    FullScreen,
    Theme,
    Log,
    FocusControls,
    Palette,
    Shortcuts,
    Hints,
}

/// Where an action stands in the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Files and the window.
    File,
    /// Undo, points, tools, masks.
    Edit,
    /// Objects.
    Object,
    /// Tracking.
    Track,
    /// Moving through the video.
    Go,
    /// What is seen.
    View,
    /// How to learn the rest.
    Help,
}

impl Group {
    /// All, in the menu's order.
    pub const ALL: [Self; 7] =
        [Self::File, Self::Edit, Self::Object, Self::Track, Self::Go, Self::View, Self::Help];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::File => "File",
            Self::Edit => "Edit",
            Self::Object => "Object",
            Self::Track => "Track",
            Self::Go => "Go",
            Self::View => "View",
            Self::Help => "Help",
        }
    }
}

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What.
    pub action: Action,
    /// Where in the menu.
    pub group: Group,
    /// What it is called everywhere.
    pub name: &'static str,
    /// Its keys unless the person chose others, e.g. "Ctrl+Shift+S"; Ctrl is Cmd on a Mac.
    pub keys: &'static [&'static str],
}

const fn entry(action: Action, group: Group, name: &'static str, keys: &'static [&'static str]) -> Entry {
    Entry { action, group, name, keys }
}

/// Every action once, in the menu's order.
pub const TABLE: &[Entry] = {
    use Action as A;
    use Group::{Edit, File, Go, Help, Object, Track, View};
    &[
        entry(A::OpenVideo, File, "Open video or project…", &["Ctrl+O"]),
        entry(A::OpenFolder, File, "Open picture folder…", &["Ctrl+Shift+O"]),
        entry(A::OpenPath, File, "Open by path…", &["Ctrl+Alt+O"]),
        entry(A::OpenDemo, File, "Open the demo clip", &[]),
        entry(A::Save, File, "Save project", &["Ctrl+S"]),
        entry(A::SaveAs, File, "Save project as…", &["Ctrl+Shift+S"]),
        entry(A::Export, File, "Export masks…", &["Ctrl+E"]),
        entry(A::ExportAgain, File, "Repeat the last export", &["Ctrl+Shift+E"]),
        entry(A::Close, File, "Close", &["Ctrl+W"]),
        entry(A::Quit, File, "Quit", &["Ctrl+Q"]),
        entry(A::Undo, Edit, "Undo", &["Ctrl+Z"]),
        entry(A::Redo, Edit, "Redo", &["Ctrl+Shift+Z", "Ctrl+Y"]),
        entry(A::DeletePoint, Edit, "Delete the point", &["Delete", "Backspace"]),
        entry(A::ClearPrompts, Edit, "Clear the prompts on this frame", &["Ctrl+Delete"]),
        entry(A::SwapLabel, Edit, "Swap what the left button adds", &["X"]),
        entry(A::PointTool, Edit, "Point tool", &["P"]),
        entry(A::BoxTool, Edit, "Box tool", &["B"]),
        entry(A::BrushTool, Edit, "Brush", &["M"]),
        entry(A::EraserTool, Edit, "Eraser", &["Shift+M"]),
        entry(A::BrushSmaller, Edit, "Smaller brush", &["-"]),
        entry(A::BrushLarger, Edit, "Larger brush", &["="]),
        entry(A::FillHoles, Edit, "Fill the mask's holes", &["Alt+F"]),
        entry(A::DropIslands, Edit, "Drop the mask's islands", &["Alt+D"]),
        entry(A::GrowMask, Edit, "Grow the mask by a pixel", &["Alt+="]),
        entry(A::ShrinkMask, Edit, "Shrink the mask by a pixel", &["Alt+-"]),
        entry(A::ClearMask, Edit, "Delete the mask on this frame", &["Shift+Delete"]),
        entry(A::NotHere, Edit, "Object is not on this frame", &["Shift+N"]),
        entry(A::Verify, Edit, "Mark the mask as verified", &["R"]),
        entry(A::NewObject, Object, "New object", &["N"]),
        entry(A::NextObject, Object, "Next object", &["Tab"]),
        entry(A::PreviousObject, Object, "Previous object", &["Shift+Tab"]),
        entry(A::RenameObject, Object, "Rename the object", &["F2"]),
        entry(A::HideObject, Object, "Hide or show the object", &["H"]),
        entry(A::HideOthers, Object, "Hide or show the others", &["Alt+H"]),
        entry(A::LockObject, Object, "Lock or unlock the object", &["Ctrl+L"]),
        entry(A::RaiseObject, Object, "Move the object up", &["Alt+Up"]),
        entry(A::LowerObject, Object, "Move the object down", &["Alt+Down"]),
        entry(A::TrimToRange, Object, "Keep the object between the marks only", &[]),
        entry(A::DeleteInRange, Object, "Delete the object between the marks", &[]),
        entry(A::SplitObject, Object, "Split the object from here on", &[]),
        entry(A::RemoveObject, Object, "Remove the object", &["Ctrl+Shift+Delete"]),
        entry(A::TrackForward, Track, "Track forward from here", &["T"]),
        entry(A::TrackBackward, Track, "Track backward from here", &["Shift+T"]),
        entry(A::TrackBoth, Track, "Track both ways", &["Ctrl+T"]),
        entry(A::TrackOneForward, Track, "Track one frame forward", &["Y"]),
        entry(A::TrackOneBackward, Track, "Track one frame backward", &["Shift+Y"]),
        entry(A::TrackScope, Track, "Track all objects or only the chosen one", &["Shift+G"]),
        entry(A::Stop, Track, "Stop, keep what is finished", &["Escape"]),
        entry(A::Accept, Track, "Go on after a pause; else next object", &["Enter"]),
        entry(A::PlayPause, Go, "Play or pause", &["Space", "K"]),
        entry(A::ShuttleForward, Go, "Play forward, faster each time", &["L"]),
        entry(A::ShuttleBackward, Go, "Play backward, faster each time", &["J"]),
        entry(A::StepForward, Go, "Next frame", &["Right", "."]),
        entry(A::StepBackward, Go, "Previous frame", &["Left", ","]),
        entry(A::LeapForward, Go, "10 frames forward", &["Shift+Right"]),
        entry(A::LeapBackward, Go, "10 frames back", &["Shift+Left"]),
        entry(A::First, Go, "First frame", &["Home"]),
        entry(A::Last, Go, "Last frame", &["End"]),
        entry(A::NextPrompt, Go, "Next frame with prompts", &["Ctrl+Right", "PageDown"]),
        entry(A::PreviousPrompt, Go, "Previous frame with prompts", &["Ctrl+Left", "PageUp"]),
        entry(A::TrackedStart, Go, "Start of the tracked range", &["Alt+Left"]),
        entry(A::TrackedEnd, Go, "End of the tracked range", &["Alt+Right"]),
        entry(A::NextDoubtful, Go, "Next doubtful frame", &["D"]),
        entry(A::GoTo, Go, "Go to frame or time…", &["G"]),
        entry(A::MarkIn, Go, "Set the in mark", &["[", "I"]),
        entry(A::MarkOut, Go, "Set the out mark", &["]", "O"]),
        entry(A::ClearMarks, Go, "Clear the marks", &["Ctrl+Shift+X"]),
        entry(A::CycleOverlay, View, "Next overlay style", &["V"]),
        entry(A::ZoomIn, View, "Zoom in", &["Ctrl++", "Ctrl+="]),
        entry(A::ZoomOut, View, "Zoom out", &["Ctrl+-"]),
        entry(A::ZoomFit, View, "Fit the picture", &["Ctrl+0"]),
        entry(A::ZoomActual, View, "Actual pixels (100 %)", &["Ctrl+1"]),
        entry(A::FullScreen, View, "Full screen", &["F", "F11"]),
        entry(A::Theme, View, "Next theme: dark, light, system", &[]),
        entry(A::Log, View, "Log", &["Ctrl+Shift+L"]),
        entry(A::FocusControls, View, "Move between picture and controls", &["F6"]),
        entry(A::Palette, Help, "Command palette…", &["Ctrl+P"]),
        entry(A::Shortcuts, Help, "Shortcuts…", &["F1", "?"]),
        entry(A::Hints, Help, "Show the first steps again", &[]),
    ]
};

impl Action {
    /// Its line in the table.
    pub fn entry(self) -> &'static Entry {
        TABLE
            .iter()
            .find(|entry| entry.action == self)
            .expect("a test holds that every action is in the table")
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// How settings call it.
    pub fn id(self) -> String {
        serde_json::to_value(self).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Whether its keys work while text is written.
    pub fn works_in_text(self) -> bool {
        matches!(self, Self::Save | Self::SaveAs | Self::Palette | Self::Export | Self::OpenVideo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_stands_in_the_table_once_with_its_own_name() {
        let last = Action::Hints as usize;
        assert_eq!(TABLE.len(), last + 1, "an action is missing in the table, or stands twice");
        let actions: std::collections::BTreeSet<_> = TABLE.iter().map(|e| e.action).collect();
        let names: std::collections::BTreeSet<_> = TABLE.iter().map(|e| e.name).collect();
        assert_eq!((actions.len(), names.len()), (TABLE.len(), TABLE.len()));
        assert_eq!(Action::OpenVideo.id(), "open-video");
    }
}
