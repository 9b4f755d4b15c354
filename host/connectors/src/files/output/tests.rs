//! Files that outputs are written to: what is refused, and when they are emptied.

use super::*;

#[test]
fn refuses_an_output_that_would_destroy_a_file_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.ndjson");
    fs::write(&path, "{}").unwrap();
    let input = Input::File(path.clone());
    let same = Output::File(folder.path().join(".").join("events.ndjson"));
    let error = refuse_overlaps(&[Input::Stdin, input], &[("--output", &same)]).unwrap_err();
    assert!(matches!(error, SinkError::Overlap { flag: "--output", other: "an --input", .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"{}");

    let linked = folder.path().join("linked.ndjson");
    fs::hard_link(&path, &linked).unwrap();
    let error = refuse_overlaps(&[Input::File(path)], &[("--output", &Output::File(linked))]).unwrap_err();
    assert!(matches!(error, SinkError::Overlap { flag: "--output", .. }), "{error}");

    let new = Output::File(folder.path().join("new"));
    let error = refuse_overlaps(&[], &[("--too-late", &new), ("--dead-letter", &new)]).unwrap_err();
    assert!(matches!(error, SinkError::Overlap { flag: "--dead-letter", other: "--too-late", .. }), "{error}");
}

#[test]
fn devices_and_standard_output_may_be_shared() {
    let null = Output::from_flag("/dev/null");
    let stdout = Output::from_flag("-");
    let outputs = [("--output", &stdout), ("--too-late", &stdout), ("--dead-letter", &null), ("--duplicates", &null)];
    refuse_overlaps(&[Input::File("/dev/null".into())], &outputs).unwrap();
}

#[test]
fn an_output_that_never_begins_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    fs::write(&old, "kept").unwrap();
    let opened = [&old, &new].map(|path| Output::File(path.clone()).open("--output").unwrap());
    assert!(new.exists());
    drop(opened);
    assert_eq!(fs::read_to_string(&old).unwrap(), "kept");
    assert!(!new.exists());
}

#[test]
fn an_output_that_begins_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["old", "new"] {
        let path = folder.path().join(name);
        if name == "old" {
            fs::write(&path, "what was there is longer").unwrap();
        }
        let mut output = Output::File(path.clone()).create("--output").unwrap();
        output.write_all(b"new").unwrap();
        drop(output);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }
    Output::from_flag("/dev/null").create("--output").unwrap().write_all(b"gone").unwrap();
}
