use std::error::Error as _;
use std::path::Path;

use tidegate_types::{PartitionId, Value};

use super::*;
use crate::source::ErrorKind;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> Input {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        Input::File(path)
    }
}

fn by_field(input: Input) -> FileSourceConfig {
    FileSourceConfig { inputs: vec![input], partition_field: Some("p".into()), ..FileSourceConfig::default() }
}

fn error(config: &FileSourceConfig) -> SourceError {
    open_files(config).err().expect("the source is refused")
}

#[test]
fn a_single_file_is_partition_0_and_ends_after_its_last_line() {
    let folder = Folder::new();
    let input = folder.file("a", "{}\n\n{\"a\":1}\r\nno JSON");
    let mut source = open_files(&FileSourceConfig { inputs: vec![input], ..FileSourceConfig::default() }).unwrap();
    assert_eq!(source.partitions(), [Value::Int(0)]);
    let batch = source.read(100, 1 << 20).unwrap();
    assert_eq!(batch.data, "{}{\"a\":1}no JSON");
    assert_eq!(batch.spans, [(0, 2), (2, 9), (9, 16)]);
    assert_eq!(batch.offsets, [0, 2, 3]);
    assert_eq!(batch.partition, [Some(PartitionId(0)); 3]);
    assert_eq!(batch.ended, [(3, PartitionId(0))]);
    assert!(batch.done);
}

#[test]
fn a_field_deals_records_to_partitions_by_type_and_value() {
    let folder = Folder::new();
    let lines = [
        "{\"p\":1}",
        "{\"p\":\"1\"}",
        "[]",
        "{\"p\":1.0}",
        "{}",
        "{\"p\":null}",
        "{\"p\":[1, 2]}",
        "{\"p\":[1,2]}",
        "{\"p\":2,\"p\":1}",
    ];
    let config = by_field(folder.file("a", &lines.join("\n")));
    let mut source = open_files(&config).unwrap();
    let names = [Value::Int(1), Value::from("1"), Value::Float(1.0), Value::Null, Value::Json("[1,2]".into())];
    assert_eq!(source.partitions(), names);
    let mut partitions = Vec::new();
    loop {
        let batch = source.read(2, 1 << 20).unwrap();
        partitions.extend(batch.partition.iter().map(|partition| partition.map(|PartitionId(place)| place)));
        if batch.done {
            let end = u32::try_from(batch.spans.len()).unwrap();
            assert_eq!(batch.ended, (0..5).map(|place| (end, PartitionId(place))).collect::<Vec<_>>());
            break;
        }
        assert!(batch.ended.is_empty());
    }
    assert_eq!(partitions, [Some(0), Some(1), None, Some(2), Some(3), Some(3), Some(4), Some(4), Some(0)]);
}

#[test]
fn a_file_without_objects_has_no_partitions() {
    let folder = Folder::new();
    let mut source = open_files(&by_field(folder.file("a", "x\n"))).unwrap();
    assert!(source.partitions().is_empty());
    let batch = source.read(100, 1 << 20).unwrap();
    assert_eq!(batch.partition, [None]);
    assert!(batch.ended.is_empty() && batch.done);
}

#[test]
fn an_empty_file_ends_at_once() {
    let folder = Folder::new();
    let mut source =
        open_files(&FileSourceConfig { inputs: vec![folder.file("a", "")], ..FileSourceConfig::default() }).unwrap();
    let batch = source.read(100, 1 << 20).unwrap();
    assert_eq!((batch.spans.len(), batch.ended, batch.done), (0, vec![(0, PartitionId(0))], true));
    let after = source.read(100, 1 << 20).unwrap();
    assert!(after.done && after.ended.is_empty());
}

#[test]
fn a_file_that_changed_between_the_passes_is_refused() {
    let folder = Folder::new();
    let input = folder.file("a", "{\"p\":1}\n");
    let mut source = open_files(&by_field(input)).unwrap();
    folder.file("a", "{\"p\":1}\n{\"p\":2}\n");
    let error = source.read(100, 1 << 20).unwrap_err();
    assert!(matches!(error, SourceError::Changed { line: 2, .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::External);
}

#[test]
fn refuses_what_the_page_on_local_runs_refuses() {
    let folder = Folder::new();
    let file = || folder.file("a", "{}");
    assert!(matches!(error(&FileSourceConfig::default()), SourceError::NoInput));
    assert!(matches!(error(&by_field(Input::Stdin)), SourceError::PartitionsOfStream { .. }));
    assert!(matches!(error(&by_field(Input::File("/dev/null".into()))), SourceError::PartitionsOfStream { .. }));
    let mut several = by_field(file());
    several.inputs.push(file());
    assert!(matches!(error(&several), SourceError::PartitionsOfSeveral));
    let twice = FileSourceConfig { inputs: vec![Input::Stdin, file(), Input::Stdin], ..FileSourceConfig::default() };
    assert!(matches!(error(&twice), SourceError::StdinTwice));
    assert_eq!(error(&twice).kind(), ErrorKind::Invalid);
}

#[test]
fn says_which_file_cannot_be_opened() {
    let folder = Folder::new();
    let missing = Input::from_flag("no/such/file.ndjson");
    let error_of = |input: Input| error(&FileSourceConfig { inputs: vec![input], ..FileSourceConfig::default() });
    let error = error_of(missing);
    assert_eq!(error.to_string(), "--input no/such/file.ndjson: cannot be opened; check the path and its permissions");
    assert!(error.source().is_some());
    let directory = error_of(Input::File(folder.0.path().to_owned()));
    assert!(matches!(directory, SourceError::Directory { .. }));
}

#[test]
fn a_dash_is_standard_input() {
    assert_eq!(Input::from_flag("-"), Input::Stdin);
    assert_eq!(Input::from_flag("./-"), Input::File(Path::new("./-").into()));
}
