//! Every change that a person can make to the document, as data.

use super::classes::Class;
use super::shape::Reshape;
use super::state::TrackResult;
use crate::base::{FrameIndex, FramePrompts, FrameRange, ObjectId, Rle};

/// One change. Applied with [`Document::apply`](super::Document::apply), which makes it one step of undo.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A new object behind the others. Without a name it is called "object N", without a class
    /// [`DEFAULT_CLASS`](super::DEFAULT_CLASS).
    AddObject {
        /// Its name.
        name: Option<String>,
        /// Its class.
        class: Option<String>,
    },
    /// Takes an object away with all that is known of it.
    RemoveObject(ObjectId),
    /// Another name.
    Rename {
        /// Whose.
        object: ObjectId,
        /// The name.
        name: String,
    },
    /// Another colour.
    Recolour {
        /// Whose.
        object: ObjectId,
        /// R, G, B.
        colour: [u8; 3],
    },
    /// Another class; one that is new joins the schema.
    SetClass {
        /// Whose.
        object: ObjectId,
        /// The class's name.
        class: String,
    },
    /// Shows or hides an object.
    Hide {
        /// Whose.
        object: ObjectId,
        /// Whether it is hidden.
        hidden: bool,
    },
    /// Protects an object's prompts and masks from changes, or ends that.
    Lock {
        /// Whose.
        object: ObjectId,
        /// Whether it is locked.
        locked: bool,
    },
    /// Moves an object in the list; where masks overlap the earlier wins in exports of one label a pixel.
    Reorder {
        /// Which.
        object: ObjectId,
        /// Its new place, counted from 0; past the end means the end.
        to: usize,
    },
    /// Replaces all prompts of an object on a frame; empty prompts take them away. The result there, if it came from
    /// prompts, goes with them when they are taken away.
    SetPrompts {
        /// Whose.
        object: ObjectId,
        /// Where.
        frame: FrameIndex,
        /// What is said now.
        prompts: FramePrompts,
    },
    /// Puts a result in place of an earlier one.
    SetResult {
        /// Whose.
        object: ObjectId,
        /// Where.
        frame: FrameIndex,
        /// The result.
        result: TrackResult,
    },
    /// A mask by hand (brush, eraser): it becomes the frame's result and its prompt, so that tracking starts from it.
    SetMask {
        /// Whose.
        object: ObjectId,
        /// Where.
        frame: FrameIndex,
        /// The mask, of the picture's size.
        mask: Rle,
    },
    /// Changes the masks that there are, on every frame of a range. Prompts stay as they are.
    Reshape {
        /// Whose.
        object: ObjectId,
        /// Where.
        range: FrameRange,
        /// How.
        how: Reshape,
    },
    /// Takes away all that is known of an object within a range: results, prompts, marks.
    ClearRange {
        /// Whose.
        object: ObjectId,
        /// Where.
        range: FrameRange,
    },
    /// Takes away all that is known of an object outside a range.
    Trim {
        /// Whose.
        object: ObjectId,
        /// What stays.
        range: FrameRange,
    },
    /// From a frame on, two objects change places: results, prompts and marks.
    Swap {
        /// One.
        a: ObjectId,
        /// The other.
        b: ObjectId,
        /// From here on.
        from: FrameIndex,
    },
    /// Gives all that is known of one object to another and takes the first away. Where both have a mask, they are
    /// united; where both have prompts, those of `into` stay.
    Merge {
        /// Who goes.
        object: ObjectId,
        /// Who stays.
        into: ObjectId,
    },
    /// From a frame on, what is known of an object belongs to a new one.
    Split {
        /// Which.
        object: ObjectId,
        /// From here on.
        from: FrameIndex,
        /// Name of the new one; made up when not given.
        name: Option<String>,
    },
    /// Marks results as looked at, or takes that back. Tracking leaves verified frames as they are.
    Verify {
        /// Whose.
        object: ObjectId,
        /// Where; frames without a result are passed over.
        range: FrameRange,
        /// Whether they are verified.
        verified: bool,
    },
    /// Says that an object is not on these frames, or takes that back. Its masks there become empty, its prompts go, and
    /// tracking leaves the frames alone.
    NotHere {
        /// Whose.
        object: ObjectId,
        /// Where.
        range: FrameRange,
        /// Whether it is absent.
        absent: bool,
    },
    /// Sets the in and out marks, or takes them away.
    SetRange(Option<FrameRange>),
    /// A class for the schema.
    AddClass(Class),
    /// Another name for a class, and so for its objects.
    RenameClass {
        /// The class.
        class: String,
        /// Its new name.
        name: String,
    },
    /// Another colour for a class.
    RecolourClass {
        /// The class.
        class: String,
        /// R, G, B.
        colour: [u8; 3],
    },
    /// Takes away a class that no object has.
    RemoveClass(String),
    /// Adds the classes that are not there yet; those that are get the given colours.
    ImportClasses(Vec<Class>),
}

impl Edit {
    /// What it does, for the menu: "Undo ...".
    pub fn label(&self) -> &'static str {
        match self {
            Self::AddObject { .. } => "add object",
            Self::RemoveObject(_) => "remove object",
            Self::Rename { .. } => "rename",
            Self::Recolour { .. } | Self::RecolourClass { .. } => "change colour",
            Self::SetClass { .. } => "change class",
            Self::Hide { hidden: true, .. } => "hide",
            Self::Hide { hidden: false, .. } => "show",
            Self::Lock { locked: true, .. } => "lock",
            Self::Lock { locked: false, .. } => "unlock",
            Self::Reorder { .. } => "reorder",
            Self::SetPrompts { .. } => "prompt",
            Self::SetResult { .. } => "mask",
            Self::SetMask { .. } => "paint",
            Self::Reshape { how, .. } => how.label(),
            Self::ClearRange { .. } => "delete",
            Self::Trim { .. } => "trim",
            Self::Swap { .. } => "swap identities",
            Self::Merge { .. } => "merge objects",
            Self::Split { .. } => "split object",
            Self::Verify { verified: true, .. } => "verify",
            Self::Verify { verified: false, .. } => "take back verification",
            Self::NotHere { absent: true, .. } => "not here",
            Self::NotHere { absent: false, .. } => "here again",
            Self::SetRange(_) => "in and out marks",
            Self::AddClass(_) => "add class",
            Self::RenameClass { .. } => "rename class",
            Self::RemoveClass(_) => "remove class",
            Self::ImportClasses(_) => "import classes",
        }
    }
}
