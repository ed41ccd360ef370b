//! The demo's result as a document, for the window.

use crate::base::{FrameIndex, FramePrompts, ObjectId};
use crate::pipeline::{Event, TrackJob};
use crate::session::{Edit, Session, TrackResult};

/// Name, class and prompts of an object.
type Named = (String, String, Vec<(FrameIndex, FramePrompts)>);

/// Gathers what the demo job tells.
pub(super) struct DemoResult {
    objects: Vec<Named>,
    session: Option<Box<Session>>,
}

impl DemoResult {
    /// Nothing heard yet.
    pub fn new(job: &TrackJob) -> Self {
        let prompts = |object: &crate::pipeline::ObjectSpec| {
            let said = object.prompts.iter().map(|(&frame, spec)| {
                let prompts = FramePrompts { clicks: spec.clicks.clone(), bounds: spec.bounds, mask: None };
                (frame, prompts)
            });
            (object.name.clone(), object.class.clone(), said.collect())
        };
        Self { objects: job.objects.iter().map(prompts).collect(), session: None }
    }

    /// Hears one event. What does not fit the document is left out: the files have it all the same.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Opened { video, .. } => {
                let mut session = Session::new(video.size, video.frames);
                for (name, class, prompts) in &self.objects {
                    let Ok(id) = session.add_object(name, Some(class)) else { continue };
                    for (frame, said) in prompts {
                        let _ = session.set_prompts(id, *frame, said.clone());
                    }
                }
                self.session = Some(Box::new(session));
            }
            Event::Tracked { frame, objects, .. } => {
                let Some(session) = &mut self.session else { return };
                for found in objects.iter() {
                    // The job numbers its objects as the document does: 1, 2, ... in their order.
                    let result = TrackResult { mask: found.mask.clone(), score: found.score };
                    let object = ObjectId(found.object.0);
                    let _ = session.change(Edit::SetResult { object, frame: *frame, result });
                }
            }
            _ => {}
        }
    }

    /// The document, if the job began.
    pub fn session(self) -> Option<Box<Session>> {
        self.session
    }
}
