//! Which windows of a fixed grid a time falls into, and when a window is gone (docs/semantics.md, 3).
//!
//! All arithmetic saturates: durations and times are bounded far below 64 bits, so that saturation is never reached by
//! valid input and never wraps for any other.

use tidegate_types::{EventTime, Millis, Watermark};

/// A window `[start, end)` in event time, ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowSpan {
    /// The first time inside.
    pub start: EventTime,
    /// The first time after it.
    pub end: EventTime,
}

impl WindowSpan {
    /// The one window of a global assignment.
    pub const GLOBAL: Self = Self { start: EventTime::MIN, end: EventTime::MAX };

    /// Whether the two overlap. Spans that only touch do not.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The smallest span that holds both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The length, ms.
    #[must_use]
    pub const fn length(self) -> i64 {
        self.end.saturating_sub(self.start)
    }
}

/// The start of the window of a grid of `size` moved by `offset` that holds `time`: `floor((t - o) / s) * s + o`.
#[must_use]
pub const fn tumbling_start(time: EventTime, size: Millis, offset: Millis) -> EventTime {
    let moved = time.saturating_sub(offset.0);
    moved.div_euclid(size.0).saturating_mul(size.0).saturating_add(offset.0)
}

/// The windows of a sliding grid that hold `time`, earliest first: every `start ≡ o (mod p)` with `start <= t < start + s`.
///
/// A tumbling window is one with `slide = size`.
pub fn covering_windows(
    time: EventTime,
    size: Millis,
    slide: Millis,
    offset: Millis,
) -> impl Iterator<Item = WindowSpan> {
    let last = tumbling_start(time, slide, offset);
    let reach = time.saturating_sub(last);
    // The number of slides that one can go back from the last start and still cover the time.
    let back = size.0.saturating_sub(1).saturating_sub(reach).max(-1).div_euclid(slide.0);
    let first = last.saturating_sub(back.saturating_mul(slide.0));
    (0..=back).map(move |step| {
        let start = first.saturating_add(step.saturating_mul(slide.0));
        WindowSpan { start, end: start.saturating_add(size.0) }
    })
}

/// Whether a window that ends at `end` is gone: `end + L <= W`.
#[must_use]
pub const fn is_gone(end: EventTime, lateness: Millis, watermark: Watermark) -> bool {
    watermark.reached(end.saturating_add(lateness.0))
}

#[cfg(test)]
mod tests;
