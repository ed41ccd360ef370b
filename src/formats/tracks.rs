//! Frames that arrive in any order and are wanted object by object.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::Path;

use super::marks::{FrameMarks, Mark};
use super::names::Stems;
use super::spool::Spool;
use super::{ExportFrame, ExportPlan};
use crate::base::FrameIndex;

/// Marks by object number and frame, on the disk.
pub struct Tracks {
    spool: Spool<(usize, FrameIndex), File>,
    frames: BTreeMap<FrameIndex, FrameFacts>,
    stems: Stems,
}

/// What is kept of a frame in memory.
pub struct FrameFacts {
    /// Path of its picture.
    pub name: String,
    /// When it is shown, in seconds.
    pub pts: Option<f64>,
}

impl Tracks {
    /// An empty store with its file in `folder`.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub fn new(plan: &ExportPlan, folder: &Path) -> io::Result<Self> {
        let spool = Spool::new(tempfile::tempfile_in(folder)?);
        Ok(Self { spool, frames: BTreeMap::new(), stems: Stems::new(&plan.options) })
    }

    /// Adds a frame, in place of an earlier one.
    ///
    /// # Errors
    /// A full disk.
    pub fn put(&mut self, plan: &ExportPlan, frame: &ExportFrame<'_>) -> io::Result<()> {
        let FrameMarks { name, pts, marks } = FrameMarks::new(plan, &mut self.stems, frame);
        for number in 1..=plan.objects.len() {
            self.spool.remove(&(number, frame.index));
        }
        for mark in marks {
            self.spool.put((mark.number, frame.index), &mark)?;
        }
        self.frames.insert(frame.index, FrameFacts { name, pts });
        Ok(())
    }

    /// The frames in order.
    pub fn frames(&self) -> &BTreeMap<FrameIndex, FrameFacts> {
        &self.frames
    }

    /// Numbers of the objects that are visible on some frame.
    pub fn numbers(&self) -> BTreeSet<usize> {
        self.spool.keys().map(|(number, _)| number).collect()
    }

    /// Calls `visit` for every frame in order with the mark of object `number`, where it is visible.
    ///
    /// # Errors
    /// What `visit` says, or a spool that cannot be read.
    pub fn each(
        &mut self,
        number: usize,
        mut visit: impl FnMut(FrameIndex, Option<Mark>) -> io::Result<()>,
    ) -> io::Result<()> {
        for &frame in self.frames.keys() {
            let mark = self.spool.get(&(number, frame))?;
            visit(frame, mark)?;
        }
        Ok(())
    }
}
