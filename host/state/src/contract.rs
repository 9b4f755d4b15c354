//! The suite that every [`StateBackends`] passes: cases by name, and random work against a model.
//!
//! A failing random run names its seed; `SEED=n` replays it, `SEEDS=n` asks for more.

mod chance;
mod damage;
mod entries;
mod random;
mod restores;
mod snapshots;
mod threads;

use std::collections::BTreeMap;
use std::fs;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use tidegate_types::KeyGroup;

use crate::{Changes, Namespace, SnapshotPart, StateBackend, StateBackends, StateFile, put_prefix};

pub use chance::{Chance, seeds};
pub use random::random;

/// What a case works with: the backends under test, and a folder of its own.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    backends: &'a dyn StateBackends,
    root: &'a Path,
}

/// A case: its name and what it does.
type Case = (&'static str, fn(Subject<'_>));

/// All entries, as a model has them.
pub type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Runs every case, each in an empty folder below `root`.
///
/// # Panics
/// If a promise is not kept.
pub fn run_all(backends: &dyn StateBackends, root: &Path) {
    let lists = [entries::CASES, snapshots::CASES, restores::CASES, damage::CASES, threads::CASES];
    for (number, (name, case)) in lists.into_iter().flatten().enumerate() {
        println!("case: {name}");
        let root = root.join(number.to_string());
        fs::create_dir_all(&root).expect("a folder of its own");
        case(Subject { backends, root: &root });
    }
}

impl Subject<'_> {
    fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn create(&self, name: &str) -> Box<dyn StateBackend> {
        self.backends.create(&self.folder(name)).expect("an empty one is made")
    }

    /// Takes a snapshot and checks what is said about its files.
    fn snapshot(&self, backend: &dyn StateBackend, name: &str, groups: Range<u32>) -> (SnapshotPart, Vec<StateFile>) {
        let folder = self.folder(name);
        let files = backend.snapshot(&folder).expect("a snapshot is taken");
        for file in &files {
            let metadata = fs::metadata(folder.join(&file.name)).expect("a file that was named is there");
            assert_eq!(metadata.len(), file.bytes, "{}", file.name);
        }
        assert_eq!(contents(&folder).len(), files.len(), "every file of the folder is named");
        (SnapshotPart { folder, groups }, files)
    }

    fn restore(&self, name: &str, parts: &[SnapshotPart], groups: Range<u32>) -> Box<dyn StateBackend> {
        self.backends.restore(&self.folder(name), parts, groups).expect("whole snapshots are restored")
    }
}

/// The key of an entry.
#[must_use]
pub fn key(namespace: u8, group: u32, rest: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    put_prefix(&mut key, Namespace(namespace), KeyGroup(group));
    key.extend_from_slice(rest);
    key
}

/// Adds a put, or a delete if there is no value, to the changes.
pub fn change(changes: &mut Changes, key: &[u8], value: Option<&[u8]>) {
    match value {
        Some(value) => changes.put(|out| out.extend_from_slice(key), |out| out.extend_from_slice(value)),
        None => changes.delete(|out| out.extend_from_slice(key)),
    }
}

/// Everything that a backend has, in the order in which it shows it.
///
/// # Panics
/// If it cannot be read, or is not in order.
#[must_use]
pub fn all(backend: &dyn StateBackend) -> Model {
    let mut list: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let scanned = backend.scan(&[], None, &mut |key, value| {
        assert!(list.last().is_none_or(|(last, _)| last.as_slice() < key), "entries come in order, each once");
        list.push((key.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    });
    scanned.expect("entries can be read");
    list.into_iter().collect()
}

/// So many entries over several namespaces and these groups, applied; and what they are.
fn fill(backend: &dyn StateBackend, groups: Range<u32>, count: u32) -> Model {
    let mut changes = Changes::default();
    let mut model = Model::new();
    let mut chance = Chance::of_seed(count.into());
    for number in 0..count {
        let namespace = [0, 1, 7, 255][chance.place(4)];
        let group = groups.start + chance.below32(groups.end - groups.start);
        let key = key(namespace, group, &number.to_be_bytes());
        let value: Vec<u8> = (0..8).flat_map(|_| chance.number().to_le_bytes()).collect();
        change(&mut changes, &key, Some(&value));
        model.insert(key, value);
    }
    backend.apply(&changes).expect("applied");
    model
}

/// What a model has of these groups.
fn of_groups(model: &Model, groups: &Range<u32>) -> Model {
    let group = |key: &[u8]| crate::group_of(key).expect("keys have groups").1.0;
    model.iter().filter(|(key, _)| groups.contains(&group(key))).map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// The groups of `number` of `of` subtasks.
fn share(all: u32, number: u32, of: u32) -> Range<u32> {
    all * number / of..all * (number + 1) / of
}

/// The files of a folder and what is in them.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let content = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("names are text");
        (name, fs::read(entry.path()).expect("a file"))
    };
    entries.map(content).collect()
}
