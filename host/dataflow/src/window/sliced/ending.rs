//! The windows of a key that end while the watermark moves on, one at a time: however many they are, none is kept.

use tidegate_types::{EventTime, Watermark};
use tidegate_windows::WindowSpan;

use super::Slice;
use super::grid::Grid;

/// A place among the windows of one key that end on the way from one watermark to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ending {
    /// The slice that the next window is looked for at.
    place: usize,
    /// The next window ends at this time or later.
    next: EventTime,
    until: Watermark,
}

impl Ending {
    /// Before the first window that ends after `before`, `until` at the latest.
    pub(super) fn new(before: Watermark, until: Watermark) -> Self {
        Self { place: 0, next: before.as_millis().saturating_add(1), until }
    }

    /// The next window that holds a record, in order of end. The slices MUST be the same in all calls.
    pub(super) fn next(&mut self, grid: Grid, slices: &[Slice]) -> Option<WindowSpan> {
        while let Some(slice) = slices.get(self.place) {
            let end = grid.end_at_or_after(slice.span.end.max(self.next));
            if !self.until.reached(end) {
                // Windows of later slices end later still.
                return None;
            }
            if end <= grid.last_end(slice.span) {
                self.next = grid.end_after(end);
                return Some(grid.window_ending(end));
            }
            self.place += 1;
        }
        None
    }
}
