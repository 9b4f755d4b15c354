//! What has changed since the last checkpoint, and what is still to be written of it.
//!
//! Time is cut into epochs by freezes. Every entry has a [`Mark`]: whether it is stored, and the epoch of its last change
//! that was not written. Invariants: an entry with a change of this epoch or of a frozen one is listed; what is handed out
//! stands in this order: what went before a freeze, then the entries as that freeze found them. So an entry that is about to
//! change or to go while a frozen change of it is unwritten is written first.

use std::collections::VecDeque;

use tidegate_state::{Changes, Namespace, put_prefix};
use tidegate_types::key_group;

/// Changes of a piece: pieces are handed out whole.
const PIECE: usize = 256;

/// Whether an entry is stored, and when it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Mark(u32);

impl Mark {
    /// Stored as it is.
    pub(super) const STORED: Self = Self(1);

    fn epoch(self) -> u32 {
        self.0 >> 1
    }

    pub(super) fn is_stored(self) -> bool {
        self.0 & 1 == 1
    }

    /// The same, no longer stored (under its key).
    pub(super) fn unstored(self) -> Self {
        Self(self.0 & !1)
    }
}

/// The changes of one operator.
#[derive(Debug)]
pub(super) struct Tracker {
    /// 0: nothing is kept in mind.
    epoch: u32,
    max_parallelism: u32,
    /// What went in this epoch.
    active: Pieces,
    /// What is frozen, as far as it is in bytes already.
    ready: Pieces,
}

impl Tracker {
    pub(super) fn new(max_parallelism: u32) -> Self {
        Self { epoch: 0, max_parallelism, active: Pieces::default(), ready: Pieces::default() }
    }

    /// Changes are kept in mind from now on.
    pub(super) fn start(&mut self) {
        self.epoch = self.epoch.max(1);
    }

    pub(super) fn is_on(&self) -> bool {
        self.epoch > 0
    }

    /// Appends what the key of an entry of a key with this hash begins with.
    pub(super) fn put_prefix(&self, out: &mut Vec<u8>, namespace: Namespace, hash: u64) {
        put_prefix(out, namespace, key_group(hash, self.max_parallelism));
    }

    /// Whether a change of the entry is listed already (or nothing is kept in mind).
    #[inline]
    pub(super) fn is_listed(&self, mark: Mark) -> bool {
        mark.epoch() == self.epoch
    }

    /// Whether a change of the entry is frozen and unwritten.
    pub(super) fn is_frozen(&self, mark: Mark) -> bool {
        mark.epoch() != 0 && mark.epoch() != self.epoch
    }

    /// The mark of an entry that is about to change and is not listed: the caller lists it. `put` writes it as it is.
    pub(super) fn change(&mut self, mark: Mark, put: impl FnOnce(&Self, &mut Changes)) -> Mark {
        let mark = self.write_frozen(mark, put);
        self.listed(mark)
    }

    /// The mark of an entry that is listed from now on.
    pub(super) fn listed(&self, mark: Mark) -> Mark {
        Mark(self.epoch << 1 | u32::from(mark.is_stored()))
    }

    /// The mark of an entry that is about to go. `put` writes it as it is, `key` appends its key. Called twice, the second time
    /// does nothing.
    pub(super) fn forget(
        &mut self,
        mark: Mark,
        put: impl FnOnce(&Self, &mut Changes),
        key: impl FnOnce(&Self, &mut Vec<u8>),
    ) -> Mark {
        if !self.is_on() {
            return Mark::default();
        }
        let mark = self.write_frozen(mark, put);
        self.delete_stored(mark, key);
        self.reused(mark.unstored())
    }

    /// The entry is no longer there under its key, if it was stored under it.
    pub(super) fn delete_stored(&mut self, mark: Mark, key: impl FnOnce(&Self, &mut Vec<u8>)) {
        if self.is_on() && mark.is_stored() {
            let mut bytes = Vec::new();
            key(self, &mut bytes);
            self.active.last().delete(|out| out.extend_from_slice(&bytes));
        }
    }

    /// The mark of a new entry in the place of one that went: it stays listed if it is.
    pub(super) fn reused(&self, mark: Mark) -> Mark {
        if mark.epoch() == self.epoch { mark } else { Mark::default() }
    }

    /// A change of an entry that has no mark, in bytes at once.
    pub(super) fn now(&mut self, change: impl FnOnce(&Self, &mut Changes)) {
        if self.is_on() {
            let mut active = std::mem::take(&mut self.active);
            change(self, active.last());
            self.active = active;
        }
    }

    /// A new epoch begins.
    pub(super) fn freeze(&mut self) {
        self.epoch += 1;
        self.ready.0.append(&mut self.active.0);
    }

    /// Hands out about so many changes that are in bytes. Returns how many of `entries` are left.
    pub(super) fn hand_out(&mut self, entries: usize, changes: &mut Changes) -> usize {
        let mut left = entries;
        while left > 0
            && let Some(piece) = self.ready.0.pop_front()
        {
            changes.append(&piece);
            left = left.saturating_sub(piece.len());
        }
        left
    }

    pub(super) fn has_handed_out(&self) -> bool {
        self.ready.0.is_empty()
    }

    fn write_frozen(&mut self, mark: Mark, put: impl FnOnce(&Self, &mut Changes)) -> Mark {
        if !self.is_frozen(mark) {
            return mark;
        }
        let mut ready = std::mem::take(&mut self.ready);
        put(self, ready.last());
        self.ready = ready;
        Mark::STORED
    }
}

/// Changes in order, cut into pieces.
#[derive(Debug, Default)]
struct Pieces(VecDeque<Changes>);

impl Pieces {
    /// Where the next change goes.
    fn last(&mut self) -> &mut Changes {
        if self.0.back().is_none_or(|piece| piece.len() >= PIECE) {
            self.0.push_back(Changes::default());
        }
        self.0.back_mut().expect("a piece was just added")
    }
}

/// Entries that changed, of one table.
#[derive(Debug)]
pub(super) struct Listed<T> {
    active: Vec<T>,
    frozen: Vec<T>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { active: Vec::new(), frozen: Vec::new() }
    }
}

impl<T> Listed<T> {
    #[inline]
    pub(super) fn push(&mut self, entry: T) {
        self.active.push(entry);
    }

    pub(super) fn freeze(&mut self) {
        if self.frozen.is_empty() {
            std::mem::swap(&mut self.active, &mut self.frozen);
        } else {
            self.frozen.append(&mut self.active);
        }
    }

    /// The next frozen entry. It may have been written, changed or gone since: its mark tells.
    pub(super) fn pop(&mut self) -> Option<T> {
        self.frozen.pop()
    }

    pub(super) fn is_done(&self) -> bool {
        self.frozen.is_empty()
    }
}

#[cfg(test)]
mod tests;
