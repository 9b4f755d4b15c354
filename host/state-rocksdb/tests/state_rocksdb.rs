//! State on RocksDB keeps the contract of state, also with buffers that are always full and on a disk that is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "state_rocksdb/full_disk.rs"]
mod full_disk;
#[path = "state_rocksdb/upload.rs"]
mod upload;

use std::path::Path;

use tidegate_state::{Changes, StateBackend, StateBackends, contract};
use tidegate_state_rocksdb::{RocksBackends, RocksOptions};

fn backends() -> RocksBackends {
    RocksBackends::new(&RocksOptions::default())
}

/// Nothing stays in memory.
fn small() -> RocksBackends {
    RocksBackends::new(&RocksOptions { cache_bytes: 64 << 10, write_buffer_bytes: 64 << 10, background_threads: 2 })
}

/// Applies puts.
fn put(backend: &dyn StateBackend, entries: impl Iterator<Item = (Vec<u8>, Vec<u8>)>) {
    let mut changes = Changes::default();
    for (key, value) in entries {
        contract::change(&mut changes, &key, Some(&value));
    }
    backend.apply(&changes).unwrap();
}

#[test]
fn keeps_the_contract() {
    let root = tempfile::tempdir().unwrap();
    contract::run_all(&backends(), root.path());
}

#[test]
fn keeps_the_contract_with_next_to_no_memory() {
    let root = tempfile::tempdir().unwrap();
    contract::run_all(&small(), root.path());
}

#[test]
fn does_what_the_model_does() {
    for seed in contract::seeds(6) {
        let root = tempfile::tempdir().unwrap();
        let backends = if seed % 2 == 0 { backends() } else { small() };
        contract::random(&backends, root.path(), seed);
    }
}

#[test]
fn a_snapshot_has_tables_and_three_small_files() {
    let root = tempfile::tempdir().unwrap();
    let backend = backends().create(&root.path().join("a")).unwrap();
    put(&*backend, (0..100_u8).map(|n| (contract::key(1, n.into(), &[n]), vec![n; 50])));
    let files = backend.snapshot(&root.path().join("s")).unwrap();
    let names = |shared| files.iter().filter(|file| file.shared == shared).map(|file| file.name.as_str()).collect();
    let (shared, own): (Vec<_>, Vec<_>) = (names(true), names(false));
    assert!(shared.len() == 1 && shared[0].ends_with(".sst"), "{files:?}");
    assert!(own.len() == 3 && own[0] == "CURRENT" && own[1].starts_with("MANIFEST-") && own[2] == "FILES", "{files:?}");
}

#[test]
fn one_whole_snapshot_is_linked_and_not_copied() {
    use std::os::unix::fs::MetadataExt;
    let root = tempfile::tempdir().unwrap();
    let backends = backends();
    let backend = backends.create(&root.path().join("a")).unwrap();
    put(&*backend, (0..100_u8).map(|n| (contract::key(1, n.into(), &[n]), vec![n; 50])));
    let folder = root.path().join("s");
    let files = backend.snapshot(&folder).unwrap();
    let restored = root.path().join("b");
    let part = tidegate_state::SnapshotPart { folder: folder.clone(), groups: 0..128 };
    let _open = backends.restore(&restored, &[part], 0..128).unwrap();
    let inode = |folder: &Path, name: &str| std::fs::metadata(folder.join(name)).unwrap().ino();
    for file in files.iter().filter(|file| file.shared) {
        assert_eq!(inode(&folder, &file.name), inode(&restored, &file.name));
    }
}
