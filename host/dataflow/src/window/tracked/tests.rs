//! The order in which changes are handed out.

use super::*;

fn put(text: &'static str) -> impl FnOnce(&Tracker, &mut Changes) {
    move |_, changes| changes.put(|key| key.push(b'k'), |value| value.extend_from_slice(text.as_bytes()))
}

fn key(_: &Tracker, out: &mut Vec<u8>) {
    out.push(b'k');
}

fn handed_out(tracker: &mut Tracker) -> Vec<Option<String>> {
    let mut changes = Changes::default();
    tracker.hand_out(usize::MAX, &mut changes);
    changes.iter().map(|(_, value)| value.map(|value| String::from_utf8_lossy(value).into_owned())).collect()
}

#[test]
fn a_frozen_entry_that_changes_or_goes_is_written_first() {
    let mut tracker = Tracker::new(8);
    tracker.start();
    let mark = tracker.change(Mark::default(), put("never"));
    assert!(tracker.is_listed(mark) && !mark.is_stored());
    tracker.freeze();
    assert!(tracker.is_frozen(mark));
    let mark = tracker.change(mark, put("as it was"));
    assert!(mark.is_stored() && tracker.is_listed(mark));
    let mark = tracker.forget(mark, put("never"), key);
    let again = tracker.forget(mark, put("never"), key);
    assert_eq!((mark, handed_out(&mut tracker)), (again, vec![Some("as it was".to_owned())]));
    tracker.freeze();
    assert_eq!(handed_out(&mut tracker), [None]);
}

#[test]
fn what_was_never_stored_is_not_deleted() {
    let mut tracker = Tracker::new(8);
    tracker.start();
    let mark = tracker.change(Mark::default(), put("never"));
    let mark = tracker.forget(mark, put("never"), key);
    tracker.freeze();
    assert_eq!(handed_out(&mut tracker), Vec::<Option<String>>::new());
    assert_eq!(tracker.reused(mark), Mark::default(), "what is frozen of the entry before is void");
}

#[test]
fn without_checkpoints_nothing_is_kept() {
    let mut tracker = Tracker::new(8);
    assert!(tracker.is_listed(Mark::default()) && tracker.is_listed(Mark::STORED));
    tracker.forget(Mark::STORED, put("never"), key);
    tracker.now(put("never"));
    assert_eq!(tracker.active.0.len(), 0);
}
