//! Where inside a batch the watermark and the clock moved, so that no result depends on where batches were cut.

use crate::time::{EventTime, Watermark};

/// The clock's value before anything was heard of it, and always under a wall clock.
pub const NO_CLOCK: EventTime = EventTime::MIN;

/// One change: it takes effect after the rows at `position` and before all rows behind it.
///
/// A position is an event: the arrival of a record, the end of a partition, a move of the clock. Rows that an operator made
/// at an event have its position, and come before the change that the event brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgressEntry {
    /// The event that brings the change.
    pub position: u32,
    /// The watermark from here on.
    pub watermark: Watermark,
    /// The virtual clock from here on (processing time, ms), or [`NO_CLOCK`] under a wall clock.
    pub clock: EventTime,
}

/// A source batch's changes, ascending by position; entries at one position apply in order.
///
/// Neither the watermark nor the clock ever moves backwards along the list. An entry whose clock is later than the one
/// before stands for everything that falls due on the way: first the processing-time instants before `clock` under the
/// old watermark, then the watermark, then the instant `clock` itself (docs/semantics.md, 4).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// The changes.
    pub entries: Vec<ProgressEntry>,
}

impl Progress {
    /// Adds a change. A change that changes nothing is left out.
    pub fn push(&mut self, entry: ProgressEntry) {
        debug_assert!(self.entries.last().is_none_or(|last| last.position <= entry.position
            && last.watermark <= entry.watermark
            && last.clock <= entry.clock));
        if self.entries.last().is_some_and(|last| last.watermark == entry.watermark && last.clock == entry.clock) {
            return;
        }
        self.entries.push(entry);
    }
}
