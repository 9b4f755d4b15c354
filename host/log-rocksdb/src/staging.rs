//! What a stream has beside its partitions, in memory: writers, staged transactions, holds.
//!
//! Invariant: as of the catalog: what stands here is durable, and only the writer changes it. The records of a transaction stand
//! in the database under the transaction's place; a commit puts references to them into the partitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_log::transaction::{StagedTransaction, TransactionId, WriterState};
use tidegate_log::{LogError, PartitionInfo, StreamId};
use tidegate_types::EventTime;

use crate::error::OpenError;
use crate::format::{keys, staged};
use crate::store::Store;

/// Writers, staged transactions and holds of a stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Staging {
    pub(crate) writers: BTreeMap<String, WriterState>,
    pub(crate) staged: BTreeMap<TransactionId, Staged>,
    pub(crate) holds: BTreeMap<String, Arc<[u64]>>,
    /// The next transaction's place; never used again within the stream.
    pub(crate) next: u64,
}

/// A transaction that is staged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Staged {
    /// What its records' keys begin with, after the stream's number.
    pub(crate) place: u64,
    /// When its first batch was taken in.
    pub(crate) since: EventTime,
    pub(crate) parts: BTreeMap<u32, StagedPart>,
}

/// What a transaction has in a partition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StagedPart {
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    pub(crate) last_ingest: EventTime,
}

impl Staged {
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.values().map(|part| part.bytes).sum()
    }
}

impl Staging {
    /// Reads a stream's.
    pub(crate) fn load(store: &Store, stream: &StreamId, number: u64) -> Result<Self, OpenError> {
        let corrupt = |what: &str, detail: &str| store.corrupt(format!("stream {stream}, {what}"), detail);
        let mut staging = Self::default();
        each(store, keys::WRITERS, number, |rest, value| {
            let name = std::str::from_utf8(rest).map_err(|_| corrupt("its writers", "a name is no text"))?;
            let state = staged::decode_writer(value).map_err(|error| corrupt("its writers", &error.to_string()))?;
            staging.writers.insert(name.to_owned(), state);
            Ok(())
        })?;
        each(store, keys::TRANSACTIONS, number, |rest, value| {
            let what = "its transactions";
            let place = rest.try_into().map(u64::from_be_bytes).map_err(|_| corrupt(what, "a key names none"))?;
            let decoded = staged::decode_transaction(place, value);
            let (id, staged) = decoded.map_err(|error| corrupt(what, &error.to_string()))?;
            staging.staged.insert(id, staged);
            Ok(())
        })?;
        each(store, keys::HOLDS, number, |rest, value| {
            let name = std::str::from_utf8(rest).map_err(|_| corrupt("its holds", "a name is no text"))?;
            let offsets = staged::decode_hold(value).map_err(|error| corrupt("its holds", &error.to_string()))?;
            staging.holds.insert(name.to_owned(), offsets.into());
            Ok(())
        })?;
        if let Some(next) = store.get_metadata(&keys::next_place(number)).map_err(|error| store.failed(error))? {
            let next = next.as_slice().try_into().map(u64::from_be_bytes);
            staging.next = next.map_err(|_| corrupt("its next transaction", "it has not 8 bytes"))?;
        }
        if staging.staged.keys().any(|id| !staging.writers.contains_key(&id.writer)) {
            return Err(corrupt("its transactions", "one has no writer"));
        }
        Ok(staging)
    }

    /// Bytes of all staged records.
    pub(crate) fn bytes(&self) -> u64 {
        self.staged.values().map(Staged::bytes).sum()
    }

    /// The first offset of a partition that somebody holds.
    pub(crate) fn held(&self, partition: u32) -> u64 {
        let place = usize::try_from(partition).expect("a partition that was checked");
        self.holds.values().filter_map(|offsets| offsets.get(place).copied()).min().unwrap_or(u64::MAX)
    }

    /// Whether nothing is staged in a partition, or in all.
    pub(crate) fn check_seal(&self, stream: &StreamId, partition: Option<u32>) -> Result<(), LogError> {
        for (TransactionId { writer, .. }, staged) in &self.staged {
            let mut parts = staged.parts.keys();
            if let Some(staged) = parts.find(|staged| partition.is_none_or(|partition| partition == **staged)) {
                let (stream, writer) = (stream.clone(), writer.clone());
                return Err(LogError::StillStaged { stream, partition: *staged, writer });
            }
        }
        Ok(())
    }

    /// Transactions that `retain` drops at `now`.
    pub(crate) fn overdue(&self, now: EventTime) -> Vec<TransactionId> {
        let is_overdue = |id: &TransactionId, staged: &Staged| {
            self.writers.get(&id.writer).is_some_and(|writer| writer.is_overdue(staged.since, now))
        };
        self.staged.iter().filter(|(id, staged)| is_overdue(id, staged)).map(|(id, _)| id.clone()).collect()
    }

    pub(crate) fn transactions(&self) -> Vec<StagedTransaction> {
        let info = |(id, staged): (&TransactionId, &Staged)| StagedTransaction {
            id: id.clone(),
            records: staged.parts.values().map(|part| part.records).sum(),
            bytes: staged.bytes(),
            since: staged.since,
        };
        self.staged.iter().map(info).collect()
    }
}

impl StagedPart {
    /// Adds it to a partition: the first record's offset.
    pub(crate) fn commit(&self, info: &mut PartitionInfo) -> u64 {
        let first = info.end;
        info.end += self.records;
        info.bytes += self.bytes;
        info.last_ingest = Some(self.last_ingest);
        first
    }
}

/// Everything of a stream under a prefix of the metadata: what its key has after the stream's number, and its value.
fn each(
    store: &Store,
    prefix: &[u8],
    number: u64,
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let [lower, upper] = [number, number + 1].map(|number| keys::of_stream(prefix, number, b""));
    let mut iterator = store.range(store.metadata(), &lower, upper, true);
    while let Some((key, value)) = iterator.item() {
        visit(&key[lower.len()..], value)?;
        iterator.next();
    }
    iterator.status().map_err(|error| store.failed(error))
}
