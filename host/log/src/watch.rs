//! Wakes readers that have read everything.
//!
//! Invariant: a reader that noted the version before it looked, and found nothing, cannot miss what came after: the
//! version has moved by then.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

/// Moves when something happens to a stream: an append, a seal, a deletion.
#[derive(Debug, Default)]
pub struct Watch {
    version: Mutex<u64>,
    moved: Condvar,
    /// Those that are woken when this one is.
    followers: Mutex<Vec<Weak<Watch>>>,
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
        let followers = self.followers.lock().unwrap_or_else(PoisonError::into_inner);
        followers.iter().filter_map(Weak::upgrade).for_each(|follower| follower.wake());
    }

    /// From now on whoever waits for `follower` is woken too: so a reader of several streams waits for all of them. A
    /// follower MUST have no followers of its own.
    pub fn is_followed_by(&self, follower: &Arc<Watch>) {
        let mut followers = self.followers.lock().unwrap_or_else(PoisonError::into_inner);
        followers.retain(|known| known.strong_count() > 0);
        followers.push(Arc::downgrade(follower));
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
    fn one_that_follows_several_is_woken_by_each() {
        let (watches, joint) = ([Watch::new(), Watch::new()], Arc::new(Watch::new()));
        watches.iter().for_each(|watch| watch.is_followed_by(&joint));
        for (seen, watch) in (0..).zip(&watches) {
            watch.wake();
            assert_eq!(joint.wait_past(seen, LONG), seen + 1);
        }
        drop(joint);
        watches[0].wake();
        watches[0].is_followed_by(&Arc::new(Watch::new()));
        assert_eq!(watches[0].followers.lock().unwrap().len(), 1, "those that are gone are forgotten");
    }

    #[test]
    fn waiting_ends_by_itself() {
        assert_eq!(Watch::new().wait_past(0, Duration::from_millis(1)), 0);
    }
}
