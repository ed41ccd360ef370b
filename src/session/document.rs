//! The document: objects in the user's order, prompts and results keyed by object and frame.

use std::collections::BTreeMap;

use super::object::{DEFAULT_CLASS, Object, class_list};
use super::palette::label_colour;
use crate::base::{FrameIndex, FramePrompts, ObjectId, PromptError, Rle, Size};

/// The model's answer for one object on one frame, as the document keeps it.
#[derive(Clone, Debug, PartialEq)]
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
}

/// The user's document about one video: who is tracked, what was said about it, what came out.
#[derive(Clone, Debug)]
pub struct Session {
    size: Size,
    frames: u32,
    objects: Vec<Object>,
    last_id: u32,
    prompts: BTreeMap<(ObjectId, FrameIndex), FramePrompts>,
    results: BTreeMap<(FrameIndex, ObjectId), TrackResult>,
}

impl Session {
    /// An empty document about a video of `frames` pictures of `size`.
    pub fn new(size: Size, frames: u32) -> Self {
        let (prompts, results) = (BTreeMap::new(), BTreeMap::new());
        Self { size, frames, objects: Vec::new(), last_id: 0, prompts, results }
    }

    /// Size of the pictures and of all masks.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Number of frames of the video.
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// Adds an object behind the others. Its id has never been used in this session; its colour is that of its id.
    /// Without a class it gets [`DEFAULT_CLASS`]. White space around name and class is dropped.
    ///
    /// # Errors
    /// [`SessionError::BlankName`], [`SessionError::NameTaken`].
    pub fn add_object(&mut self, name: &str, class: Option<&str>) -> Result<ObjectId, SessionError> {
        let name = self.free_name(name, None)?;
        let class = class.map(str::trim).filter(|c| !c.is_empty()).unwrap_or(DEFAULT_CLASS).to_owned();
        self.last_id += 1;
        let id = ObjectId(self.last_id);
        // Label 0 is the background's black; ids past 255 start the palette again.
        let colour = label_colour(((self.last_id - 1) % 255) as u8 + 1);
        self.objects.push(Object { id, name, class, colour });
        Ok(id)
    }

    /// Gives `id` another name.
    ///
    /// # Errors
    /// [`SessionError::NoSuchObject`], [`SessionError::BlankName`], [`SessionError::NameTaken`].
    pub fn rename(&mut self, id: ObjectId, name: &str) -> Result<(), SessionError> {
        let at = self.position(id)?;
        self.objects[at].name = self.free_name(name, Some(id))?;
        Ok(())
    }

    /// Removes `id` with its prompts and results. Its id is not given out again.
    ///
    /// # Errors
    /// [`SessionError::NoSuchObject`].
    pub fn remove_object(&mut self, id: ObjectId) -> Result<Object, SessionError> {
        let at = self.position(id)?;
        self.prompts.retain(|(object, _), _| *object != id);
        self.results.retain(|(_, object), _| *object != id);
        Ok(self.objects.remove(at))
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
        let name = &self.objects[self.position(id)?].name;
        self.check_frame(frame)?;
        if prompts.is_empty() {
            self.prompts.remove(&(id, frame));
            return Ok(());
        }
        prompts.validate(self.size).map_err(|source| SessionError::Prompt {
            name: name.clone(),
            frame,
            source,
        })?;
        self.prompts.insert((id, frame), prompts);
        Ok(())
    }

    /// The prompts of `id` on `frame`.
    pub fn prompts(&self, id: ObjectId, frame: FrameIndex) -> Option<&FramePrompts> {
        self.prompts.get(&(id, frame))
    }

    /// All prompts, by object and then by frame.
    pub fn all_prompts(&self) -> impl Iterator<Item = (ObjectId, FrameIndex, &FramePrompts)> {
        self.prompts.iter().map(|(&(id, frame), prompts)| (id, frame, prompts))
    }

    /// The frames on which some object has prompts, in order and without repetition.
    pub fn prompted_frames(&self) -> Vec<FrameIndex> {
        let frames: std::collections::BTreeSet<_> = self.prompts.keys().map(|&(_, frame)| frame).collect();
        frames.into_iter().collect()
    }

    /// Keeps a result of `id` on `frame` in place of an earlier one.
    ///
    /// # Errors
    /// An object or frame that does not exist, a mask of another size than the pictures.
    pub fn set_result(
        &mut self,
        id: ObjectId,
        frame: FrameIndex,
        result: TrackResult,
    ) -> Result<(), SessionError> {
        let name = &self.objects[self.position(id)?].name;
        self.check_frame(frame)?;
        let (mask, picture) = (result.mask.size(), self.size);
        if mask != picture {
            return Err(SessionError::ResultSize { name: name.clone(), frame, mask, picture });
        }
        self.results.insert((frame, id), result);
        Ok(())
    }

    /// The result of `id` on `frame`.
    pub fn result(&self, id: ObjectId, frame: FrameIndex) -> Option<&TrackResult> {
        self.results.get(&(frame, id))
    }

    /// The results on `frame` in the order of the objects.
    pub fn results_on(&self, frame: FrameIndex) -> Vec<(ObjectId, &TrackResult)> {
        self.objects.iter().filter_map(|o| Some((o.id, self.results.get(&(frame, o.id))?))).collect()
    }

    /// Forgets the results of `id`, on all frames.
    pub fn clear_results(&mut self, id: ObjectId) {
        self.results.retain(|(_, object), _| *object != id);
    }

    fn position(&self, id: ObjectId) -> Result<usize, SessionError> {
        self.objects.iter().position(|o| o.id == id).ok_or(SessionError::NoSuchObject(id))
    }

    fn check_frame(&self, frame: FrameIndex) -> Result<(), SessionError> {
        if frame.0 < self.frames {
            return Ok(());
        }
        Err(SessionError::NoSuchFrame { frame, last: self.frames.saturating_sub(1) })
    }

    fn free_name(&self, name: &str, owner: Option<ObjectId>) -> Result<String, SessionError> {
        let name = name.trim();
        if name.is_empty() {
            return Err(SessionError::BlankName);
        }
        match self.find(name) {
            Some(other) if Some(other.id) != owner => Err(SessionError::NameTaken(name.to_owned())),
            _ => Ok(name.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Click, Label, Mask, Point};

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
        s.remove_object(b).unwrap();
        assert_eq!(s.add_object("b", None), Ok(ObjectId(3)));
        assert_eq!(s.remove_object(b), Err(SessionError::NoSuchObject(b)));
        assert_eq!(s.objects()[0].colour, [128, 0, 0]);
    }

    #[test]
    fn names_are_unique_and_not_blank() {
        let mut s = session();
        let a = s.add_object(" a ", None).unwrap();
        s.add_object("b", None).unwrap();
        assert_eq!(s.add_object("a", None), Err(SessionError::NameTaken("a".into())));
        assert_eq!(s.add_object(" \t", None), Err(SessionError::BlankName));
        assert_eq!(s.rename(a, "b"), Err(SessionError::NameTaken("b".into())));
        s.rename(a, "a").unwrap();
        s.rename(a, "c").unwrap();
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
        s.remove_object(b).unwrap();
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
        let wrong = s.set_result(a, FrameIndex(0), TrackResult { mask, score: 1.0 });
        assert!(matches!(wrong, Err(SessionError::ResultSize { .. })));
    }

    #[test]
    fn results_come_in_the_order_of_the_objects() {
        let mut s = session();
        let (a, b) = (s.add_object("a", None).unwrap(), s.add_object("b", None).unwrap());
        let result = |score| TrackResult { mask: Rle::encode(&Mask::empty(Size::new(8, 6))), score };
        s.set_result(b, FrameIndex(1), result(2.0)).unwrap();
        s.set_result(a, FrameIndex(1), result(1.0)).unwrap();
        s.set_result(a, FrameIndex(1), result(3.0)).unwrap();
        let on: Vec<_> = s.results_on(FrameIndex(1)).into_iter().map(|(id, r)| (id, r.score)).collect();
        assert_eq!(on, [(a, 3.0), (b, 2.0)]);
        s.clear_results(a);
        assert!(s.result(a, FrameIndex(1)).is_none() && s.result(b, FrameIndex(1)).is_some());
    }
}
