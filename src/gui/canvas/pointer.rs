//! From presses, moves and releases to what a person meant: a click, a box, a point that is moved, a stroke, a pan.
//!
//! Pure: it knows neither egui's state nor the document, so that every order of events can be tested.

use eframe::egui::{Modifiers, Pos2, Vec2};

use super::super::wish::PointRef;

/// The tool in hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// Clicks are points, drags are boxes.
    #[default]
    Point,
    /// Drags are boxes.
    Box,
    /// Paints onto the mask.
    Brush,
    /// Paints the mask away.
    Eraser,
}

impl Tool {
    /// Whether it paints.
    pub fn paints(self) -> bool {
        matches!(self, Self::Brush | Self::Eraser)
    }
}

/// A mouse button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// Left.
    Primary,
    /// Right.
    Secondary,
    /// Middle.
    Middle,
}

/// What the pointer is in the middle of.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Gesture {
    /// Nothing.
    #[default]
    Idle,
    /// A button is down and has not moved far yet.
    Pressed {
        /// Where.
        origin: Pos2,
        /// Which.
        button: Button,
        /// What was held then.
        modifiers: Modifiers,
        /// The marker under it.
        marker: Option<PointRef>,
    },
    /// A box is drawn out.
    Boxing {
        /// Its first corner.
        origin: Pos2,
        /// The other one.
        to: Pos2,
        /// Whether it means a new object.
        new_object: bool,
    },
    /// A marker is moved.
    Moving {
        /// Which.
        point: PointRef,
        /// To where.
        to: Pos2,
    },
    /// The picture is moved.
    Panning {
        /// Where the pointer was last.
        last: Pos2,
    },
    /// Brush or eraser is down.
    Painting {
        /// The way so far.
        points: Vec<Pos2>,
        /// Whether it erases.
        erase: bool,
    },
}

/// What came out of a gesture.
#[derive(Clone, Debug, PartialEq)]
pub enum Meant {
    /// A click without movement.
    Click {
        /// Where.
        at: Pos2,
        /// Right button, or Alt.
        negative: bool,
    },
    /// Ctrl and click: whose mask is this?
    Pick(Pos2),
    /// A click on a marker.
    Marker(PointRef),
    /// A box.
    Box {
        /// One corner.
        from: Pos2,
        /// The other.
        to: Pos2,
        /// Whether it means a new object.
        new_object: bool,
    },
    /// A marker was moved.
    Moved {
        /// Which.
        point: PointRef,
        /// To where.
        to: Pos2,
    },
    /// The picture shall move by this.
    Pan(Vec2),
    /// A stroke is whole.
    Stroke {
        /// Its way.
        points: Vec<Pos2>,
        /// Whether it erases.
        erase: bool,
    },
}

/// Points of the window that a hand may tremble during a click.
const SLACK: f32 = 4.0;
/// Points of a stroke; beyond them the way is thinned.
const STROKE: usize = 4096;

impl Gesture {
    /// A button went down. `pan` says that the key for moving the picture is held.
    pub fn press(
        &mut self,
        at: Pos2,
        button: Button,
        modifiers: Modifiers,
        tool: Tool,
        marker: Option<PointRef>,
        pan: bool,
    ) {
        if *self != Self::Idle {
            return;
        }
        *self = if button == Button::Middle || (pan && button == Button::Primary) {
            Self::Panning { last: at }
        } else if tool.paints() && !modifiers.command {
            let erase = (tool == Tool::Eraser) != (button == Button::Secondary || modifiers.alt);
            Self::Painting { points: vec![at], erase }
        } else {
            Self::Pressed { origin: at, button, modifiers, marker }
        };
    }

    /// The pointer moved while a button is down.
    pub fn moved(&mut self, at: Pos2) -> Option<Meant> {
        match self {
            Self::Idle => {}
            Self::Pressed { origin, button, modifiers, marker } => {
                if origin.distance(at) <= SLACK || *button != Button::Primary || modifiers.command {
                    return None;
                }
                *self = match *marker {
                    Some(point) => Self::Moving { point, to: at },
                    None => Self::Boxing { origin: *origin, to: at, new_object: modifiers.shift },
                };
            }
            Self::Boxing { to, .. } | Self::Moving { to, .. } => *to = at,
            Self::Panning { last } => {
                let delta = at - *last;
                *last = at;
                return (delta != Vec2::ZERO).then_some(Meant::Pan(delta));
            }
            Self::Painting { points, .. } => {
                if points.last().is_none_or(|last| last.distance(at) >= 0.5) {
                    points.push(at);
                }
                if points.len() > STROKE {
                    let mut keep = false;
                    points.retain(|_| {
                        keep = !keep;
                        keep
                    });
                }
            }
        }
        None
    }

    /// The button went up.
    pub fn release(&mut self, at: Pos2, tool: Tool) -> Option<Meant> {
        self.moved(at);
        match std::mem::take(self) {
            Self::Idle | Self::Panning { .. } => None,
            Self::Pressed { modifiers, .. } if modifiers.command => Some(Meant::Pick(at)),
            Self::Pressed { marker: Some(point), button: Button::Primary, .. } => Some(Meant::Marker(point)),
            Self::Pressed { .. } if tool == Tool::Box => None,
            Self::Pressed { origin, button, modifiers, .. } => {
                let negative = button == Button::Secondary || modifiers.alt;
                Some(Meant::Click { at: origin, negative })
            }
            Self::Boxing { origin, to, new_object } => Some(Meant::Box { from: origin, to, new_object }),
            Self::Moving { point, to } => Some(Meant::Moved { point, to }),
            Self::Painting { points, erase } => Some(Meant::Stroke { points, erase }),
        }
    }

    /// Escape, another tool, another frame: nothing comes of it. Says whether there was something.
    pub fn cancel(&mut self) -> bool {
        std::mem::take(self) != Self::Idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{FrameIndex, ObjectId};
    use eframe::egui::pos2;
    use proptest::prelude::*;

    const POINT: PointRef = PointRef { object: ObjectId(1), frame: FrameIndex(0), index: 0 };

    fn drag(
        tool: Tool,
        button: Button,
        modifiers: Modifiers,
        marker: Option<PointRef>,
        by: f32,
    ) -> Option<Meant> {
        let mut gesture = Gesture::default();
        gesture.press(pos2(10.0, 10.0), button, modifiers, tool, marker, false);
        gesture.moved(pos2(10.0 + by / 2.0, 10.0));
        gesture.release(pos2(10.0 + by, 10.0), tool)
    }

    #[test]
    fn what_each_gesture_means() {
        use Button::{Middle, Primary, Secondary};
        let none = Modifiers::NONE;
        let click = |negative| Some(Meant::Click { at: pos2(10.0, 10.0), negative });
        assert_eq!(drag(Tool::Point, Primary, none, None, 3.0), click(false));
        assert_eq!(drag(Tool::Point, Secondary, none, None, 30.0), click(true));
        assert_eq!(drag(Tool::Point, Primary, Modifiers::ALT, None, 0.0), click(true));
        let bounds =
            |new_object| Some(Meant::Box { from: pos2(10.0, 10.0), to: pos2(40.0, 10.0), new_object });
        assert_eq!(drag(Tool::Point, Primary, none, None, 30.0), bounds(false));
        assert_eq!(drag(Tool::Box, Primary, Modifiers::SHIFT, None, 30.0), bounds(true));
        assert_eq!(drag(Tool::Box, Primary, none, None, 0.0), None);
        assert_eq!(drag(Tool::Point, Primary, none, Some(POINT), 1.0), Some(Meant::Marker(POINT)));
        let moved = Some(Meant::Moved { point: POINT, to: pos2(40.0, 10.0) });
        assert_eq!(drag(Tool::Point, Primary, none, Some(POINT), 30.0), moved);
        assert_eq!(
            drag(Tool::Point, Primary, Modifiers::COMMAND, None, 0.0),
            Some(Meant::Pick(pos2(10.0, 10.0)))
        );
        assert_eq!(drag(Tool::Point, Middle, none, None, 30.0), None);
        assert!(matches!(
            drag(Tool::Eraser, Primary, none, None, 9.0),
            Some(Meant::Stroke { erase: true, .. })
        ));
        assert!(matches!(
            drag(Tool::Brush, Secondary, none, None, 9.0),
            Some(Meant::Stroke { erase: true, .. })
        ));
    }

    #[test]
    fn a_cancelled_drag_leaves_nothing() {
        let mut gesture = Gesture::default();
        gesture.press(pos2(0.0, 0.0), Button::Primary, Modifiers::NONE, Tool::Point, None, false);
        gesture.moved(pos2(50.0, 0.0));
        assert!(gesture.cancel() && !gesture.cancel());
        assert_eq!(gesture.release(pos2(60.0, 0.0), Tool::Point), None);
    }

    proptest! {
        /// Any order of events, with the tool changed in between, ends idle after a release.
        #[test]
        fn any_order_of_events_ends(events in proptest::collection::vec((0u8..5, 0.0f32..99.0), 0..40)) {
            let tools = [Tool::Point, Tool::Box, Tool::Brush, Tool::Eraser];
            let mut gesture = Gesture::default();
            let mut tool = Tool::Point;
            for (kind, x) in events {
                match kind {
                    0 => gesture.press(pos2(x, 0.0), Button::Primary, Modifiers::NONE, tool, None, x > 80.0),
                    1 => drop(gesture.moved(pos2(x, 0.0))),
                    2 => drop(gesture.release(pos2(x, 0.0), tool)),
                    3 => tool = tools[x as usize % 4],
                    _ => drop(gesture.cancel()),
                }
            }
            let _ = gesture.release(pos2(1.0, 1.0), tool);
            prop_assert_eq!(gesture, Gesture::Idle);
        }
    }
}
