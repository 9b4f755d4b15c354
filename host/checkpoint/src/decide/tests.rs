//! Each decision on its own.

use super::*;

fn id(checkpoint: u64, epoch: u64) -> ManifestId {
    ManifestId { checkpoint, epoch }
}

fn names(of: &[&str]) -> BTreeSet<String> {
    of.iter().map(|name| (*name).to_owned()).collect()
}

fn stored(object: &str, bytes: u64, shared: bool) -> StoredFile {
    StoredFile { name: object.to_owned(), object: object.to_owned(), bytes, checksum: 1, shared }
}

fn local(bytes: u64, shared: bool) -> StateFile {
    StateFile { name: "f".to_owned(), bytes, shared }
}

fn identity(inode: u64, bytes: u64) -> Identity {
    Identity { device: 1, inode, bytes, modified: (0, 0) }
}

#[test]
fn a_file_is_referenced_if_it_is_the_same_and_compared_if_it_has_the_length_of_one() {
    let mut known = Known::default();
    known.add(&stored("a", 10, true), Some(identity(1, 10)));
    known.add(&stored("b", 20, true), None);
    let plan = |file: &StateFile, identity| known.plan(&[(file, identity)]).remove(0);
    assert_eq!(plan(&local(10, true), identity(1, 10)), Plan::Reference(stored("a", 10, true)));
    assert_eq!(plan(&local(10, true), identity(2, 10)), Plan::Compare(vec![stored("a", 10, true)]));
    assert_eq!(plan(&local(20, true), identity(1, 20)), Plan::Compare(vec![stored("b", 20, true)]));
    assert_eq!(plan(&local(30, true), identity(3, 30)), Plan::Upload);
}

#[test]
fn what_is_not_shared_is_always_uploaded_and_never_referenced() {
    let mut known = Known::default();
    known.add(&stored("a", 10, false), Some(identity(1, 10)));
    assert_eq!(known.plan(&[(&local(10, true), identity(1, 10))]), [Plan::Upload]);
    known.add(&stored("b", 10, true), Some(identity(1, 10)));
    assert_eq!(known.plan(&[(&local(10, false), identity(1, 10))]), [Plan::Upload]);
}

#[test]
fn what_is_forgotten_is_uploaded_again() {
    let mut known = Known::default();
    known.add(&stored("a", 10, true), Some(identity(1, 10)));
    known.forget(["a"]);
    assert_eq!(known.plan(&[(&local(10, true), identity(1, 10))]), [Plan::Upload]);
}

#[test]
fn a_file_that_is_referenced_again_keeps_the_identity_that_it_had_last() {
    let mut known = Known::default();
    known.add(&stored("a", 10, true), Some(identity(1, 10)));
    known.add(&stored("a", 10, true), Some(identity(2, 10)));
    known.add(&stored("a", 10, true), None);
    assert_eq!(known.plan(&[(&local(10, true), identity(2, 10))]), [Plan::Reference(stored("a", 10, true))]);
}

#[test]
fn the_last_three_are_kept() {
    let kept = [id(1, 1), id(2, 1), id(3, 1)];
    assert_eq!(keep(&kept, &BTreeSet::new(), id(4, 2), 3), [id(2, 1), id(3, 1), id(4, 2)]);
    assert_eq!(keep(&[], &BTreeSet::new(), id(1, 1), 3), [id(1, 1)]);
    assert_eq!(keep(&kept, &BTreeSet::new(), id(4, 2), 0), [id(4, 2)], "the new one in any case");
}

#[test]
fn a_damaged_checkpoint_does_not_push_out_a_whole_one() {
    let kept = [id(1, 1), id(2, 1), id(3, 1)];
    let unusable = BTreeSet::from([id(3, 1)]);
    assert_eq!(keep(&kept, &unusable, id(4, 2), 3), [id(1, 1), id(2, 1), id(4, 2)]);
}

#[test]
fn nothing_that_is_named_is_deleted() {
    assert_eq!(deletable(&names(&["a", "b", "c"]), &names(&["b", "d"])), names(&["a", "c"]));
}

#[test]
fn orphans_are_of_lower_epochs_and_unnamed() {
    let listed = ["1-1-w-0-a", "1-2-w-0-b", "2-3-w-0-c", "3-4-w-0-d", "unknown"];
    assert_eq!(orphan_files(listed, &names(&["1-2-w-0-b"]), 3), names(&["1-1-w-0-a", "2-3-w-0-c"]));
    let listed =
        ["00000000000000000001-1.json", "00000000000000000002-1.json", "00000000000000000003-3.json", "x.json"];
    assert_eq!(orphan_manifests(listed, &[id(2, 1)], 3), BTreeSet::from([id(1, 1)]));
}

#[test]
fn a_missing_file_and_one_of_another_length_are_named() {
    let mut manifest = Manifest::new(id(1, 1), 0, 8, false);
    let files = vec![stored("a", 1, true), stored("b", 2, false)];
    let part = crate::StoredPart { operator: "w".to_owned(), subtask: 0, groups: 0..8, head: Vec::new(), files };
    manifest.operators.push(part);
    let mut there = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2), ("c".to_owned(), 3)]);
    assert_eq!(damage(&manifest, &there), None);
    there.insert("b".to_owned(), 3);
    assert_eq!(damage(&manifest, &there), Some("file b has 3 bytes, not 2".to_owned()));
    there.remove("a");
    assert_eq!(damage(&manifest, &there), Some("file a is missing".to_owned()));
}

#[test]
fn a_lost_answer_is_what_is_read_afterwards() {
    let new = Pointer { kept: vec![id(1, 1)] };
    assert!(has_moved(Some(&new), &new));
    assert!(!has_moved(Some(&Pointer::default()), &new));
    assert!(!has_moved(None, &new));
}
