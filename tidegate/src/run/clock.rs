//! The wall clock of a run without an arrival field.

use std::time::{SystemTime, UNIX_EPOCH};

use tidegate_types::EventTime;
use tidegate_types::Clock;

/// The system's clock, ms since the epoch.
#[derive(Debug, Clone, Copy)]
pub(super) struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the clock seam's real end")]
    fn now(&self) -> EventTime {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        EventTime::try_from(since_epoch.as_millis()).unwrap_or(EventTime::MAX)
    }
}
