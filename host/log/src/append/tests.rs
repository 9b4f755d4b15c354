//! A batch before it is appended: its order, its digest, and what it is refused for.

use super::*;
use crate::Retention;

fn stream() -> StreamId {
    StreamId { tenant: "acme".parse().unwrap(), name: "events".parse().unwrap() }
}

fn batch(records: &[(u32, &'static str)]) -> AppendBatch {
    AppendBatch {
        records: records.iter().map(|(partition, text)| (*partition, Bytes::from_static(text.as_bytes()))).collect(),
        ingest_time: 7,
        producer: Producer { name: "p".into(), sequence: None },
        room: None,
    }
}

#[test]
fn records_of_a_partition_keep_their_order() {
    let parts = batch(&[(1, "a"), (0, "b"), (1, "c"), (0, "d")]).by_partition();
    let texts = |records: &[&'static str]| records.iter().map(|text| Bytes::from_static(text.as_bytes())).collect();
    assert_eq!(parts, [(0, texts(&["b", "d"])), (1, texts(&["a", "c"]))]);
}

#[test]
fn a_digest_tells_where_records_are_cut_but_not_where_they_go() {
    assert_ne!(batch(&[(0, "ab"), (0, "c")]).digest(), batch(&[(0, "a"), (0, "bc")]).digest());
    assert_ne!(batch(&[(0, "a"), (0, "b")]).digest(), batch(&[(0, "b"), (0, "a")]).digest());
    assert_eq!(batch(&[(0, "a"), (1, "b")]).digest(), batch(&[(2, "a"), (0, "b")]).digest());
}

#[test]
fn a_digest_is_a_stored_format() {
    assert_eq!(batch(&[(0, "a"), (0, "bc")]).digest(), 8_312_632_461_385_084_862);
}

#[test]
fn a_record_may_be_as_long_as_the_stream_says_and_no_longer() {
    let spec = StreamSpec { partitions: 1, retention: Retention::default(), max_record_bytes: 2 };
    assert!(batch(&[(0, ""), (0, "ab")]).check(&stream(), &spec).is_ok());
    let error = batch(&[(0, "ab"), (0, "abc")]).check(&stream(), &spec).unwrap_err();
    assert!(matches!(error, LogError::RecordTooLong { place: 1, bytes: 3, limit: 2, .. }), "{error}");
}
