//! What became of every record: `read + expanded + forwarded = accepted + filtered + too_late + duplicate + rejected`
//! (docs/semantics.md, 3). Nothing is forwarded where one source feeds one operator.

use std::ops::AddAssign;

use tidegate_types::stored::{Malformed, Read, Stored, put_len, put_u64};

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

impl Account {
    const VERSION: u8 = 1;

    /// Each count, in the order in which they are stored.
    fn counts(&mut self) -> [&mut u64; 18] {
        let Self {
            read,
            expanded,
            forwarded,
            accepted,
            filtered,
            too_late,
            duplicate,
            rejected,
            partly_late,
            unshown,
            panes_early,
            panes_on_time,
            panes_late,
            retractions,
            failed_panes,
            emitted,
            failed_pairs,
            failed_timers,
        } = self;
        [
            read,
            expanded,
            forwarded,
            accepted,
            filtered,
            too_late,
            duplicate,
            rejected,
            partly_late,
            unshown,
            panes_early,
            panes_on_time,
            panes_late,
            retractions,
            failed_panes,
            emitted,
            failed_pairs,
            failed_timers,
        ]
    }

    /// Writes it as a checkpoint keeps it.
    pub fn write(mut self, out: &mut Vec<u8>) {
        out.push(Self::VERSION);
        let counts = self.counts();
        put_len(out, counts.len());
        counts.into_iter().for_each(|count| put_u64(out, *count));
    }

    /// Reads what was written.
    ///
    /// # Errors
    /// If it is no account, or one with more counts than this release knows.
    pub fn restore(stored: &mut Stored<'_>) -> Read<Self> {
        let mut account = Self::default();
        let mut counts = account.counts().into_iter();
        if stored.byte()? != Self::VERSION {
            return Err(Malformed::new("an account of version 1"));
        }
        for _ in 0..stored.len()? {
            *counts.next().ok_or(Malformed::new("the counts of an account"))? = stored.u64()?;
        }
        drop(counts);
        Ok(account)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_comes_back_count_by_count() {
        let mut account = Account::default();
        for (number, count) in (1_u64..).zip(account.counts()) {
            *count = number * 1_000_000;
        }
        let mut out = Vec::new();
        account.write(&mut out);
        assert_eq!(Account::restore(&mut Stored::new(&out)), Ok(account));
        assert!(Account::restore(&mut Stored::new(&out[..9])).is_err());
    }
}
