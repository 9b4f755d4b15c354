//! Restores: whole, and by ranges of key groups from the snapshots of any number of subtasks.

use super::{Case, Model, Subject, all, contents, fill, of_groups, share};
use crate::SnapshotPart;

pub(super) const CASES: &[Case] = &[
    ("restored whole it is the same", restored_whole_it_is_the_same),
    ("2 subtasks become 3", |subject| rescale(subject, 2, 3)),
    ("3 subtasks become 1", |subject| rescale(subject, 3, 1)),
    ("2 subtasks become 8", |subject| rescale(subject, 2, 8)),
    ("8 subtasks become 2, in any order of parts", |subject| rescale(subject, 8, 2)),
    ("a restored one goes on", a_restored_one_goes_on),
    ("a group that two snapshots have is refused", a_group_that_two_snapshots_have_is_refused),
];

/// Key groups in these cases.
const GROUPS: u32 = 100;

/// Snapshots of so many subtasks, each changed and snapshotted a few times before, and all that is in them.
fn subtasks(subject: Subject<'_>, count: u32) -> (Vec<SnapshotPart>, Model) {
    let mut model = Model::new();
    let mut parts = Vec::new();
    for number in 0..count {
        let groups = share(GROUPS, number, count);
        let backend = subject.create(&format!("old-{number}"));
        for round in 0..4 {
            model.extend(fill(&*backend, groups.clone(), 400 + round));
            let (part, _) = subject.snapshot(&*backend, &format!("part-{number}-{round}"), groups.clone());
            if round == 3 {
                parts.push(part);
            }
        }
    }
    parts.reverse();
    (parts, model)
}

fn restored_whole_it_is_the_same(subject: Subject<'_>) {
    let (parts, model) = subtasks(subject, 1);
    let before = contents(&parts[0].folder);
    let restored = subject.restore("new", &parts, 0..GROUPS);
    assert!(all(&*restored) == model);
    for (key, value) in model.iter().take(50) {
        assert_eq!(restored.get(key).expect("read").as_ref(), Some(value));
    }
    assert!(contents(&parts[0].folder) == before, "the snapshot is left as it was");
}

fn rescale(subject: Subject<'_>, old: u32, new: u32) {
    let (parts, model) = subtasks(subject, old);
    let before: Vec<_> = parts.iter().map(|part| contents(&part.folder)).collect();
    for number in 0..new {
        let groups = share(GROUPS, number, new);
        let restored = subject.restore(&format!("new-{number}"), &parts, groups.clone());
        assert!(all(&*restored) == of_groups(&model, &groups), "groups {groups:?} of {old} parts");
    }
    let after: Vec<_> = parts.iter().map(|part| contents(&part.folder)).collect();
    assert!(before == after, "the snapshots are left as they were");
}

fn a_restored_one_goes_on(subject: Subject<'_>) {
    let (parts, model) = subtasks(subject, 2);
    for groups in [0..GROUPS, share(GROUPS, 0, 2), 10..20] {
        let mut model = of_groups(&model, &groups);
        let restored = subject.restore("new", &parts, groups.clone());
        model.extend(fill(&*restored, groups.clone(), 700));
        assert!(all(&*restored) == model);
        let name = format!("again-{}-{}", groups.start, groups.end);
        let (part, _) = subject.snapshot(&*restored, &name, groups.clone());
        drop(restored);
        assert!(all(&*subject.restore("new", &[part], groups)) == model);
    }
}

fn a_group_that_two_snapshots_have_is_refused(subject: Subject<'_>) {
    let (mut parts, _) = subtasks(subject, 2);
    parts[0].groups = 40..GROUPS;
    let refused = subject.backends.restore(&subject.folder("new"), &parts, 0..10);
    let error = refused.err().expect("nobody can say whose entries count").to_string();
    assert!(error.contains("key group 40"), "{error}");
}
