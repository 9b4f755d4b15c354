//! What is uploaded, referenced, kept and deleted when nothing fails.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

use object_store::local::LocalFileSystem;
use tidegate_checkpoint::{CheckpointError, CheckpointStore, OperatorPart, StoreOptions, snapshot_folder};
use tidegate_state::StateFile;

use crate::chance::Chance;
use crate::job::{GROUPS, Job, OPERATORS, new_checkpoint};

/// A part of one operator with these files. `true`: shared.
fn part(job: &Job, checkpoint: u64, files: &[(&str, &[u8], bool)]) -> OperatorPart {
    let folder = snapshot_folder(&job.local(), checkpoint, OPERATORS[0], 0);
    fs::create_dir_all(&folder).expect("written");
    let state = |(name, content, shared): &(&str, &[u8], bool)| {
        fs::write(folder.join(name), content).expect("written");
        StateFile { name: (*name).to_owned(), bytes: content.len() as u64, shared: *shared }
    };
    let files = files.iter().map(state).collect();
    let operator = OPERATORS[0].to_owned();
    OperatorPart { operator, subtask: 0, groups: 0..GROUPS, head: vec![1, 2], folder, files }
}

#[test]
fn a_file_that_is_in_the_store_is_referenced() {
    let job = Job::new(1);
    let mut store = job.open(1).expect("written");
    let first = part(&job, 1, &[("1.sst", b"first", true), ("CURRENT", b"one", false)]);
    let kept = store.save(new_checkpoint(1, vec![first])).unwrap();
    assert_eq!((kept.full_bytes, kept.transferred_bytes, kept.referenced_bytes), (8, 8, 0));
    // Written anew, with the same content: recognised by its checksum.
    let second = part(&job, 2, &[("1.sst", b"first", true), ("2.sst", b"second", true), ("CURRENT", b"two", false)]);
    let kept = store.save(new_checkpoint(2, vec![second])).unwrap();
    assert_eq!((kept.full_bytes, kept.transferred_bytes, kept.referenced_bytes), (14, 9, 5));
    assert_eq!((kept.files, kept.transferred_files, kept.deleted), (3, 2, 0));
}

#[test]
fn a_name_that_is_given_again_to_another_content_is_not_taken_for_the_old_one() {
    let job = Job::new(1);
    let mut store = job.open(1).unwrap();
    store.save(new_checkpoint(1, vec![part(&job, 1, &[("1.sst", b"first", true)])])).unwrap();
    let kept = store.save(new_checkpoint(2, vec![part(&job, 2, &[("1.sst", b"other", true)])])).unwrap();
    assert_eq!(kept.transferred_bytes, 5);
    let manifest = store.latest().unwrap().unwrap();
    let parts = store.fetch(&manifest, OPERATORS[0], 0..1, &job.folder.path().join("into"), None).unwrap();
    assert_eq!(fs::read(parts[0].folder.join("1.sst")).unwrap(), b"other");
}

#[test]
fn the_last_three_are_kept_with_what_they_are_made_of() {
    let job = Job::new(1);
    let mut store = job.open(1).unwrap();
    for n in 1..=6 {
        let name = format!("{n}.sst");
        let files: &[(&str, &[u8], bool)] = &[("0.sst", b"always", true), (&name, b"own", false)];
        let kept = store.save(new_checkpoint(n, vec![part(&job, n, files)])).unwrap();
        assert_eq!(kept.deleted, if n > 3 { 2 } else { 0 });
    }
    let kept: Vec<u64> = job.pointers.peek().kept.iter().map(|id| id.checkpoint).collect();
    assert_eq!(kept, [4, 5, 6]);
    assert_eq!(job.objects(), job.named());
    assert_eq!(job.objects().len(), 3 + 3 + 1);
}

#[test]
fn a_content_that_comes_back_after_its_object_was_deleted_is_uploaded_again() {
    let job = Job::new(1);
    let mut store = job.open(1).expect("opened");
    for n in 1..=5 {
        let content: &[u8] = if n == 1 || n == 5 { b"here again" } else { b"elsewhere" };
        let kept = store.save(new_checkpoint(n, vec![part(&job, n, &[("1.sst", content, true)])])).unwrap();
        assert_eq!(kept.transferred_files, u64::from(n == 1 || n == 2 || n == 5), "{n}");
        let there = job.objects();
        assert!(job.named().iter().all(|name| there.contains(name)), "{n}");
    }
}

#[test]
fn only_parts_whose_groups_overlap_are_fetched() {
    let mut job = Job::new(1);
    let mut chance = Chance::new(1);
    let mut store = job.open(1).unwrap();
    job.work(&mut chance);
    store.save(job.snapshot(1, &mut chance).0).unwrap();
    let manifest = store.latest().unwrap().unwrap();
    let into = job.folder.path().join("into");
    let fetched = |groups| store.fetch(&manifest, OPERATORS[1], groups, &into, None).unwrap();
    assert_eq!(fetched(0..8).len(), 1);
    assert_eq!(fetched(0..8)[0].groups, 0..8);
    assert_eq!(fetched(7..9).len(), 2);
    assert_eq!(fetched(15..16)[0].folder, into.join("part-1"));
    assert!(store.fetch(&manifest, "no such operator", 0..16, &into, None).unwrap().is_empty());
}

#[test]
fn files_that_are_here_are_linked_if_they_are_what_was_saved() {
    let job = Job::new(1);
    let mut store = job.open(1).unwrap();
    let new = part(&job, 1, &[("1.sst", b"first", true), ("2.sst", b"second", true)]);
    let folder = new.folder.clone();
    store.save(new_checkpoint(1, vec![new])).unwrap();
    // What a run that was cut off left under the same name, of the same length.
    fs::write(folder.join("2.sst"), b"SECOND").unwrap();
    let manifest = store.latest().unwrap().unwrap();
    let into = job.folder.path().join("into");
    let local = job.local();
    let parts = store.fetch(&manifest, OPERATORS[0], 0..GROUPS, &into, Some(&local)).unwrap();
    let inode = |path: std::path::PathBuf| fs::metadata(path).unwrap().ino();
    assert_eq!(inode(parts[0].folder.join("1.sst")), inode(folder.join("1.sst")));
    assert_eq!(fs::read(parts[0].folder.join("2.sst")).unwrap(), b"second");
}

#[test]
fn a_checkpoint_comes_back_with_everything_that_it_had() {
    let job = Job::new(1);
    let mut store = job.open(4).unwrap();
    assert_eq!(store.latest().unwrap(), None);
    store.save(new_checkpoint(1, vec![part(&job, 1, &[])])).unwrap();
    let manifest = store.latest().unwrap().unwrap();
    assert_eq!((manifest.checkpoint, manifest.epoch, manifest.max_parallelism), (1, 4, GROUPS));
    assert_eq!((manifest.source, manifest.account), (1_u64.to_be_bytes().to_vec(), b"account".to_vec()));
    assert_eq!(manifest.sinks[0].prepared, Some(vec![1]));
    assert_eq!((manifest.operators[0].head.clone(), manifest.finished), (vec![1, 2], false));
    store.save(new_checkpoint(2, Vec::new())).unwrap();
    let last = store.latest().unwrap().unwrap();
    assert!(last.finished && last.operators.is_empty());
}

#[test]
fn a_number_is_not_given_twice() {
    let job = Job::new(1);
    let mut store = job.open(1).unwrap();
    store.save(new_checkpoint(5, Vec::new())).unwrap();
    let error = store.save(new_checkpoint(5, Vec::new())).unwrap_err();
    assert!(matches!(error, CheckpointError::NotNewer { checkpoint: 5, newest: 5 }), "{error}");
    let mut store = job.open(2).unwrap();
    assert!(store.save(new_checkpoint(5, Vec::new())).is_err());
    store.save(new_checkpoint(6, Vec::new())).unwrap();
}

#[test]
fn a_snapshot_that_changed_is_not_saved() {
    let job = Job::new(1);
    let mut store = job.open(1).unwrap();
    let new = part(&job, 1, &[("1.sst", b"first", true)]);
    fs::write(new.folder.join("1.sst"), b"longer than it was").unwrap();
    let error = store.save(new_checkpoint(1, vec![new])).unwrap_err();
    assert!(matches!(error, CheckpointError::Changed { expected: 5, found: 18, .. }), "{error}");
    assert_eq!(store.latest().unwrap(), None);
}

#[test]
fn uploads_keep_to_their_pace() {
    let job = Job::new(1);
    let took = |bytes_per_second| {
        let options = StoreOptions { bytes_per_second, part_bytes: 1_000, ..StoreOptions::default() };
        let runtime = job.runtime.handle().clone();
        let faulty = Arc::new(job.store.clone());
        let mut store = CheckpointStore::open(faulty, job.pointers.clone(), runtime, Job::place(), 1, options).unwrap();
        let next = job.pointers.peek().kept.last().map_or(1, |id| id.checkpoint + 1);
        let content = vec![u8::try_from(next).unwrap(); 20_000];
        store.save(new_checkpoint(next, vec![part(&job, next, &[("1.sst", &content, true)])])).unwrap().upload_time
    };
    // 20 parts of 1,000 bytes; the last waits for those before it.
    assert!(took(Some(100_000)) >= Duration::from_millis(190));
    assert!(took(Some(100_000)) > took(None));
}

#[test]
fn a_folder_is_a_store_and_deleting_everything_leaves_nothing() {
    let mut job = Job::new(1);
    let mut chance = Chance::new(1);
    let objects = job.folder.path().join("objects");
    fs::create_dir(&objects).unwrap();
    let local = Arc::new(LocalFileSystem::new_with_prefix(&objects).unwrap());
    let open = |epoch| {
        let runtime = job.runtime.handle().clone();
        let options = StoreOptions { part_bytes: 64, ..StoreOptions::default() };
        CheckpointStore::open(local.clone(), job.pointers.clone(), runtime, Job::place(), epoch, options)
    };
    let mut store = open(1).unwrap();
    let mut again = open(2).unwrap();
    job.work(&mut chance);
    let (new, content) = job.snapshot(1, &mut chance);
    assert!(matches!(store.save(new.clone()), Err(CheckpointError::Fenced { .. })));
    again.save(new).unwrap();
    let manifest = again.latest().unwrap().unwrap();
    assert_eq!(job.fetched(&again, &manifest, None), content);
    again.delete_all().unwrap();
    assert_eq!(again.latest().unwrap(), None);
    let folder = objects.join("tenants/acme/jobs/clicks/v1/checkpoints");
    for name in ["files", "manifests"] {
        assert_eq!(fs::read_dir(folder.join(name)).unwrap().count(), 0);
    }
}
