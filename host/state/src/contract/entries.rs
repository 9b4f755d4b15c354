//! Entries: what was applied is there, the later change counts, and scans keep to their bounds.

use std::ops::ControlFlow;

use super::{Case, Model, Subject, all, change, fill, key};
use crate::{Changes, Namespace, StateBackend, range_of};

pub(super) const CASES: &[Case] = &[
    ("what was applied is read", what_was_applied_is_read),
    ("the later change of an entry counts", the_later_change_of_an_entry_counts),
    ("a scan keeps to its bounds and order", a_scan_keeps_to_its_bounds_and_order),
    ("a scan stops where it is told to", a_scan_stops_where_it_is_told_to),
    ("a range of groups is a scan", a_range_of_groups_is_a_scan),
    ("entries take bytes", entries_take_bytes),
    ("a new one is empty, whatever was there", a_new_one_is_empty),
];

fn apply(backend: &dyn StateBackend, list: &[(&[u8], Option<&[u8]>)]) {
    let mut changes = Changes::default();
    for (key, value) in list {
        change(&mut changes, key, *value);
    }
    backend.apply(&changes).expect("applied");
}

fn what_was_applied_is_read(subject: Subject<'_>) {
    let backend = subject.create("a");
    backend.apply(&Changes::default()).expect("nothing can be applied");
    let (one, two, large) = (key(0, 0, b""), key(255, 32_767, &[0xFF; 40]), key(1, 9, &[7; 3000]));
    let value = vec![9; 300_000];
    apply(&*backend, &[(&one, Some(b"")), (&two, Some(b"2")), (&large, Some(&value))]);
    assert_eq!(backend.get(&one).expect("read"), Some(Vec::new()), "an empty value is a value");
    assert_eq!(backend.get(&key(0, 1, b"")).expect("read"), None);
    let missing = key(0, 0, b"\0");
    let asked: [&[u8]; 6] = [&two, &missing, &one, &two, &large, &[]];
    let got = backend.get_many(&asked).expect("read");
    let expected = [Some(b"2".to_vec()), None, Some(Vec::new()), Some(b"2".to_vec()), Some(value), None];
    assert!(got == expected, "values come in the order that they were asked in");
    assert!(backend.get_many(&[]).expect("read").is_empty());
}

fn the_later_change_of_an_entry_counts(subject: Subject<'_>) {
    let backend = subject.create("a");
    let names: Vec<Vec<u8>> = (0..5).map(|number| key(3, 5, &[number])).collect();
    apply(&*backend, &[(&names[0], Some(b"old")), (&names[1], Some(b"old")), (&names[2], Some(b"old"))]);
    apply(
        &*backend,
        &[
            (&names[0], Some(b"newer")),
            (&names[0], Some(b"newest")),
            (&names[1], None),
            (&names[2], None),
            (&names[2], Some(b"again")),
            (&names[3], Some(b"shortly")),
            (&names[3], None),
            (&names[4], None),
        ],
    );
    let expected: Model = [(names[0].clone(), b"newest".to_vec()), (names[2].clone(), b"again".to_vec())].into();
    assert_eq!(all(&*backend), expected);
}

fn a_scan_keeps_to_its_bounds_and_order(subject: Subject<'_>) {
    let backend = subject.create("a");
    let mut model = fill(&*backend, 0..64, 500);
    let gone: Vec<Vec<u8>> = model.keys().step_by(7).cloned().collect();
    let mut changes = Changes::default();
    for key in &gone {
        change(&mut changes, key, None);
        model.remove(key);
    }
    backend.apply(&changes).expect("applied");
    assert_eq!(all(&*backend), model);
    let keys: Vec<&Vec<u8>> = model.keys().collect();
    let (first, last) = (keys[100], keys[300]);
    for (from, to, expected) in [
        (first.as_slice(), Some(last.as_slice()), 200),
        (gone[0].as_slice(), Some(first.as_slice()), 100),
        (last.as_slice(), None, model.len() - 300),
        (last.as_slice(), Some(last.as_slice()), 0),
        (last.as_slice(), Some(first.as_slice()), 0),
        (&[0xFF; 60], None, 0),
    ] {
        let mut seen = Vec::new();
        let scanned = backend.scan(from, to, &mut |key, value| {
            assert_eq!(model.get(key).map(Vec::as_slice), Some(value));
            seen.push(key.to_vec());
            ControlFlow::Continue(())
        });
        scanned.expect("read");
        assert_eq!(seen.len(), expected);
        assert!(seen.is_sorted() && seen.iter().all(|key| key.as_slice() >= from && to.is_none_or(|to| &**key < to)));
    }
}

fn a_scan_stops_where_it_is_told_to(subject: Subject<'_>) {
    let backend = subject.create("a");
    fill(&*backend, 0..64, 100);
    let mut seen = 0;
    let scanned = backend.scan(&[], None, &mut |_, _| {
        seen += 1;
        if seen == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    scanned.expect("read");
    assert_eq!(seen, 10);
}

fn a_range_of_groups_is_a_scan(subject: Subject<'_>) {
    let backend = subject.create("a");
    for (namespace, group) in [(0, 5), (1, 4), (1, 5), (1, 6), (1, 7), (2, 5), (255, 4), (255, 32_767)] {
        apply(&*backend, &[(&key(namespace, group, &[0xFF; 3]), Some(b"x"))]);
    }
    for (namespace, groups, expected) in
        [(1, 5..7, 2), (1, 0..32_768, 4), (255, 0..32_768, 2), (0, 6..32_768, 0), (255, 5..32_768, 1)]
    {
        let (from, to) = range_of(Namespace(namespace), &groups);
        let mut seen = 0;
        let scanned = backend.scan(&from, to.as_deref(), &mut |_, _| {
            seen += 1;
            ControlFlow::Continue(())
        });
        scanned.expect("read");
        assert_eq!(seen, expected, "namespace {namespace}, groups {groups:?}");
    }
}

fn entries_take_bytes(subject: Subject<'_>) {
    let backend = subject.create("a");
    let empty = backend.bytes().expect("said");
    let model = fill(&*backend, 0..64, 2000);
    subject.snapshot(&*backend, "s", 0..64);
    let bytes: usize = model.iter().map(|(key, value)| key.len() + value.len()).sum();
    let grown = backend.bytes().expect("said") - empty;
    assert!(grown > bytes as u64 / 4 && grown < bytes as u64 * 4, "{grown} for {bytes} bytes of entries");
}

fn a_new_one_is_empty(subject: Subject<'_>) {
    let backend = subject.create("a/b");
    fill(&*backend, 0..64, 100);
    drop(backend);
    assert!(all(&*subject.create("a/b")).is_empty());
    std::fs::write(subject.folder("a/b/000099.sst"), b"of an interrupted run").expect("written");
    assert!(all(&*subject.create("a/b")).is_empty());
}
