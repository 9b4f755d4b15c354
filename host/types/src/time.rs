//! Times and durations: signed 64-bit milliseconds, as docs/semantics.md section 1 fixes them.
//!
//! `Watermark` orders its two infinities around every time, so that rules can compare without special cases.

use std::fmt;

/// A point in event time, ingest time or processing time: milliseconds since the Unix epoch.
pub type EventTime = i64;

/// The wall clock, as a seam: handed in, so that a test can set it.
pub trait Clock: Send + Sync {
    /// The current time, ms since the Unix epoch.
    fn now(&self) -> EventTime;
}

/// The first time of the year 1 in UTC: no record is older.
pub const EARLIEST_TIME: EventTime = -62_135_596_800_000;
/// The last time of the year 9999 in UTC: no record is younger.
pub const LATEST_TIME: EventTime = 253_402_300_799_999;

/// Whether a record may have this time: the years 1 to 9999.
#[must_use]
pub const fn is_record_time(time: EventTime) -> bool {
    time >= EARLIEST_TIME && time <= LATEST_TIME
}

/// A duration in milliseconds, never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

impl fmt::Display for Millis {
    /// Writes the largest unit that divides the duration: `90s`, `10m`, `2h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(i64, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
        for (size, unit) in UNITS {
            if self.0 != 0 && self.0 % size == 0 {
                return write!(f, "{}{unit}", self.0 / size);
            }
        }
        write!(f, "{}ms", self.0)
    }
}

/// The claim that no further record with `time < W` is expected.
///
/// `MIN` is minus infinity (nothing is claimed), `MAX` is plus infinity (the input has ended).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watermark(i64);

impl Watermark {
    /// Minus infinity.
    pub const MIN: Self = Self(i64::MIN);
    /// Plus infinity.
    pub const MAX: Self = Self(i64::MAX);

    /// A finite watermark; the two extreme integers stand for the infinities.
    #[must_use]
    pub const fn at(time: EventTime) -> Self {
        Self(time)
    }

    /// The watermark as an integer, where the infinities are the least and the greatest.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The time, or none for an infinity.
    #[must_use]
    pub const fn finite(self) -> Option<EventTime> {
        if self.0 == i64::MIN || self.0 == i64::MAX { None } else { Some(self.0) }
    }

    /// Whether the watermark has reached `time` (`W >= time`).
    #[must_use]
    pub const fn reached(self, time: EventTime) -> bool {
        self.0 >= time
    }
}
