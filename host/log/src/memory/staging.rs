//! Transactions and holds of a stream in memory.

use std::collections::BTreeMap;

use tidegate_types::EventTime;

use super::{Stream, Used, stored};
use crate::transaction::{WriterState, check_hold, check_name, have_name};
use crate::{AppendBatch, Begin, LogError, StagedTransaction, Stored, StreamId, TransactionId};

/// What a stream has beside its partitions.
#[derive(Debug, Default)]
pub(super) struct Staging {
    writers: BTreeMap<String, WriterState>,
    staged: BTreeMap<TransactionId, Staged>,
    holds: BTreeMap<String, Vec<u64>>,
}

#[derive(Debug)]
struct Staged {
    since: EventTime,
    parts: BTreeMap<u32, Vec<Stored>>,
}

impl Staged {
    fn bytes(&self) -> u64 {
        self.parts.values().flatten().map(|record| record.bytes.len() as u64).sum()
    }
}

impl Staging {
    /// Bytes of all staged records.
    pub(super) fn bytes(&self) -> u64 {
        self.staged.values().map(Staged::bytes).sum()
    }

    /// The first offset of a partition that somebody holds.
    pub(super) fn held(&self, partition: usize) -> u64 {
        self.holds.values().map(|offsets| offsets[partition]).min().unwrap_or(u64::MAX)
    }

    pub(super) fn check_seal(&self, stream: &StreamId, partition: Option<u32>) -> Result<(), LogError> {
        for (TransactionId { writer, .. }, staged) in &self.staged {
            let mut parts = staged.parts.keys();
            if let Some(staged) = parts.find(|staged| partition.is_none_or(|partition| partition == **staged)) {
                let (stream, writer) = (stream.clone(), writer.clone());
                return Err(LogError::StillStaged { stream, partition: *staged, writer });
            }
        }
        Ok(())
    }

    pub(super) fn begin(&mut self, stream: &StreamId, begin: &Begin) -> Result<u64, LogError> {
        check_name("writer", &begin.writer)?;
        let known = self.writers.get(&begin.writer);
        have_name(stream, "writer", self.writers.len(), known.is_none())?;
        let state = WriterState::begin(known, stream, begin)?;
        self.staged.retain(|id, _| id.writer != begin.writer || id.epoch >= begin.epoch);
        let committed = state.committed;
        self.writers.insert(begin.writer.clone(), state);
        Ok(committed)
    }

    pub(super) fn abort(&mut self, transaction: &TransactionId) {
        self.staged.remove(transaction);
    }

    pub(super) fn expire(&mut self, now: EventTime) {
        let writers = &self.writers;
        self.staged.retain(|id, staged| !writers[&id.writer].is_overdue(staged.since, now));
    }

    pub(super) fn transactions(&self) -> Vec<StagedTransaction> {
        let info = |(id, staged): (&TransactionId, &Staged)| StagedTransaction {
            id: id.clone(),
            records: staged.parts.values().map(|records| records.len() as u64).sum(),
            bytes: staged.bytes(),
            since: staged.since,
        };
        self.staged.iter().map(info).collect()
    }

    pub(super) fn hold(
        &mut self,
        stream: &StreamId,
        partitions: u32,
        holder: &str,
        offsets: Option<&[u64]>,
    ) -> Result<(), LogError> {
        check_name("holder", holder)?;
        let Some(offsets) = offsets else {
            self.holds.remove(holder);
            return Ok(());
        };
        check_hold(stream, partitions, offsets)?;
        have_name(stream, "holder", self.holds.len(), !self.holds.contains_key(holder))?;
        self.holds.insert(holder.to_owned(), offsets.to_vec());
        Ok(())
    }

    pub(super) fn holds(&self) -> Vec<(String, Vec<u64>)> {
        self.holds.iter().map(|(holder, offsets)| (holder.clone(), offsets.clone())).collect()
    }
}

impl Stream {
    pub(super) fn stage(
        &mut self,
        stream: &StreamId,
        id: &TransactionId,
        batch: &AppendBatch,
        used: Used,
    ) -> Result<(), LogError> {
        batch.check(stream, &self.spec)?;
        WriterState::check_stage(self.staging.writers.get(&id.writer), stream, id)?;
        let parts = batch.by_partition();
        self.check_open(stream, &parts)?;
        batch.have_room(stream, used.records)?;
        let fresh = || Staged { since: batch.ingest_time, parts: BTreeMap::new() };
        let staged = self.staging.staged.entry(id.clone()).or_insert_with(fresh);
        for (partition, records) in parts {
            staged.parts.entry(partition).or_default().extend(stored(records, batch));
        }
        Ok(())
    }

    pub(super) fn commit(&mut self, stream: &StreamId, id: &TransactionId) -> Result<(), LogError> {
        let known = self.staging.writers.get(&id.writer);
        if !WriterState::check_commit(known, stream, id, self.staging.staged.contains_key(id))? {
            return Ok(());
        }
        let staged = self.staging.staged.remove(id).expect("it is staged");
        for (partition, records) in staged.parts {
            self.partition(stream, partition)?.append(records);
        }
        let writer = self.staging.writers.get_mut(&id.writer).expect("a writer that staged has begun");
        writer.committed = writer.committed.max(id.number);
        self.watch.wake();
        Ok(())
    }
}
