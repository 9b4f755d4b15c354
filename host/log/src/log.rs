//! The contract of the log.

use std::sync::Arc;

use tidegate_types::{EventTime, TenantId};

use crate::{
    AppendBatch, Appended, Begin, Chunk, LogError, StagedTransaction, StreamId, StreamInfo, StreamSpec, TransactionId,
    Watch,
};

/// Partitioned, replayable streams of records.
///
/// 1. **Durability.** What `append`, `create`, `seal` and `delete` did stands once they have returned: it is on the disk
///    before (where there is a disk) and survives the process, and the machine as far as its disk keeps what it confirmed.
///    If they return an error of kind [`ErrorKind::External`](crate::ErrorKind::External) it may have been done or not; with
///    any other error it was not.
/// 2. **Atomicity.** A batch is there whole, over all its partitions, or not at all, whatever crashes.
/// 3. **Order.** Within a partition records have the order of their offsets: a batch's own order, and every batch after all
///    that were acknowledged before it was sent. Between partitions there is no order.
/// 4. **Offsets** of a partition are 0, 1, 2 …, without a gap; one is never used again, not after retention either.
/// 5. **Repeats.** A batch with a sequence is appended once: the producer's last sequence gives the first answer again
///    (`repeated`), also if the stream was sealed in between; a lower sequence, or the last one with other records, is an
///    error. Sequences may leave numbers out. They are per stream and producer name. A producer that counts MUST send one
///    batch at a time. A stream knows [`MAX_PRODUCERS`](crate::sequence::MAX_PRODUCERS) of them, and all streams of a tenant
///    as many as take [`MAX_TENANT_BYTES`](crate::sequence::MAX_TENANT_BYTES). It is forgotten by `retain` after [`FORGET_AFTER_MS`](crate::sequence::FORGET_AFTER_MS).
/// 6. **Room.** A batch with a `room` is refused ([`LogError::NoRoom`]) if all streams of its tenant would keep more bytes
///    with it. That is judged after repeats and in one step with the append: of batches at once as many are let in as fit.
/// 7. **Retention** only ever drops a partition's oldest records, and only in `retain`. A reader of what was dropped gets
///    [`LogError::Gone`], never a gap.
///    It drops nothing from a partition's least held offset on ([`Log::hold`]).
/// 8. **Sealed** partitions take nothing more, for ever.
/// 9. **Reads** see all that was acknowledged, and only what is durable: what a read saw stays. They never wait for a writer.
/// 10. **Blocking.** Every method may block on the disk; `append` also while more is queued than the log holds. A call
///     cannot be cancelled.
/// 11. **Deletion** frees the name. A stream that is made again under it is another one: offsets and sequences start anew.
/// 12. **Transactions.** What was staged is durable and seen by nobody; a commit gives its records the next offsets of their
///     partitions, each partition's in the order in which they were staged, and shows them all at once. Staged bytes count as
///     kept for the room. A commit needs no room, and nothing can keep it from what is staged but the stream's deletion: a
///     partition with staged records cannot be sealed.
pub trait Log: Send + Sync + 'static {
    /// Makes a stream, or finds it with the same spec.
    ///
    /// # Errors
    /// [`LogError::Exists`] with another spec; [`LogError::InvalidSpec`].
    fn create(&self, stream: &StreamId, spec: &StreamSpec) -> Result<Created, LogError>;

    /// A stream as it stands.
    ///
    /// # Errors
    /// [`LogError::NotFound`].
    fn describe(&self, stream: &StreamId) -> Result<StreamInfo, LogError>;

    /// All of a tenant's streams, ascending by name.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn list(&self, tenant: &TenantId) -> Result<Vec<StreamInfo>, LogError>;

    /// Appends a batch.
    ///
    /// # Errors
    /// What is wrong with the batch; [`LogError::NotFound`]; [`LogError::Sealed`] if any of its partitions is;
    /// [`LogError::NoRoom`]; [`LogError::TooManyProducers`] and [`LogError::ProducersFull`] for a producer that is new.
    fn append(&self, stream: &StreamId, batch: AppendBatch) -> Result<Appended, LogError>;

    /// Reads from an offset on: at most `max_records` records (but at least one is allowed), and none beyond the first that
    /// would bring their bytes above `max_bytes`. At the partition's end there is nothing to read, which is no error.
    ///
    /// # Errors
    /// [`LogError::NotFound`], [`LogError::NoPartition`], [`LogError::Gone`], [`LogError::BeyondEnd`],
    /// [`LogError::Corrupt`].
    fn read(
        &self,
        stream: &StreamId,
        partition: u32,
        from: u64,
        max_records: usize,
        max_bytes: usize,
    ) -> Result<Chunk, LogError>;

    /// Seals a partition, or all. Sealing again is no error.
    ///
    /// # Errors
    /// [`LogError::NotFound`], [`LogError::NoPartition`].
    fn seal(&self, stream: &StreamId, partition: Option<u32>) -> Result<(), LogError>;

    /// Drops what no stream's retention keeps at `now`: the oldest records of a partition, one by one, while they are too
    /// old or the partition has too many bytes. Forgets idle producers.
    ///
    /// # Errors
    /// If the log cannot be read or written. A stream that is damaged keeps what it has; the others are done first.
    fn retain(&self, now: EventTime) -> Result<Retained, LogError>;

    /// Deletes a stream with everything in it.
    ///
    /// # Errors
    /// [`LogError::NotFound`].
    fn delete(&self, stream: &StreamId) -> Result<(), LogError>;

    /// A writer starts: aborts what is staged of its lower epochs, and takes nothing of them any more. The greatest number that
    /// it has committed; 0: none. Again with the same epoch: aborts nothing.
    ///
    /// # Errors
    /// [`LogError::Fenced`] if a higher epoch has begun; [`LogError::InvalidName`]; [`LogError::TooManyNames`].
    fn begin(&self, stream: &StreamId, begin: &Begin) -> Result<u64, LogError>;

    /// Adds a batch to a transaction. Its producer's name is kept with the records, its sequence is not looked at.
    ///
    /// # Errors
    /// As [`Log::append`]; [`LogError::NotBegun`], [`LogError::Fenced`], [`LogError::TransactionDone`].
    fn stage(&self, stream: &StreamId, transaction: &TransactionId, batch: AppendBatch) -> Result<(), LogError>;

    /// Shows a transaction's records. A transaction that is not staged and whose number is not above the writer's greatest
    /// committed one was committed before: nothing happens.
    ///
    /// # Errors
    /// [`LogError::TransactionLost`] if it is neither staged nor committed; [`LogError::Fenced`].
    fn commit_transaction(&self, stream: &StreamId, transaction: &TransactionId) -> Result<(), LogError>;

    /// Drops a transaction that is staged. One that is not: nothing happens.
    ///
    /// # Errors
    /// [`LogError::NotFound`].
    fn abort_transaction(&self, stream: &StreamId, transaction: &TransactionId) -> Result<(), LogError>;

    /// What is staged, ascending by writer, epoch and number.
    ///
    /// # Errors
    /// [`LogError::NotFound`].
    fn transactions(&self, stream: &StreamId) -> Result<Vec<StagedTransaction>, LogError>;

    /// From now on retention keeps everything from these offsets on, one for each partition; none: the holder lets go.
    ///
    /// # Errors
    /// [`LogError::InvalidHold`], [`LogError::InvalidName`], [`LogError::TooManyNames`].
    fn hold(&self, stream: &StreamId, holder: &str, offsets: Option<&[u64]>) -> Result<(), LogError>;

    /// Who holds what, ascending by name.
    ///
    /// # Errors
    /// [`LogError::NotFound`].
    fn holds(&self, stream: &StreamId) -> Result<Vec<(String, Vec<u64>)>, LogError>;

    /// What moves whenever something happens to the stream. When the stream is deleted it moves for the last time.
    ///
    /// # Errors
    /// [`LogError::NotFound`].
    fn watch(&self, stream: &StreamId) -> Result<Arc<Watch>, LogError>;
}

/// Whether a stream was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// It is new.
    New,
    /// It was there, with the same spec.
    Existing,
}

/// What `retain` dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retained {
    /// Records.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
}
