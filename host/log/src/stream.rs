//! Streams: what they are called, what was asked for when they were made, and how far they are.
//!
//! Invariant: a spec that passed [`StreamSpec::check`] is within the bounds below, so that every log can serve it.

use std::fmt;

use tidegate_types::{EventTime, Name, TenantId};

use crate::LogError;

/// The most partitions of a stream: each costs a reader a look at every round.
pub const MAX_PARTITIONS: u32 = 1024;
/// The greatest `max_record_bytes`.
pub const MAX_RECORD_BYTES: u32 = 8 << 20;

/// A stream of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Whose it is.
    pub tenant: TenantId,
    /// What it is called, unique within its tenant.
    pub name: Name,
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.tenant, self.name)
    }
}

/// What a stream was made with. It does not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamSpec {
    /// The number of partitions, called 0, 1, 2 …; 1 to [`MAX_PARTITIONS`].
    pub partitions: u32,
    /// What is kept.
    pub retention: Retention,
    /// The most bytes of a record; 1 to [`MAX_RECORD_BYTES`].
    pub max_record_bytes: u32,
}

/// What `retain` keeps of a partition. Where both bounds are given both hold; where none is, everything is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// At most so many bytes of records (their own bytes, nothing around them) in a partition.
    pub bytes: Option<u64>,
    /// Only records that were taken in at most so many ms ago.
    pub age_ms: Option<u64>,
}

impl Retention {
    /// The ingest time before which a record is too old at `now`; none if age does not matter.
    #[must_use]
    pub fn oldest(&self, now: EventTime) -> Option<EventTime> {
        self.age_ms.map(|age| now.saturating_sub(EventTime::try_from(age).unwrap_or(EventTime::MAX)))
    }

    /// Whether the oldest record of a partition that has so many bytes goes at `now`.
    #[must_use]
    pub fn drops(&self, bytes: u64, oldest_ingest: EventTime, now: EventTime) -> bool {
        self.bytes.is_some_and(|limit| bytes > limit) || self.oldest(now).is_some_and(|cut| oldest_ingest < cut)
    }
}

impl StreamSpec {
    /// Whether a log can serve it.
    ///
    /// # Errors
    /// [`LogError::InvalidSpec`] if a value is out of its bounds.
    pub fn check(&self, stream: &StreamId) -> Result<(), LogError> {
        let bound = |field: &'static str, value: u32, limit: u32| {
            if (1..=limit).contains(&value) {
                return Ok(());
            }
            Err(LogError::InvalidSpec { stream: stream.clone(), field, value, limit })
        };
        bound("partitions", self.partitions, MAX_PARTITIONS)?;
        bound("max_record_bytes", self.max_record_bytes, MAX_RECORD_BYTES)
    }
}

/// A stream as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamInfo {
    /// Which it is.
    pub id: StreamId,
    /// What it was made with.
    pub spec: StreamSpec,
    /// One per partition, in order.
    pub partitions: Vec<PartitionInfo>,
}

/// A partition as it stands. It holds the records at the offsets from `start` to below `end`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartitionInfo {
    /// The offset of the oldest record that is kept.
    pub start: u64,
    /// The offset of the next record. An offset is never used again.
    pub end: u64,
    /// Bytes of the records that are kept.
    pub bytes: u64,
    /// Whether nothing can be appended any more.
    pub sealed: bool,
    /// When the newest record was taken in, ms; none if there never was one.
    pub last_ingest: Option<EventTime>,
}

impl PartitionInfo {
    /// Records that are kept.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.end - self.start
    }

    /// Whether reading may begin at an offset.
    ///
    /// # Errors
    /// [`LogError::Gone`] or [`LogError::BeyondEnd`].
    pub fn check_offset(&self, stream: &StreamId, partition: u32, from: u64) -> Result<(), LogError> {
        let Self { start, end, .. } = *self;
        if from < start {
            return Err(LogError::Gone { stream: stream.clone(), partition, from, start });
        }
        if from > end {
            return Err(LogError::BeyondEnd { stream: stream.clone(), partition, from, end });
        }
        Ok(())
    }
}
