//! Random documents: what a person and a tracking run may do, one after the other.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "the helpers of tests are tests, and not every test needs all"
)]

use masklet::base::{Click, FrameIndex, FramePrompts, FrameRange, Label, Mask, ObjectId, Point, Rle, Size};
use masklet::session::{Class, Document, Edit, Reshape, Session, Stroke, TrackResult};
use proptest::prelude::*;

pub const SIZE: Size = Size::new(24, 16);
pub const FRAMES: u32 = 12;

/// One thing that a person or a run does; objects are named by their place in the list, so that most exist.
#[derive(Clone, Debug)]
pub enum Act {
    Edit(u8, usize, usize, u32, u32),
    Undo,
    Redo,
    Begin,
    Frame(u32, usize, u32),
    End,
    Answer(usize, u32, u32),
}

pub fn acts() -> impl Strategy<Value = Vec<Act>> {
    let frame = 0u32..FRAMES;
    let edit = (0u8..26, 0usize..5, 0usize..5, frame.clone(), 0u32..64);
    let act = prop_oneof![
        12 => edit.prop_map(|(kind, a, b, frame, seed)| Act::Edit(kind, a, b, frame, seed)),
        2 => Just(Act::Undo),
        1 => Just(Act::Redo),
        1 => Just(Act::Begin),
        4 => (frame.clone(), 0usize..5, 0u32..64).prop_map(|(f, o, s)| Act::Frame(f, o, s)),
        1 => Just(Act::End),
        2 => (0usize..5, frame, 0u32..64).prop_map(|(o, f, s)| Act::Answer(o, f, s)),
    ];
    proptest::collection::vec(act, 0..60)
}

pub fn mask(seed: u32) -> Rle {
    let mut mask = Mask::empty(SIZE);
    let at = Point { x: (seed * 7 % 24) as f32, y: (seed * 5 % 16) as f32 };
    Stroke { points: vec![at], radius: 1.0 + (seed % 5) as f32, erase: false }.paint(&mut mask);
    Rle::encode(&mask)
}

pub fn result(seed: u32) -> TrackResult {
    TrackResult { mask: mask(seed), score: seed as f32 / 8.0 - 3.0 }
}

pub fn click(seed: u32) -> FramePrompts {
    let at = Point { x: (seed % 24) as f32, y: (seed % 16) as f32 };
    FramePrompts { clicks: vec![Click { at, label: Label::Positive }], ..FramePrompts::default() }
}

pub fn id(session: &Session, at: usize) -> ObjectId {
    session.objects().get(at).map_or(ObjectId(99), |object| object.id)
}

pub fn range(a: u32, b: u32) -> FrameRange {
    FrameRange::new(FrameIndex(a.min(b % FRAMES)), FrameIndex(a.max(b % FRAMES))).expect("in order")
}

pub fn edit(session: &Session, kind: u8, a: usize, b: usize, frame: u32, seed: u32) -> Edit {
    let (object, other, at, range) = (id(session, a), id(session, b), FrameIndex(frame), range(frame, seed));
    let class = format!("class {}", seed % 4);
    match kind {
        0..=2 => Edit::AddObject {
            name: (seed.is_multiple_of(3)).then(|| format!("o{seed}")),
            class: (b > 2).then_some(class),
        },
        3 => Edit::RemoveObject(object),
        4 => Edit::Rename { object, name: format!("n{seed}") },
        5 => Edit::Recolour { object, colour: [seed as u8, 2, 3] },
        6 => Edit::SetClass { object, class },
        7 => Edit::Hide { object, hidden: seed.is_multiple_of(2) },
        8 => Edit::Lock { object, locked: seed.is_multiple_of(3) },
        9 => Edit::Reorder { object, to: b },
        10 => Edit::SetPrompts { object, frame: at, prompts: FramePrompts::default() },
        11 | 12 => Edit::SetPrompts { object, frame: at, prompts: click(seed) },
        13 => Edit::SetResult { object, frame: at, result: result(seed) },
        14 => Edit::SetMask { object, frame: at, mask: mask(seed) },
        15 => {
            let how = [Reshape::FillHoles(4), Reshape::DropIslands(4), Reshape::Grow(1), Reshape::Shrink(1)];
            Edit::Reshape { object, range, how: how[b % 4] }
        }
        16 => Edit::ClearRange { object, range },
        17 => Edit::Trim { object, range },
        18 => Edit::Swap { a: object, b: other, from: at },
        19 => Edit::Merge { object, into: other },
        20 => Edit::Split { object, from: at, name: None },
        21 => Edit::Verify { object, range, verified: seed.is_multiple_of(2) },
        22 => Edit::NotHere { object, range, absent: seed.is_multiple_of(2) },
        23 => Edit::SetRange((!seed.is_multiple_of(3)).then_some(range)),
        24 => Edit::ImportClasses(vec![Class { name: class, colour: [seed as u8; 3] }]),
        _ if b > 2 => Edit::RenameClass { class, name: format!("class {}", seed % 5) },
        _ => Edit::RemoveClass(class),
    }
}

pub fn act(document: &mut Document, act: &Act) {
    match *act {
        Act::Edit(kind, a, b, frame, seed) => {
            let before = document.session().clone();
            let edit = edit(&before, kind, a, b, frame, seed);
            if document.apply(edit).is_err() {
                assert!(document.session().same_content(&before), "a refused edit changes nothing");
            }
        }
        Act::Undo => drop(document.undo()),
        Act::Redo => drop(document.redo()),
        Act::Begin => document.begin_run("track"),
        Act::Frame(frame, at, seed) => {
            let results = [at, at + 1].map(|at| (id(document.session(), at), result(seed)));
            document.add_run_results(FrameIndex(frame), results.into());
        }
        Act::End => document.end_run(),
        Act::Answer(at, frame, seed) => {
            let (object, frame) = (id(document.session(), at), FrameIndex(frame));
            if let Some(prompts) = document.session().prompts(object, frame).cloned() {
                document.answer(object, frame, &prompts, result(seed));
            }
        }
    }
}

/// The document's content as bytes.
pub fn bytes(session: &Session) -> String {
    let objects = serde_json::to_string(&(session.objects(), session.schema(), session.range()));
    let results: Vec<_> =
        session.all_results().map(|(f, o, r)| (f, o, r.clone(), session.verified(o, f))).collect();
    let prompts: Vec<_> = session.all_prompts().map(|(o, f, p)| (o, f, p.clone())).collect();
    let absent: Vec<_> =
        session.objects().iter().map(|o| session.absent_frames(o.id).collect::<Vec<_>>()).collect();
    let rest = serde_json::to_string(&(results, prompts, absent));
    objects.expect("plain data") + &rest.expect("plain data")
}
