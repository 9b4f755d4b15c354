//! What a job's tasks show of themselves: watermarks, how far they trail, what holds them back, and how much state there is.
//!
//! A report is a copy, made when somebody asks; no result depends on it.

use std::sync::Arc;

use tidegate_types::{EventTime, NO_CLOCK, Value, Watermark};

/// A source's watermarks, with the names of what they are of.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceReport {
    /// The source's id.
    pub source: Arc<str>,
    /// What to call each of its partitions.
    pub partitions: Vec<Value>,
    /// Its watermarks.
    pub watermarks: tidegate_windows::SourceReport,
}

/// One subtask of an operator. Its watermark is that of its one input, as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorReport {
    /// The operator's id.
    pub operator: Arc<str>,
    /// Which of its subtasks, from 0.
    pub subtask: u32,
    /// Where it stands.
    pub now: OperatorStanding,
    /// Where it stood before its watermark became plus infinity; none before that.
    pub before_end: Option<OperatorStanding>,
    /// What it keeps.
    pub state: StateSize,
    /// The most of each that it kept after any batch.
    pub peak: StateSize,
}

/// Where an operator stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorStanding {
    /// Its watermark.
    pub watermark: Watermark,
    /// Its clock, or [`NO_CLOCK`].
    pub clock: EventTime,
}

impl OperatorStanding {
    /// Nothing was heard yet.
    pub(crate) const START: Self = Self { watermark: Watermark::MIN, clock: NO_CLOCK };

    /// How far the watermark trails the clock, ms; negative if it is ahead. None while either is no time.
    #[must_use]
    pub fn lag(&self) -> Option<i64> {
        let watermark = self.watermark.finite()?;
        (self.clock != NO_CLOCK).then(|| self.clock.saturating_sub(watermark))
    }
}

/// How much state an operator keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StateSize {
    /// Keys with a window or an identity.
    pub keys: usize,
    /// Windows; slices of them where sliding windows share panes.
    pub windows: usize,
    /// Identities of accepted records.
    pub identities: usize,
    /// Bytes of accumulators.
    pub accumulator_bytes: u64,
    /// Rows that a join keeps.
    pub join_rows: usize,
    /// Entries of a processor's states, and its pending timers.
    pub entries: usize,
    /// Bytes of all of it, as far as they are metered.
    pub bytes: u64,
}

impl StateSize {
    /// The greater of each.
    pub(crate) fn raise(&mut self, other: Self) {
        self.keys = self.keys.max(other.keys);
        self.windows = self.windows.max(other.windows);
        self.identities = self.identities.max(other.identities);
        self.accumulator_bytes = self.accumulator_bytes.max(other.accumulator_bytes);
        self.join_rows = self.join_rows.max(other.join_rows);
        self.entries = self.entries.max(other.entries);
        self.bytes = self.bytes.max(other.bytes);
    }
}
