//! A batch: rows of columns, where they came from, and the source batch's progress.
//!
//! Invariant: every column, `rows`, `positions`, `times` and `keys` have one entry per row, and `rows` and `positions`
//! ascend. The originals stay with the batch (shared, not copied), so that a rejected or late record can be shown
//! unchanged wherever that is found.

use std::sync::Arc;

use arrow_buffer::ScalarBuffer;
use bytes::Bytes;

use crate::column::Column;
use crate::key::Keys;
use crate::progress::Progress;
use crate::schema::Schema;
use crate::time::EventTime;
use crate::value::Value;

/// A source partition: its place among the source's partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId(pub u32);

/// What a source read: the original records of one source batch and their positions.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The records' bytes.
    pub data: Bytes,
    /// Record `i` is `data[spans[i].0..spans[i].1]`.
    pub spans: Vec<(u32, u32)>,
    /// What to call each record's partition when it is shown (a file's place, a field's value, a log's partition).
    pub partitions: Vec<Value>,
    /// Each record's offset in its partition.
    pub offsets: Vec<u64>,
}

impl Origin {
    /// The original bytes of a record.
    #[must_use]
    pub fn record(&self, row: u32) -> &[u8] {
        let (start, end) = self.spans[index(row)];
        &self.data[index(start)..index(end)]
    }

    /// The number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}

/// A 32-bit index as a `usize`.
#[must_use]
pub fn index(value: u32) -> usize {
    usize::try_from(value).expect("Tidegate runs on machines of at least 32 bits")
}

/// A length as a 32-bit index.
///
/// # Panics
/// If a batch has 2^32 rows or bytes, which the limits on batches exclude.
#[must_use]
pub fn index32(value: usize) -> u32 {
    u32::try_from(value).expect("batches are limited far below 2^32")
}

/// Rows in columns.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The columns' fields.
    pub schema: Arc<Schema>,
    /// One per field.
    pub columns: Vec<Column>,
    /// Event times, ms.
    pub times: ScalarBuffer<EventTime>,
    /// Each row's record in `origin`. Ascending; a record that a hook expanded stands several times.
    pub rows: ScalarBuffer<u32>,
    /// Each row's position, to which `progress` refers. Ascending.
    pub positions: ScalarBuffer<u32>,
    /// The arrival number of position 0; `sequence + position` orders all rows of a source task.
    pub sequence: u64,
    /// The rows' keys, once they are known.
    pub keys: Option<Keys>,
    /// The original records.
    pub origin: Arc<Origin>,
    /// Where the watermark and the clock moved.
    pub progress: Arc<Progress>,
}

impl Batch {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is no row. Such a batch still carries progress.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The column of the field of this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.schema.index_of(name).map(|place| &self.columns[place])
    }

    /// The rows at `indices` (ascending), with the same origin and progress.
    #[must_use]
    pub fn take(&self, indices: &[u32]) -> Self {
        Self {
            schema: Arc::clone(&self.schema),
            columns: self.columns.iter().map(|column| column.take(indices)).collect(),
            times: indices.iter().map(|row| self.times[index(*row)]).collect(),
            rows: indices.iter().map(|row| self.rows[index(*row)]).collect(),
            positions: indices.iter().map(|row| self.positions[index(*row)]).collect(),
            sequence: self.sequence,
            keys: self.keys.as_ref().map(|keys| keys.take(indices)),
            origin: Arc::clone(&self.origin),
            progress: Arc::clone(&self.progress),
        }
    }
}
