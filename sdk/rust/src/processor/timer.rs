//! Timers of a key.

use super::call::Key;
use super::store::KeyedState;

/// A timer that every key has. At most one time is pending under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    number: u32,
}

/// A timer that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    /// Which one it is.
    pub timer: Timer,
    /// The time that it was set to, ms since the Unix epoch.
    pub time: i64,
}

impl Timer {
    pub(super) fn new(number: u32) -> Self {
        Self { number }
    }

    /// Sets the timer, ms since the Unix epoch. What was pending is replaced. A time that has passed is due right after this row.
    pub fn set(&self, key: &Key<'_>, time: i64) {
        key.call.timers.borrow_mut().push(Change { timer: self.number, key: key.number, time: Some(time) });
    }

    /// Takes back what is pending.
    pub fn clear(&self, key: &Key<'_>) {
        key.call.timers.borrow_mut().push(Change { timer: self.number, key: key.number, time: None });
    }
}

impl Fired {
    pub(super) fn new(timer: u32, time: i64) -> Self {
        Self { timer: Timer::new(timer), time }
    }
}

#[derive(Clone, Copy, Debug)]
struct Change {
    timer: u32,
    key: u32,
    time: Option<i64>,
}

/// What a call did to timers, in order.
#[derive(Debug, Default)]
pub(super) struct TimerLog {
    changes: Vec<Change>,
    settled: usize,
}

impl TimerLog {
    fn push(&mut self, change: Change) {
        self.changes.push(change);
    }

    pub(super) fn settle(&mut self) {
        self.settled = self.changes.len();
    }

    pub(super) fn undo(&mut self) {
        self.changes.truncate(self.settled);
    }

    /// Timers do not know of each other, so each one's changes go together: as few calls as there are turns from setting to clearing.
    pub(super) fn flush(&mut self, store: &dyn KeyedState) {
        let mut changes = std::mem::take(&mut self.changes);
        changes.sort_by_key(|change| change.timer);
        for run in changes.chunk_by(|a, b| (a.timer, a.time.is_some()) == (b.timer, b.time.is_some())) {
            let keys: Vec<u32> = run.iter().map(|change| change.key).collect();
            let times: Vec<i64> = run.iter().filter_map(|change| change.time).collect();
            if times.is_empty() {
                store.clear_timer(run[0].timer, &keys);
            } else {
                store.set_timer(run[0].timer, &keys, &times);
            }
        }
        self.settled = 0;
    }
}
