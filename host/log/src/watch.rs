//! Wakes readers that have read everything.
//!
//! Invariant: a reader that noted the version before it looked, and found nothing, cannot miss what came after: the
//! version has moved by then.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Moves when something happens to a stream: an append, a seal, a deletion.
#[derive(Debug, Default)]
pub struct Watch {
    version: Mutex<u64>,
    moved: Condvar,
}

impl Watch {
    /// A watch at version 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts what has happened. Note it before looking, and wait past it after.
    #[must_use]
    pub fn version(&self) -> u64 {
        *self.version.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks until the version is above `seen`, at most for `timeout`; the version then.
    pub fn wait_past(&self, seen: u64, timeout: Duration) -> u64 {
        let version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        let (version, _) = self
            .moved
            .wait_timeout_while(version, timeout, |version| *version <= seen)
            .unwrap_or_else(PoisonError::into_inner);
        *version
    }

    /// Moves the version and wakes everybody. Waking too often is harmless: a reader looks and waits again.
    pub fn wake(&self) {
        *self.version.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_happened_before_waiting_is_not_missed() {
        let watch = Watch::new();
        let seen = watch.version();
        watch.wake();
        assert_eq!(watch.wait_past(seen, LONG), seen + 1);
    }

    #[test]
    fn a_waiter_is_woken() {
        let watch = Watch::new();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| watch.wait_past(0, LONG));
            watch.wake();
            assert_eq!(waiter.join().unwrap(), 1);
        });
    }

    #[test]
    fn waiting_ends_by_itself() {
        assert_eq!(Watch::new().wait_past(0, Duration::from_millis(1)), 0);
    }
}
