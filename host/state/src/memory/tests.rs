//! State in memory keeps the contract, and its file is what it was.

use super::*;
use crate::contract;

#[test]
fn keeps_the_contract() {
    let root = tempfile::tempdir().unwrap();
    contract::run_all(&MemoryBackends, root.path());
}

#[test]
fn does_what_the_model_does() {
    for seed in contract::seeds(8) {
        let root = tempfile::tempdir().unwrap();
        contract::random(&MemoryBackends, root.path(), seed);
    }
}

#[test]
fn the_file_of_a_snapshot_is_what_version_1_says() {
    let root = tempfile::tempdir().unwrap();
    let backend = MemoryBackends.create(&root.path().join("state")).unwrap();
    let mut changes = Changes::default();
    changes.put(|key| key.extend([1, 0, 2, b'k']), |value| value.extend(b"v"));
    backend.apply(&changes).unwrap();
    backend.snapshot(&root.path().join("snapshot")).unwrap();
    let bytes = fs::read(root.path().join("snapshot/entries")).unwrap();
    let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM_BYTES);
    assert_eq!(content, b"TGSTATE\x01\x01\x04\x01\x00\x02k\x01v");
    assert_eq!(checksum, xxh3_128(content).to_le_bytes());
}
