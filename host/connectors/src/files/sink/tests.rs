//! Panes and side records as lines of files.

use tidegate_types::{Column, PaneInfo, PaneOp, Timing, ValueRef, Watermark};

use super::*;
use crate::files::Output;
use crate::source::ErrorKind;

fn panes(rows: u64) -> PaneBatch {
    let info = |index| PaneInfo {
        window: None,
        timing: Timing::Early,
        index,
        is_last: false,
        watermark: Watermark::MIN,
        op: PaneOp::Insert,
    };
    let values = (0..i64::try_from(rows).unwrap()).map(ValueRef::Int);
    PaneBatch { keys: vec![], values: vec![Column::of_values(values)], infos: (0..rows).map(info).collect() }
}

fn fields() -> PaneFields {
    PaneFields { keys: vec![], values: vec!["n".into()] }
}

#[test]
fn writes_panes_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("panes");
    let mut sink = FilePaneSink::begin(Output::File(path.clone()).open("--output").unwrap(), &fields()).unwrap();
    for _ in 0..30 {
        sink.write(&panes(100)).unwrap();
    }
    sink.flush().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().count(), 3_000);
    assert!(text.starts_with("{\"window_start\":null,\"window_end\":null,\"n\":0,\"pane\":"));
}

#[test]
fn writes_side_records_once_flushed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late");
    let mut sink = FileSideSink::begin(Output::File(path.clone()).open("--too-late").unwrap()).unwrap();
    sink.write(&SideRecord { reason: "too-late", record: Some(b"{}"), ..SideRecord::default() }).unwrap();
    sink.flush().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(text, "{\"reason\":\"too-late\",\"partition\":null,\"offset\":null,\"record\":{}}\n");
}

#[test]
fn a_reader_that_closes_is_told_apart_from_a_failure() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let writer = Writer { output: "standard output".into(), to: Box::new(writer), held: Vec::new() };
    let mut sink = FilePaneSink { writer, encoder: PaneEncoder::new(&fields()) };
    sink.write(&panes(1)).unwrap();
    assert!(sink.flush().unwrap_err().is_closed());
}

#[test]
fn says_why_an_output_cannot_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let directory = Output::File(folder.path().to_owned());
    let error = directory.open("--too-late").unwrap_err();
    assert!(matches!(error, SinkError::Directory { flag: "--too-late", .. }));
    let missing = Output::File(folder.path().join("no/such"));
    let error = missing.open("--too-late").unwrap_err();
    assert!(matches!(error, SinkError::Create { .. }));
    assert_eq!(error.kind(), ErrorKind::Invalid);
}
