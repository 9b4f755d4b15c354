//! What is appended together, what the log answers, and the checks that need nothing but the batch and its stream's spec.
//!
//! Invariant: a batch that passed [`AppendBatch::check`] can only be refused for what the stream has become (sealed,
//! deleted), for its producer's sequence, or for want of room.

use bytes::Bytes;
use tidegate_types::{EventTime, key_hash};

use crate::{LogError, StreamId, StreamSpec};

/// The most bytes of records in one batch.
pub const MAX_BATCH_BYTES: usize = 16 << 20;
/// The most records in one batch.
pub const MAX_BATCH_RECORDS: usize = 1 << 18;
/// The most bytes of a producer's name.
pub const MAX_PRODUCER_BYTES: usize = 200;

/// Records to append together: all of them or none.
#[derive(Debug, Clone)]
pub struct AppendBatch {
    /// Each record's partition and bytes. Records of one partition keep this order.
    pub records: Vec<(u32, Bytes)>,
    /// When they were taken in, ms.
    pub ingest_time: EventTime,
    /// Who appends.
    pub producer: Producer,
    /// The most bytes of records that all streams of the tenant may keep together once this batch is among them; none: as
    /// many as there are. A repeat needs no room.
    pub room: Option<u64>,
}

/// Who appends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Producer {
    /// What it calls itself: 1 to [`MAX_PRODUCER_BYTES`] bytes, unique within the stream if it counts sequences.
    pub name: String,
    /// The batch's number in this producer's own count, which only grows; none: repeats are not noticed.
    pub sequence: Option<u64>,
}

/// What became of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// One per partition that got records, ascending by partition.
    pub ranges: Vec<OffsetRange>,
    /// The ingest time of the records; of a repeated batch, that of the first time.
    pub ingest_time: EventTime,
    /// Whether the batch had been appended before and is there once, as it was answered then.
    pub repeated: bool,
}

/// Offsets that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetRange {
    /// The partition.
    pub partition: u32,
    /// The first offset.
    pub first: u64,
    /// The number of records.
    pub count: u64,
}

impl AppendBatch {
    /// Bytes of all records.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.records.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Whether there is room for the batch beside so many bytes that the tenant's streams keep.
    ///
    /// # Errors
    /// [`LogError::NoRoom`].
    pub fn have_room(&self, stream: &StreamId, kept: u64) -> Result<(), LogError> {
        have_room(self.room, stream, kept, self.bytes() as u64)
    }

    /// Whether the batch can be of this stream.
    ///
    /// # Errors
    /// What is wrong with it, by name.
    pub fn check(&self, stream: &StreamId, spec: &StreamSpec) -> Result<(), LogError> {
        self.check_size(stream)?;
        let name_bytes = self.producer.name.len();
        if !(1..=MAX_PRODUCER_BYTES).contains(&name_bytes) {
            return Err(LogError::InvalidProducer { bytes: name_bytes });
        }
        for (place, (partition, bytes)) in self.records.iter().enumerate() {
            if *partition >= spec.partitions {
                return Err(LogError::NoPartition {
                    stream: stream.clone(),
                    partition: *partition,
                    partitions: spec.partitions,
                });
            }
            if bytes.len() as u64 > u64::from(spec.max_record_bytes) {
                return Err(LogError::RecordTooLong {
                    stream: stream.clone(),
                    place,
                    bytes: bytes.len(),
                    limit: spec.max_record_bytes,
                });
            }
        }
        Ok(())
    }

    fn check_size(&self, stream: &StreamId) -> Result<(), LogError> {
        if self.records.is_empty() {
            return Err(LogError::EmptyBatch { stream: stream.clone() });
        }
        let (records, bytes) = (self.records.len(), self.bytes());
        if records > MAX_BATCH_RECORDS || bytes > MAX_BATCH_BYTES {
            return Err(LogError::BatchTooLarge { stream: stream.clone(), records, bytes });
        }
        Ok(())
    }

    /// What tells batches of one sequence apart: the records' bytes in order. Partitions are no part of it, because a
    /// gateway may deal a batch that is sent again to other partitions.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let hashes = self.records.iter().flat_map(|(_, bytes)| key_hash(bytes).to_be_bytes());
        key_hash(&hashes.collect::<Vec<u8>>())
    }

    /// The batch's records by partition, ascending, each partition's in the order of the batch.
    #[must_use]
    pub fn by_partition(&self) -> Vec<(u32, Vec<Bytes>)> {
        let mut places: Vec<usize> = (0..self.records.len()).collect();
        places.sort_by_key(|place| self.records[*place].0);
        let mut parts: Vec<(u32, Vec<Bytes>)> = Vec::new();
        for place in places {
            let (partition, bytes) = &self.records[place];
            match parts.last_mut() {
                Some((last, records)) if last == partition => records.push(bytes.clone()),
                _ => parts.push((*partition, vec![bytes.clone()])),
            }
        }
        parts
    }
}

/// Whether `more` bytes have room beside those that are kept.
///
/// # Errors
/// [`LogError::NoRoom`].
pub fn have_room(room: Option<u64>, stream: &StreamId, kept: u64, more: u64) -> Result<(), LogError> {
    match room {
        Some(room) if kept.saturating_add(more) > room => {
            Err(LogError::NoRoom { stream: stream.clone(), kept, more, room })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
