//! A manifest is read as it was written, or refused by name.

use super::*;

const ID: ManifestId = ManifestId { checkpoint: 7, epoch: 3 };

fn path() -> Path {
    Path::from("manifests/7.json")
}

fn manifest() -> Manifest {
    let mut manifest = Manifest::new(ID, 1_700_000_000_000, 128, false);
    manifest.source = vec![0, 1, 254, 255];
    manifest.account = b"{}\"".to_vec();
    manifest.sinks = vec![
        SinkPart { name: "out".to_owned(), prepared: Some(vec![9]) },
        SinkPart { name: "none".to_owned(), prepared: None },
    ];
    let file = StoredFile {
        name: "1.sst".to_owned(),
        object: "3-7-w-0-1.sst".to_owned(),
        bytes: 12,
        checksum: u128::MAX - 1,
        shared: true,
    };
    let operator = "wïn \"dow\"".to_owned();
    manifest.operators = vec![StoredPart { operator, subtask: 0, groups: 0..64, head: vec![7; 3], files: vec![file] }];
    manifest
}

/// A manifest with this content behind a checksum that is right.
fn sealed(content: &str) -> Vec<u8> {
    format!("{BEFORE}{:032x}{BEHIND}{content}", xxh3_128(content.as_bytes())).into_bytes()
}

fn content(manifest: &Manifest) -> String {
    let json = String::from_utf8(manifest.to_json()).unwrap();
    json[BEFORE.len() + 32 + BEHIND.len()..].to_owned()
}

#[test]
fn a_manifest_is_read_as_it_was_written() {
    let json = manifest().to_json();
    assert_eq!(Manifest::from_json(&path(), ID, &json).unwrap(), manifest());
    let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(value["format"], 1);
    assert_eq!(value["source"], "0001feff");
    assert_eq!(value["operators"][0]["files"][0]["checksum"], "fffffffffffffffffffffffffffffffe");
}

#[test]
fn every_byte_that_changes_is_noticed_and_the_object_is_named() {
    let json = manifest().to_json();
    for at in 0..json.len() {
        for bit in [0x01, 0x10] {
            let mut damaged = json.clone();
            damaged[at] ^= bit;
            let error = Manifest::from_json(&path(), ID, &damaged).unwrap_err();
            assert!(matches!(error, CheckpointError::Damaged { .. }), "{at}: {error}");
            assert!(error.to_string().starts_with("manifests/7.json is damaged"), "{error}");
        }
        assert!(matches!(Manifest::from_json(&path(), ID, &json[..at]).unwrap_err(), CheckpointError::Damaged { .. }));
    }
}

#[test]
fn a_format_that_is_not_known_was_written_by_a_newer_release() {
    let newer = content(&manifest()).replace("\"format\":1", "\"format\":2,\"more\":[]");
    let error = Manifest::from_json(&path(), ID, &sealed(&newer)).unwrap_err();
    assert!(matches!(error, CheckpointError::Newer { format: 2, .. }), "{error}");
    assert!(error.to_string().contains("newer release"), "{error}");
}

#[test]
fn what_format_1_does_not_have_is_refused() {
    let good = content(&manifest());
    for (from, to) in [
        ("\"format\":1", "\"format\":1,\"more\":0"),
        ("\"name\":\"out\"", "\"name\":\"out\",\"more\":0"),
        ("\"0001feff\"", "\"0001FEFF\""),
        ("\"0001feff\"", "\"0001fef\""),
        ("\"name\":\"1.sst\"", "\"name\":\"../1.sst\""),
        ("\"object\":\"3-7-w-0-1.sst\"", "\"object\":\"../../other/files/x\""),
        ("\"end\":64", "\"end\":129"),
        ("\"start\":0", "\"start\":65"),
        ("\"bytes\":12", "\"bytes\":-12"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        let error = Manifest::from_json(&path(), ID, &sealed(&bad)).unwrap_err();
        assert!(matches!(error, CheckpointError::Damaged { .. }), "{from}: {error}");
    }
}

#[test]
fn a_manifest_under_another_name_is_refused() {
    let other = ManifestId { epoch: 4, ..ID };
    let error = Manifest::from_json(&path(), other, &manifest().to_json()).unwrap_err();
    assert!(error.to_string().contains("another checkpoint"), "{error}");
}

#[test]
fn numbers_of_skipped_checkpoints_are_not_given_again() {
    let mut manifest = manifest();
    assert_eq!(manifest.next_checkpoint(), 8);
    let id = ManifestId { checkpoint: 9, epoch: 3 };
    manifest.skipped = vec![Skipped { id, reason: "gone".to_owned() }];
    assert_eq!(manifest.next_checkpoint(), 10);
}
