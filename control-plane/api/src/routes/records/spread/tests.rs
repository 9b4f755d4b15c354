//! How the lines of an append become records of partitions.

use super::*;

const BOUNDS: Bounds = Bounds { record_bytes: 8, records: 3 };

fn lines(text: &'static str) -> Result<Vec<Bytes>, BadLines> {
    split(&Bytes::from_static(text.as_bytes()), BOUNDS)
}

#[test]
fn lines_become_records_without_their_ends() {
    assert_eq!(lines("a\nb"), Ok(vec![Bytes::from_static(b"a"), Bytes::from_static(b"b")]));
    assert_eq!(lines("a\nb\n"), lines("a\nb"));
    assert_eq!(lines("\n \t\r\na\n\nb\n"), lines("a\nb"), "a line of white space only is no record");
    assert_eq!(lines("a \r\n"), Ok(vec![Bytes::from_static(b"a \r")]), "the rest is kept as it is");
}

#[test]
fn a_body_without_records_is_refused() {
    for empty in ["", "\n", " \n\r\n"] {
        assert_eq!(lines(empty), Err(BadLines::Nothing), "{empty:?}");
    }
}

#[test]
fn a_long_line_is_named_by_its_place_in_the_body() {
    assert!(lines("12345678").is_ok());
    assert_eq!(lines("\na\n123456789\n"), Err(BadLines::TooLong { line: 3, bytes: 9 }));
}

#[test]
fn too_many_records_are_refused() {
    assert!(lines("a\nb\nc").is_ok());
    assert_eq!(lines("a\nb\nc\nd"), Err(BadLines::TooMany));
}

#[test]
fn records_of_one_key_share_a_partition() {
    let of = |record: &str| partition_by_key(record.as_bytes(), "k", 1_000_003);
    assert_eq!(of(r#"{"k":"a","x":1}"#), of(r#"{"x":[2,{"k":"b"}], "k" : "a"}"#));
    assert_ne!(of(r#"{"k":"a"}"#), of(r#"{"k":"b"}"#));
    assert_eq!(of(r#"{"k":"\u0061"}"#), of(r#"{"k":"a"}"#), "the text counts, not how it is written");
    assert_eq!(of(r#"{"k":7}"#), of(r#"{"k":"7"}"#));
    assert_eq!(of(r#"{"k":"a","k":"b"}"#), of(r#"{"k":"a"}"#), "the first counts");
    assert_eq!(u64::from(of(r#"{"k":"VN"}"#)), key_hash(b"VN") % 1_000_003);
}

#[test]
fn a_record_without_the_key_is_dealt_by_its_bytes() {
    for record in ["no json", "[1]", r#"{"other":1}"#, r#"{"k":null}"#, r#"{"k":"a""#, r#"{"k":"a"} x"#] {
        let partition = partition_by_key(record.as_bytes(), "k", 1_000_003);
        assert_eq!(u64::from(partition), key_hash(record.as_bytes()) % 1_000_003, "{record}");
    }
}
