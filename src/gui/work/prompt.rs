//! What a person says on the picture, as edits of the document and questions to the engine.

use super::{Opened, Work};
use crate::base::{Click, FrameIndex, FramePrompts, Label, Mask, ObjectId, Point, Rle};
use crate::gui::wish::{PointRef, Touch};
use crate::pipeline::{DeskCommand, ObjectPrompts};
use crate::session::{Edit, Stroke};

impl Opened {
    /// The frame that a person sees and means: the one on the canvas, not the one that is still being decoded.
    pub fn seen(&self) -> FrameIndex {
        self.shown.as_ref().map_or(self.frame, |shown| shown.frame)
    }
}

impl Work {
    /// Takes what a person did on the picture.
    ///
    /// # Errors
    /// Why it cannot be done, in words.
    pub fn touch(&mut self, touch: Touch) -> Result<(), String> {
        let Some(open) = &self.open else { return Ok(()) };
        let frame = open.seen();
        match touch {
            Touch::Hover(at, label) => self.preview(frame, Click { at, label }),
            Touch::Leave => self.leave(),
            Touch::Click(click) => {
                self.go_to(frame);
                let object = self.active_or_new(click.label)?;
                self.change_prompts(object, frame, |prompts| prompts.clicks.push(click))?;
            }
            Touch::Bounds { bounds, new_object } => {
                self.go_to(frame);
                let object =
                    if new_object { self.new_object()? } else { self.active_or_new(Label::Positive)? };
                self.change_prompts(object, frame, |prompts| prompts.bounds = Some(bounds))?;
            }
            Touch::Move { point, to } => {
                self.change_prompts(point.object, point.frame, |prompts| {
                    if let Some(click) = prompts.clicks.get_mut(point.index) {
                        click.at = to;
                    }
                })?;
            }
            Touch::Remove(point) => self.remove_point(point)?,
            Touch::Paint(stroke) => self.paint(frame, &stroke)?,
        }
        Ok(())
    }

    /// Takes a point away.
    ///
    /// # Errors
    /// The object is locked.
    pub fn remove_point(&mut self, point: PointRef) -> Result<(), String> {
        self.change_prompts(point.object, point.frame, |prompts| {
            if point.index < prompts.clicks.len() {
                prompts.clicks.remove(point.index);
            }
        })
    }

    /// Takes the last thing away that was said of the active object on the frame that is seen: a point, else the box.
    ///
    /// # Errors
    /// There is nothing, or the object is locked.
    pub fn remove_last(&mut self) -> Result<(), String> {
        let open = self.open.as_ref().ok_or("nothing is open")?;
        let (frame, object) = (open.seen(), open.active.ok_or("no object is chosen")?);
        if open.document.session().prompts(object, frame).is_none() {
            return Err("the object has no prompt on this frame".into());
        }
        self.change_prompts(object, frame, |prompts| {
            if prompts.clicks.pop().is_none() {
                (prompts.bounds, prompts.mask) = (None, None);
            }
        })
    }

    /// Makes a new object the active one.
    ///
    /// # Errors
    /// Nothing is open.
    pub fn new_object(&mut self) -> Result<ObjectId, String> {
        let touched = self.apply(Edit::AddObject { name: None, class: None })?;
        let id = touched.added.ok_or("the object was not added")?;
        if let Some(open) = &mut self.open {
            open.active = Some(id);
        }
        Ok(id)
    }

    fn active_or_new(&mut self, label: Label) -> Result<ObjectId, String> {
        match self.open.as_ref().and_then(|open| open.active) {
            Some(id) => Ok(id),
            None if label == Label::Negative => Err(
                "click on an object with the left button first; the right button says what does not belong"
                    .into(),
            ),
            None => self.new_object(),
        }
    }

    /// Changes what is said of an object on a frame, and asks for the mask.
    fn change_prompts(
        &mut self,
        object: ObjectId,
        frame: FrameIndex,
        change: impl FnOnce(&mut FramePrompts),
    ) -> Result<(), String> {
        let open = self.open.as_ref().ok_or("nothing is open")?;
        let mut prompts = open.document.session().prompts(object, frame).cloned().unwrap_or_default();
        change(&mut prompts);
        // Clicks and boxes refine what the model says, not what was painted.
        if !prompts.clicks.is_empty() || prompts.bounds.is_some() {
            prompts.mask = None;
        }
        let asks = !prompts.is_empty();
        self.apply(Edit::SetPrompts { object, frame, prompts })?;
        self.pause = None;
        if asks {
            self.ask(object, frame);
        } else {
            self.send(DeskCommand::Forget(object));
        }
        Ok(())
    }

    /// Asks for the mask of an object on a frame.
    fn ask(&mut self, object: ObjectId, frame: FrameIndex) {
        let Some(open) = &mut self.open else { return };
        open.asked += 1;
        let object = ObjectPrompts::of(open.document.session(), object);
        self.send(DeskCommand::Answer { object, frame });
    }

    fn preview(&mut self, frame: FrameIndex, click: Click) {
        let Some(open) = &self.open else { return };
        let session = open.document.session();
        // An object that does not exist yet: nothing is known under an id that is never given out.
        let id = open.active.unwrap_or(ObjectId(u32::MAX));
        let mut prompts = session.prompts(id, frame).cloned().unwrap_or_default();
        prompts.mask = None;
        prompts.clicks.push(click);
        let object = ObjectPrompts::of(session, id).with(frame, prompts);
        self.send(DeskCommand::Preview { object, frame });
    }

    fn leave(&mut self) {
        if let Some(open) = &mut self.open {
            open.preview = None;
        }
    }

    fn paint(&mut self, frame: FrameIndex, stroke: &Stroke) -> Result<(), String> {
        self.go_to(frame);
        let object = match self.open.as_ref().and_then(|open| open.active) {
            Some(id) => id,
            None if stroke.erase => return Err("there is no mask to erase yet".into()),
            None => self.new_object()?,
        };
        let open = self.open.as_ref().ok_or("nothing is open")?;
        let session = open.document.session();
        let mut mask =
            session.result(object, frame).map_or_else(|| Mask::empty(session.size()), |r| r.mask.decode());
        stroke.paint(&mut mask);
        self.apply(Edit::SetMask { object, frame, mask: Rle::encode(&mask) })?;
        Ok(())
    }

    /// The frontmost visible object whose mask covers a pixel of the frame that is seen.
    pub fn object_at(&self, at: Point) -> Option<ObjectId> {
        let open = self.open.as_ref()?;
        let session = open.document.session();
        let (x, y) = (at.x.round().max(0.0) as u32, at.y.round().max(0.0) as u32);
        let covers = |mask: &Rle| {
            let place = u64::from(x) * u64::from(mask.size().height) + u64::from(y);
            let mut end = 0u64;
            let run = mask.counts().iter().position(|&count| {
                end += u64::from(count);
                place < end
            });
            run.is_some_and(|run| run % 2 == 1)
        };
        let results = session.results_on(open.seen());
        let visible = |id: ObjectId| session.object(id).is_some_and(|object| !object.hidden);
        results.into_iter().find(|(id, result)| visible(*id) && covers(&result.mask)).map(|(id, _)| id)
    }
}
