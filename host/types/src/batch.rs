//! A batch: rows of columns, where they came from, and the progress that goes with them.
//!
//! Invariant: every column, `rows`, `positions`, `times`, `keys`, single arrivals and `retractions` have one entry per row,
//! and `rows` and `positions` ascend. The originals stay with the batch (shared, not copied), so that a rejected or late
//! record can be shown unchanged wherever that is found.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use arrow_buffer::ScalarBuffer;
use bytes::Bytes;

use crate::column::Column;
use crate::key::Keys;
use crate::progress::Progress;
use crate::schema::Schema;
use crate::time::EventTime;
use crate::value::{Value, ValueRef};

/// A source partition: its place among the source's partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId(pub u32);

/// The original records behind a batch's rows.
#[derive(Debug)]
pub enum Origin {
    /// What a source read.
    Read(ReadRecords),
    /// What an operator made: shown as its sink would write it.
    Made(Box<dyn MadeRecords>),
}

/// What a source read: the original records of one source batch and their positions.
#[derive(Debug, Clone, Default)]
pub struct ReadRecords {
    /// The records' bytes.
    pub data: Bytes,
    /// Record `i` is `data[spans[i].0..spans[i].1]`.
    pub spans: Vec<(u32, u32)>,
    /// What to call each record's partition when it is shown (a file's place, a field's value, a log's partition).
    pub partitions: Vec<Value>,
    /// Each record's offset in its partition.
    pub offsets: Vec<u64>,
}

/// Records that an operator made, written only when one is shown.
pub trait MadeRecords: fmt::Debug + Send + Sync {
    /// The JSON text of a record.
    fn record(&self, row: u32) -> Vec<u8>;
}

impl Default for Origin {
    /// No record.
    fn default() -> Self {
        Self::Read(ReadRecords::default())
    }
}

impl Origin {
    /// The original bytes of a record.
    #[must_use]
    pub fn record(&self, row: u32) -> Cow<'_, [u8]> {
        match self {
            Self::Read(read) => {
                let (start, end) = read.spans[index(row)];
                Cow::Borrowed(&read.data[index(start)..index(end)])
            }
            Self::Made(made) => Cow::Owned(made.record(row)),
        }
    }

    /// What to call the record's partition; null for a record that no source read.
    #[must_use]
    pub fn partition(&self, row: u32) -> ValueRef<'_> {
        match self {
            Self::Read(read) => read.partitions[index(row)].as_ref(),
            Self::Made(_) => ValueRef::Null,
        }
    }

    /// The record's offset in its partition; none for a record that no source read.
    #[must_use]
    pub fn offset(&self, row: u32) -> Option<u64> {
        match self {
            Self::Read(read) => Some(read.offsets[index(row)]),
            Self::Made(_) => None,
        }
    }
}

/// In which order rows arrived, over all batches of one input.
#[derive(Debug, Clone)]
pub enum Arrivals {
    /// Row `i` has the number `first + positions[i]`.
    From(u64),
    /// Each row's number. Ascending.
    Each(ScalarBuffer<u64>),
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
    /// The event at which each row arrives, to which `progress` refers. Ascending: rows that one event made share it.
    pub positions: ScalarBuffer<u32>,
    /// The rows' order among all rows of the input.
    pub arrivals: Arrivals,
    /// Which rows take an earlier one back; none: no row does.
    pub retractions: Option<Arc<[bool]>>,
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

    /// The row's place in the order of arrival, over all batches of the input.
    #[must_use]
    pub fn arrival(&self, row: usize) -> u64 {
        match &self.arrivals {
            Arrivals::From(first) => first + u64::from(self.positions[row]),
            Arrivals::Each(numbers) => numbers[row],
        }
    }

    /// Whether the row takes an earlier one back.
    #[must_use]
    pub fn is_retraction(&self, row: usize) -> bool {
        self.retractions.as_ref().is_some_and(|retractions| retractions[row])
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
            arrivals: match &self.arrivals {
                Arrivals::From(first) => Arrivals::From(*first),
                Arrivals::Each(numbers) => Arrivals::Each(indices.iter().map(|row| numbers[index(*row)]).collect()),
            },
            retractions: self
                .retractions
                .as_ref()
                .map(|retractions| indices.iter().map(|row| retractions[index(*row)]).collect()),
            keys: self.keys.as_ref().map(|keys| keys.take(indices)),
            origin: Arc::clone(&self.origin),
            progress: Arc::clone(&self.progress),
        }
    }
}
