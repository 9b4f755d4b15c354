//! What a read of a stream answers, line by line.

use bytes::Bytes;
use serde_json::{Value, json};

use super::*;

fn line(record: &[u8]) -> String {
    let stored = Stored { offset: 7, ingest_time: 42, producer: "p\"1".into(), bytes: Bytes::copy_from_slice(record) };
    let mut out = Vec::new();
    write_line(&mut out, 3, &stored);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_json_record_is_embedded_as_it_was_appended() {
    let written = line(br#" {"b":1.0, "a":10000000000000000000001} "#);
    let expected = concat!(
        r#"{"partition":3,"offset":7,"ingest_time":42,"producer":"p\"1","#,
        r#""record":{"b":1.0, "a":10000000000000000000001}}"#,
        "\n"
    );
    assert_eq!(written, expected);
}

#[test]
fn other_bytes_are_embedded_as_text() {
    for (record, text) in [
        (&b"{\"a\":tru"[..], "{\"a\":tru"),
        (b"plain", "plain"),
        (b"\xff\x00", "\u{fffd}\u{0}"),
        (b"1\n2", "1\n2"),
        (b"{}\n", "{}\n"),
    ] {
        let written = line(record);
        assert_eq!(written.matches('\n').count(), 1, "one line: {written:?}");
        let read: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(read["record"], json!(text));
    }
}
