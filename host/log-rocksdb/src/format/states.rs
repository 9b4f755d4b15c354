//! What the log keeps about streams, partitions and producers.

use tidegate_log::sequence::LastBatch;
use tidegate_log::{Appended, OffsetRange, PartitionInfo, Retention, StreamSpec};

use super::{FormatError, Reader};

const VERSION: u8 = 1;

/// Flags: the second of an optional pair is there, or the partition is sealed.
const FIRST: u8 = 1;
const SECOND: u8 = 2;

/// A stream: its number and its spec.
pub(crate) fn encode_stream(number: u64, spec: &StreamSpec) -> Vec<u8> {
    let Retention { bytes, age_ms } = spec.retention;
    let flags = flag(bytes.is_some(), FIRST) | flag(age_ms.is_some(), SECOND);
    [
        &[VERSION][..],
        &number.to_be_bytes(),
        &spec.partitions.to_be_bytes(),
        &spec.max_record_bytes.to_be_bytes(),
        &[flags],
        &bytes.unwrap_or(0).to_be_bytes(),
        &age_ms.unwrap_or(0).to_be_bytes(),
    ]
    .concat()
}

pub(crate) fn decode_stream(value: &[u8]) -> Result<(u64, StreamSpec), FormatError> {
    let mut reader = Reader::of_version(value, VERSION)?;
    let (number, partitions, max_record_bytes) = (reader.u64()?, reader.u32()?, reader.u32()?);
    let flags = flags(reader.byte()?)?;
    let (bytes, age_ms) = (reader.u64()?, reader.u64()?);
    reader.finish()?;
    let retention =
        Retention { bytes: (flags & FIRST != 0).then_some(bytes), age_ms: (flags & SECOND != 0).then_some(age_ms) };
    Ok((number, StreamSpec { partitions, retention, max_record_bytes }))
}

/// A partition.
pub(crate) fn encode_partition(info: &PartitionInfo) -> Vec<u8> {
    let flags = flag(info.sealed, FIRST) | flag(info.last_ingest.is_some(), SECOND);
    [
        &[VERSION][..],
        &info.start.to_be_bytes(),
        &info.end.to_be_bytes(),
        &info.bytes.to_be_bytes(),
        &[flags],
        &info.last_ingest.unwrap_or(0).to_be_bytes(),
    ]
    .concat()
}

pub(crate) fn decode_partition(value: &[u8]) -> Result<PartitionInfo, FormatError> {
    let mut reader = Reader::of_version(value, VERSION)?;
    let (start, end, bytes) = (reader.u64()?, reader.u64()?, reader.u64()?);
    let flags = flags(reader.byte()?)?;
    let last_ingest = reader.i64()?;
    reader.finish()?;
    if start > end {
        return Err(FormatError::Field("the start"));
    }
    let last_ingest = (flags & SECOND != 0).then_some(last_ingest);
    Ok(PartitionInfo { start, end, bytes, sealed: flags & FIRST != 0, last_ingest })
}

/// A producer's last batch.
pub(crate) fn encode_producer(last: &LastBatch) -> Vec<u8> {
    let mut value = vec![VERSION];
    value.extend_from_slice(&last.sequence.to_be_bytes());
    value.extend_from_slice(&last.digest.to_be_bytes());
    value.extend_from_slice(&last.appended.ingest_time.to_be_bytes());
    for range in &last.appended.ranges {
        value.extend_from_slice(&range.partition.to_be_bytes());
        value.extend_from_slice(&range.first.to_be_bytes());
        value.extend_from_slice(&range.count.to_be_bytes());
    }
    value
}

pub(crate) fn decode_producer(value: &[u8]) -> Result<LastBatch, FormatError> {
    let mut reader = Reader::of_version(value, VERSION)?;
    let (sequence, digest, ingest_time) = (reader.u64()?, reader.u64()?, reader.i64()?);
    let mut ranges = Vec::new();
    while !reader.rest().is_empty() {
        ranges.push(OffsetRange { partition: reader.u32()?, first: reader.u64()?, count: reader.u64()? });
    }
    Ok(LastBatch { sequence, digest, appended: Appended { ranges, ingest_time, repeated: false } })
}

const fn flag(set: bool, flag: u8) -> u8 {
    if set { flag } else { 0 }
}

const fn flags(byte: u8) -> Result<u8, FormatError> {
    if byte > FIRST | SECOND { Err(FormatError::Field("the flags")) } else { Ok(byte) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(partition: u32, first: u64, count: u64) -> OffsetRange {
        OffsetRange { partition, first, count }
    }

    #[test]
    fn states_are_stored_formats() {
        let spec = StreamSpec {
            partitions: 3,
            retention: Retention { bytes: Some(9), age_ms: None },
            max_record_bytes: 1 << 20,
        };
        let stream = b"\x01\0\0\0\0\0\0\0\x07\0\0\0\x03\0\x10\0\0\x01\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\0";
        assert_eq!(encode_stream(7, &spec), stream);
        assert_eq!(decode_stream(stream), Ok((7, spec)));
        let info = PartitionInfo { start: 1, end: 2, bytes: 3, sealed: true, last_ingest: Some(-1) };
        let partition =
            b"\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03\x03\xff\xff\xff\xff\xff\xff\xff\xff";
        assert_eq!(encode_partition(&info), partition);
        assert_eq!(decode_partition(partition), Ok(info));
        let appended = Appended { ranges: vec![range(1, 2, 3)], ingest_time: 4, repeated: false };
        let last = LastBatch { sequence: 5, digest: 6, appended };
        let producer = b"\x01\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0\x04\
            \0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03";
        assert_eq!(encode_producer(&last), producer);
        assert_eq!(decode_producer(producer), Ok(last));
    }

    #[test]
    fn damaged_states_are_refused() {
        let partition = encode_partition(&PartitionInfo::default());
        assert_eq!(decode_partition(&partition[1..]), Err(FormatError::Version(0)));
        assert_eq!(decode_partition(&partition[..partition.len() - 1]), Err(FormatError::Short));
        assert_eq!(decode_partition(&[&partition[..], &[0]].concat()), Err(FormatError::Long));
        let mut backwards = partition.clone();
        backwards[8] = 9;
        assert_eq!(decode_partition(&backwards), Err(FormatError::Field("the start")));
        let mut flagged = partition;
        flagged[25] = 4;
        assert_eq!(decode_partition(&flagged), Err(FormatError::Field("the flags")));
    }
}
