//! Which outputs are refused before anything is written.

use super::*;

fn destinations(output: &str, too_late: Option<&str>, dead_letter: Option<&str>) -> Destinations {
    Destinations {
        results: vec![Output::from_flag(output)],
        too_late: too_late.map(Output::from_flag),
        dead_letters: dead_letter.map(Output::from_flag),
        duplicates: None,
        report: None,
    }
}

fn refused(destinations: &Destinations, needed: &[(&str, &Path)]) -> String {
    let failure = destinations.check(&[], needed).unwrap_err();
    assert_eq!(failure.status, 2);
    failure.message.unwrap()
}

#[test]
fn panes_share_standard_output_with_nothing() {
    let message = refused(&destinations("-", None, Some("-")), &[]);
    assert!(message.starts_with("--dead-letter -: panes go to standard output"), "{message}");
}

#[test]
fn side_outputs_may_share_standard_output() {
    // Each line says its reason, so they can be told apart.
    destinations("panes.ndjson", Some("-"), Some("-")).check(&[], &[]).unwrap();
}

#[test]
fn the_pipeline_file_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = folder.path().join("pipeline.yaml");
    std::fs::write(&pipeline, "job: j").unwrap();
    let roundabout = folder.path().join(".").join("pipeline.yaml");
    let message = refused(&destinations(roundabout.to_str().unwrap(), None, None), &needed(&pipeline, [].iter()));
    assert!(message.contains("is also the pipeline file"), "{message}");
    assert_eq!(std::fs::read_to_string(&pipeline).unwrap(), "job: j");
}

#[test]
fn two_outputs_are_not_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.ndjson");
    let file = file.to_str().unwrap();
    let message = refused(&destinations(file, Some(file), None), &[]);
    assert!(message.starts_with("--too-late") && message.contains("is also --output"), "{message}");
}
