//! What the log keeps about writers, transactions and holds, and the value that refers to a transaction's records.
//!
//! ```text
//! version 1 | kind 2 (reference) | the transaction's place, 8 | count, 8
//! ```
//!
//! A reference stands in `records` where a chunk would, under the offset of its last record.

use tidegate_log::transaction::{TransactionId, WriterState};

use super::{FormatError, Reader};
use crate::staging::{Staged, StagedPart};

const VERSION: u8 = 1;
/// The kind of a value of `records`; a chunk's is 1.
const REFERENCE: u8 = 2;
/// The writer has a timeout.
const TIMEOUT: u8 = 1;

/// Records that stand under a transaction's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) place: u64,
    pub(crate) count: u64,
}

/// Whether a value of `records` is a reference.
pub(crate) const fn is_reference(value: &[u8]) -> bool {
    matches!(value, [VERSION, REFERENCE, ..])
}

pub(crate) fn encode_reference(reference: Reference) -> Vec<u8> {
    [&[VERSION, REFERENCE][..], &reference.place.to_be_bytes(), &reference.count.to_be_bytes()].concat()
}

pub(crate) fn decode_reference(value: &[u8]) -> Result<Reference, FormatError> {
    let mut reader = Reader::of_version(value, VERSION)?;
    if reader.byte()? != REFERENCE {
        return Err(FormatError::Field("the kind"));
    }
    let (place, count) = (reader.u64()?, reader.u64()?);
    reader.finish()?;
    if count == 0 { Err(FormatError::Field("the count")) } else { Ok(Reference { place, count }) }
}

/// A writer.
pub(crate) fn encode_writer(state: &WriterState) -> Vec<u8> {
    let WriterState { epoch, committed, timeout_ms } = state;
    let flags = if timeout_ms.is_some() { TIMEOUT } else { 0 };
    let timeout = timeout_ms.unwrap_or(0);
    [&[VERSION][..], &epoch.to_be_bytes(), &committed.to_be_bytes(), &[flags], &timeout.to_be_bytes()].concat()
}

pub(crate) fn decode_writer(value: &[u8]) -> Result<WriterState, FormatError> {
    let mut reader = Reader::of_version(value, VERSION)?;
    let (epoch, committed, flags, timeout) = (reader.u64()?, reader.u64()?, reader.byte()?, reader.u64()?);
    reader.finish()?;
    if flags > TIMEOUT {
        return Err(FormatError::Field("the flags"));
    }
    Ok(WriterState { epoch, committed, timeout_ms: (flags == TIMEOUT).then_some(timeout) })
}

/// A staged transaction; its place is in the key.
pub(crate) fn encode_transaction(id: &TransactionId, staged: &Staged) -> Vec<u8> {
    let mut value = vec![VERSION];
    value.extend_from_slice(&id.epoch.to_be_bytes());
    value.extend_from_slice(&id.number.to_be_bytes());
    value.extend_from_slice(&staged.since.to_be_bytes());
    value.push(u8::try_from(id.writer.len()).expect("a writer's name has at most 200 bytes"));
    value.extend_from_slice(id.writer.as_bytes());
    for (partition, part) in &staged.parts {
        value.extend_from_slice(&partition.to_be_bytes());
        value.extend_from_slice(&part.records.to_be_bytes());
        value.extend_from_slice(&part.bytes.to_be_bytes());
        value.extend_from_slice(&part.last_ingest.to_be_bytes());
    }
    value
}

pub(crate) fn decode_transaction(place: u64, value: &[u8]) -> Result<(TransactionId, Staged), FormatError> {
    let mut reader = Reader::of_version(value, VERSION)?;
    let (epoch, number, since) = (reader.u64()?, reader.u64()?, reader.i64()?);
    let name_bytes = reader.byte()?;
    let writer = std::str::from_utf8(reader.bytes(name_bytes.into())?);
    let writer = writer.map_err(|_| FormatError::Field("the writer"))?.to_owned();
    let mut staged = Staged { place, since, parts: std::collections::BTreeMap::new() };
    while !reader.rest().is_empty() {
        let partition = reader.u32()?;
        let part = StagedPart { records: reader.u64()?, bytes: reader.u64()?, last_ingest: reader.i64()? };
        staged.parts.insert(partition, part);
    }
    Ok((TransactionId { writer, epoch, number }, staged))
}

/// A hold.
pub(crate) fn encode_hold(offsets: &[u64]) -> Vec<u8> {
    let mut value = vec![VERSION];
    offsets.iter().for_each(|offset| value.extend_from_slice(&offset.to_be_bytes()));
    value
}

pub(crate) fn decode_hold(value: &[u8]) -> Result<Vec<u64>, FormatError> {
    let mut reader = Reader::of_version(value, VERSION)?;
    let mut offsets = Vec::new();
    while !reader.rest().is_empty() {
        offsets.push(reader.u64()?);
    }
    Ok(offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_writers_and_holds_are_stored_formats() {
        let reference = b"\x01\x02\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\x09";
        assert_eq!(encode_reference(Reference { place: 7, count: 9 }), reference);
        assert_eq!(decode_reference(reference), Ok(Reference { place: 7, count: 9 }));
        assert!(is_reference(reference) && !is_reference(b"\x01\x01"));
        let state = WriterState { epoch: 1, committed: 2, timeout_ms: Some(3) };
        let writer = b"\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x02\x01\0\0\0\0\0\0\0\x03";
        assert_eq!(encode_writer(&state), writer);
        assert_eq!(decode_writer(writer), Ok(state));
        let id = TransactionId { writer: "j/s".into(), epoch: 1, number: 2 };
        let part = StagedPart { records: 5, bytes: 6, last_ingest: -1 };
        let staged = Staged { place: 9, since: 3, parts: [(4, part)].into() };
        let transaction = b"\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03\x03j/s\
            \0\0\0\x04\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x06\xff\xff\xff\xff\xff\xff\xff\xff";
        assert_eq!(encode_transaction(&id, &staged), transaction);
        assert_eq!(decode_transaction(9, transaction), Ok((id, staged)));
        let hold = b"\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\x01\0";
        assert_eq!(encode_hold(&[1, 256]), hold);
        assert_eq!(decode_hold(hold), Ok(vec![1, 256]));
    }

    #[test]
    fn damaged_values_are_refused() {
        let reference = encode_reference(Reference { place: 7, count: 9 });
        assert_eq!(decode_reference(&reference[..17]), Err(FormatError::Short));
        assert_eq!(decode_reference(&[&reference[..], b"x"].concat()), Err(FormatError::Long));
        assert_eq!(decode_reference(b"\x01\x03"), Err(FormatError::Field("the kind")));
        assert_eq!(
            decode_reference(&encode_reference(Reference { place: 7, count: 0 })),
            Err(FormatError::Field("the count"))
        );
        let mut writer = encode_writer(&WriterState { epoch: 1, committed: 2, timeout_ms: None });
        writer[17] = 2;
        assert_eq!(decode_writer(&writer), Err(FormatError::Field("the flags")));
        assert_eq!(decode_hold(b"\x01\0"), Err(FormatError::Short));
        assert_eq!(decode_transaction(1, b"\x02"), Err(FormatError::Version(2)));
    }
}
