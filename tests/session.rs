//! The document under random edits: undo and redo give back exactly what was there, ids are never used again, objects do
//! not touch each other, and the journal's changes lead to the same document.
#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

#[path = "support/documents.rs"]
mod documents;

use std::collections::BTreeSet;

use documents::{FRAMES, SIZE, act, acts, bytes, click, edit, id, mask, range, result};
use masklet::base::{FrameIndex, FramePrompts, FrameRange, Mask, ObjectId, Rle, Size};
use masklet::session::{Document, Edit, Patch, Reshape, Session, TrackResult};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn undoing_all_and_redoing_all_is_byte_identical(first in acts(), then in acts()) {
        let mut document = Document::new(SIZE, FRAMES);
        first.iter().for_each(|a| act(&mut document, a));
        let base = document.session().clone();
        let mut document = Document::of(base.clone());
        then.iter().for_each(|a| act(&mut document, a));
        while document.redo().is_some() {}
        let end = bytes(document.session());
        let mut states = vec![end];
        while document.undo().is_some() {
            states.push(bytes(document.session()));
        }
        prop_assert!(document.session().same_content(&base));
        prop_assert_eq!(bytes(document.session()), bytes(&base));
        for expected in states.iter().rev().skip(1) {
            prop_assert!(document.redo().is_some());
            prop_assert_eq!(&bytes(document.session()), expected);
        }
        prop_assert!(document.redo().is_none());
    }

    #[test]
    fn the_changes_lead_to_the_same_document_even_when_played_twice(acts in acts()) {
        let mut document = Document::new(SIZE, FRAMES);
        let mut changes = Vec::new();
        for a in &acts {
            act(&mut document, a);
            changes.extend(document.take_changes());
        }
        let text = serde_json::to_string(&changes).expect("changes are plain data");
        let read: Vec<masklet::session::Change> = serde_json::from_str(&text).expect("own text");
        prop_assert_eq!(&read, &changes);
        let mut played = Session::new(SIZE, FRAMES);
        for change in read.iter().chain(&changes) {
            played.replay(change).expect("own changes fit");
        }
        prop_assert_eq!(bytes(&played), bytes(document.session()));
        prop_assert_eq!(played.last_id(), document.session().last_id());
    }

    #[test]
    fn ids_are_never_used_again_and_nothing_belongs_to_nobody(acts in acts()) {
        let mut document = Document::new(SIZE, FRAMES);
        let mut given = BTreeSet::new();
        for a in &acts {
            let before = document.session().last_id();
            act(&mut document, a);
            if document.session().last_id() > before {
                prop_assert!(given.insert(document.session().last_id()));
            }
            let known: BTreeSet<_> = document.session().objects().iter().map(|o| o.id).collect();
            prop_assert!(document.session().all_results().all(|(_, id, _)| known.contains(&id)), "masks of nobody");
            prop_assert!(document.session().all_prompts().all(|(id, ..)| known.contains(&id)));
            for object in document.session().objects() {
                prop_assert!(object.id.0 <= document.session().last_id());
                prop_assert!(given.contains(&object.id.0));
            }
        }
    }

    #[test]
    fn an_edit_of_one_object_leaves_the_others_as_they_are(acts in acts(), kind in 3u8..23, a in 0usize..5, frame in 0..FRAMES, seed in 0u32..64) {
        prop_assume!(![18, 19].contains(&kind));
        let mut document = Document::new(SIZE, FRAMES);
        acts.iter().for_each(|a| act(&mut document, a));
        let before = document.session().clone();
        let edited = id(&before, a);
        let _ = document.apply(edit(&before, kind, a, 0, frame, seed));
        let after = document.session();
        for object in before.objects().iter().filter(|o| o.id != edited) {
            prop_assert_eq!(after.object(object.id), Some(object));
            for frame in (0..FRAMES).map(FrameIndex) {
                prop_assert_eq!(after.result(object.id, frame), before.result(object.id, frame));
                prop_assert_eq!(after.prompts(object.id, frame), before.prompts(object.id, frame));
                prop_assert_eq!(after.absent(object.id, frame), before.absent(object.id, frame));
            }
        }
    }
}

fn document(objects: &[&str]) -> Document {
    let mut document = Document::new(SIZE, FRAMES);
    for name in objects {
        document.apply(Edit::AddObject { name: Some((*name).into()), class: None }).unwrap();
    }
    document
}

fn frames(session: &Session, object: u32) -> Vec<u32> {
    session.all_results().filter(|(_, o, _)| o.0 == object).map(|(f, ..)| f.0).collect()
}

#[test]
fn a_run_is_one_step_and_edits_made_meanwhile_win() {
    let mut d = document(&["a", "b"]);
    let (a, b) = (ObjectId(1), ObjectId(2));
    d.begin_run("track forward");
    for frame in 0..4 {
        d.add_run_results(FrameIndex(frame), vec![(a, result(1)), (b, result(2))]);
    }
    d.apply(Edit::SetMask { object: a, frame: FrameIndex(5), mask: mask(9) }).unwrap();
    d.apply(Edit::Lock { object: b, locked: true }).unwrap();
    for frame in 4..8 {
        d.add_run_results(FrameIndex(frame), vec![(a, result(1)), (b, result(2))]);
    }
    d.end_run();
    assert!(d.add_run_results(FrameIndex(9), vec![(a, result(1))]).frames.is_none(), "the run is over");
    assert_eq!(frames(d.session(), 1), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(d.session().result(a, FrameIndex(5)).map(|r| &r.mask), Some(&mask(9)));
    assert_eq!(frames(d.session(), 2), [0, 1, 2, 3], "a locked object is left alone");
    d.undo().unwrap();
    d.undo().unwrap();
    assert_eq!(d.undo_label(), Some("track forward"));
    let touched = d.undo().unwrap();
    assert_eq!(touched.objects, BTreeSet::from([a, b]));
    assert_eq!(touched.frames, FrameRange::new(FrameIndex(0), FrameIndex(7)));
    assert!(frames(d.session(), 1).is_empty() && frames(d.session(), 2).is_empty());
    assert_eq!(d.redo_label(), Some("track forward"));
}

#[test]
fn a_click_and_its_answer_are_one_step_and_a_late_answer_is_dropped() {
    let mut d = document(&["a"]);
    let (a, frame) = (ObjectId(1), FrameIndex(3));
    d.apply(Edit::SetPrompts { object: a, frame, prompts: click(1) }).unwrap();
    d.apply(Edit::Rename { object: a, name: "dog".into() }).unwrap();
    assert!(d.answer(a, frame, &click(1), result(1)));
    d.apply(Edit::SetPrompts { object: a, frame, prompts: click(2) }).unwrap();
    assert!(!d.answer(a, frame, &click(1), result(3)), "other prompts by now");
    assert_eq!(d.session().result(a, frame), Some(&result(1)));
    d.undo().unwrap();
    d.undo().unwrap();
    d.undo().unwrap();
    assert!(d.session().result(a, frame).is_none() && d.session().prompts(a, frame).is_none());
    assert!(!d.answer(a, frame, &click(1), result(1)), "undone");
}

#[test]
fn tracking_keeps_verified_frames_and_frames_without_the_object() {
    let mut d = document(&["a"]);
    let a = ObjectId(1);
    d.apply(Edit::SetResult { object: a, frame: FrameIndex(2), result: result(5) }).unwrap();
    d.apply(Edit::Verify { object: a, range: range(0, 4), verified: true }).unwrap();
    d.apply(Edit::NotHere { object: a, range: range(6, 7), absent: true }).unwrap();
    d.begin_run("track");
    (0..9).for_each(|f| drop(d.add_run_results(FrameIndex(f), vec![(a, result(1))])));
    let at = |f| d.session().result(a, FrameIndex(f)).unwrap();
    assert_eq!((at(1), at(2), at(8)), (&result(1), &result(5), &result(1)));
    assert_eq!((at(6).mask.area(), at(7).mask.area()), (0, 0));
    assert!(d.session().verified(a, FrameIndex(2)) && !d.session().verified(a, FrameIndex(1)));
    let _ = d.apply(Edit::SetPrompts { object: a, frame: FrameIndex(6), prompts: click(3) });
    assert!(!d.session().absent(a, FrameIndex(6)), "who points at it takes the mark back");
}

#[test]
fn identities_are_swapped_merged_and_split_from_a_frame_on() {
    let mut d = document(&["a", "b"]);
    let (a, b) = (ObjectId(1), ObjectId(2));
    for f in 0..6 {
        let frame = FrameIndex(f);
        d.apply(Edit::SetResult { object: a, frame, result: result(1) }).unwrap();
        d.apply(Edit::SetResult { object: b, frame, result: result(30 + f) }).unwrap();
    }
    d.apply(Edit::SetPrompts { object: b, frame: FrameIndex(4), prompts: click(4) }).unwrap();
    d.apply(Edit::Swap { a, b, from: FrameIndex(3) }).unwrap();
    let at = |d: &Document, object, f| d.session().result(object, FrameIndex(f)).cloned();
    assert_eq!(
        (at(&d, a, 2), at(&d, a, 3), at(&d, b, 3)),
        (Some(result(1)), Some(result(33)), Some(result(1)))
    );
    assert!(
        d.session().prompts(a, FrameIndex(4)).is_some() && d.session().prompts(b, FrameIndex(4)).is_none()
    );

    let touched = d.apply(Edit::Split { object: a, from: FrameIndex(3), name: None }).unwrap();
    let c = touched.added.unwrap();
    assert_eq!((frames(d.session(), 1), frames(d.session(), c.0)), (vec![0, 1, 2], vec![3, 4, 5]));
    assert_eq!(d.session().objects()[1].id, c, "beside the old one");

    d.apply(Edit::Merge { object: c, into: b }).unwrap();
    let merged = at(&d, b, 4).unwrap().mask;
    let expected = (0..24u32)
        .flat_map(|x| (0..16u32).map(move |y| (x, y)))
        .filter(|&(x, y)| mask(1).decode().get(x, y) || mask(34).decode().get(x, y))
        .count();
    assert_eq!(merged.area(), expected as u64);
    assert!(d.session().object(c).is_none());
    assert!(d.apply(Edit::Merge { object: b, into: b }).is_err());
}

#[test]
fn masks_by_hand_are_prompts_too() {
    let mut d = document(&["a"]);
    let a = ObjectId(1);
    d.apply(Edit::SetMask { object: a, frame: FrameIndex(2), mask: mask(3) }).unwrap();
    assert_eq!(d.session().prompts(a, FrameIndex(2)).unwrap().mask, Some(mask(3)));
    assert_eq!(d.session().result(a, FrameIndex(2)).unwrap().mask, mask(3));
    d.apply(Edit::Reshape { object: a, range: range(0, 11), how: Reshape::Grow(2) }).unwrap();
    assert!(d.session().result(a, FrameIndex(2)).unwrap().mask.area() > mask(3).area());
    assert_eq!(d.undo_label(), Some("grow"));
}

#[test]
fn a_thousand_steps_on_a_full_hd_picture_stay_small() {
    let size = Size::new(1920, 1080);
    let mut d = Document::new(size, 2_000);
    let a = d.apply(Edit::AddObject { name: None, class: None }).unwrap().added.unwrap();
    // A person of 300 x 400 pixels with a ragged outline: its run lengths are what every step keeps.
    let masks: Vec<Rle> = (0..8)
        .map(|i| {
            let mut mask = Mask::empty(size);
            for x in 300..600u32 {
                let ragged = (x * 7 + i * 13) % 9;
                (300 + ragged..700 - ragged).for_each(|y| mask.set(x, y, (x + y) % 97 != 0));
            }
            Rle::encode(&mask)
        })
        .collect();
    for i in 0..1_200 {
        let mask = masks[i as usize % 8].clone();
        d.apply(Edit::SetMask { object: a, frame: FrameIndex(i % 100), mask }).unwrap();
        d.take_changes();
    }
    let (steps, bytes) = d.history_size();
    assert_eq!(steps, 1_000);
    assert!((10 << 20..30 << 20).contains(&bytes), "{bytes} bytes");
    // Runs of thousands of frames push old steps out before they fill the memory.
    for run in 0..40 {
        d.begin_run("track");
        for frame in 0..2_000 {
            let mask = masks[(run + frame) as usize % 8].clone();
            d.add_run_results(FrameIndex(frame), vec![(a, TrackResult { mask, score: 1.0 })]);
        }
        d.end_run();
        d.take_changes();
    }
    assert!(d.history_size().1 < 300 << 20);
    assert!(d.history_size().0 > 3);
}

#[test]
fn hostile_changes_are_refused() {
    let mut s = Session::new(SIZE, FRAMES);
    let a = s.add_object("a", None).unwrap();
    let big = TrackResult { mask: Rle::empty(Size::new(9, 9)), score: 0.0 };
    for patch in [
        Patch::Result(a, FrameIndex(0), Some(big.into())),
        Patch::Result(a, FrameIndex(99), Some(result(1).into())),
        Patch::Prompts(a, FrameIndex(0), Some(FramePrompts::default().into())),
        Patch::Range(Some(FrameRange { first: FrameIndex(3), last: FrameIndex(1) })),
        Patch::Verified(a, FrameIndex(12), true),
    ] {
        let before = s.clone();
        assert!(s.replay(&masklet::session::Change(vec![patch])).is_err());
        assert!(s.same_content(&before));
    }
}
