//! Keys. Integers are big-endian, so that they sort as their values do.
//!
//! A stream has a number, never used again: a deleted stream's keys cannot be taken for those of a later one.

use tidegate_log::StreamId;

/// The greatest key that a partition can have is `record(stream, partition, u64::MAX)`.
pub(crate) const RECORD_KEY_BYTES: usize = 20;
/// A key of `staged`.
pub(crate) const STAGED_KEY_BYTES: usize = 28;

/// `metadata`: the format's version.
pub(crate) const FORMAT_VERSION: &[u8] = b"f";
/// `metadata`: the number of the next stream.
pub(crate) const NEXT_NUMBER: &[u8] = b"n";
/// `metadata`: what a stream's record begins with.
pub(crate) const STREAMS: &[u8] = b"s";

/// `metadata`: what all of the streams' writers begin with; then come the stream's number and the name.
pub(crate) const WRITERS: &[u8] = b"w";
/// `metadata`: what all staged transactions begin with; then come the stream's number and the transaction's place.
pub(crate) const TRANSACTIONS: &[u8] = b"x";
/// `metadata`: what all holds begin with; then come the stream's number and the holder.
pub(crate) const HOLDS: &[u8] = b"h";
/// `metadata`: what the streams' next places begin with; then comes the stream's number.
const NEXT_PLACES: &[u8] = b"t";

/// `metadata`: something of a stream.
pub(crate) fn of_stream(prefix: &[u8], stream: u64, rest: &[u8]) -> Vec<u8> {
    [prefix, &stream.to_be_bytes()[..], rest].concat()
}

/// `metadata`: the place of a stream's next transaction.
pub(crate) fn next_place(stream: u64) -> Vec<u8> {
    of_stream(NEXT_PLACES, stream, b"")
}

/// `staged`: the records of a transaction in a partition whose last one is, in the order of staging, the one with this number.
/// Seeking a number finds the value that holds it.
pub(crate) fn staged(stream: u64, place: u64, partition: u32, last: u64) -> [u8; STAGED_KEY_BYTES] {
    let mut key = [0; STAGED_KEY_BYTES];
    key[..8].copy_from_slice(&stream.to_be_bytes());
    key[8..16].copy_from_slice(&place.to_be_bytes());
    key[16..20].copy_from_slice(&partition.to_be_bytes());
    key[20..].copy_from_slice(&last.to_be_bytes());
    key
}

/// The number in a key of `staged`.
pub(crate) fn last_of_staged(key: &[u8]) -> Option<u64> {
    let last = key.get(20..)?.try_into().ok()?;
    Some(u64::from_be_bytes(last))
}

/// `records`: the records whose last one has this offset. Seeking an offset finds the value that holds it.
pub(crate) fn record(stream: u64, partition: u32, last: u64) -> [u8; RECORD_KEY_BYTES] {
    let mut key = [0; RECORD_KEY_BYTES];
    key[..8].copy_from_slice(&stream.to_be_bytes());
    key[8..12].copy_from_slice(&partition.to_be_bytes());
    key[12..].copy_from_slice(&last.to_be_bytes());
    key
}

/// The offset in a key of `records`.
pub(crate) fn last_of_record(key: &[u8]) -> Option<u64> {
    let last = key.get(12..)?.try_into().ok()?;
    Some(u64::from_be_bytes(last))
}

/// `metadata`: a stream, by tenant and name.
pub(crate) fn stream(stream: &StreamId) -> Vec<u8> {
    [STREAMS, stream.tenant.as_str().as_bytes(), &[0], stream.name.as_str().as_bytes()].concat()
}

/// The stream of a key of `metadata`.
pub(crate) fn id_of_stream(key: &[u8]) -> Option<StreamId> {
    let text = std::str::from_utf8(key.strip_prefix(STREAMS)?).ok()?;
    let (tenant, name) = text.split_once('\0')?;
    Some(StreamId { tenant: tenant.parse().ok()?, name: name.parse().ok()? })
}

/// `metadata`: how far a partition is.
pub(crate) fn partition(stream: u64, partition: u32) -> Vec<u8> {
    [b"p", &stream.to_be_bytes()[..], &partition.to_be_bytes()].concat()
}

/// `producers`: what all of a stream's producers begin with, and a producer of it.
pub(crate) fn producer(stream: u64, name: &str) -> Vec<u8> {
    [&stream.to_be_bytes()[..], name.as_bytes()].concat()
}

/// The producer of a key of `producers`.
pub(crate) fn name_of_producer(key: &[u8]) -> Option<&str> {
    std::str::from_utf8(key.get(8..)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> StreamId {
        StreamId { tenant: "acme".parse().unwrap(), name: "ad-events".parse().unwrap() }
    }

    #[test]
    fn keys_are_a_stored_format() {
        assert_eq!(record(1, 2, 3), *b"\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\x03");
        assert_eq!(stream(&id()), b"sacme\0ad-events");
        assert_eq!(partition(258, 7), b"p\0\0\0\0\0\0\x01\x02\0\0\0\x07");
        assert_eq!(staged(1, 2, 3, 4), *b"\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\x03\0\0\0\0\0\0\0\x04");
        assert_eq!(of_stream(WRITERS, 1, b"j/s"), b"w\0\0\0\0\0\0\0\x01j/s");
        assert_eq!(of_stream(TRANSACTIONS, 1, &2_u64.to_be_bytes()), b"x\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x02");
        assert_eq!(of_stream(HOLDS, 1, b"j"), b"h\0\0\0\0\0\0\0\x01j");
        assert_eq!(next_place(1), b"t\0\0\0\0\0\0\0\x01");
        assert_eq!(last_of_staged(&staged(1, 2, 3, 4)), Some(4));
        assert_eq!(producer(1, "gate"), b"\0\0\0\0\0\0\0\x01gate");
    }

    #[test]
    fn keys_say_what_they_are_of() {
        assert_eq!(last_of_record(&record(1, 2, 1 << 40)), Some(1 << 40));
        assert_eq!(id_of_stream(&stream(&id())), Some(id()));
        assert_eq!(name_of_producer(&producer(9, "père")), Some("père"));
        assert_eq!(last_of_record(b"short"), None);
        assert_eq!(id_of_stream(b"sno-zero"), None);
    }

    #[test]
    fn records_sort_by_stream_then_partition_then_offset() {
        let sorted = [record(1, 0, 256), record(1, 1, 0), record(1, 256, 1), record(2, 0, 0), record(256, 0, 0)];
        assert!(sorted.is_sorted());
    }
}
