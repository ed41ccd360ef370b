//! What the engine was told of each object, and what must be said so that it knows the document's prompts: only what
//! differs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::request::ObjectPrompts;
use crate::base::{FrameIndex, FramePrompts, ObjectId};

/// Most answers by which a list of clicks is said again; earlier clicks are said in one.
const MOST_STAGES: usize = 16;

/// Prompts by frame.
type Told = BTreeMap<FrameIndex, Arc<FramePrompts>>;

/// One thing to say to the engine.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Say {
    /// The prompts of a frame are taken back.
    Unprompt(FrameIndex),
    /// Prompts, answered from what is there.
    Prompt(FrameIndex, FramePrompts),
}

/// What the engine was told.
#[derive(Default)]
pub(super) struct Mirror {
    objects: BTreeMap<ObjectId, Told>,
}

impl Mirror {
    /// What to say so that the engine knows `object`'s prompts. The frame that is `asked` about comes last, and it is said
    /// again if nothing about it is new. `knows` says whether the engine remembers an answer on a frame.
    pub(super) fn steps(
        &self,
        object: &ObjectPrompts,
        asked: Option<FrameIndex>,
        knows: impl Fn(FrameIndex) -> bool,
    ) -> Vec<Say> {
        let nothing = Told::new();
        let told = self.objects.get(&object.object).unwrap_or(&nothing);
        let gone = told.keys().filter(|frame| !object.prompts.contains_key(frame));
        let mut steps: Vec<Say> = gone.map(|&frame| Say::Unprompt(frame)).collect();
        for (&frame, said) in object.prompts.iter().filter(|(frame, _)| Some(**frame) != asked) {
            match told.get(&frame) {
                Some(before) if before == said => {}
                Some(before) if extends(said, before) => {
                    steps.extend(stages(frame, said, Some(before.clicks.len())))
                }
                before => {
                    steps.extend(before.map(|_| Say::Unprompt(frame)));
                    // What the person saw is what counts: the way there cannot be walked again without the memories of
                    // that time.
                    match object.answers.get(&frame) {
                        Some(answer) => steps.push(Say::Prompt(frame, mask_of(&answer.mask))),
                        None => steps.extend(stages(frame, said, None)),
                    }
                }
            }
        }
        if let Some((frame, said)) = asked.and_then(|frame| Some((frame, object.prompts.get(&frame)?))) {
            match told.get(&frame) {
                Some(before) if extends(said, before) => {
                    steps.extend(stages(frame, said, Some(before.clicks.len())))
                }
                Some(_) => {
                    steps.push(Say::Unprompt(frame));
                    steps.extend(stages(frame, said, None));
                }
                // The mask that is there is refined, as it would be if the engine remembered it.
                None => match object.answers.get(&frame).filter(|_| said.mask.is_none() && !knows(frame)) {
                    Some(answer) => {
                        steps.push(Say::Prompt(frame, mask_of(&answer.mask)));
                        steps.push(Say::Prompt(frame, FramePrompts::clone(said)));
                    }
                    None => steps.extend(stages(frame, said, None)),
                },
            }
        }
        steps
    }

    /// The engine was told all of `object`.
    pub(super) fn told(&mut self, object: &ObjectPrompts) {
        self.objects.insert(object.object, object.prompts.clone());
    }

    /// The engine was told of a frame that the document has no prompts on.
    pub(super) fn told_besides(&mut self, object: ObjectId, frame: FrameIndex, said: FramePrompts) {
        self.objects.entry(object).or_default().insert(frame, Arc::new(said));
    }

    /// The engine forgot the prompts of one frame.
    pub(super) fn untold(&mut self, object: ObjectId, frame: FrameIndex) {
        if let Some(told) = self.objects.get_mut(&object) {
            told.remove(&frame);
        }
    }

    /// The engine forgot `object`.
    pub(super) fn forget(&mut self, object: ObjectId) {
        self.objects.remove(&object);
    }
}

/// A mask as prompts.
pub(super) fn mask_of(mask: &crate::base::Rle) -> FramePrompts {
    FramePrompts { mask: Some(mask.clone()), ..FramePrompts::default() }
}

/// Whether `said` is `before` with more clicks.
fn extends(said: &FramePrompts, before: &FramePrompts) -> bool {
    let plain = said.mask.is_none() && before.mask.is_none() && said.bounds == before.bounds;
    plain && said.clicks.len() > before.clicks.len() && said.clicks.starts_with(&before.clicks)
}

/// `said` click by click, as a person said it: each answer refines the one before. Box and first `known` clicks were said
/// already, or nothing was.
fn stages(frame: FrameIndex, said: &FramePrompts, known: Option<usize>) -> impl Iterator<Item = Say> + use<> {
    let clicks = said.clicks.len();
    let first = match (known, said.bounds) {
        (None, Some(_)) => 0, // the box alone
        (None, None) => 1,
        (Some(known), _) => known + 1,
    };
    let first = first.min(clicks).max((clicks + 1).saturating_sub(MOST_STAGES));
    let said = said.clone();
    (first..=clicks).map(move |count| {
        let clicks = said.clicks[..count].to_vec();
        Say::Prompt(frame, FramePrompts { clicks, ..said.clone() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{BoxXyxy, Click, Label, Mask, Point, Rle, Size};
    use crate::session::TrackResult;

    fn clicks(at: &[u32]) -> FramePrompts {
        let click = |x: &u32| Click { at: Point { x: *x as f32, y: 0.0 }, label: Label::Positive };
        FramePrompts { clicks: at.iter().map(click).collect(), ..FramePrompts::default() }
    }

    fn object(prompts: &[(u32, &[u32])]) -> ObjectPrompts {
        let prompts = prompts.iter().map(|(frame, at)| (FrameIndex(*frame), Arc::new(clicks(at))));
        ObjectPrompts {
            object: ObjectId(1),
            prompts: prompts.collect(),
            answers: BTreeMap::new(),
            absent: Default::default(),
        }
    }

    /// Steps in short: "-4" takes frame 4's prompts back, "4:2" says two clicks there, "4:mask" a mask.
    fn steps(mirror: &Mirror, object: &ObjectPrompts, asked: Option<u32>) -> Vec<String> {
        let said = mirror.steps(object, asked.map(FrameIndex), |_| false);
        said.into_iter()
            .map(|say| match say {
                Say::Unprompt(frame) => format!("-{frame}"),
                Say::Prompt(frame, said) if said.mask.is_some() => format!("{frame}:mask"),
                Say::Prompt(frame, said) => format!("{frame}:{}", said.clicks.len()),
            })
            .collect()
    }

    fn answered(mut object: ObjectPrompts, frame: u32) -> ObjectPrompts {
        let mask = Rle::encode(&Mask::empty(Size::new(2, 2)));
        object.answers.insert(FrameIndex(frame), Arc::new(TrackResult { mask, score: 1.0 }));
        object
    }

    #[test]
    fn a_further_click_is_one_answer() {
        let mut mirror = Mirror::default();
        assert_eq!(steps(&mirror, &object(&[(3, &[1])]), Some(3)), ["3:1"]);
        mirror.told(&object(&[(3, &[1])]));
        assert_eq!(steps(&mirror, &object(&[(3, &[1, 2])]), Some(3)), ["3:2"]);
        assert_eq!(steps(&mirror, &object(&[(3, &[1])]), None), [""; 0]);
        assert_eq!(steps(&mirror, &object(&[(3, &[1]), (5, &[7])]), Some(5)), ["5:1"]);
    }

    #[test]
    fn what_differs_is_said_again_and_the_frame_asked_about_comes_last() {
        let mut mirror = Mirror::default();
        mirror.told(&object(&[(1, &[1]), (3, &[1, 2]), (9, &[4])]));
        let now = object(&[(1, &[1]), (3, &[2]), (5, &[1, 2])]);
        assert_eq!(steps(&mirror, &now, Some(3)), ["-9", "5:1", "5:2", "-3", "3:1"]);
        assert_eq!(steps(&mirror, &now, None), ["-9", "-3", "3:1", "5:1", "5:2"]);
        assert_eq!(steps(&mirror, &object(&[]), None), ["-1", "-3", "-9"]);
        mirror.forget(ObjectId(1));
        assert_eq!(steps(&mirror, &object(&[]), None), [""; 0]);
    }

    #[test]
    fn a_forgotten_object_is_told_what_the_person_saw() {
        let mirror = Mirror::default();
        let known = answered(object(&[(1, &[1, 2]), (3, &[1])]), 1);
        assert_eq!(steps(&mirror, &known, Some(3)), ["1:mask", "3:1"]);
        // A click on a frame that shows a mask refines that mask.
        assert_eq!(steps(&mirror, &answered(known, 3), Some(3)), ["1:mask", "3:mask", "3:1"]);
    }

    #[test]
    fn an_answer_asked_for_again_is_given_again() {
        let mut mirror = Mirror::default();
        mirror.told(&object(&[(3, &[1, 2])]));
        assert_eq!(steps(&mirror, &object(&[(3, &[1, 2])]), Some(3)), ["-3", "3:1", "3:2"]);
    }

    #[test]
    fn a_box_comes_before_its_clicks_and_many_clicks_are_bounded() {
        let mut said = clicks(&[1, 2]);
        said.bounds = Some(BoxXyxy { x0: 0.0, y0: 0.0, x1: 1.0, y1: 1.0 });
        let count = |said: &FramePrompts, known| stages(FrameIndex(0), said, known).count();
        assert_eq!((count(&said, None), count(&said, Some(0)), count(&said, Some(1))), (3, 2, 1));
        let many: Vec<u32> = (0..300).collect();
        assert_eq!(count(&clicks(&many), None), MOST_STAGES);
        let mask = mask_of(&Rle::empty(Size::new(2, 2)));
        assert_eq!(count(&mask, None), 1);
    }
}
