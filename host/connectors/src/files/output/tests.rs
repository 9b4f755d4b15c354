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
