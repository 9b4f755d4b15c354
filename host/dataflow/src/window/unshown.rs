//! Accepted records that no pane of any of their windows shows (docs/semantics.md, 3), where a hook decides what is shown.
//!
//! A record of one window is only counted there. A record of several is followed until one of its windows shows it, or the
//! last of them is purged without having done so.

use tidegate_types::batch::{index, index32};

/// A record of several windows.
#[derive(Debug, Clone, Copy)]
struct Followed {
    /// Windows that hold it and have neither shown nor purged it.
    windows: u32,
    shown: bool,
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
}

impl Unshown {
    /// Follows a record of so many windows: each is to be given the answer.
    pub(super) fn follow(&mut self, windows: u32) -> Follow {
        if windows <= 1 {
            return Follow::Alone;
        }
        let followed = Followed { windows, shown: false };
        let record = match self.free.pop() {
            Some(record) => {
                self.records[index(record)] = followed;
                record
            }
            None => {
                self.records.push(followed);
                index32(self.records.len() - 1)
            }
        };
        Follow::Shared(record)
    }

    /// A pane has shown what was hidden in its window.
    pub(super) fn shown(&mut self, hidden: Hidden) {
        for record in hidden.shared {
            self.leave(record, true);
        }
    }

    /// A window was purged. Returns how many records are now known to be unshown.
    pub(super) fn purged(&mut self, hidden: Hidden) -> u64 {
        let shared = hidden.shared.into_iter().filter(|record| self.leave(*record, false)).count();
        hidden.alone + shared as u64
    }

    /// A window showed the record, or was purged. Returns whether the record is now known to be unshown.
    fn leave(&mut self, record: u32, shown: bool) -> bool {
        let followed = &mut self.records[index(record)];
        followed.windows -= 1;
        followed.shown |= shown;
        if followed.windows > 0 {
            return false;
        }
        self.free.push(record);
        !followed.shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_unshown_when_its_last_window_goes_without_a_pane() {
        let mut unshown = Unshown::default();
        let (mut left, mut right) = (Hidden::default(), Hidden::default());
        let shown_on_the_left = unshown.follow(2);
        left.add(shown_on_the_left);
        right.add(shown_on_the_left);
        unshown.shown(std::mem::take(&mut left));
        let in_both = unshown.follow(2);
        left.add(in_both);
        right.add(in_both);
        let on_the_right = unshown.follow(1);
        right.add(on_the_right);
        assert_eq!(unshown.purged(left), 0, "the right window may still show it");
        assert_eq!(unshown.purged(right), 2);
    }

    #[test]
    fn the_number_of_a_record_that_left_is_given_again() {
        let mut unshown = Unshown::default();
        let mut hidden = Hidden::default();
        let first = unshown.follow(2);
        hidden.add(first);
        hidden.add(first);
        assert_eq!(unshown.purged(hidden), 1);
        assert_eq!(unshown.follow(2), first);
    }
}
