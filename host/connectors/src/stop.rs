//! Stops a source from outside, also while it waits for its input.
//!
//! Invariant: a source that looks at the flag after it noted a watch's version, and waits for that version to pass, does not
//! miss the stop: the flag is set before the watches are woken.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tidegate_log::Watch;

/// Set once, from any thread.
#[derive(Debug, Default)]
pub struct StopFlag {
    stopped: AtomicBool,
    watches: Mutex<Vec<Weak<Watch>>>,
}

impl StopFlag {
    /// A flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops whoever looks at the flag, and wakes whoever waits. Stopping again is no error.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        let watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.iter().filter_map(Weak::upgrade).for_each(|watch| watch.wake());
    }

    /// Whether it was set.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Wakes a watch, too, when it is set.
    pub fn wakes(&self, watch: &Arc<Watch>) {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.retain(|known| known.strong_count() > 0);
        watches.push(Arc::downgrade(watch));
        drop(watches);
        if self.is_stopped() {
            watch.wake();
        }
    }
}
