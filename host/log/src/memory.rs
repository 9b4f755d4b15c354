//! A log that forgets: for tests, and for runs whose input need not outlive the process.
//!
//! Invariant: all of a stream changes under one lock, so that a batch is seen whole or not at all.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tidegate_types::{EventTime, TenantId};

use crate::read::Allowance;
use crate::sequence::{LastBatch, MAX_PRODUCERS, MAX_TENANT_BYTES, Sequenced, producer_bytes};
use crate::{
    AppendBatch, Appended, Begin, Chunk, Created, Log, LogError, OffsetRange, PartitionInfo, Producer, Retained,
    Retention, StagedTransaction, Stored, StreamId, StreamInfo, StreamSpec, TransactionId, Watch,
};

mod staging;

use staging::Staging;

/// A [`Log`] in memory. "Durable" means: as long as this lives.
#[derive(Debug, Default)]
pub struct MemoryLog {
    streams: Mutex<BTreeMap<StreamId, Stream>>,
}

#[derive(Debug)]
struct Stream {
    spec: StreamSpec,
    partitions: Vec<Partition>,
    producers: BTreeMap<String, LastBatch>,
    staging: Staging,
    watch: Arc<Watch>,
}

/// What all streams of a tenant take.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    records: u64,
    producers: u64,
}

#[derive(Debug, Default)]
struct Partition {
    info: PartitionInfo,
    records: VecDeque<Stored>,
}

impl MemoryLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn streams(&self) -> MutexGuard<'_, BTreeMap<StreamId, Stream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with a stream.
    fn with<T>(&self, id: &StreamId, act: impl FnOnce(&mut Stream) -> Result<T, LogError>) -> Result<T, LogError> {
        act(self.streams().get_mut(id).ok_or_else(|| LogError::NotFound { stream: id.clone() })?)
    }

    /// Does something with a stream, knowing what all streams of its tenant take.
    fn with_used<T>(
        &self,
        id: &StreamId,
        act: impl FnOnce(&mut Stream, Used) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        let mut streams = self.streams();
        let of_tenant = streams.iter().filter(|(of, _)| of.tenant == id.tenant);
        let used = of_tenant.fold(Used::default(), |used, (_, stream)| used.and(stream));
        act(streams.get_mut(id).ok_or_else(|| LogError::NotFound { stream: id.clone() })?, used)
    }
}

impl Log for MemoryLog {
    fn create(&self, stream: &StreamId, spec: &StreamSpec) -> Result<Created, LogError> {
        spec.check(stream)?;
        let mut streams = self.streams();
        if let Some(existing) = streams.get(stream) {
            return if existing.spec == *spec {
                Ok(Created::Existing)
            } else {
                Err(LogError::Exists { stream: stream.clone() })
            };
        }
        streams.insert(stream.clone(), Stream::new(spec));
        Ok(Created::New)
    }

    fn describe(&self, stream: &StreamId) -> Result<StreamInfo, LogError> {
        self.with(stream, |found| Ok(found.info(stream)))
    }

    fn list(&self, tenant: &TenantId) -> Result<Vec<StreamInfo>, LogError> {
        let streams = self.streams();
        let of_tenant = streams.iter().filter(|(id, _)| id.tenant == *tenant);
        Ok(of_tenant.map(|(id, stream)| stream.info(id)).collect())
    }

    fn append(&self, stream: &StreamId, batch: AppendBatch) -> Result<Appended, LogError> {
        self.with_used(stream, |found, used| found.append(stream, &batch, used))
    }

    fn read(
        &self,
        stream: &StreamId,
        partition: u32,
        from: u64,
        max_records: usize,
        max_bytes: usize,
    ) -> Result<Chunk, LogError> {
        self.with(stream, |found| {
            let part = found.partition(stream, partition)?;
            part.info.check_offset(stream, partition, from)?;
            let mut allowance = Allowance::new(max_records, max_bytes);
            let unread = part.records.iter().skip_while(|record| record.offset < from);
            let records = unread.take_while(|record| allowance.take(record.bytes.len())).cloned().collect();
            Ok(Chunk { records, start: part.info.start, end: part.info.end, sealed: part.info.sealed })
        })
    }

    fn seal(&self, stream: &StreamId, partition: Option<u32>) -> Result<(), LogError> {
        self.with(stream, |found| {
            if let Some(partition) = partition {
                found.partition(stream, partition)?;
            }
            found.staging.check_seal(stream, partition)?;
            match partition {
                Some(partition) => found.partition(stream, partition)?.info.sealed = true,
                None => found.partitions.iter_mut().for_each(|part| part.info.sealed = true),
            }
            found.watch.wake();
            Ok(())
        })
    }

    fn retain(&self, now: EventTime) -> Result<Retained, LogError> {
        let mut retained = Retained::default();
        for stream in self.streams().values_mut() {
            for (place, partition) in stream.partitions.iter_mut().enumerate() {
                partition.retain(stream.spec.retention, now, stream.staging.held(place), &mut retained);
            }
            stream.staging.expire(now);
            stream.producers.retain(|_, last| !last.is_idle(now));
        }
        Ok(retained)
    }

    fn delete(&self, stream: &StreamId) -> Result<(), LogError> {
        let removed = self.streams().remove(stream);
        removed.ok_or_else(|| LogError::NotFound { stream: stream.clone() })?.watch.wake();
        Ok(())
    }

    fn begin(&self, stream: &StreamId, begin: &Begin) -> Result<u64, LogError> {
        self.with(stream, |found| found.staging.begin(stream, begin))
    }

    fn stage(&self, stream: &StreamId, transaction: &TransactionId, batch: AppendBatch) -> Result<(), LogError> {
        self.with_used(stream, |found, used| found.stage(stream, transaction, &batch, used))
    }

    fn commit_transaction(&self, stream: &StreamId, transaction: &TransactionId) -> Result<(), LogError> {
        self.with(stream, |found| found.commit(stream, transaction))
    }

    fn abort_transaction(&self, stream: &StreamId, transaction: &TransactionId) -> Result<(), LogError> {
        self.with(stream, |found| {
            found.staging.abort(transaction);
            Ok(())
        })
    }

    fn transactions(&self, stream: &StreamId) -> Result<Vec<StagedTransaction>, LogError> {
        self.with(stream, |found| Ok(found.staging.transactions()))
    }

    fn hold(&self, stream: &StreamId, holder: &str, offsets: Option<&[u64]>) -> Result<(), LogError> {
        self.with(stream, |found| found.staging.hold(stream, found.spec.partitions, holder, offsets))
    }

    fn holds(&self, stream: &StreamId) -> Result<Vec<(String, Vec<u64>)>, LogError> {
        self.with(stream, |found| Ok(found.staging.holds()))
    }

    fn watch(&self, stream: &StreamId) -> Result<Arc<Watch>, LogError> {
        self.with(stream, |found| Ok(Arc::clone(&found.watch)))
    }
}

impl Stream {
    fn new(spec: &StreamSpec) -> Self {
        Self {
            spec: spec.clone(),
            partitions: (0..spec.partitions).map(|_| Partition::default()).collect(),
            producers: BTreeMap::new(),
            staging: Staging::default(),
            watch: Arc::default(),
        }
    }

    fn info(&self, id: &StreamId) -> StreamInfo {
        let partitions = self.partitions.iter().map(|partition| partition.info).collect();
        StreamInfo { id: id.clone(), spec: self.spec.clone(), partitions }
    }

    fn partition(&mut self, stream: &StreamId, partition: u32) -> Result<&mut Partition, LogError> {
        let partitions = self.spec.partitions;
        let place = usize::try_from(partition).ok();
        let found = place.and_then(|place| self.partitions.get_mut(place));
        found.ok_or_else(|| LogError::NoPartition { stream: stream.clone(), partition, partitions })
    }

    /// The answer of the first time, if the batch was appended before.
    fn judge(&self, stream: &StreamId, batch: &AppendBatch, used: Used) -> Result<Option<Appended>, LogError> {
        let Producer { name, sequence: Some(sequence) } = &batch.producer else { return Ok(None) };
        if let Some(last) = self.producers.get(name) {
            return last.judge(stream, Sequenced { producer: name, sequence: *sequence, digest: batch.digest() });
        }
        if self.producers.len() >= MAX_PRODUCERS {
            return Err(LogError::TooManyProducers { stream: stream.clone() });
        }
        if used.producers + producer_bytes(name, self.spec.partitions) > MAX_TENANT_BYTES {
            return Err(LogError::ProducersFull { stream: stream.clone() });
        }
        Ok(None)
    }

    /// Whether none of a batch's partitions is sealed.
    fn check_open(&mut self, stream: &StreamId, parts: &[(u32, Vec<Bytes>)]) -> Result<(), LogError> {
        for (partition, _) in parts {
            if self.partition(stream, *partition)?.info.sealed {
                return Err(LogError::Sealed { stream: stream.clone(), partition: *partition });
            }
        }
        Ok(())
    }

    fn append(&mut self, stream: &StreamId, batch: &AppendBatch, used: Used) -> Result<Appended, LogError> {
        batch.check(stream, &self.spec)?;
        if let Some(again) = self.judge(stream, batch, used)? {
            return Ok(again);
        }
        let parts = batch.by_partition();
        self.check_open(stream, &parts)?;
        batch.have_room(stream, used.records)?;
        let mut ranges = Vec::new();
        for (partition, records) in parts {
            let (first, count) = self.partition(stream, partition)?.append(stored(records, batch));
            ranges.push(OffsetRange { partition, first, count });
        }
        let appended = Appended { ranges, ingest_time: batch.ingest_time, repeated: false };
        if let Some(sequence) = batch.producer.sequence {
            let last = LastBatch { sequence, digest: batch.digest(), appended: appended.clone() };
            self.producers.insert(batch.producer.name.clone(), last);
        }
        self.watch.wake();
        Ok(appended)
    }
}

impl Used {
    fn and(mut self, stream: &Stream) -> Self {
        let of_producers = stream.producers.keys().map(|name| producer_bytes(name, stream.spec.partitions));
        self.producers += of_producers.sum::<u64>();
        self.records += stream.partitions.iter().map(|partition| partition.info.bytes).sum::<u64>();
        self.records += stream.staging.bytes();
        self
    }
}

/// A batch's records as they are kept; their offsets are not known yet.
fn stored(records: Vec<Bytes>, batch: &AppendBatch) -> Vec<Stored> {
    let producer: Arc<str> = batch.producer.name.as_str().into();
    let ingest_time = batch.ingest_time;
    let stored = |bytes| Stored { offset: 0, ingest_time, producer: Arc::clone(&producer), bytes };
    records.into_iter().map(stored).collect()
}

impl Partition {
    /// Appends records: the first one's offset, and how many.
    fn append(&mut self, records: Vec<Stored>) -> (u64, u64) {
        let first = self.info.end;
        for record in records {
            self.info.bytes += record.bytes.len() as u64;
            self.info.last_ingest = Some(record.ingest_time);
            self.records.push_back(Stored { offset: self.info.end, ..record });
            self.info.end += 1;
        }
        (first, self.info.end - first)
    }

    /// Drops the oldest records, none from `held` on.
    fn retain(&mut self, retention: Retention, now: EventTime, held: u64, retained: &mut Retained) {
        while let Some(oldest) = self.records.front() {
            if oldest.offset >= held || !retention.drops(self.info.bytes, oldest.ingest_time, now) {
                return;
            }
            let len = oldest.bytes.len() as u64;
            self.records.pop_front();
            self.info.start += 1;
            self.info.bytes -= len;
            retained.records += 1;
            retained.bytes += len;
        }
    }
}

#[cfg(test)]
mod tests;
