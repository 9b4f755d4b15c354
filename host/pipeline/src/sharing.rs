//! Which sliding windows share panes: a record is added to one slice of time, and windows are merged from slices.
//!
//! Where they do not, each window is kept for itself, and a record costs as much as it has windows. So that no file can
//! make one record exhaust a machine, a record has at most [`MOST_APART`] windows then, and [`MOST_SHARED`] where panes are
//! shared: those cost it nothing, but each of them fires, and is remembered while late records may fire it again.

use tidegate_types::Millis;

use crate::model::{Accumulation, Aggregate, Early, Function, Late, WindowKind, Windowed};

/// The most windows of a record that are kept one by one: a day of them by the second, and about 40 MB for each key.
pub(crate) const MOST_APART: u64 = 100_000;

/// The most windows of a record that share panes: a day of them by 100 ms.
pub(crate) const MOST_SHARED: u64 = 1_000_000;

/// Whether the operator's windows are merged from slices that they share, so that a record's cost does not depend on how
/// many windows hold it: sliding windows that fire on time and at most for every late element, of built-in aggregates.
/// A hook's `merge` need not equal adding records one by one, so hooks keep windows of their own; so do sums whose overflow
/// slices cannot judge.
#[must_use]
pub fn shares_panes(windowed: &Windowed) -> bool {
    let WindowKind::Sliding { size, slide, .. } = windowed.window.kind else { return false };
    slide < size && kept_apart_by(windowed).is_none()
}

/// What keeps sliding windows from sharing panes, if anything does.
pub(crate) fn kept_apart_by(windowed: &Windowed) -> Option<&'static str> {
    if windowed.trigger.early != Early::None {
        return Some("an early trigger");
    }
    if matches!(windowed.trigger.late, Late::EveryProcessingTime(_)) {
        return Some("late panes by processing time");
    }
    if adds_to_ended_windows(windowed) {
        return Some("an integer sum over late records that no pane shows");
    }
    let is_hook = |aggregate| matches!(aggregate, &Aggregate::Hook { .. });
    windowed.aggregates.iter().any(is_hook).then_some("an aggregate hook")
}

/// Whether a window that has fired goes on adding records from 0: its sum must not leave 64 bits, and slices, which hold
/// what was shown as well, cannot tell.
fn adds_to_ended_windows(windowed: &Windowed) -> bool {
    let is_sum = |aggregate: &Aggregate| matches!(aggregate, Aggregate::Builtin { function: Function::Sum, .. });
    windowed.accumulation == Accumulation::Discarding
        && windowed.trigger.late == Late::None
        && windowed.window.allowed_lateness.0 > 0
        && windowed.aggregates.iter().any(is_sum)
}

/// The most windows that hold one record.
pub(crate) fn windows_of_a_record(size: Millis, slide: Millis) -> u64 {
    size.0.unsigned_abs().div_ceil(slide.0.unsigned_abs().max(1))
}

/// The least slide of windows of this size of which at most so many hold one record.
pub(crate) fn least_slide(size: Millis, most: u64) -> Millis {
    Millis(i64::try_from(size.0.unsigned_abs().div_ceil(most)).unwrap_or(size.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_late_records_that_no_pane_shows_keep_windows_apart() {
        let shares = |aggregate: &str, late: &str, lateness: &str| {
            let text = format!(
                "job: j\nversion: 1\nsource: {{log: events, timestamp_field: at, watermark: {{strategy: ascending}}}}\n\
                 key_by: [k]\nwindow: {{type: sliding, size: 10s, slide: 1s, allowed_lateness: {lateness}}}\n\
                 trigger: {{late: {late}}}\naccumulation: discarding\naggregate: {{n: {aggregate}}}\nsink: {{type: log, log: out}}\n"
            );
            shares_panes(crate::parse(&text).expect("a pipeline").pipeline.operators[0].windowed().expect("a window"))
        };
        assert!(!shares("sum", "none", "5s"));
        assert!(shares("sum", "every_element", "5s"));
        assert!(shares("sum", "none", "0s"));
        assert!(shares("max", "none", "5s"));
    }
}
