//! What is damaged is named, and the checkpoint before it is taken.

use tidegate_checkpoint::{CheckpointError, CheckpointStore, Manifest};

use crate::chance::Chance;
use crate::job::{Content, GROUPS, Job, OPERATORS};

/// A job with three checkpoints, and their contents.
fn saved() -> (Job, CheckpointStore, Vec<Content>, Chance) {
    let (mut job, mut chance) = (Job::new(1), Chance::new(1));
    let mut store = job.open(1).expect("nothing fails");
    let mut contents = Vec::new();
    for checkpoint in 1..=3 {
        job.work(&mut chance);
        let (new, content) = job.snapshot(checkpoint, &mut chance);
        store.save(new).expect("nothing fails");
        contents.push(content);
    }
    (job, store, contents, chance)
}

/// The object of a file that only this checkpoint has.
fn own_file(manifest: &Manifest) -> String {
    let file = manifest.files().find(|file| file.name == "CURRENT").expect("nothing fails");
    format!("files/{}", file.object)
}

fn manifest_name(checkpoint: u64) -> String {
    format!("manifests/{checkpoint:020}-1.json")
}

#[test]
fn the_one_before_a_damaged_manifest_is_taken() {
    let (job, _, contents, _) = saved();
    let mut damaged = job.object(&manifest_name(3));
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    job.overwrite(&manifest_name(3), damaged);
    let mut store = job.open(2).unwrap();
    let manifest = store.latest().unwrap().unwrap();
    assert_eq!((manifest.checkpoint, manifest.next_checkpoint()), (2, 4));
    assert_eq!(manifest.skipped[0].id.checkpoint, 3);
    let reason = &manifest.skipped[0].reason;
    assert!(reason.contains("00000000000000000003-1.json is damaged"), "{reason}");
    assert_eq!(job.fetched(&store, &manifest, None), contents[1]);
}

#[test]
fn a_missing_file_and_a_cut_one_are_named() {
    let (job, mut store, contents, _) = saved();
    let newest = own_file(&store.latest().unwrap().unwrap());
    job.remove(&newest);
    let manifest = store.latest().unwrap().unwrap();
    assert_eq!(manifest.checkpoint, 2);
    assert!(manifest.skipped[0].reason.contains(&newest["files/".len()..]), "{:?}", manifest.skipped);
    job.overwrite(&own_file(&manifest), vec![1]);
    let manifest = store.latest().unwrap().unwrap();
    assert_eq!(manifest.checkpoint, 1);
    assert!(manifest.skipped[1].reason.contains("has 1 bytes, not 16"), "{:?}", manifest.skipped);
    assert_eq!(job.fetched(&store, &manifest, None), contents[0]);
}

#[test]
fn if_none_is_whole_all_are_named() {
    let (job, mut store, ..) = saved();
    for checkpoint in 1..=3 {
        job.remove(&manifest_name(checkpoint));
    }
    let error = store.latest().unwrap_err();
    let CheckpointError::NoneUsable { skipped, .. } = &error else { panic!("{error}") };
    assert_eq!(skipped.iter().map(|skipped| skipped.id.checkpoint).collect::<Vec<_>>(), [3, 2, 1]);
    for checkpoint in 1..=3 {
        assert!(error.to_string().contains(&format!("{checkpoint:020}-1.json is missing")), "{error}");
    }
}

#[test]
fn a_flipped_byte_is_found_at_the_fetch_and_its_checkpoint_is_set_aside() {
    let (job, mut store, contents, _) = saved();
    let manifest = store.latest().unwrap().unwrap();
    let name = own_file(&manifest);
    let mut content = job.object(&name);
    content[3] ^= 0x20;
    job.overwrite(&name, content);
    let into = job.folder.path().join("into");
    let error = store.fetch(&manifest, OPERATORS[0], 0..GROUPS, &into, None).unwrap_err();
    assert!(error.to_string().contains(&name), "{error}");
    store.set_aside(&manifest, &error);
    let before = store.latest().unwrap().unwrap();
    assert_eq!((before.checkpoint, before.skipped[0].id.checkpoint), (2, 3));
    assert!(before.skipped[0].reason.contains(&name));
    assert_eq!(job.fetched(&store, &before, None), contents[1]);
}

#[test]
fn what_is_damaged_is_never_referenced_and_goes_after_the_next_checkpoint() {
    let (mut job, _, contents, mut chance) = saved();
    let mut store = job.open(2).unwrap();
    let manifest = store.latest().unwrap().unwrap();
    // A shared file of the newest checkpoint rots; a backend that has its content in memory saves it again.
    let file = manifest.files().find(|file| file.shared && file.bytes > 0).unwrap().clone();
    let name = format!("files/{}", file.object);
    job.overwrite(&name, vec![0; usize::try_from(file.bytes).unwrap()]);
    let error = CheckpointError::Damaged { object: name.clone(), reason: "rotten".to_owned() };
    store.set_aside(&manifest, &error);
    job.restart(Some(&contents[2]), true, &mut chance);
    let (new, content) = job.snapshot(4, &mut chance);
    store.save(new).unwrap();
    let next = store.latest().unwrap().unwrap();
    assert_eq!(next.checkpoint, 4);
    assert!(next.files().all(|file| format!("files/{}", file.object) != name));
    assert_eq!(job.fetched(&store, &next, None), content);
    assert!(!job.objects().contains(&manifest_name(3)), "the damaged one is not kept");
}

#[test]
fn nothing_is_deleted_while_it_is_not_known_what_a_manifest_names() {
    let (job, ..) = saved();
    job.overwrite(&manifest_name(2), b"{}".to_vec());
    let before = job.objects();
    let _store = job.open(2).unwrap();
    assert_eq!(job.objects(), before);
}

#[test]
fn a_manifest_of_a_newer_release_stops_the_start() {
    let (job, ..) = saved();
    let json = String::from_utf8(job.object(&manifest_name(3))).unwrap();
    let content = json["{\"checksum\":\"".len() + 34..].replace("\"format\":1", "\"format\":2");
    let checksum = xxhash_rust::xxh3::xxh3_128(content.as_bytes());
    job.overwrite(&manifest_name(3), format!("{{\"checksum\":\"{checksum:032x}\",{content}").into_bytes());
    let Err(error) = job.open(2) else { panic!("opened") };
    assert!(matches!(error, CheckpointError::Newer { format: 2, .. }), "{error}");
}
