//! The grid of sliding windows and the slices that their starts and ends cut time into.

use tidegate_types::{EventTime, Millis};
use tidegate_windows::{WindowSpan, tumbling_start};

/// Sliding windows of one size, one every slide.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    size: Millis,
    slide: Millis,
    offset: Millis,
}

impl Grid {
    pub(super) fn new(size: Millis, slide: Millis, offset: Millis) -> Self {
        Self { size, slide, offset }
    }

    /// The slice that holds a time: from the last start or end of a window at or before it to the next.
    pub(super) fn slice_of(self, time: EventTime) -> WindowSpan {
        let start = tumbling_start(time, self.slide, self.offset);
        let rest = self.size.0 % self.slide.0;
        let cut = start.saturating_add(rest);
        let end = start.saturating_add(self.slide.0);
        match time >= cut {
            true if rest > 0 => WindowSpan { start: cut, end },
            true => WindowSpan { start, end },
            false => WindowSpan { start, end: cut },
        }
    }

    /// The end of the last window that holds a slice.
    pub(super) fn last_end(self, slice: WindowSpan) -> EventTime {
        tumbling_start(slice.start, self.slide, self.offset).saturating_add(self.size.0)
    }

    /// The first end of a window at or after a time.
    pub(super) fn end_at_or_after(self, time: EventTime) -> EventTime {
        // Ends are congruent to offset + size modulo the slide.
        let shift = Millis(self.offset.0.saturating_add(self.size.0));
        let at_or_before = tumbling_start(time, self.slide, shift);
        if at_or_before == time { time } else { at_or_before.saturating_add(self.slide.0) }
    }

    /// The end of the first window that starts after a time.
    pub(super) fn end_of_start_after(self, time: EventTime) -> EventTime {
        self.end_at_or_after(time.saturating_add(self.size.0).saturating_add(1))
    }

    /// The end of the window after the one that ends then.
    pub(super) fn end_after(self, end: EventTime) -> EventTime {
        end.saturating_add(self.slide.0)
    }

    /// The window with this end.
    pub(super) fn window_ending(self, end: EventTime) -> WindowSpan {
        WindowSpan { start: end.saturating_sub(self.size.0), end }
    }
}
