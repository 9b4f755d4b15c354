//! Places to compile and try out in: so many at once, and one for each owner, so that one tenant's slow components keep nobody
//! else out.
//!
//! Invariant: places are given in turn. Who came first goes first, and what else an owner waits for goes behind everybody who
//! waits when the owner's place is freed: an owner waits for at most one place of each other one.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The places.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    most_waiting: usize,
    most_waiting_of_owner: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    busy: BTreeSet<String>,
    queue: VecDeque<Waiting>,
    tickets: u64,
}

/// Who waits for a place.
#[derive(Debug)]
struct Waiting {
    ticket: u64,
    owner: String,
    /// Whether it counts among those that wait: who waits as long as it takes is bounded elsewhere.
    counts: bool,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    places: &'a Places,
    owner: String,
}

impl State {
    /// Whether it is this one's turn: there is a place, its owner has none, and whoever is before it must wait for its own.
    fn is_turn(&self, ticket: u64, most: usize) -> bool {
        let next = self.queue.iter().find(|waiting| !self.busy.contains(&waiting.owner));
        self.busy.len() < most && next.is_some_and(|next| next.ticket == ticket)
    }

    fn remove(&mut self, ticket: u64) {
        self.queue.retain(|waiting| waiting.ticket != ticket);
    }

    /// How many others are counted that wait, of all owners and of this one.
    fn others(&self, ticket: u64, owner: &str) -> (usize, usize) {
        let counted = self.queue.iter().filter(|waiting| waiting.counts && waiting.ticket != ticket);
        counted.fold((0, 0), |(all, own), waiting| (all + 1, own + usize::from(waiting.owner == owner)))
    }
}

impl Places {
    pub(crate) fn new(most: usize, most_waiting: usize, most_waiting_of_owner: usize) -> Self {
        Self { most, most_waiting, most_waiting_of_owner, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Waits for a place: at most so long, or, without a patience, as long as it takes. None: too many wait, or it took too long.
    pub(crate) fn take(&self, owner: &str, patience: Option<Duration>) -> Option<Place<'_>> {
        let mut state = self.lock();
        let ticket = state.tickets;
        state.tickets += 1;
        state.queue.push_back(Waiting { ticket, owner: owner.to_owned(), counts: patience.is_some() });
        let (all, own) = state.others(ticket, owner);
        let crowded = all >= self.most_waiting || own >= self.most_waiting_of_owner;
        if patience.is_some() && crowded && !state.is_turn(ticket, self.most) {
            state.remove(ticket);
            return None;
        }
        let not_yet = |state: &mut State| !state.is_turn(ticket, self.most);
        let mut state = match patience {
            Some(patience) => {
                self.freed.wait_timeout_while(state, patience, not_yet).unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.freed.wait_while(state, not_yet).unwrap_or_else(PoisonError::into_inner),
        };
        let turn = state.is_turn(ticket, self.most);
        state.remove(ticket);
        if turn {
            state.busy.insert(owner.to_owned());
        }
        drop(state);
        // Who stood behind this one may be the next.
        self.freed.notify_all();
        turn.then(|| Place { places: self, owner: owner.to_owned() })
    }

    /// The state is whole between any two of its changes, also where a thread panicked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.places.lock();
        state.busy.remove(&self.owner);
        let (own, others): (VecDeque<_>, VecDeque<_>) =
            state.queue.drain(..).partition(|waiting| waiting.owner == self.owner);
        state.queue = others;
        state.queue.extend(own);
        drop(state);
        self.places.freed.notify_all();
    }
}

#[cfg(test)]
mod tests;
