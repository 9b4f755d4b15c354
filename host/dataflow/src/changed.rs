//! Which entries of an operator's state the next checkpoint has to write.
//!
//! Each entry has a mark beside it; an entry that changes is listed once for each checkpoint. A freeze turns the list over and
//! copies nothing: the marks of the listed entries are those of an earlier time from then on, which is what makes them frozen.
//! Whoever is about to change a frozen entry writes its old form first.
//!
//! Invariants: changes are handed out in the order in which they happened; an entry that was never stored and is gone is never
//! written; one that was stored and is gone is deleted. While changes are not kept, nothing is listed.

use std::collections::VecDeque;

use tidegate_state::Changes;

/// So many changes stand in one piece.
const PIECE: usize = 256;

/// What is known of an entry: when it changed last, if that is not written, and whether it is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// 0: nothing is to be written.
    time: u16,
    stored: bool,
}

impl Mark {
    /// An entry that is stored as it is.
    pub(crate) const STORED: Self = Self { time: 0, stored: true };

    /// Whether a checkpoint has the entry.
    pub(crate) fn is_stored(self) -> bool {
        self.stored
    }

    /// Whether nothing of it is to be written.
    pub(crate) fn is_clean(self) -> bool {
        self.time == 0
    }
}

/// The entries to write, by what finds them.
#[derive(Debug)]
pub(crate) struct Changed<T> {
    /// Counts freezes, around 0, which means that changes are not kept. What is frozen is written long before it comes round.
    time: u16,
    changed: Vec<T>,
    frozen: Vec<T>,
    /// Changes to hand out before what is frozen.
    out: Pieces,
    /// Deletions since the last freeze.
    gone: Pieces,
}

impl<T> Default for Changed<T> {
    fn default() -> Self {
        let (out, gone) = (Pieces::default(), Pieces::default());
        Self { time: 0, changed: Vec::new(), frozen: Vec::new(), out, gone }
    }
}

#[derive(Debug, Default)]
struct Pieces(VecDeque<Changes>);

impl Pieces {
    /// The piece to add to.
    fn last(&mut self) -> &mut Changes {
        if self.0.back().is_none_or(|last| last.len() >= PIECE) {
            self.0.push_back(Changes::default());
        }
        self.0.back_mut().expect("a piece was added")
    }
}

impl<T> Changed<T> {
    /// From now on changes are kept.
    pub(crate) fn keep(&mut self) {
        self.time = self.time.max(1);
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.time != 0
    }

    /// Whether there can be frozen entries that are not written.
    pub(crate) fn has_frozen(&self) -> bool {
        !self.frozen.is_empty()
    }

    /// Whether an entry is frozen and not written.
    pub(crate) fn is_frozen(&self, mark: Mark) -> bool {
        mark.time != 0 && mark.time != self.time
    }

    /// An entry is about to change, or did and was not frozen. `old` writes its form of before: it is called if that is frozen.
    #[inline]
    pub(crate) fn touch(&mut self, mark: &mut Mark, item: impl FnOnce() -> T, old: impl FnOnce(&mut Changes)) {
        if mark.time != self.time {
            self.thaw(mark, true, old);
            mark.time = self.time;
            self.changed.push(item());
        }
    }

    /// If an entry is frozen, its form is written by `old`; `exists`: whether that is a value rather than a deletion.
    pub(crate) fn thaw(&mut self, mark: &mut Mark, exists: bool, old: impl FnOnce(&mut Changes)) {
        if self.is_frozen(*mark) {
            old(self.out.last());
            *mark = Mark { time: 0, stored: exists };
        }
    }

    /// An entry is about to go for good. `exists` and `old` as in [`Changed::thaw`]; `delete` deletes it.
    pub(crate) fn remove(
        &mut self,
        mut mark: Mark,
        exists: bool,
        old: impl FnOnce(&mut Changes),
        delete: impl FnOnce(&mut Changes),
    ) {
        if self.is_kept() {
            self.thaw(&mut mark, exists, old);
            if mark.stored {
                delete(self.gone.last());
            }
        }
    }

    /// The mark of an entry that has changed now, and was stored before or not.
    pub(crate) fn fresh(&self, stored: bool) -> Mark {
        Mark { time: self.time, stored }
    }

    /// An entry that is not frozen, and listed otherwise, has changed.
    pub(crate) fn renew(&self, mark: &mut Mark) {
        mark.time = self.time;
    }

    /// Where deletions since the last freeze are noted.
    pub(crate) fn gone(&mut self) -> &mut Changes {
        self.gone.last()
    }

    /// What is listed is to be written as it is now, with what is left of the last freeze.
    pub(crate) fn freeze(&mut self) {
        if !self.is_kept() {
            return;
        }
        self.time = self.time.checked_add(1).unwrap_or(1);
        if self.frozen.is_empty() {
            std::mem::swap(&mut self.frozen, &mut self.changed);
        } else {
            self.frozen.append(&mut self.changed);
        }
        self.out.0.append(&mut self.gone.0);
    }

    /// Hands out changes that come before what is frozen, and takes them off the count. False: there are more.
    pub(crate) fn hand_out(&mut self, entries: &mut usize, changes: &mut Changes) -> bool {
        while *entries > 0 {
            let Some(piece) = self.out.0.pop_front() else { return true };
            *entries = entries.saturating_sub(piece.len());
            changes.append(&piece);
        }
        self.out.0.is_empty()
    }

    /// The next frozen item; its entry may have been written, or be gone.
    pub(crate) fn next_frozen(&mut self) -> Option<T> {
        self.frozen.pop()
    }

    /// An item of which more is frozen than was written.
    pub(crate) fn put_back(&mut self, item: T) {
        self.frozen.push(item);
    }

    /// Whether the entry is to be written now. It counts as written then; `exists`: as a value rather than a deletion.
    pub(crate) fn take(&self, mark: &mut Mark, exists: bool) -> bool {
        let is_frozen = self.is_frozen(*mark);
        if is_frozen {
            *mark = Mark { time: 0, stored: exists };
        }
        is_frozen
    }

    /// Forgets listed items whose entries are gone, once these are more than the entries that there are.
    pub(crate) fn tidy(&mut self, entries: usize, is_there: impl FnMut(&T) -> bool) {
        if self.changed.len() > 2 * entries + 1_024 {
            self.changed.retain(is_there);
        }
    }
}

#[cfg(test)]
pub(crate) mod cutting;
