//! Which slices a record shares its windows with: what integer sums have to be held to 64 bits over.

use std::ops::Range;

use tidegate_types::{EventTime, Watermark};

use super::grid::Grid;
use super::{KeyId, Sliced, SlicedTarget};

/// The slots of slices in order of time, and which of them each of a record's windows holds. Windows that hold the same
/// slices are one; those that hold none are an empty range.
#[derive(Debug)]
pub(in crate::window) struct Overlap {
    pub(in crate::window) slots: Vec<u32>,
    /// Both bounds ascend.
    pub(in crate::window) windows: Vec<Range<usize>>,
}

impl Sliced {
    /// What a record's windows hold already. Under discarding, a window that has ended holds nothing.
    pub(in crate::window) fn overlap(
        &self,
        key: Option<KeyId>,
        target: SlicedTarget,
        watermark: Watermark,
        discarding: bool,
    ) -> Overlap {
        let Some(of_key) = key.and_then(|key| self.keys.get(&key)) else {
            return Overlap { slots: Vec::new(), windows: std::iter::once(0..0).collect() };
        };
        let starting_at = |time| of_key.slices.partition_point(|slice| slice.span.start < time);
        let ended_by = |time| of_key.slices.partition_point(|slice| slice.span.end <= time);
        let first = starting_at(self.grid.window_ending(target.first_end).start);
        let slots = of_key.slices[first..ended_by(target.last_end)].iter().map(|slice| slice.slot).collect();
        let mut windows = Vec::new();
        let mut next = Some(target.first_end);
        while let Some(end) = next.filter(|end| *end <= target.last_end) {
            let (from, to) = (starting_at(self.grid.window_ending(end).start), ended_by(end));
            let emptied = discarding && watermark.reached(end);
            let held = if emptied { from..from } else { from..to };
            windows.push(held.start - first..held.end - first);
            let left = of_key.slices.get(from).map(|slice| self.grid.end_of_start_after(slice.span.start));
            let entered = of_key.slices.get(to).map(|slice| self.grid.end_at_or_after(slice.span.end));
            let shown = emptied.then(|| first_after(self.grid, watermark));
            next = [left, entered, shown].into_iter().flatten().min();
        }
        Overlap { slots, windows }
    }
}

/// The end of the first window that the watermark has not reached.
fn first_after(grid: Grid, watermark: Watermark) -> EventTime {
    grid.end_at_or_after(watermark.as_millis().saturating_add(1))
}
