//! Records that were appended together, as one value of `records`.
//!
//! ```text
//! version 1 | kind 1 (records) | ingest time, 8 | producer's length, 1 | producer | count, 4 | length of each | bytes of each
//! ```
//!
//! The time and the producer stand once: records of a chunk came in one batch. A value of another kind points to
//! records that stand elsewhere (those of a transaction); its key is the same, so reading by offset stays one seek. The records
//! of a transaction are chunks too.

use bytes::Bytes;
use tidegate_types::EventTime;

use super::{FormatError, Reader, push_length};

const VERSION: u8 = 1;
const RECORDS: u8 = 1;

/// A chunk is closed once its records have so many bytes: a reader that wants one record reads one chunk.
const CHUNK_BYTES: usize = 32 << 10;
/// And once it has so many records.
const CHUNK_RECORDS: usize = 4096;

/// A chunk that has no offset yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// Its records.
    pub(crate) count: u64,
    /// Its value.
    pub(crate) value: Vec<u8>,
}

/// A chunk as it was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) ingest_time: EventTime,
    pub(crate) producer: String,
    pub(crate) records: Vec<Bytes>,
}

/// Encodes records of one partition, in order, in as many chunks as they need.
pub(crate) fn encode_all(mut records: &[Bytes], ingest_time: EventTime, producer: &str) -> Vec<Encoded> {
    let mut chunks = Vec::new();
    while !records.is_empty() {
        let mut bytes = 0;
        let fits = |record: &&Bytes| {
            let room = bytes < CHUNK_BYTES;
            bytes += record.len();
            room
        };
        let count = records.iter().take(CHUNK_RECORDS).take_while(fits).count();
        let (now, later) = records.split_at(count);
        chunks.push(encode(now, ingest_time, producer));
        records = later;
    }
    chunks
}

fn encode(records: &[Bytes], ingest_time: EventTime, producer: &str) -> Encoded {
    let bytes: usize = records.iter().map(Bytes::len).sum();
    let mut value = Vec::with_capacity(bytes + 2 * records.len() + producer.len() + 24);
    value.extend_from_slice(&[VERSION, RECORDS]);
    value.extend_from_slice(&ingest_time.to_be_bytes());
    value.push(u8::try_from(producer.len()).expect("a producer's name has at most 200 bytes"));
    value.extend_from_slice(producer.as_bytes());
    let count = u32::try_from(records.len()).expect("a chunk has at most 4,096 records");
    value.extend_from_slice(&count.to_be_bytes());
    for record in records {
        push_length(&mut value, record.len());
    }
    for record in records {
        value.extend_from_slice(record);
    }
    Encoded { count: count.into(), value }
}

/// Reads a chunk.
pub(crate) fn decode(value: &[u8]) -> Result<Decoded, FormatError> {
    let mut reader = Reader::of_version(value, VERSION)?;
    if reader.byte()? != RECORDS {
        return Err(FormatError::Field("the kind"));
    }
    let ingest_time = reader.i64()?;
    let name_bytes = reader.byte()?;
    let producer = reader.bytes(name_bytes.into())?;
    let producer = std::str::from_utf8(producer).map_err(|_| FormatError::Field("the producer"))?.to_owned();
    let count = usize::try_from(reader.u32()?).map_err(|_| FormatError::Field("the count"))?;
    if count == 0 || count > CHUNK_RECORDS {
        return Err(FormatError::Field("the count"));
    }
    let lengths: Vec<usize> = (0..count).map(|_| reader.length()).collect::<Result<_, _>>()?;
    let mut all = Bytes::copy_from_slice(reader.rest());
    let mut records = Vec::with_capacity(count);
    for length in lengths {
        if length > all.len() {
            return Err(FormatError::Short);
        }
        records.push(all.split_to(length));
    }
    if !all.is_empty() {
        return Err(FormatError::Long);
    }
    Ok(Decoded { ingest_time, producer, records })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(texts: &[&str]) -> Vec<Bytes> {
        texts.iter().map(|text| Bytes::copy_from_slice(text.as_bytes())).collect()
    }

    #[test]
    fn a_chunk_is_a_stored_format() {
        let chunks = encode_all(&records(&["ab", "", &"c".repeat(130)]), 1_000, "gate");
        let start = b"\x01\x01\0\0\0\0\0\0\x03\xe8\x04gate\0\0\0\x03\x02\0\x82\x01ab";
        assert_eq!(chunks.len(), 1);
        assert_eq!((chunks[0].count, &chunks[0].value[..start.len()]), (3, &start[..]));
        assert_eq!(chunks[0].value[start.len()..], [b'c'; 130]);
    }

    #[test]
    fn reads_what_was_written() {
        let written = records(&["", "a", &"b".repeat(20_000), "c"]);
        let chunks = encode_all(&written, -5, "père");
        let read = decode(&chunks[0].value).unwrap();
        assert_eq!(read, Decoded { ingest_time: -5, producer: "père".into(), records: written });
    }

    #[test]
    fn chunks_are_bounded_and_hold_every_record_in_order() {
        let written: Vec<Bytes> = (0..10_000_u32).map(|n| Bytes::from(n.to_string())).collect();
        let sizes: Vec<u64> = encode_all(&written, 1, "p").iter().map(|chunk| chunk.count).collect();
        assert_eq!(sizes, [4096, 4096, 1808]);
        let long = vec![Bytes::from(vec![b'x'; 20_000]); 5];
        let chunks = encode_all(&long, 1, "p");
        assert_eq!(chunks.iter().map(|chunk| chunk.count).collect::<Vec<_>>(), [2, 2, 1]);
        let read: Vec<Bytes> = chunks.iter().flat_map(|chunk| decode(&chunk.value).unwrap().records).collect();
        assert_eq!(read, long);
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let value = encode_all(&records(&["ab", "c"]), 1, "p").remove(0).value;
        for cut in 0..value.len() {
            assert!(decode(&value[..cut]).is_err(), "cut to {cut} bytes");
        }
        assert_eq!(decode(&[&value[..], b"x"].concat()), Err(FormatError::Long));
        let with = |place: usize, byte: u8| {
            let mut damaged = value.clone();
            damaged[place] = byte;
            decode(&damaged)
        };
        assert_eq!(with(0, 2), Err(FormatError::Version(2)));
        assert_eq!(with(1, 2), Err(FormatError::Field("the kind")));
        assert_eq!(with(11, 0xff), Err(FormatError::Field("the producer")));
        assert_eq!(with(12, 0xff), Err(FormatError::Field("the count")));
    }
}
