//! When a run stops by itself, so that a person looks before errors spread.

use std::collections::BTreeMap;

use super::request::{PauseReason, PauseRules};
use crate::base::{ObjectId, RgbFrame};
use crate::session::TrackResult;

/// A mask floods when it covers more than this part of the picture, having covered less than [`CALM`].
const FLOOD: f64 = 0.6;
/// Part of the picture under which a mask is no background.
const CALM: f64 = 0.4;
/// An area jumps when it is that many times what it was over the last frames, or that part of it.
const JUMP: f64 = 3.0;
/// Areas below this part of the picture jump by chance.
const SMALL: f64 = 0.0005;
/// Frames whose areas are remembered.
const MEMORY: usize = 5;
/// Difference of the colours of two pictures in a row, 0 to 1, above which the scene cuts.
const CUT: f32 = 0.5;

/// What a run has seen so far.
pub(super) struct Watch {
    rules: PauseRules,
    objects: BTreeMap<ObjectId, Past>,
    colours: Option<Colours>,
}

/// The last frames of an object.
#[derive(Default)]
struct Past {
    present: Option<bool>,
    areas: Vec<f64>,
}

impl Watch {
    pub(super) fn new(rules: PauseRules) -> Self {
        Self { rules, objects: BTreeMap::new(), colours: None }
    }

    /// Looks at the next frame; says whether a person should.
    pub(super) fn look(
        &mut self,
        picture: &RgbFrame,
        results: &[(ObjectId, TrackResult)],
    ) -> Option<(Option<ObjectId>, PauseReason)> {
        let cut = self.rules.cut && self.cuts(picture);
        let mut first = cut.then_some((None, PauseReason::SceneCut));
        for (object, result) in results {
            let past = self.objects.entry(*object).or_default();
            let reason = past.look(result, picture.size().area() as f64);
            let wanted = reason.filter(|reason| match reason {
                PauseReason::ScoreFell => self.rules.score,
                PauseReason::MaskFloods => self.rules.flood,
                PauseReason::AreaJumps => self.rules.area,
                PauseReason::SceneCut => self.rules.cut,
            });
            first = first.or(wanted.map(|reason| (Some(*object), reason)));
        }
        first
    }

    fn cuts(&mut self, picture: &RgbFrame) -> bool {
        let now = Colours::of(picture);
        let before = self.colours.replace(now);
        before.zip(self.colours.as_ref()).is_some_and(|(before, now)| before.distance(now) > CUT)
    }
}

impl Past {
    fn look(&mut self, result: &TrackResult, pixels: f64) -> Option<PauseReason> {
        let (present, area) = (result.score > 0.0, result.mask.area() as f64 / pixels);
        let was_present = self.present.replace(present);
        let mut sorted = self.areas.clone();
        sorted.sort_by(f64::total_cmp);
        let usual = sorted.get(sorted.len() / 2).copied();
        if present {
            self.areas.push(area);
        }
        if self.areas.len() > MEMORY {
            self.areas.remove(0);
        }
        if was_present == Some(true) && !present {
            return Some(PauseReason::ScoreFell);
        }
        let usual = usual.filter(|_| present)?;
        if area > FLOOD && usual < CALM {
            return Some(PauseReason::MaskFloods);
        }
        let (small, large) = (area.min(usual), area.max(usual));
        (large > SMALL && large > small * JUMP).then_some(PauseReason::AreaJumps)
    }
}

/// How often each colour occurs, coarsely, in the picture's four quarters.
struct Colours(Vec<f32>);

impl Colours {
    /// Shades told apart in each of red, green and blue.
    const SHADES: usize = 4;
    /// About so many pixels are looked at.
    const SAMPLES: usize = 16_384;

    fn of(picture: &RgbFrame) -> Self {
        let (width, height) = (picture.size().width as usize, picture.size().height as usize);
        let step = ((width * height / Self::SAMPLES) as f64).sqrt().floor().max(1.0) as usize;
        let colours = Self::SHADES.pow(3);
        let mut counts = vec![0.0; 4 * colours];
        let mut sampled = 0.0;
        for y in (0..height).step_by(step) {
            for x in (0..width).step_by(step) {
                let at = (y * width + x) * 3;
                let shade = |i: usize| usize::from(picture.data()[at + i]) * Self::SHADES / 256;
                let colour = (shade(0) * Self::SHADES + shade(1)) * Self::SHADES + shade(2);
                let quarter = usize::from(2 * y >= height) * 2 + usize::from(2 * x >= width);
                counts[quarter * colours + colour] += 1.0;
                sampled += 1.0;
            }
        }
        counts.iter_mut().for_each(|count| *count /= sampled);
        Self(counts)
    }

    /// 0 for the same colours in the same quarters, 1 for none in common.
    fn distance(&self, other: &Self) -> f32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a - b).abs()).sum::<f32>() / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Mask, Rle, Size};

    const SIZE: Size = Size::new(40, 25);

    fn result(pixels: usize, score: f32) -> TrackResult {
        let data = (0..1000).map(|i| u8::from(i < pixels)).collect();
        TrackResult { mask: Rle::encode(&Mask::new(SIZE, data).unwrap()), score }
    }

    /// The first reason to pause over frames of given areas and scores.
    fn reason(rules: PauseRules, frames: &[(usize, f32)]) -> Option<(usize, PauseReason)> {
        let mut watch = Watch::new(rules);
        let picture = RgbFrame::filled(SIZE, [10, 20, 30]);
        frames.iter().enumerate().find_map(|(at, &(pixels, score))| {
            let found = watch.look(&picture, &[(ObjectId(1), result(pixels, score))])?;
            assert_eq!(found.0, Some(ObjectId(1)));
            Some((at, found.1))
        })
    }

    #[test]
    fn each_rule_pauses_and_can_be_switched_off() {
        let all = PauseRules::default();
        let calm = [(100, 5.0), (110, 5.0), (95, 4.0)];
        assert_eq!(reason(all, &calm), None);
        for (last, expected, off) in [
            ((0, -2.0), PauseReason::ScoreFell, PauseRules { score: false, ..all }),
            ((700, 5.0), PauseReason::MaskFloods, PauseRules { flood: false, area: false, ..all }),
            ((20, 5.0), PauseReason::AreaJumps, PauseRules { area: false, ..all }),
            ((400, 5.0), PauseReason::AreaJumps, PauseRules { area: false, ..all }),
        ] {
            let frames = [&calm[..], &[last]].concat();
            assert_eq!(reason(all, &frames), Some((3, expected)));
            assert_eq!(reason(off, &frames), None);
            assert_eq!(reason(PauseRules::OFF, &frames), None);
        }
    }

    #[test]
    fn an_object_that_was_never_there_or_grows_slowly_does_not_pause() {
        let all = PauseRules::default();
        assert_eq!(
            reason(all, &[(0, -3.0), (0, -2.0), (90, 2.0), (0, 1.0)]),
            Some((3, PauseReason::AreaJumps))
        );
        assert_eq!(reason(all, &[(100, 5.0), (0, -3.0), (0, -3.0)]), Some((1, PauseReason::ScoreFell)));
        let slow: Vec<_> = (0..30).map(|i| (20 + i * 10, 5.0)).collect();
        assert_eq!(reason(all, &slow), None);
        assert_eq!(reason(all, &[(0, 5.0), (1, 5.0)]), Some((1, PauseReason::AreaJumps)));
    }

    #[test]
    fn a_cut_is_told_from_motion_and_from_a_change_of_light() {
        let mut watch = Watch::new(PauseRules::default());
        let picture = |shift: usize, light: u8| {
            let mut frame = RgbFrame::filled(SIZE, [0; 3]);
            for (i, pixel) in frame.data_mut().chunks_exact_mut(3).enumerate() {
                let stripe = ((i % 40 + shift) / 8).is_multiple_of(2);
                pixel.copy_from_slice(&if stripe { [90 + light, 60, 40] } else { [30, 110 + light, 100] });
            }
            frame
        };
        for shift in 0..6 {
            assert_eq!(watch.look(&picture(shift, shift as u8), &[]), None);
        }
        let other = RgbFrame::filled(SIZE, [200, 10, 220]);
        assert_eq!(watch.look(&other, &[]), Some((None, PauseReason::SceneCut)));
        assert_eq!(watch.look(&other, &[]), None);
    }
}
