//! How a processor's state expires, and how keys are forgotten that hold nothing any more.

use std::ops::Bound::{Excluded, Unbounded};

use tidegate_types::{EventTime, Watermark};

use super::cell::Weight;
use super::keys::KeyId;
use super::store::Store;

impl Store {
    pub(super) fn next_expiry(&self, key: KeyId) -> Option<EventTime> {
        let latest = self.keys.head(key).latest?;
        let ttls = self.states.iter().enumerate().filter_map(|(state, spec)| {
            let ttl = spec.ttl?;
            (!self.cells[self.cell_at(key, state)].is_empty()).then_some(ttl)
        });
        ttls.min().map(|ttl| latest.saturating_add(ttl))
    }

    /// Removes the states of a key that the watermark has outlived first.
    pub(super) fn expire(&mut self, key: KeyId) {
        let (Some(latest), Some(at)) = (self.keys.head(key).latest, self.next_expiry(key)) else { return };
        for state in 0..self.states.len() {
            if self.states[state].ttl.is_some_and(|ttl| latest.saturating_add(ttl) <= at) {
                let cell = self.cell_at(key, state);
                self.forget_cell(cell);
            }
        }
    }

    fn forget_cell(&mut self, at: usize) {
        self.before_cell(at);
        let before = std::mem::take(&mut self.cells[at]);
        self.touch_cell(at, &before);
        let Weight { rows, bytes } = before.weight();
        self.weight.rows -= rows;
        self.weight.bytes -= bytes;
    }

    /// After something was published for a key, and no timer of it is due: removes what has expired, forgets the key if
    /// nothing is left of it, or notes when to look again.
    pub(super) fn settle(&mut self, key: KeyId, watermark: Watermark) {
        while self.next_expiry(key).is_some_and(|at| watermark.reached(at)) {
            self.expire(key);
        }
        let next = if self.is_bare(key) {
            let latest = self.keys.head(key).latest;
            let until = latest.zip(self.ttls).map(|(latest, (_, longest))| latest.saturating_add(longest));
            match until.filter(|until| !watermark.reached(*until)) {
                Some(until) => Some(until),
                None => {
                    self.forget(key);
                    return;
                }
            }
        } else {
            self.next_expiry(key)
        };
        let stands = self.keys.head(key).expiry;
        let Some(next) = next.filter(|next| stands.is_none_or(|stands| *next < stands)) else { return };
        self.touch_head(key);
        if let Some(stands) = stands {
            self.expiries.remove(&(stands, key));
        }
        self.expiries.insert((next, key));
        self.keys.head_mut(key).expiry = Some(next);
    }

    fn forget(&mut self, key: KeyId) {
        if let Some(expiry) = self.keys.head(key).expiry {
            self.expiries.remove(&(expiry, key));
        }
        self.note_gone(key);
        self.keys.remove(key);
        if self.keys.len() == 0 {
            self.give_back();
        }
    }

    /// Gives the memory of the slots back once no key is left; the queues are empty then.
    fn give_back(&mut self) {
        debug_assert!(self.timers() == 0 && self.expiries.is_empty() && self.weight == Weight::default());
        (self.cells, self.pending) = (Vec::new(), Vec::new());
        self.tracking.give_back();
    }

    /// Removes what the watermark has outlived, but for the keys of this mark. False: more than `most` of these stand in the
    /// way, and the rest is left.
    pub(super) fn expire_others(&mut self, watermark: Watermark, mark: u64, most: usize) -> bool {
        let mut passed = 0;
        let mut after = (EventTime::MIN, 0);
        let mut first = self.expiries.first().copied();
        while let Some((at, key)) = first.filter(|(at, _)| watermark.reached(*at)) {
            if self.keys.head(key).mark == mark {
                after = (at, key);
                passed += 1;
            } else {
                self.touch_head(key);
                self.expiries.remove(&(at, key));
                self.keys.head_mut(key).expiry = None;
                self.settle(key, watermark);
            }
            if passed > most {
                return false;
            }
            first = if passed == 0 {
                self.expiries.first().copied()
            } else {
                self.expiries.range((Excluded(after), Unbounded)).next().copied()
            };
        }
        true
    }
}
