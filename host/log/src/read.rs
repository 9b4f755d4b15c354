//! What reading gives.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_types::EventTime;

/// A record as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its offset in its partition.
    pub offset: u64,
    /// When it was taken in, ms.
    pub ingest_time: EventTime,
    /// Who appended it.
    pub producer: Arc<str>,
    /// Its bytes, as they were appended.
    pub bytes: Bytes,
}

/// Records that follow each other in a partition, and how far the partition was when they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The records, without a gap, the first at the offset that was asked for.
    pub records: Vec<Stored>,
    /// The first offset that is kept.
    pub start: u64,
    /// The next record's offset.
    pub end: u64,
    /// Whether the partition is sealed: `end` is final then.
    pub sealed: bool,
}

/// Decides how many records a chunk takes.
///
/// Invariant: the first record always fits, so that every read at which there is something makes progress.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    records: usize,
    bytes: usize,
    empty: bool,
}

impl Allowance {
    /// At most so many records, and so many bytes of records beyond the first.
    #[must_use]
    pub const fn new(max_records: usize, max_bytes: usize) -> Self {
        Self { records: if max_records == 0 { 1 } else { max_records }, bytes: max_bytes, empty: true }
    }

    /// Takes a record of this length if it fits.
    pub const fn take(&mut self, len: usize) -> bool {
        if self.records == 0 || (!self.empty && len > self.bytes) {
            return false;
        }
        self.records -= 1;
        self.bytes = self.bytes.saturating_sub(len);
        self.empty = false;
        true
    }
}
