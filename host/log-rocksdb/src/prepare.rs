//! What of an append can be done before it has its place: checks, the digest, the encoding. On the caller's thread.

use tidegate_log::{AppendBatch, LogError};
use tidegate_types::EventTime;

use crate::catalog::Stream;
use crate::format::chunk::{self, Encoded};

/// A batch that only lacks its offsets.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) parts: Vec<Part>,
    pub(crate) ingest_time: EventTime,
    pub(crate) producer: String,
    /// The sequence and the digest, if the producer counts.
    pub(crate) sequence: Option<(u64, u64)>,
    /// See [`AppendBatch::room`].
    pub(crate) room: Option<u64>,
}

/// The records of one partition.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) partition: u32,
    pub(crate) count: u64,
    /// Bytes of the records.
    pub(crate) bytes: u64,
    pub(crate) chunks: Vec<Encoded>,
}

impl Prepared {
    pub(crate) fn of(stream: &Stream, batch: AppendBatch) -> Result<Self, LogError> {
        batch.check(&stream.id, &stream.spec)?;
        let sequence = batch.producer.sequence.map(|sequence| (sequence, batch.digest()));
        let parts = batch.by_partition().into_iter().map(|(partition, records)| Part {
            partition,
            count: records.len() as u64,
            bytes: records.iter().map(|record| record.len() as u64).sum(),
            chunks: chunk::encode_all(&records, batch.ingest_time, &batch.producer.name),
        });
        let parts = parts.collect();
        let AppendBatch { ingest_time, room, producer, .. } = batch;
        Ok(Self { parts, ingest_time, producer: producer.name, sequence, room })
    }

    /// Bytes of all records.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// Bytes that it takes while it waits.
    pub(crate) fn size(&self) -> usize {
        self.parts.iter().flat_map(|part| &part.chunks).map(|chunk| chunk.value.len()).sum()
    }
}
