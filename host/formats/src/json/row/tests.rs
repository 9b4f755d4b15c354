//! Golden lines of rows without a window, and that a batch's cut changes none.

use tidegate_types::{Column, NO_CLOCK, Stamp, Value, Watermark};

use super::*;

const AT: i64 = 1_792_662_060_250;

fn fields() -> Vec<String> {
    vec!["campaign_id".into(), "clicked \"at\"".into()]
}

fn rows() -> RowBatch {
    let of = |values: [Value; 2]| Column::of_values(values.iter().map(Value::as_ref));
    RowBatch {
        columns: vec![of(["c-1".into(), Value::Null]), of([Value::Float(1.0), Value::Int(7)])],
        times: vec![AT, 0],
        watermarks: vec![Watermark::at(AT - 250), Watermark::MIN],
        emitted_at: vec![AT + 1_000, NO_CLOCK],
        order: None,
    }
}

fn lines(encoder: &RowEncoder) -> String {
    let mut out = Vec::new();
    encoder.encode(&rows(), &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_row_is_its_fields_its_time_and_the_watermark() {
    let expected = concat!(
        r#"{"campaign_id":"c-1","clicked \"at\"":1.0,"time":"2026-10-22T09:41:00.250Z","watermark":"2026-10-22T09:41:00Z"}"#,
        "\n",
        r#"{"campaign_id":null,"clicked \"at\"":7,"time":"1970-01-01T00:00:00Z","watermark":null}"#,
        "\n"
    );
    assert_eq!(lines(&RowEncoder::new(&fields())), expected);
}

#[test]
fn stamps_stand_behind_the_watermark() {
    let stamp = Stamp { version: true, completeness: true, generated_at: true };
    let encoder = RowEncoder::new(&fields()).stamped(Stamping { stamp, precedence: 1, restore_epoch: u64::MAX });
    let text = lines(&encoder);
    let (first, second) = text.trim_end().split_once('\n').expect("two lines");
    let version =
        r#""version":{"precedence":1,"restore_epoch":18446744073709551615,"pane_index":0},"completeness":"on_time","#;
    assert!(first.ends_with(&format!(
        r#""watermark":"2026-10-22T09:41:00Z",{version}"generated_at":"2026-10-22T09:41:01.250Z"}}"#
    )));
    assert!(second.ends_with(&format!(r#""watermark":null,{version}"generated_at":null}}"#)), "{second}");
}

#[test]
fn a_row_as_a_record_is_its_line_without_the_end() {
    let encoder = RowEncoder::new(&fields());
    let text = lines(&encoder);
    let records: Vec<Vec<u8>> = (0..2).map(|row| encoder.record(&rows(), row)).collect();
    assert_eq!(records, text.lines().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>());
}
