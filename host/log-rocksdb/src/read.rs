//! Reading: from an offset on, straight from the database.
//!
//! Invariant: records come without a gap or not at all. What stands between an offset and the first record that is found is
//! explained (dropped by retention, stream deleted) or named as damage.

use bytes::Bytes;
use tidegate_log::read::Allowance;
use tidegate_log::{Chunk, LogError, PartitionInfo, Stored};

use crate::catalog::{Catalog, Stream};
use crate::error::storage;
use crate::format::chunk::{self, Decoded};
use crate::format::keys;
use crate::store::Store;

/// A chunk of the database with its place.
pub(crate) struct Placed {
    /// The offset of its first record.
    pub(crate) first: u64,
    pub(crate) chunk: Decoded,
}

/// Walks the chunks of a partition, the first being the one that holds `from`.
///
/// `visit` says whether to go on; `keep` whether the blocks are likely to be read again.
pub(crate) fn walk(
    store: &Store,
    stream: &Stream,
    partition: u32,
    from: u64,
    keep: bool,
    mut visit: impl FnMut(Placed) -> bool,
) -> Result<(), LogError> {
    let corrupt =
        |offset: u64, detail: String| LogError::Corrupt { stream: stream.id.clone(), partition, offset, detail };
    // The bound is exclusive, and no record has the last offset of all.
    let upper = keys::record(stream.number, partition, u64::MAX).to_vec();
    let mut iterator = store.range(store.records(), &keys::record(stream.number, partition, from), upper, keep);
    let mut next = from;
    while let Some((key, value)) = iterator.item() {
        let last = keys::last_of_record(key).ok_or_else(|| corrupt(next, "a key without an offset".into()))?;
        let chunk = chunk::decode(value).map_err(|error| corrupt(next, error.to_string()))?;
        let first = (last + 1).checked_sub(chunk.records.len() as u64);
        let first = first.ok_or_else(|| corrupt(next, "more records than offsets".into()))?;
        if next != from && first != next {
            return Err(corrupt(next, format!("the next record that is there is {first}")));
        }
        next = last + 1;
        if !visit(Placed { first, chunk }) {
            return Ok(());
        }
        iterator.next();
    }
    iterator.status().map_err(|error| match error.kind() {
        rocksdb::ErrorKind::Corruption => corrupt(next, error.into_string()),
        _ => storage("read", error),
    })
}

/// What [`Log::read`](tidegate_log::Log::read) does.
pub(crate) fn read(
    store: &Store,
    catalog: &Catalog,
    stream: &Stream,
    partition: u32,
    from: u64,
    mut allowance: Allowance,
) -> Result<Chunk, LogError> {
    let info = stream.partition(partition)?;
    info.check_offset(&stream.id, partition, from)?;
    let PartitionInfo { start, end, sealed, .. } = info;
    let mut records: Vec<Stored> = Vec::new();
    let mut found = None;
    if from < end {
        walk(store, stream, partition, from, true, |placed| {
            found.get_or_insert(placed.first);
            take(placed, from, end, &mut allowance, &mut records)
        })?;
    }
    if records.is_empty() && from < end {
        return Err(missing(catalog, stream, partition, from, found));
    }
    Ok(Chunk { records, start, end, sealed })
}

/// Why nothing is at an offset that was there a moment ago; `found`: the first offset that is there.
fn missing(catalog: &Catalog, stream: &Stream, partition: u32, from: u64, found: Option<u64>) -> LogError {
    let dropped = || stream.partition(partition)?.check_offset(&stream.id, partition, from);
    if let Err(explained) = catalog.check(stream).and_then(|()| dropped()) {
        return explained;
    }
    let detail = found.map_or_else(|| "nothing is there".into(), |first| format!("the first that is there is {first}"));
    LogError::Corrupt { stream: stream.id.clone(), partition, offset: from, detail }
}

/// Takes what is wanted of a chunk: whether more may follow.
fn take(placed: Placed, from: u64, end: u64, allowance: &mut Allowance, records: &mut Vec<Stored>) -> bool {
    if records.is_empty() && placed.first > from {
        return false;
    }
    let Decoded { ingest_time, producer, records: all } = placed.chunk;
    let producer: std::sync::Arc<str> = producer.into();
    for (offset, bytes) in (placed.first..end).zip(all) {
        if offset < from {
            continue;
        }
        if !allowance.take(Bytes::len(&bytes)) {
            return false;
        }
        records.push(Stored { offset, ingest_time, producer: producer.clone(), bytes });
    }
    records.last().is_none_or(|last| last.offset + 1 < end)
}

#[cfg(test)]
mod tests {
    use tidegate_log::{Retention, StreamId, StreamSpec};

    use super::*;

    fn stream(number: u64) -> Stream {
        let id = StreamId { tenant: "acme".parse().unwrap(), name: "events".parse().unwrap() };
        let spec = StreamSpec { partitions: 1, retention: Retention::default(), max_record_bytes: 1 };
        Stream::new(id, number, spec, vec![PartitionInfo { start: 3, end: 9, ..PartitionInfo::default() }])
    }

    #[test]
    fn what_a_reader_misses_is_explained_or_damage() {
        let catalog = Catalog::default();
        assert!(matches!(missing(&catalog, &stream(1), 0, 2, None), LogError::NotFound { .. }), "deleted meanwhile");
        catalog.insert(stream(2));
        assert!(matches!(missing(&catalog, &stream(1), 0, 2, None), LogError::NotFound { .. }), "and made again");
        catalog.insert(stream(1));
        let dropped = missing(&catalog, &stream(1), 0, 2, Some(3));
        assert!(matches!(dropped, LogError::Gone { from: 2, start: 3, .. }), "{dropped}");
        let damaged = missing(&catalog, &stream(1), 0, 4, Some(6)).to_string();
        assert!(damaged.contains("offset 4: stored bytes are damaged (the first that is there is 6)"), "{damaged}");
    }
}
