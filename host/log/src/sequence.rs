//! Producers' sequences: how a batch that is sent again is told from a new one.
//!
//! Invariant: of a producer that counts, the log keeps the last sequence with its digest and its answer, written in one
//! piece with the records. So a producer that sends its last batch again, as often as it likes and over any crash, has it
//! in the log once.

use tidegate_types::EventTime;

use crate::{Appended, LogError, OffsetRange, StreamId};

/// The most producers of a stream that count sequences. Each is held in memory with its answer for [`FORGET_AFTER_MS`].
pub const MAX_PRODUCERS: usize = 1_000;
/// The most bytes that the producers of all streams of a tenant take in memory, as [`producer_bytes`] counts them: some
/// 26,000 producers with short names at 16 partitions.
pub const MAX_TENANT_BYTES: u64 = 16 << 20;
/// What a producer takes beside its name and its answer's ranges.
const PRODUCER_BYTES: u64 = 200;
/// A producer that appended nothing for so long is forgotten by `retain`: its sequence starts anew. 7 days.
pub const FORGET_AFTER_MS: EventTime = 7 * 24 * 60 * 60 * 1000;

/// What a producer of this name takes in a stream of so many partitions, whatever it was answered: so one that is known is
/// never refused for its own growth.
#[must_use]
pub fn producer_bytes(name: &str, partitions: u32) -> u64 {
    PRODUCER_BYTES + name.len() as u64 + u64::from(partitions) * size_of::<OffsetRange>() as u64
}

/// What names a batch of a producer that counts.
#[derive(Debug, Clone, Copy)]
pub struct Sequenced<'a> {
    /// The producer's name.
    pub producer: &'a str,
    /// The batch's number.
    pub sequence: u64,
    /// [`AppendBatch::digest`](crate::AppendBatch::digest) of it.
    pub digest: u64,
}

/// What the log keeps of a producer that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastBatch {
    /// Its sequence.
    pub sequence: u64,
    /// [`AppendBatch::digest`](crate::AppendBatch::digest) of it.
    pub digest: u64,
    /// What was answered.
    pub appended: Appended,
}

impl LastBatch {
    /// Judges a further batch of the producer: none if it is new, otherwise the answer of the first time.
    ///
    /// # Errors
    /// [`LogError::StaleSequence`] or [`LogError::SequenceReused`].
    pub fn judge(&self, stream: &StreamId, batch: Sequenced<'_>) -> Result<Option<Appended>, LogError> {
        let Sequenced { producer, sequence, digest } = batch;
        if sequence > self.sequence {
            return Ok(None);
        }
        let (stream, producer) = (stream.clone(), producer.to_owned());
        if sequence < self.sequence {
            return Err(LogError::StaleSequence { stream, producer, sequence, last: self.sequence });
        }
        if digest != self.digest {
            return Err(LogError::SequenceReused { stream, producer, sequence });
        }
        Ok(Some(Appended { repeated: true, ..self.appended.clone() }))
    }

    /// Whether `retain` at `now` forgets it.
    #[must_use]
    pub const fn is_idle(&self, now: EventTime) -> bool {
        self.appended.ingest_time < now.saturating_sub(FORGET_AFTER_MS)
    }
}
