//! Snapshots: whole, and never changed by what comes after.

use std::collections::BTreeMap;
use std::fs;
use std::slice::from_ref;

use super::{Case, Chance, Subject, all, change, contents, fill};
use crate::{Changes, StateFile};

pub(super) const CASES: &[Case] = &[
    ("a snapshot stays as it was", a_snapshot_stays_as_it_was),
    ("shared files of one name have one content", shared_files_of_one_name_have_one_content),
    ("nothing makes a snapshot too", nothing_makes_a_snapshot_too),
    ("an interrupted snapshot is in nobody's way", an_interrupted_snapshot_is_in_nobodys_way),
    ("a folder that is there is refused", a_folder_that_is_there_is_refused),
];

fn a_snapshot_stays_as_it_was(subject: Subject<'_>) {
    let backend = subject.create("a");
    let first = fill(&*backend, 0..64, 3000);
    let (part, _) = subject.snapshot(&*backend, "first", 0..64);
    let before = contents(&part.folder);
    let mut second = first.clone();
    let mut chance = Chance::of_seed(1);
    for round in 0..20_u8 {
        let mut changes = Changes::default();
        for key in first.keys().filter(|_| chance.percent(30)) {
            change(&mut changes, key, (round % 5 != 0).then_some(&[round]));
            match round % 5 {
                0 => drop(second.remove(key)),
                _ => drop(second.insert(key.clone(), vec![round])),
            }
        }
        backend.apply(&changes).expect("applied");
        subject.snapshot(&*backend, &format!("between-{round}"), 0..64);
    }
    let (later, _) = subject.snapshot(&*backend, "second", 0..64);
    assert!(contents(&part.folder) == before, "no file of the first has changed");
    assert!(all(&*subject.restore("one", from_ref(&part), 0..64)) == first);
    assert!(all(&*subject.restore("two", from_ref(&later), 0..64)) == second);
    drop(backend);
    fs::remove_dir_all(subject.folder("a")).expect("gone");
    assert!(all(&*subject.restore("one", &[part], 0..64)) == first, "it needs nothing of the backend");
    assert!(all(&*subject.restore("two", &[later], 0..64)) == second);
}

/// Also over a restore of all groups, as the restored snapshot counts as an earlier one.
fn shared_files_of_one_name_have_one_content(subject: Subject<'_>) {
    let mut backend = subject.create("a0");
    let mut model = fill(&*backend, 0..64, 3000);
    let keys: Vec<Vec<u8>> = model.keys().cloned().collect();
    let mut known: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut chance = Chance::of_seed(2);
    for round in 0..30_u8 {
        let mut changes = Changes::default();
        for key in keys.iter().filter(|_| chance.percent(10)) {
            change(&mut changes, key, Some(&[round; 64]));
            model.insert(key.clone(), vec![round; 64]);
        }
        backend.apply(&changes).expect("applied");
        let (part, files) = subject.snapshot(&*backend, &format!("snapshot-{round}"), 0..64);
        let mut content = contents(&part.folder);
        for StateFile { name, .. } in files.iter().filter(|file| file.shared) {
            let content = content.remove(name).expect("it is there");
            assert!(known.get(name).is_none_or(|known| *known == content), "{name} of snapshot {round}");
            known.insert(name.clone(), content);
        }
        if round % 10 == 9 {
            // What the backend writes from here on counts for nothing: another goes on from the snapshot.
            fill(&*backend, 0..64, 500);
            subject.snapshot(&*backend, &format!("lost-{round}"), 0..64);
            backend = subject.restore(&format!("a{round}"), &[part], 0..64);
        }
    }
    assert!(all(&*backend) == model);
}

fn nothing_makes_a_snapshot_too(subject: Subject<'_>) {
    let backend = subject.create("a");
    let (empty, _) = subject.snapshot(&*backend, "empty", 0..64);
    assert!(all(&*subject.restore("b", from_ref(&empty), 0..64)).is_empty());
    assert!(all(&*subject.restore("b", &[empty], 0..10)).is_empty());
    let model = fill(&*backend, 0..64, 10);
    subject.snapshot(&*backend, "one", 0..64);
    let (same, _) = subject.snapshot(&*backend, "two", 0..64);
    assert!(all(&*subject.restore("b", &[same], 0..64)) == model);
    assert!(all(&*subject.restore("b", &[], 0..64)).is_empty());
}

fn an_interrupted_snapshot_is_in_nobodys_way(subject: Subject<'_>) {
    let backend = subject.create("a");
    let model = fill(&*backend, 0..64, 100);
    // What a process that was killed may leave: the folder under a name of its own, or half of one.
    for left in ["chk.tmp", "chk-0"] {
        fs::create_dir_all(subject.folder(left)).expect("a folder");
        fs::write(subject.folder(left).join("CURRENT"), b"half of").expect("written");
        fs::write(subject.folder(left).join("000004.sst"), b"half of").expect("written");
    }
    let (part, _) = subject.snapshot(&*backend, "chk", 0..64);
    assert!(all(&*subject.restore("chk-0", from_ref(&part), 0..64)) == model, "a folder is emptied first");
    assert!(all(&*subject.restore("chk-0", &[part], 0..64)) == model);
}

fn a_folder_that_is_there_is_refused(subject: Subject<'_>) {
    let backend = subject.create("a");
    let model = fill(&*backend, 0..64, 100);
    let (part, _) = subject.snapshot(&*backend, "chk", 0..64);
    let before = contents(&part.folder);
    fill(&*backend, 0..64, 50);
    let error = backend.snapshot(&part.folder).expect_err("the folder is there").to_string();
    assert!(error.contains("chk"), "{error}");
    assert!(contents(&part.folder) == before && all(&*subject.restore("b", &[part], 0..64)) == model);
}
