//! Writers, transactions and holds, as part of a group.
//!
//! Invariant: a transaction's records are written once, when they are staged; a commit writes one reference for each partition,
//! in one piece with the partitions' ends and with what says that the transaction is committed.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_log::LogError;
use tidegate_log::transaction::{Begin, TransactionId, WriterState, check_hold, check_name, have_name};

use super::Act;
use super::group::Group;
use crate::catalog::Stream;
use crate::format::keys;
use crate::format::staged::{self, Reference};
use crate::prepare::Prepared;
use crate::staging::{Staged, Staging};

const STAGE: (&str, &str) = ("transaction.stage.before", "transaction.stage.after");
const COMMIT: (&str, &str) = ("transaction.commit.before", "transaction.commit.after");
const ABORT: (&str, &str) = ("transaction.abort.before", "transaction.abort.after");

impl Group<'_> {
    pub(super) fn transact(&mut self, stream: &Arc<Stream>, act: Act) -> Result<u64, LogError> {
        match act {
            Act::Begin(begin) => self.begin(stream, &begin),
            Act::Stage(id, batch) => self.stage(stream, &id, &batch),
            Act::Commit(id) => self.commit(stream, &id),
            Act::Abort(id) => self.abort(stream, &id),
            Act::Expire(now) => {
                let overdue = self.staging(stream)?.overdue(now);
                for id in &overdue {
                    tracing::warn!(stream = %stream.id, writer = id.writer, epoch = id.epoch, number = id.number,
                        "a staged transaction was not committed within its timeout and is dropped");
                    self.abort(stream, id)?;
                }
                Ok(overdue.len() as u64)
            }
            Act::Hold(holder, offsets) => self.hold(stream, holder, offsets),
        }
    }

    fn staging(&mut self, stream: &Arc<Stream>) -> Result<&mut Staging, LogError> {
        Ok(self.changed(stream)?.staging())
    }

    fn begin(&mut self, stream: &Arc<Stream>, begin: &Begin) -> Result<u64, LogError> {
        check_name("writer", &begin.writer)?;
        let staging = self.staging(stream)?;
        let known = staging.writers.get(&begin.writer);
        have_name(&stream.id, "writer", staging.writers.len(), known.is_none())?;
        let state = WriterState::begin(known, &stream.id, begin)?;
        let is_older = |id: &&TransactionId| id.writer == begin.writer && id.epoch < begin.epoch;
        let older: Vec<TransactionId> = staging.staged.keys().filter(is_older).cloned().collect();
        let committed = state.committed;
        self.put_writer(stream, &begin.writer, state)?;
        for id in &older {
            self.abort(stream, id)?;
        }
        Ok(committed)
    }

    fn put_writer(&mut self, stream: &Arc<Stream>, name: &str, state: WriterState) -> Result<(), LogError> {
        let key = keys::of_stream(keys::WRITERS, stream.number, name.as_bytes());
        self.batch.put_cf(self.store.metadata(), key, staged::encode_writer(&state));
        self.staging(stream)?.writers.insert(name.to_owned(), state);
        Ok(())
    }

    fn stage(&mut self, stream: &Arc<Stream>, id: &TransactionId, batch: &Prepared) -> Result<u64, LogError> {
        WriterState::check_stage(self.staging(stream)?.writers.get(&id.writer), &stream.id, id)?;
        self.check_open(stream, batch)?;
        self.take_room(stream, batch)?;
        let mut staged = match self.staging(stream)?.staged.remove(id) {
            Some(staged) => staged,
            None => Staged { place: self.next_place(stream)?, since: batch.ingest_time, parts: BTreeMap::new() },
        };
        for part in &batch.parts {
            let of_part = staged.parts.entry(part.partition).or_default();
            let mut next = of_part.records;
            for chunk in &part.chunks {
                next += chunk.count;
                let key = keys::staged(stream.number, staged.place, part.partition, next - 1);
                self.batch.put_cf(self.store.staged(), key, &chunk.value);
            }
            of_part.records = next;
            of_part.bytes += part.bytes;
            of_part.last_ingest = batch.ingest_time;
        }
        let key = keys::of_stream(keys::TRANSACTIONS, stream.number, &staged.place.to_be_bytes());
        self.batch.put_cf(self.store.metadata(), key, staged::encode_transaction(id, &staged));
        self.staging(stream)?.staged.insert(id.clone(), staged);
        self.changed.points.insert(STAGE);
        Ok(1)
    }

    /// A place that no transaction of the stream has had.
    fn next_place(&mut self, stream: &Arc<Stream>) -> Result<u64, LogError> {
        let next = &mut self.staging(stream)?.next;
        let place = *next;
        *next += 1;
        self.batch.put_cf(self.store.metadata(), keys::next_place(stream.number), (place + 1).to_be_bytes());
        Ok(place)
    }

    fn commit(&mut self, stream: &Arc<Stream>, id: &TransactionId) -> Result<u64, LogError> {
        let staging = self.staging(stream)?;
        let known = staging.writers.get(&id.writer).cloned();
        let is_staged = staging.staged.contains_key(id);
        if !WriterState::check_commit(known.as_ref(), &stream.id, id, is_staged)? {
            return Ok(0);
        }
        let staged = self.take(stream, id)?.expect("it is staged");
        for (partition, part) in &staged.parts {
            let changed = self.changed(stream)?;
            changed.wakes = true;
            let first = part.commit(changed.info(*partition));
            let key = keys::record(stream.number, *partition, first + part.records - 1);
            let reference = Reference { place: staged.place, count: part.records };
            self.batch.put_cf(self.store.records(), key, staged::encode_reference(reference));
        }
        let known = known.expect("a writer that staged has begun");
        self.put_writer(stream, &id.writer, WriterState { committed: known.committed.max(id.number), ..known })?;
        self.changed.points.insert(COMMIT);
        Ok(1)
    }

    /// The transaction, which is staged no more; its records stay.
    fn take(&mut self, stream: &Arc<Stream>, id: &TransactionId) -> Result<Option<Staged>, LogError> {
        let taken = self.staging(stream)?.staged.remove(id);
        if let Some(staged) = &taken {
            let key = keys::of_stream(keys::TRANSACTIONS, stream.number, &staged.place.to_be_bytes());
            self.batch.delete_cf(self.store.metadata(), key);
        }
        Ok(taken)
    }

    fn abort(&mut self, stream: &Arc<Stream>, id: &TransactionId) -> Result<u64, LogError> {
        let Some(staged) = self.take(stream, id)? else { return Ok(0) };
        let [lower, upper] = [staged.place, staged.place + 1].map(|place| keys::staged(stream.number, place, 0, 0));
        self.batch.delete_range_cf(self.store.staged(), lower, upper);
        self.give_room(stream, staged.bytes());
        self.changed.points.insert(ABORT);
        Ok(1)
    }

    fn hold(&mut self, stream: &Arc<Stream>, holder: String, offsets: Option<Vec<u64>>) -> Result<u64, LogError> {
        check_name("holder", &holder)?;
        let key = keys::of_stream(keys::HOLDS, stream.number, holder.as_bytes());
        let staging = self.staging(stream)?;
        match offsets {
            Some(offsets) => {
                check_hold(&stream.id, stream.spec.partitions, &offsets)?;
                have_name(&stream.id, "holder", staging.holds.len(), !staging.holds.contains_key(&holder))?;
                let value = staged::encode_hold(&offsets);
                staging.holds.insert(holder, offsets.into());
                self.batch.put_cf(self.store.metadata(), key, value);
            }
            None => {
                staging.holds.remove(&holder);
                self.batch.delete_cf(self.store.metadata(), key);
            }
        }
        Ok(0)
    }
}
