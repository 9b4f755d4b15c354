//! Names that are safe, different, and read back.

use std::collections::BTreeSet;

use object_store::path::Path;

use super::*;

const ID: ManifestId = ManifestId { checkpoint: 7, epoch: 3 };

fn place() -> JobPlace {
    JobPlace { tenant: "acme".to_owned(), job: "clicks".to_owned(), version: 2 }
}

#[test]
fn objects_stand_below_the_version_of_the_job() {
    let object = file_name(ID, "window", 1, "000012.sst");
    assert_eq!(
        place().file(&object).to_string(),
        "tenants/acme/jobs/clicks/v2/checkpoints/files/3-7-window-1-000012.sst"
    );
    assert_eq!(
        place().manifest(ID).to_string(),
        "tenants/acme/jobs/clicks/v2/checkpoints/manifests/00000000000000000007-3.json"
    );
}

#[test]
fn whatever_an_operator_is_called_its_objects_have_names_of_their_own_that_need_no_escape() {
    let long = "x".repeat(300);
    let longer = format!("{long}y");
    let texts = ["a", "a-1", "a_2d1", "a/b", "../b", "..", ".", "", "_-", "ä", "A", "%2f", "#1", "a b", &long, &longer];
    let names: BTreeSet<String> = texts.iter().map(|text| file_name(ID, text, 1, "f")).collect();
    assert_eq!(names.len(), texts.len());
    for name in names {
        assert!(name.len() < 250, "{name}");
        // The store's own encoding changes nothing, and the name stays one part of the path.
        assert_eq!(Path::parse(&name).unwrap(), Path::from(name.as_str()));
        assert_eq!(place().file(&name).filename(), Some(name.as_str()));
        assert_eq!(epoch_of(&name), Some(3));
    }
}

#[test]
fn a_subtask_is_not_taken_for_a_part_of_the_operators_name() {
    assert_ne!(file_name(ID, "a-1", 2, "f"), file_name(ID, "a", 1, "2-f"));
    assert_ne!(file_name(ID, "a", 12, "f"), file_name(ID, "a1", 2, "f"));
}

#[test]
fn a_manifests_name_is_read_back_and_nothing_else_is_one() {
    assert_eq!(manifest_of(&manifest_name(ID)), Some(ID));
    for other in
        ["7-3.json", "00000000000000000007-3", "00000000000000000007.json", "x-3.json", "00000000000000000007-03.json"]
    {
        assert_eq!(manifest_of(other), None, "{other}");
    }
    assert_eq!(epoch_of("no-name"), None);
}

#[test]
fn a_local_name_leads_nowhere_else() {
    for bad in ["", ".", "..", "a/b", "/etc/passwd", "..\\x", "a\0"] {
        assert!(check_local_name(bad).is_err(), "{bad:?}");
    }
    assert!(check_local_name("MANIFEST-000005").is_ok());
}
