//! Results and side records as lines of files.

use tidegate_types::{Column, PaneFields, PaneInfo, PaneOp, Stamp, Timing, ValueRef, Watermark};

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
        fired_at: 1_500,
    };
    let values = (0..i64::try_from(rows).unwrap()).map(ValueRef::Int);
    PaneBatch {
        keys: vec![],
        values: vec![Column::of_values(values)],
        infos: (0..rows).map(info).collect(),
        order: None,
    }
}

fn fields() -> ResultFields {
    PaneFields { keys: vec![], values: vec!["n".into()] }.into()
}

/// Stamps of every kind.
fn stamping() -> Stamping {
    let stamp = Stamp { version: true, completeness: true, generated_at: true };
    Stamping { stamp, precedence: 2, restore_epoch: 0 }
}

/// What a sink puts into a file.
fn written(fields: &ResultFields, stamping: Stamping, write: impl FnOnce(&mut FileResultSink)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results");
    let output = Output::File(path.clone()).open("--output").unwrap();
    let mut sink = FileResultSink::begin(output, fields, stamping).unwrap();
    write(&mut sink);
    sink.flush().unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn writes_panes_line_by_line() {
    let text = written(&fields(), Stamping::default(), |sink| {
        for _ in 0..30 {
            sink.write_panes(&panes(100)).unwrap();
        }
    });
    assert_eq!(text.lines().count(), 3_000);
    assert!(text.starts_with("{\"window_start\":null,\"window_end\":null,\"n\":0,\"pane\":"));
}

#[test]
fn stamped_panes_and_rows_say_how_new_they_are() {
    let line = written(&fields(), stamping(), |sink| sink.write_panes(&panes(1)).unwrap());
    let expected = concat!(
        r#"{"window_start":null,"window_end":null,"n":0,"pane":{"timing":"EARLY","index":0,"is_last":false},"watermark":null,"#,
        r#""version":{"precedence":2,"restore_epoch":0,"pane_index":0},"completeness":"provisional","#,
        r#""generated_at":"1970-01-01T00:00:01.500Z"}"#,
        "\n"
    );
    assert_eq!(line, expected);
    let rows = RowBatch {
        columns: vec![Column::of_values([ValueRef::Int(4)])],
        times: vec![60_000],
        watermarks: vec![Watermark::at(59_000)],
        emitted_at: vec![61_000],
        order: None,
    };
    let fields = ResultFields::Rows(vec!["n".into()]);
    let line = written(&fields, stamping(), |sink| sink.write_rows(&rows).unwrap());
    let expected = concat!(
        r#"{"n":4,"time":"1970-01-01T00:01:00Z","watermark":"1970-01-01T00:00:59Z","#,
        r#""version":{"precedence":2,"restore_epoch":0,"pane_index":0},"completeness":"on_time","#,
        r#""generated_at":"1970-01-01T00:01:01Z"}"#,
        "\n"
    );
    assert_eq!(line, expected);
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
    let mut sink = FileResultSink { writer, encoder: ResultEncoder::new(&fields(), Stamping::default()) };
    sink.write_panes(&panes(1)).unwrap();
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
