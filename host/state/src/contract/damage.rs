//! Damage: whatever file of a snapshot is missing, cut or changed, an error names it, and nothing wrong is read.

use std::fs;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use super::{Case, Subject, fill};
use crate::{SnapshotPart, StateError};

pub(super) const CASES: &[Case] = &[
    ("a missing file is named", |subject| damage(subject, "missing", |path| fs::remove_file(path).expect("removed"))),
    ("a file that was cut is named", |subject| damage(subject, "cut", |path| rewrite(path, cut))),
    ("a file that was cut to nothing is named", |subject| damage(subject, "nothing", |path| rewrite(path, Vec::clear))),
    ("a file with a longer end is named", |subject| damage(subject, "longer", |path| rewrite(path, |b| b.push(0)))),
    ("a first byte that changed is found", |subject| damage(subject, "first", |path| rewrite(path, |b| b[0] ^= 1))),
    ("a byte that changed is found", |subject| damage(subject, "middle", |path| rewrite(path, |b| change_middle(b)))),
    ("a last byte that changed is found", |subject| damage(subject, "last", |path| rewrite(path, |b| change_last(b)))),
    ("a snapshot that is not there is named", a_snapshot_that_is_not_there_is_named),
];

fn cut(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() - 1);
}

fn change_middle(bytes: &mut [u8]) {
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
}

fn change_last(bytes: &mut [u8]) {
    *bytes.last_mut().expect("files are not empty") ^= 0x80;
}

/// Changes a file, and no other that is a link to the same content.
fn rewrite(path: &Path, with: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("a file");
    with(&mut bytes);
    fs::remove_file(path).expect("removed");
    fs::write(path, bytes).expect("written");
}

/// Restores and reads everything.
fn read_all(subject: Subject<'_>, part: &SnapshotPart, groups: Range<u32>) -> Result<(), StateError> {
    let backend = subject.backends.restore(&subject.folder("new"), std::slice::from_ref(part), groups)?;
    backend.scan(&[], None, &mut |_, _| ControlFlow::Continue(()))
}

fn damage(subject: Subject<'_>, how: &str, with: impl Fn(&Path)) {
    let backend = subject.create("a");
    let mut files = Vec::new();
    for round in 0..3 {
        fill(&*backend, 0..64, 2000 + round);
        files = subject.snapshot(&*backend, &format!("snapshot-{round}"), 0..64).1;
    }
    for file in &files {
        for groups in [0..64, 0..63] {
            let folder = subject.folder(&format!("{how}-{}", file.name));
            copy(&subject.folder("snapshot-2"), &folder);
            let part = SnapshotPart { folder: folder.clone(), groups: 0..64 };
            read_all(subject, &part, groups.clone()).expect("it is whole");
            with(&folder.join(&file.name));
            let error = read_all(subject, &part, groups).expect_err(&file.name).to_string();
            assert!(error.contains(&file.name), "{how} {}: {error}", file.name);
            fs::remove_dir_all(&folder).expect("removed");
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for (name, content) in super::contents(from) {
        fs::write(to.join(name), content).expect("written");
    }
}

fn a_snapshot_that_is_not_there_is_named(subject: Subject<'_>) {
    let part = SnapshotPart { folder: subject.folder("nowhere"), groups: 0..64 };
    for groups in [0..64, 3..5] {
        let error = read_all(subject, &part, groups).expect_err("nothing is there").to_string();
        assert!(error.contains("nowhere"), "{error}");
    }
}
