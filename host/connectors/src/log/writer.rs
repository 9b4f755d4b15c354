//! Records on their way into a stream, appended in batches.
//!
//! A writer appends, or, where it is transactional, stages.
//!
//! Invariant: records are appended in the order in which they were put; `flush` returns once all of them are durable. Nothing
//! is appended for which the stream's tenant has no room.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_log::{AppendBatch, Log, LogError, Producer, StreamId};
use tidegate_types::Clock;

use super::transactional::{Transaction, Transactional};
use crate::sink::{Prepared, SinkError};

/// So many bytes are held back before they are appended.
const HELD_BYTES: usize = 256 << 10;
/// And so many records.
const HELD_RECORDS: usize = 8192;

/// Writes to one stream.
pub(super) struct Writer {
    log: Arc<dyn Log>,
    stream: StreamId,
    producer: Producer,
    clock: Arc<dyn Clock>,
    partitions: u32,
    max_record_bytes: usize,
    held: Vec<(u32, Bytes)>,
    held_bytes: usize,
    room: Option<u64>,
    transaction: Option<Transaction>,
}

impl Writer {
    pub(super) fn open(
        log: Arc<dyn Log>,
        stream: StreamId,
        producer: String,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SinkError> {
        let spec = log.describe(&stream).map_err(|source| SinkError::Log { stream: stream.clone(), source })?.spec;
        Ok(Self {
            log,
            stream,
            producer: Producer { name: producer, sequence: None },
            clock,
            partitions: spec.partitions,
            max_record_bytes: usize::try_from(spec.max_record_bytes).unwrap_or(usize::MAX),
            held: Vec::new(),
            held_bytes: 0,
            room: None,
            transaction: None,
        })
    }

    /// From now on stages what is put, as this writer. `recover` MUST come before the first record.
    pub(super) fn stage_as(&mut self, writer: Transactional) {
        let partitions = usize::try_from(self.partitions).expect("at most 1,024");
        self.transaction = Some(Transaction::new(writer, partitions));
    }

    /// Appends only what fits so many bytes, over all streams of the tenant.
    pub(super) fn bound(&mut self, room: u64) {
        self.room = Some(room);
    }

    /// The longest record that the stream takes.
    pub(super) fn max_record_bytes(&self) -> usize {
        self.max_record_bytes
    }

    /// The partition of what has this hash.
    pub(super) fn partition(&self, hash: u64) -> u32 {
        u32::try_from(hash % u64::from(self.partitions)).expect("a remainder of a 32-bit divisor fits 32 bits")
    }

    /// Takes a record.
    pub(super) fn put(&mut self, partition: u32, record: Bytes) -> Result<(), SinkError> {
        if record.len() > self.max_record_bytes {
            let limit = u32::try_from(self.max_record_bytes).unwrap_or(u32::MAX);
            let (stream, bytes) = (self.stream.clone(), record.len());
            let source = LogError::RecordTooLong { stream: stream.clone(), place: self.held.len(), bytes, limit };
            return Err(SinkError::Log { stream, source });
        }
        if self.transaction.as_mut().is_some_and(|transaction| transaction.is_there(partition, &record)) {
            return Ok(());
        }
        self.held_bytes += record.len();
        self.held.push((partition, record));
        if self.held_bytes < HELD_BYTES && self.held.len() < HELD_RECORDS { Ok(()) } else { self.flush() }
    }

    /// Appends what is held.
    pub(super) fn flush(&mut self) -> Result<(), SinkError> {
        if self.held.is_empty() {
            return Ok(());
        }
        let records = std::mem::take(&mut self.held);
        self.held_bytes = 0;
        let batch =
            AppendBatch { records, ingest_time: self.clock.now(), producer: self.producer.clone(), room: self.room };
        let put = match &mut self.transaction {
            Some(transaction) => transaction.stage(&*self.log, &self.stream, batch),
            None => self.log.append(&self.stream, batch).map(drop),
        };
        put.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: LogError) -> SinkError {
        SinkError::Log { stream: self.stream.clone(), source }
    }

    /// As [`ResultSink::prepare`](crate::ResultSink::prepare).
    pub(super) fn prepare(&mut self, checkpoint: u64) -> Result<Option<Prepared>, SinkError> {
        self.flush()?;
        let Some(transaction) = &mut self.transaction else { return Ok(None) };
        let prepared = transaction.prepare(&*self.log, &self.stream, checkpoint);
        prepared.map(Some).map_err(|source| self.failed(source))
    }

    /// As [`ResultSink::commit`](crate::ResultSink::commit).
    pub(super) fn commit(&mut self, checkpoint: u64) -> Result<(), SinkError> {
        let Some(transaction) = &mut self.transaction else { return Ok(()) };
        transaction.commit(&*self.log, &self.stream, checkpoint)
    }

    /// As [`ResultSink::recover`](crate::ResultSink::recover).
    pub(super) fn recover(&mut self, prepared: Option<&Prepared>) -> Result<(), SinkError> {
        let Some(transaction) = &mut self.transaction else { return Ok(()) };
        transaction.recover(&*self.log, &self.stream, &self.producer.name, prepared)
    }
}
