//! The clock seam's real end: the wall clock of runs without an arrival field and of the platform.

use std::time::{SystemTime, UNIX_EPOCH};

use tidegate_types::{Clock, EventTime};

/// The system's clock, ms since the epoch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the clock seam's real end")]
    fn now(&self) -> EventTime {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        EventTime::try_from(since_epoch.as_millis()).unwrap_or(EventTime::MAX)
    }
}
