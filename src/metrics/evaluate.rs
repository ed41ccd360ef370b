//! Means over frames and sequences, as the benchmark counts them.

use super::{MetricError, contour_accuracy, region_similarity};
use crate::base::{FrameIndex, Mask};

/// J, F and their mean, each 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Score {
    /// Region similarity.
    pub j: f64,
    /// Contour accuracy.
    pub f: f64,
    /// Mean of the two.
    pub jf: f64,
}

impl Score {
    fn new(j: f64, f: f64) -> Self {
        Self { j, f, jf: (j + f) / 2.0 }
    }
}

/// Means over the frames of one sequence.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SequenceScore {
    /// Name of the sequence.
    pub name: String,
    /// The means.
    #[serde(flatten)]
    pub score: Score,
}

/// What `masklet eval --json` prints: sequences and the mean over sequences.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Evaluation {
    /// Each sequence.
    pub sequences: Vec<SequenceScore>,
    /// Mean over the sequences; a long one counts as much as a short one.
    pub mean: Score,
}

impl Evaluation {
    /// Sequences with their mean.
    ///
    /// # Errors
    /// [`MetricError::NoSequences`].
    pub fn new(sequences: Vec<SequenceScore>) -> Result<Self, MetricError> {
        if sequences.is_empty() {
            return Err(MetricError::NoSequences);
        }
        let mean = |pick: fn(&Score) -> f64| {
            sequences.iter().map(|s| pick(&s.score)).sum::<f64>() / sequences.len() as f64
        };
        let mean = Score::new(mean(|s| s.j), mean(|s| s.f));
        Ok(Self { sequences, mean })
    }
}

/// Adds up the frames of one sequence. Frame 0, where the prompt is, is left out; the last frame counts.
#[derive(Clone, Debug)]
pub struct SequenceMeter {
    name: String,
    j: f64,
    f: f64,
    frames: u32,
}

impl SequenceMeter {
    /// A sequence without frames.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), j: 0.0, f: 0.0, frames: 0 }
    }

    /// Judges one frame and adds it, unless it is frame 0. Each frame is to be given once, in any order.
    ///
    /// # Errors
    /// [`MetricError::Size`].
    pub fn add(&mut self, frame: FrameIndex, predicted: &Mask, truth: &Mask) -> Result<Score, MetricError> {
        let score = Score::new(region_similarity(predicted, truth)?, contour_accuracy(predicted, truth)?);
        if frame.0 > 0 {
            self.j += score.j;
            self.f += score.f;
            self.frames += 1;
        }
        Ok(score)
    }

    /// The means.
    ///
    /// # Errors
    /// [`MetricError::NoFrames`].
    pub fn finish(self) -> Result<SequenceScore, MetricError> {
        if self.frames == 0 {
            return Err(MetricError::NoFrames(self.name));
        }
        let frames = f64::from(self.frames);
        Ok(SequenceScore { name: self.name, score: Score::new(self.j / frames, self.f / frames) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Size;

    #[test]
    fn frame_zero_is_left_out_and_the_shape_is_fixed() {
        let size = Size::new(4, 1);
        let mask = |bits: [u8; 4]| Mask::new(size, bits.to_vec()).unwrap();
        let mut meter = SequenceMeter::new("a");
        assert_eq!(meter.clone().finish(), Err(MetricError::NoFrames("a".into())));
        meter.add(FrameIndex(0), &mask([0; 4]), &mask([1; 4])).unwrap();
        assert!(meter.clone().finish().is_err());
        meter.add(FrameIndex(1), &mask([1, 1, 0, 0]), &mask([1, 1, 0, 0])).unwrap();
        meter.add(FrameIndex(2), &mask([1, 0, 0, 0]), &mask([1, 1, 0, 0])).unwrap();
        let a = meter.finish().unwrap();
        assert_eq!(a.score, Score { j: 0.75, f: 1.0, jf: 0.875 });
        let b = SequenceScore { name: "b".into(), score: Score::new(0.25, 0.5) };
        let json = serde_json::to_string(&Evaluation::new(vec![a, b]).unwrap()).unwrap();
        assert_eq!(
            json,
            r#"{"sequences":[{"name":"a","j":0.75,"f":1.0,"jf":0.875},{"name":"b","j":0.25,"f":0.5,"jf":0.375}],"mean":{"j":0.5,"f":0.75,"jf":0.625}}"#
        );
        assert_eq!(Evaluation::new(vec![]), Err(MetricError::NoSequences));
    }
}
