//! The state of the document: objects in the user's order, prompts and results keyed by object and frame, marks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::classes::Class;
use super::edit::Edit;
use super::object::{Object, class_list};
use crate::base::{FrameIndex, FramePrompts, FrameRange, ObjectId, PromptError, Rle, Size};

/// The model's answer for one object on one frame, as the document keeps it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TrackResult {
    /// The mask, of the picture's size; empty where the object is absent.
    pub mask: Rle,
    /// Object score logit: the object is on the frame where it is above 0.
    pub score: f32,
}

/// Why the document refuses a change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// An id that no object has.
    #[error("object {0} does not exist: it was removed or never added")]
    NoSuchObject(ObjectId),
    /// A name of nothing but white space.
    #[error("an object needs a name: give one that is not blank")]
    BlankName,
    /// Two objects of one name.
    #[error("there is already an object called \"{0}\": give each object its own name")]
    NameTaken(String),
    /// A frame past the end.
    #[error("frame {frame} does not exist: the video has frames 0 to {last}")]
    NoSuchFrame {
        /// The frame asked for.
        frame: FrameIndex,
        /// The video's last frame.
        last: u32,
    },
    /// Prompts that do not fit the picture.
    #[error("object \"{name}\", frame {frame}: {source}")]
    Prompt {
        /// Name of the object.
        name: String,
        /// On which frame.
        frame: FrameIndex,
        /// What is wrong.
        source: PromptError,
    },
    /// A result whose mask has another size than the pictures.
    #[error("object \"{name}\", frame {frame}: the mask has {mask} pixels but the picture has {picture}")]
    ResultSize {
        /// Name of the object.
        name: String,
        /// On which frame.
        frame: FrameIndex,
        /// The mask's size.
        mask: Size,
        /// The picture's size.
        picture: Size,
    },
    /// A score that is no number.
    #[error("object {object}, frame {frame}: the score is no number")]
    Score {
        /// Whose.
        object: ObjectId,
        /// On which frame.
        frame: FrameIndex,
    },
    /// An id that is 0 or given twice.
    #[error("object {0} is there twice or its number is none: the file is damaged")]
    IdTaken(ObjectId),
    /// In and out marks the wrong way round.
    #[error("the range from frame {first} to frame {last} holds nothing")]
    EmptyRange {
        /// Where it begins.
        first: FrameIndex,
        /// Where it ends.
        last: FrameIndex,
    },
    /// A change to an object that is protected.
    #[error("object \"{0}\" is locked: unlock it first")]
    Locked(String),
    /// One object named where two are needed.
    #[error("object \"{0}\" cannot be joined or exchanged with itself: choose another")]
    SameObject(String),
    /// A class that the schema lacks.
    #[error("there is no class \"{0}\"")]
    NoSuchClass(String),
    /// Two classes of one name.
    #[error("there is already a class called \"{0}\"")]
    ClassTaken(String),
    /// A class that objects have.
    #[error("object \"{object}\" is a \"{class}\": give it another class first")]
    ClassInUse {
        /// The class.
        class: String,
        /// An object that has it.
        object: String,
    },
}

/// The highest id that a file may give: far more than can be given one after the other, and far from the type's end.
pub(super) const HIGHEST_ID: u32 = 1 << 30;

/// The user's document about one video: who is tracked, what was said about it, what came out.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) size: Size,
    pub(super) frames: u32,
    pub(super) objects: Arc<[Object]>,
    /// The highest id ever given out; it is not taken back by undo.
    pub(super) last_id: u32,
    pub(super) classes: Arc<[Class]>,
    pub(super) range: Option<FrameRange>,
    pub(super) prompts: BTreeMap<(ObjectId, FrameIndex), Arc<FramePrompts>>,
    pub(super) results: BTreeMap<(FrameIndex, ObjectId), Arc<TrackResult>>,
    pub(super) verified: BTreeSet<(ObjectId, FrameIndex)>,
    pub(super) absent: BTreeSet<(ObjectId, FrameIndex)>,
}

impl Session {
    /// An empty document about a video of `frames` pictures of `size`.
    pub fn new(size: Size, frames: u32) -> Self {
        Self {
            size,
            frames,
            objects: Arc::from([]),
            last_id: 0,
            classes: Arc::from([]),
            range: None,
            prompts: BTreeMap::new(),
            results: BTreeMap::new(),
            verified: BTreeSet::new(),
            absent: BTreeSet::new(),
        }
    }

    /// Size of the pictures and of all masks.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Number of frames of the video.
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// The highest object id ever given out; 0 when there was none.
    pub fn last_id(&self) -> u32 {
        self.last_id
    }

    /// Adds an object behind the others. Its id has never been used in this session; its colour is that of its id.
    /// Without a class it gets [`DEFAULT_CLASS`](super::DEFAULT_CLASS). White space around name and class is dropped.
    ///
    /// # Errors
    /// [`SessionError::BlankName`], [`SessionError::NameTaken`].
    pub fn add_object(&mut self, name: &str, class: Option<&str>) -> Result<ObjectId, SessionError> {
        self.change(Edit::AddObject { name: Some(name.into()), class: class.map(Into::into) })?;
        Ok(ObjectId(self.last_id))
    }

    /// Makes `edit` without a way back; [`Document`](super::Document) keeps one.
    ///
    /// # Errors
    /// Why the edit does not fit; nothing is changed then.
    pub fn change(&mut self, edit: Edit) -> Result<(), SessionError> {
        for patch in self.plan(edit)? {
            self.put(patch);
        }
        Ok(())
    }

    /// The objects in the user's order: where masks overlap, the earlier wins in exports that hold one label a pixel.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The object of that id.
    pub fn object(&self, id: ObjectId) -> Option<&Object> {
        self.objects.iter().find(|o| o.id == id)
    }

    /// The object of that name.
    pub fn find(&self, name: &str) -> Option<&Object> {
        self.objects.iter().find(|o| o.name == name.trim())
    }

    /// The classes in use; a class's category id is its position plus 1.
    pub fn classes(&self) -> Vec<&str> {
        class_list(&self.objects)
    }

    /// The schema: the classes that can be given to objects.
    pub fn schema(&self) -> &[Class] {
        &self.classes
    }

    /// The in and out marks.
    pub fn range(&self) -> Option<FrameRange> {
        self.range
    }

    /// Replaces all prompts of `id` on `frame`; empty prompts take them away.
    ///
    /// # Errors
    /// An object or frame that does not exist, prompts that do not fit the picture.
    pub fn set_prompts(
        &mut self,
        id: ObjectId,
        frame: FrameIndex,
        prompts: FramePrompts,
    ) -> Result<(), SessionError> {
        self.change(Edit::SetPrompts { object: id, frame, prompts })
    }

    /// The prompts of `id` on `frame`.
    pub fn prompts(&self, id: ObjectId, frame: FrameIndex) -> Option<&FramePrompts> {
        self.prompts.get(&(id, frame)).map(Arc::as_ref)
    }

    /// All prompts, by object and then by frame.
    pub fn all_prompts(&self) -> impl Iterator<Item = (ObjectId, FrameIndex, &FramePrompts)> {
        self.prompts.iter().map(|(&(id, frame), prompts)| (id, frame, prompts.as_ref()))
    }

    /// The prompts of `id`, by frame.
    pub fn prompts_of(&self, id: ObjectId) -> impl Iterator<Item = (FrameIndex, &Arc<FramePrompts>)> {
        let all = (id, FrameIndex(0))..=(id, FrameIndex(u32::MAX));
        self.prompts.range(all).map(|(&(_, frame), prompts)| (frame, prompts))
    }

    /// The frames on which some object has prompts, in order and without repetition.
    pub fn prompted_frames(&self) -> Vec<FrameIndex> {
        let frames: BTreeSet<_> = self.prompts.keys().map(|&(_, frame)| frame).collect();
        frames.into_iter().collect()
    }

    /// The result of `id` on `frame`.
    pub fn result(&self, id: ObjectId, frame: FrameIndex) -> Option<&TrackResult> {
        self.shared_result(id, frame).map(Arc::as_ref)
    }

    /// The result of `id` on `frame`, to be kept elsewhere without a copy.
    pub fn shared_result(&self, id: ObjectId, frame: FrameIndex) -> Option<&Arc<TrackResult>> {
        self.results.get(&(frame, id))
    }

    /// The results on `frame` in the order of the objects.
    pub fn results_on(&self, frame: FrameIndex) -> Vec<(ObjectId, &TrackResult)> {
        self.objects.iter().filter_map(|o| Some((o.id, self.result(o.id, frame)?))).collect()
    }

    /// All results, by frame and then by object.
    pub fn all_results(&self) -> impl Iterator<Item = (FrameIndex, ObjectId, &TrackResult)> {
        self.results.iter().map(|(&(frame, id), result)| (frame, id, result.as_ref()))
    }

    /// Whether the result of `id` on `frame` was looked at.
    pub fn verified(&self, id: ObjectId, frame: FrameIndex) -> bool {
        self.verified.contains(&(id, frame))
    }

    /// Whether `id` is said not to be on `frame`.
    pub fn absent(&self, id: ObjectId, frame: FrameIndex) -> bool {
        self.absent.contains(&(id, frame))
    }

    /// The frames on which `id` is said not to be.
    pub fn absent_frames(&self, id: ObjectId) -> impl Iterator<Item = FrameIndex> {
        self.absent.range((id, FrameIndex(0))..=(id, FrameIndex(u32::MAX))).map(|&(_, frame)| frame)
    }

    /// The frames on which the result of `id` was looked at.
    pub fn verified_frames(&self, id: ObjectId) -> impl Iterator<Item = FrameIndex> {
        self.verified.range((id, FrameIndex(0))..=(id, FrameIndex(u32::MAX))).map(|&(_, frame)| frame)
    }

    /// The results of `id`, by frame.
    pub fn results_of(&self, id: ObjectId) -> impl Iterator<Item = (FrameIndex, &TrackResult)> {
        self.results.iter().filter(move |((_, object), _)| *object == id).map(|(&(f, _), r)| (f, r.as_ref()))
    }

    /// Ids up to `last` are taken, even if no object has them any more.
    pub fn reserve_ids(&mut self, last: u32) {
        self.last_id = self.last_id.max(last.min(HIGHEST_ID));
    }

    /// Drops what is known of objects that do not exist: a journal that lost its end may leave such.
    pub fn drop_unknown(&mut self) {
        let known: BTreeSet<ObjectId> = self.objects.iter().map(|o| o.id).collect();
        self.prompts.retain(|(id, _), _| known.contains(id));
        self.results.retain(|(_, id), _| known.contains(id));
        self.verified.retain(|(id, _)| known.contains(id));
        self.absent.retain(|(id, _)| known.contains(id));
    }

    /// Whether both documents hold the same; the ids that were given out before do not count.
    pub fn same_content(&self, other: &Self) -> bool {
        let known = |s: &Self| (s.size, s.frames, s.objects.clone(), s.classes.clone(), s.range);
        known(self) == known(other)
            && self.prompts == other.prompts
            && self.results == other.results
            && self.verified == other.verified
            && self.absent == other.absent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Click, Label, Mask, Point};
    use crate::session::DEFAULT_CLASS;

    fn click(x: f32, y: f32) -> FramePrompts {
        FramePrompts {
            clicks: vec![Click { at: Point { x, y }, label: Label::Positive }],
            ..FramePrompts::default()
        }
    }

    fn session() -> Session {
        Session::new(Size::new(8, 6), 10)
    }

    #[test]
    fn ids_are_never_used_again() {
        let mut s = session();
        let a = s.add_object("a", None).unwrap();
        let b = s.add_object("b", Some(" dog ")).unwrap();
        assert_eq!((a, b), (ObjectId(1), ObjectId(2)));
        s.change(Edit::RemoveObject(b)).unwrap();
        assert_eq!(s.add_object("b", None), Ok(ObjectId(3)));
        assert_eq!(s.change(Edit::RemoveObject(b)), Err(SessionError::NoSuchObject(b)));
        assert_eq!(s.objects()[0].colour, [128, 0, 0]);
    }

    #[test]
    fn names_are_unique_and_not_blank() {
        let mut s = session();
        let a = s.add_object(" a ", None).unwrap();
        s.add_object("b", None).unwrap();
        assert_eq!(s.add_object("a", None), Err(SessionError::NameTaken("a".into())));
        assert_eq!(s.add_object(" \t", None), Err(SessionError::BlankName));
        let mut rename = |name: &str| s.change(Edit::Rename { object: a, name: name.into() });
        assert_eq!(rename("b"), Err(SessionError::NameTaken("b".into())));
        rename("a").unwrap();
        rename("c").unwrap();
        assert!(s.find("a").is_none() && s.find("c").is_some());
    }

    #[test]
    fn classes_count_once_in_order() {
        let mut s = session();
        for (name, class) in [("1", Some("dog")), ("2", None), ("3", Some("dog")), ("4", Some(""))] {
            s.add_object(name, class).unwrap();
        }
        assert_eq!(s.classes(), ["dog", DEFAULT_CLASS]);
    }

    #[test]
    fn prompts_stay_on_their_frame_and_object() {
        let mut s = session();
        let (a, b) = (s.add_object("a", None).unwrap(), s.add_object("b", None).unwrap());
        s.set_prompts(a, FrameIndex(4), click(1.0, 1.0)).unwrap();
        s.set_prompts(b, FrameIndex(2), click(2.0, 2.0)).unwrap();
        assert_eq!(s.prompts(a, FrameIndex(2)), None);
        assert_eq!(s.prompted_frames(), [FrameIndex(2), FrameIndex(4)]);
        s.set_prompts(a, FrameIndex(4), FramePrompts::default()).unwrap();
        assert_eq!(s.all_prompts().count(), 1);
        s.change(Edit::RemoveObject(b)).unwrap();
        assert_eq!(s.all_prompts().count(), 0);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut s = session();
        let a = s.add_object("a", None).unwrap();
        assert!(matches!(
            s.set_prompts(a, FrameIndex(10), click(1.0, 1.0)),
            Err(SessionError::NoSuchFrame { last: 9, .. })
        ));
        assert!(matches!(s.set_prompts(a, FrameIndex(0), click(9.0, 1.0)), Err(SessionError::Prompt { .. })));
        let mask = Rle::encode(&Mask::empty(Size::new(6, 8)));
        let result = TrackResult { mask, score: 1.0 };
        let wrong = s.change(Edit::SetResult { object: a, frame: FrameIndex(0), result });
        assert!(matches!(wrong, Err(SessionError::ResultSize { .. })));
    }

    #[test]
    fn results_come_in_the_order_of_the_objects() {
        let mut s = session();
        let (a, b) = (s.add_object("a", None).unwrap(), s.add_object("b", None).unwrap());
        let result = |score| TrackResult { mask: Rle::encode(&Mask::empty(Size::new(8, 6))), score };
        for (object, score) in [(b, 2.0), (a, 1.0), (a, 3.0)] {
            s.change(Edit::SetResult { object, frame: FrameIndex(1), result: result(score) }).unwrap();
        }
        let on: Vec<_> = s.results_on(FrameIndex(1)).into_iter().map(|(id, r)| (id, r.score)).collect();
        assert_eq!(on, [(a, 3.0), (b, 2.0)]);
        let range = FrameRange::new(FrameIndex(0), FrameIndex(9)).unwrap();
        s.change(Edit::ClearRange { object: a, range }).unwrap();
        assert!(s.result(a, FrameIndex(1)).is_none() && s.result(b, FrameIndex(1)).is_some());
    }
}
