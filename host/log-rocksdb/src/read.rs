//! Reading: from an offset on, straight from the database.
//!
//! Invariant: records come without a gap or not at all. What stands between an offset and the first record that is found is
//! explained (dropped by retention, stream deleted) or named as damage.

use bytes::Bytes;
use rocksdb::DBRawIterator;
use tidegate_log::read::Allowance;
use tidegate_log::{Chunk, LogError, PartitionInfo, Stored};

use crate::catalog::{Catalog, Stream};
use crate::error::storage;
use crate::format::chunk::{self, Decoded};
use crate::format::staged::{self, Reference};
use crate::format::{FormatError, keys};
use crate::store::Store;

/// A chunk of the database with its place.
pub(crate) struct Placed {
    /// The offset of its first record.
    pub(crate) first: u64,
    pub(crate) chunk: Decoded,
    /// If it is of a transaction: the transaction's place, and the offset of its first record in the partition.
    pub(crate) transaction: Option<(u64, u64)>,
}

/// What is walked: a partition.
#[derive(Clone, Copy)]
struct Path<'a> {
    store: &'a Store,
    stream: &'a Stream,
    partition: u32,
    /// Whether the blocks are likely to be read again.
    keep: bool,
}

impl Path<'_> {
    fn corrupt(&self, offset: u64, detail: impl ToString) -> LogError {
        let (stream, partition) = (self.stream.id.clone(), self.partition);
        LogError::Corrupt { stream, partition, offset, detail: detail.to_string() }
    }

    /// Whether an iteration that has ended at an offset has ended well.
    fn ended(&self, iterator: &DBRawIterator<'_>, next: u64) -> Result<(), LogError> {
        iterator.status().map_err(|error| match error.kind() {
            rocksdb::ErrorKind::Corruption => self.corrupt(next, error.into_string()),
            _ => storage("read", error),
        })
    }

    /// Walks the records of a transaction from an offset on; its first has the offset `first`. Whether to go on after them.
    fn transaction(
        &self,
        Reference { place, count }: Reference,
        first: u64,
        from: u64,
        visit: &mut impl FnMut(Placed) -> bool,
    ) -> Result<bool, LogError> {
        let key = |number| keys::staged(self.stream.number, place, self.partition, number);
        let mut iterator = self.store.range(self.store.staged(), &key(from - first), key(u64::MAX).to_vec(), self.keep);
        let mut next = None;
        while let Some((key, value)) = iterator.item() {
            let at = next.unwrap_or(from);
            let last = keys::last_of_staged(key).ok_or_else(|| self.corrupt(at, "a key without a number"))?;
            let chunk = chunk::decode(value).map_err(|error| self.corrupt(at, error))?;
            let number = (last + 1).checked_sub(chunk.records.len() as u64);
            let number = number.ok_or_else(|| self.corrupt(at, "more records than numbers"))?;
            let is_next = next.map_or(first + number <= from, |next| first + number == next);
            if !is_next || last >= count {
                return Err(self.corrupt(at, format!("its transaction goes on with record {number}")));
            }
            next = Some(first + last + 1);
            if !visit(Placed { first: first + number, chunk, transaction: Some((place, first)) }) {
                return Ok(false);
            }
            iterator.next();
        }
        let at = next.unwrap_or(from);
        self.ended(&iterator, at)?;
        if at == first + count { Ok(true) } else { Err(self.corrupt(at, "records of its transaction are missing")) }
    }
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
    let path = Path { store, stream, partition, keep };
    // The bound is exclusive, and no record has the last offset of all.
    let upper = keys::record(stream.number, partition, u64::MAX).to_vec();
    let mut iterator = store.range(store.records(), &keys::record(stream.number, partition, from), upper, keep);
    let mut next = from;
    while let Some((key, value)) = iterator.item() {
        let last = keys::last_of_record(key).ok_or_else(|| path.corrupt(next, "a key without an offset"))?;
        let entry = Entry::decode(value).map_err(|error| path.corrupt(next, error))?;
        let first = (last + 1).checked_sub(entry.count());
        let first = first.ok_or_else(|| path.corrupt(next, "more records than offsets"))?;
        if next != from && first != next {
            return Err(path.corrupt(next, format!("the next record that is there is {first}")));
        }
        let goes_on = match entry {
            Entry::Chunk(chunk) => visit(Placed { first, chunk, transaction: None }),
            Entry::Reference(reference) => path.transaction(reference, first, next.max(first), &mut visit)?,
        };
        next = last + 1;
        if !goes_on {
            return Ok(());
        }
        iterator.next();
    }
    path.ended(&iterator, next)
}

/// A value of `records`.
enum Entry {
    Chunk(Decoded),
    Reference(Reference),
}

impl Entry {
    fn decode(value: &[u8]) -> Result<Self, FormatError> {
        if staged::is_reference(value) {
            staged::decode_reference(value).map(Self::Reference)
        } else {
            chunk::decode(value).map(Self::Chunk)
        }
    }

    fn count(&self) -> u64 {
        match self {
            Self::Chunk(chunk) => chunk.records.len() as u64,
            Self::Reference(reference) => reference.count,
        }
    }
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
        let walked = walk(store, stream, partition, from, true, |placed| {
            found.get_or_insert(placed.first);
            take(placed, from, end, &mut allowance, &mut records)
        });
        // A transaction's records may have been dropped between finding the reference and looking for them.
        walked.map_err(|error| dropped(catalog, stream, partition, from).err().unwrap_or(error))?;
    }
    if records.is_empty() && from < end {
        return Err(missing(catalog, stream, partition, from, found));
    }
    Ok(Chunk { records, start, end, sealed })
}

/// Why nothing is at an offset that was there a moment ago; `found`: the first offset that is there.
fn missing(catalog: &Catalog, stream: &Stream, partition: u32, from: u64, found: Option<u64>) -> LogError {
    if let Err(explained) = dropped(catalog, stream, partition, from) {
        return explained;
    }
    let detail = found.map_or_else(|| "nothing is there".into(), |first| format!("the first that is there is {first}"));
    LogError::Corrupt { stream: stream.id.clone(), partition, offset: from, detail }
}

/// Whether the stream and the offset are still there.
fn dropped(catalog: &Catalog, stream: &Stream, partition: u32, from: u64) -> Result<(), LogError> {
    catalog.check(stream)?;
    stream.partition(partition)?.check_offset(&stream.id, partition, from)
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
