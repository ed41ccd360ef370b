//! What the parts of the window ask for. They draw and wish; [`App`](super::App) alone acts.

use super::action::Action;
use crate::base::{BoxXyxy, Click, FrameIndex, FrameRange, Label, ObjectId, Point};
use crate::pipeline::{ExportPlan, OpenRequest};
use crate::session::{Edit, Stroke};

/// One click among the prompts of an object on a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointRef {
    /// Whose.
    pub object: ObjectId,
    /// Where in the video.
    pub frame: FrameIndex,
    /// Its place among the clicks, in the order they were made.
    pub index: usize,
}

/// What a person did on the picture, in pixels of the picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Touch {
    /// A click for the active object; the first makes one.
    Click(Click),
    /// A box for the active object, or for a new one.
    Bounds {
        /// The box.
        bounds: BoxXyxy,
        /// Whether it means a new object.
        new_object: bool,
    },
    /// A point was dragged.
    Move {
        /// Which.
        point: PointRef,
        /// To where.
        to: Point,
    },
    /// A point shall go.
    Remove(PointRef),
    /// A stroke of brush or eraser.
    Paint(Stroke),
    /// The mask that a click here would give is wanted.
    Hover(Point, Label),
    /// No preview any more.
    Leave,
}

/// One thing that a part of the window asks for.
#[derive(Clone, Debug)]
pub enum Wish {
    /// An action of the table.
    Do(Action),
    /// A change of the document.
    Edit(Edit),
    /// Something on the picture.
    Touch(Touch),
    /// Show this frame.
    Seek(FrameIndex),
    /// Make this object the active one.
    Choose(ObjectId),
    /// Select a point, or none.
    Point(Option<PointRef>),
    /// Open something; what is not saved is asked about first.
    Open(OpenRequest),
    /// Write masks.
    Export(ExportPlan, Option<FrameRange>),
}
