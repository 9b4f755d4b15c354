//! Places to compile in: so many at once, and one for each owner, so that one tenant's slow components keep nobody else out.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The places.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    most_waiting: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    busy: BTreeSet<String>,
    waiting: usize,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    places: &'a Places,
    owner: String,
}

impl Places {
    pub(crate) fn new(most: usize, most_waiting: usize) -> Self {
        Self { most, most_waiting, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Waits for a place, at most so long. None: too many wait, or it took too long.
    pub(crate) fn take(&self, owner: &str, patience: Duration) -> Option<Place<'_>> {
        let mut state = self.lock();
        if state.waiting >= self.most_waiting {
            return None;
        }
        state.waiting += 1;
        let full = |state: &mut State| state.busy.len() >= self.most || state.busy.contains(owner);
        let waited = self.freed.wait_timeout_while(state, patience, full);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        if full(&mut state) {
            return None;
        }
        state.busy.insert(owner.to_owned());
        Some(Place { places: self, owner: owner.to_owned() })
    }

    /// The state is whole between any two of its changes, also where a thread panicked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.places.lock().busy.remove(&self.owner);
        self.places.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOT_AT_ALL: Duration = Duration::ZERO;

    #[test]
    fn an_owner_has_one_place_and_leaves_the_others_to_others() {
        let places = Places::new(2, 10);
        let a = places.take("a", NOT_AT_ALL).unwrap();
        assert!(places.take("a", NOT_AT_ALL).is_none());
        let _b = places.take("b", NOT_AT_ALL).unwrap();
        assert!(places.take("c", NOT_AT_ALL).is_none());
        drop(a);
        assert!(places.take("c", NOT_AT_ALL).is_some());
    }

    #[test]
    fn who_waits_gets_the_place_that_is_freed() {
        let places = Places::new(1, 1);
        let first = places.take("a", NOT_AT_ALL).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| places.take("b", Duration::from_secs(60)).is_some());
            while places.lock().waiting == 0 {
                std::thread::yield_now();
            }
            assert!(places.take("c", Duration::from_secs(60)).is_none(), "too many wait");
            drop(first);
            assert!(waiting.join().unwrap());
        });
    }
}
