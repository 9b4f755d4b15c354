//! Accepted records that no pane of any of their windows shows (docs/semantics.md, 3), where a hook decides what is shown.
//!
//! A record of one window is only counted there. A record of several is followed until one of its windows shows it, or the
//! last of them is purged without having done so.

use std::collections::BTreeMap;

use tidegate_types::KeyGroup;
use tidegate_types::batch::{index, index32};
use tidegate_types::stored::{Malformed, Read, Stored, put_len, put_u64};

use super::stored::{SHOWN, VERSION};
use super::tracked::Tracker;

/// A record of several windows.
#[derive(Debug, Clone, Copy)]
struct Followed {
    /// Windows that hold it and have neither shown nor purged it.
    windows: u32,
    shown: bool,
    /// The hash of its key, and its number in stored state: never given twice in one key group.
    hash: u64,
    number: u64,
}

impl Followed {
    fn put_key(&self, tracker: &Tracker, out: &mut Vec<u8>) {
        tracker.put_prefix(out, SHOWN, self.hash);
        out.extend_from_slice(&self.number.to_be_bytes());
    }
}

/// How a window keeps a record in mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// It is in no other window.
    Alone,
    /// It is in others too: its number.
    Shared(u32),
}

/// The records of a window that no pane of it has shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hidden {
    alone: u64,
    shared: Vec<u32>,
}

impl Hidden {
    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.alone == 0 && self.shared.is_empty()
    }

    /// Adds a record.
    pub(super) fn add(&mut self, record: Follow) {
        match record {
            Follow::Alone => self.alone += 1,
            Follow::Shared(record) => self.shared.push(record),
        }
    }
}

/// The records of several windows.
#[derive(Debug, Default)]
pub(super) struct Unshown {
    records: Vec<Followed>,
    free: Vec<u32>,
    next_number: u64,
    /// Records that were stored, by group and number, while state is restored.
    restoring: BTreeMap<(KeyGroup, u64), u32>,
}

impl Unshown {
    /// Follows a record of so many windows: each is to be given the answer.
    pub(super) fn follow(&mut self, windows: u32, hash: u64) -> Follow {
        if windows <= 1 {
            return Follow::Alone;
        }
        let number = self.next_number;
        self.next_number += 1;
        Follow::Shared(self.add(Followed { windows, shown: false, hash, number }))
    }

    fn add(&mut self, followed: Followed) -> u32 {
        match self.free.pop() {
            Some(record) => {
                self.records[index(record)] = followed;
                record
            }
            None => {
                self.records.push(followed);
                index32(self.records.len() - 1)
            }
        }
    }

    /// Appends a window's records.
    pub(super) fn write(&self, hidden: &Hidden, out: &mut Vec<u8>) {
        put_u64(out, hidden.alone);
        put_len(out, hidden.shared.len());
        hidden.shared.iter().for_each(|record| put_u64(out, self.records[index(*record)].number));
    }

    /// A window's records that were written. Windows that hold one record share it again.
    pub(super) fn read(&mut self, hash: u64, group: KeyGroup, stored: &mut Stored<'_>) -> Read<Hidden> {
        let mut hidden = Hidden { alone: stored.u64()?, shared: Vec::new() };
        for _ in 0..stored.len()? {
            let number = stored.u64()?;
            let record = match self.restoring.get(&(group, number)) {
                Some(record) => *record,
                None => {
                    let record = self.add(Followed { windows: 0, shown: false, hash, number });
                    self.restoring.insert((group, number), record);
                    record
                }
            };
            self.records[index(record)].windows += 1;
            hidden.shared.push(record);
        }
        Ok(hidden)
    }

    /// One of the windows of a record had shown it. All its windows were read before.
    pub(super) fn read_shown(&mut self, group: KeyGroup, number: u64) -> Read<()> {
        let record = self.restoring.get(&(group, number)).ok_or(Malformed::new("a record of a window"))?;
        self.records[index(*record)].shown = true;
        Ok(())
    }

    pub(super) fn end_restoring(&mut self) {
        self.restoring = BTreeMap::new();
    }

    /// The number of the next record.
    pub(super) fn next_number(&self) -> u64 {
        self.next_number
    }

    /// Numbers from this one on are free.
    pub(super) fn number_from(&mut self, number: u64) {
        self.next_number = self.next_number.max(number);
    }

    /// A pane has shown what was hidden in its window.
    pub(super) fn shown(&mut self, hidden: Hidden, tracker: &mut Tracker) {
        for record in hidden.shared {
            self.leave(record, true, tracker);
        }
    }

    /// A window was purged. Returns how many records are now known to be unshown.
    pub(super) fn purged(&mut self, hidden: Hidden, tracker: &mut Tracker) -> u64 {
        let shared = hidden.shared.into_iter().filter(|record| self.leave(*record, false, tracker)).count();
        hidden.alone + shared as u64
    }

    /// A window showed the record, or was purged. Returns whether the record is now known to be unshown.
    fn leave(&mut self, record: u32, shown: bool, tracker: &mut Tracker) -> bool {
        let followed = &mut self.records[index(record)];
        followed.windows -= 1;
        if followed.windows > 0 {
            if shown && !followed.shown {
                followed.shown = true;
                // Few records are in several windows: each change is in bytes at once.
                tracker.now(|tracker, changes| {
                    changes.put(|key| followed.put_key(tracker, key), |value| value.push(VERSION))
                });
            }
            return false;
        }
        if followed.shown {
            tracker.now(|tracker, changes| changes.delete(|key| followed.put_key(tracker, key)));
        }
        followed.shown |= shown;
        self.free.push(record);
        !followed.shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_unshown_when_its_last_window_goes_without_a_pane() {
        let (mut unshown, mut tracker) = (Unshown::default(), Tracker::new(1));
        let (mut left, mut right) = (Hidden::default(), Hidden::default());
        let shown_on_the_left = unshown.follow(2, 0);
        left.add(shown_on_the_left);
        right.add(shown_on_the_left);
        unshown.shown(std::mem::take(&mut left), &mut tracker);
        let in_both = unshown.follow(2, 0);
        left.add(in_both);
        right.add(in_both);
        let on_the_right = unshown.follow(1, 0);
        right.add(on_the_right);
        assert_eq!(unshown.purged(left, &mut tracker), 0, "the right window may still show it");
        assert_eq!(unshown.purged(right, &mut tracker), 2);
    }

    #[test]
    fn the_number_of_a_record_that_left_is_given_again() {
        let (mut unshown, mut tracker) = (Unshown::default(), Tracker::new(1));
        let mut hidden = Hidden::default();
        let first = unshown.follow(2, 0);
        hidden.add(first);
        hidden.add(first);
        assert_eq!(unshown.purged(hidden, &mut tracker), 1);
        assert_eq!(unshown.follow(2, 0), first);
    }
}
