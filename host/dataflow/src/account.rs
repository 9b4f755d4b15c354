//! What became of every record: `read + expanded + forwarded = accepted + filtered + too_late + duplicate + rejected`
//! (docs/semantics.md, 3). Nothing is forwarded where one source feeds one operator.

use std::ops::AddAssign;

/// Counts of records and panes. Counts of several tasks add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Account {
    /// Records read from the source.
    pub read: u64,
    /// Rows that map hooks added: `n - 1` for a record of which a hook made `n > 1` rows.
    pub expanded: u64,
    /// Rows that operators handed to others, and those that more than one operator reads: `n - 1` for each that `n` read.
    pub forwarded: u64,
    /// Rows that an operator took: accumulated into at least one window, joined, processed, or written to a sink.
    pub accepted: u64,
    /// Records that a map hook dropped on purpose.
    pub filtered: u64,
    /// Rows all of whose windows were gone.
    pub too_late: u64,
    /// Rows whose identity was accepted before.
    pub duplicate: u64,
    /// Records and rows in the dead-letter output.
    pub rejected: u64,
    /// Accepted rows some of whose windows were gone.
    pub partly_late: u64,
    /// Accepted rows that no pane showed.
    pub unshown: u64,
    /// Early panes.
    pub panes_early: u64,
    /// On-time panes.
    pub panes_on_time: u64,
    /// Late panes.
    pub panes_late: u64,
    /// Retractions of panes.
    pub retractions: u64,
    /// Panes that a hook failed to make. Their state stays.
    pub failed_panes: u64,
    /// Rows that are no panes, written to sinks.
    pub emitted: u64,
    /// Pairs that a join hook failed to make or refused.
    pub failed_pairs: u64,
    /// Timers whose hook failed.
    pub failed_timers: u64,
}

impl Account {
    /// Whether every record read is accounted for.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.read + self.expanded + self.forwarded
            == self.accepted + self.filtered + self.too_late + self.duplicate + self.rejected
    }
}

impl AddAssign for Account {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.expanded += other.expanded;
        self.forwarded += other.forwarded;
        self.accepted += other.accepted;
        self.filtered += other.filtered;
        self.too_late += other.too_late;
        self.duplicate += other.duplicate;
        self.rejected += other.rejected;
        self.partly_late += other.partly_late;
        self.unshown += other.unshown;
        self.panes_early += other.panes_early;
        self.panes_on_time += other.panes_on_time;
        self.panes_late += other.panes_late;
        self.retractions += other.retractions;
        self.failed_panes += other.failed_panes;
        self.emitted += other.emitted;
        self.failed_pairs += other.failed_pairs;
        self.failed_timers += other.failed_timers;
    }
}
