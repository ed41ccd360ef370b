//! The decode stage: frames in the order of the pass.

use std::sync::Arc;

use super::PipelineError;
use super::hop::{Decoded, Work};
use super::token::Token;
use crate::base::{FrameIndex, Stage, Timings};
use crate::video::VideoSource;

/// Reads the frames of one pass, as an iterator that ends at its end, at a cancel or at an error.
pub(super) struct DecodeStage<'a> {
    source: &'a mut dyn VideoSource,
    steps: Box<dyn Iterator<Item = (FrameIndex, Work)> + Send + 'a>,
    /// Pictures are wanted even where nothing is tracked.
    pictures: bool,
    token: Token,
    timings: Timings,
}

impl<'a> DecodeStage<'a> {
    /// A stage that walks `steps`.
    pub fn new(
        source: &'a mut dyn VideoSource,
        steps: impl Iterator<Item = (FrameIndex, Work)> + Send + 'a,
        pictures: bool,
        token: Token,
    ) -> Self {
        Self { source, steps: Box::new(steps), pictures, token, timings: Timings::default() }
    }

    /// Time spent.
    pub fn into_timings(self) -> Timings {
        self.timings
    }

    fn decode(&mut self, frame: FrameIndex, work: Work) -> Result<Decoded, PipelineError> {
        let picture = if self.pictures || work == Work::Track {
            let source = &mut self.source;
            let picture = self.timings.measure(Stage::Decode, || source.frame(frame))?;
            Some(Arc::new(picture))
        } else {
            None
        };
        let (pts, file_name) = (self.source.pts(frame), self.source.file_name(frame).map(str::to_owned));
        Ok(Decoded { generation: self.token.generation(), frame, pts, file_name, picture, work })
    }
}

impl Iterator for DecodeStage<'_> {
    type Item = Result<Decoded, PipelineError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (frame, work) = self.steps.next()?;
        // What is finished is still replayed after a cancel.
        if self.token.abandoned() || (work == Work::Track && self.token.cancelled()) {
            return None;
        }
        let decoded = self.decode(frame, work);
        if decoded.is_err() {
            self.steps = Box::new(std::iter::empty());
        }
        Some(decoded)
    }
}
