//! How an overload is told to the operator: whoever floods the API does not flood the log.
//!
//! Invariant: one line a second at most, and every refused request is counted in one of them.

use std::sync::{Mutex, PoisonError};

/// The least time between two lines, ms.
const APART_MS: u64 = 1_000;

/// What was refused because every place was taken.
#[derive(Debug, Default)]
pub(crate) struct Overload(Mutex<Refused>);

#[derive(Debug, Default)]
struct Refused {
    /// When the last line was written, ms since the epoch.
    said: Option<i64>,
    /// How many since.
    since: u64,
}

impl Overload {
    /// Counts a refused request at this time. If it is time for a line: how many it stands for, this one among them.
    pub(crate) fn refused(&self, now: i64) -> Option<u64> {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refused.since += 1;
        // A clock that was set back must not silence us either.
        if refused.said.is_some_and(|said| said.abs_diff(now) < APART_MS) {
            return None;
        }
        refused.said = Some(now);
        Some(std::mem::take(&mut refused.since))
    }
}

#[cfg(test)]
mod tests {
    use super::Overload;

    #[test]
    fn a_flood_is_a_line_a_second_that_counts_all() {
        let overload = Overload::default();
        let lines: Vec<(i64, u64)> =
            (0..3_000).filter_map(|now| overload.refused(now).map(|count| (now, count))).collect();
        assert_eq!(lines, [(0, 1), (1_000, 1_000), (2_000, 1_000)]);
        assert_eq!(overload.refused(-5_000), Some(1_000), "the clock was set back");
    }
}
