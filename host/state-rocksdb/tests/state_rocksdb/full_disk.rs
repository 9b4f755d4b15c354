//! A disk that is full, in a child whose files may not grow: the snapshot fails, and the one before is restored.

use std::path::PathBuf;
use std::process::Command;

use tidegate_state::{SnapshotPart, StateBackends, contract};

use super::{backends, put};

fn entries(round: u32, count: u32) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    let mut chance = contract::Chance::of_seed(round.into());
    (0..count).map(move |number| {
        let value = (0..16).flat_map(|_| chance.number().to_le_bytes()).collect();
        (contract::key(1, number % 64, &number.to_be_bytes()), value)
    })
}

#[test]
fn a_full_disk_fails_a_snapshot_and_the_one_before_is_restored() {
    let root = tempfile::tempdir().unwrap();
    // Files may have 400 KiB.
    let mut child = Command::new("sh");
    child.arg("-c").arg("trap '' XFSZ; ulimit -f 800; exec \"$@\"").arg("sh").arg(std::env::current_exe().unwrap());
    child.args(["full_disk::child", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    let output = child.env("STATE_FOLDER", root.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("restored after: "), "{text}{output:?}");
    assert!(text.contains(".sst: cannot take a snapshot; check the disk's space"), "{text}");
}

#[test]
#[ignore = "the child of the test above"]
#[expect(clippy::disallowed_methods, reason = "a child of a test is told what to do by its environment")]
fn child() {
    let Ok(root) = std::env::var("STATE_FOLDER").map(PathBuf::from) else { return };
    let backends = backends();
    let backend = backends.create(&root.join("a")).unwrap();
    put(&*backend, entries(0, 1000));
    backend.snapshot(&root.join("s-0")).unwrap();
    put(&*backend, entries(1, 10_000));
    let error = backend.snapshot(&root.join("s-1")).expect_err("the file would be too large");
    println!("\nfailed: {error}");
    backend.snapshot(&root.join("s-2")).expect_err("what was applied is not in a file, so there is no snapshot");
    drop(backend);
    let part = SnapshotPart { folder: root.join("s-0"), groups: 0..64 };
    for groups in [0..64, 0..32] {
        let restored = backends.restore(&root.join("a"), std::slice::from_ref(&part), groups.clone()).unwrap();
        let expected: contract::Model = entries(0, 1000).filter(|(key, _)| u32::from(key[2]) < groups.end).collect();
        assert!(contract::all(&*restored) == expected);
        put(&*restored, entries(2, 100));
        restored.snapshot(&root.join(format!("after-{}", groups.end))).unwrap();
    }
    println!("restored after: {error}");
}
