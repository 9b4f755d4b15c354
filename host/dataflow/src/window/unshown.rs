//! Accepted records that no pane of any of their windows shows (docs/semantics.md, 3), where a hook decides what is shown.
//!
//! A record is followed until one of its windows shows it, or the last of them is purged without having done so.

use tidegate_types::batch::{index, index32};

/// A record that is followed.
#[derive(Debug, Clone, Copy)]
struct Followed {
    /// Windows that hold it and have neither shown nor purged it.
    windows: u32,
    shown: bool,
}

/// The records that are followed.
#[derive(Debug, Default)]
pub(super) struct Unshown {
    records: Vec<Followed>,
    free: Vec<u32>,
}

impl Unshown {
    /// Follows a record of so many windows.
    pub(super) fn follow(&mut self, windows: u32) -> u32 {
        let followed = Followed { windows, shown: false };
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

    /// A window showed the record, or was purged (`shown` false). Returns whether the record is now known to be unshown.
    pub(super) fn leave(&mut self, record: u32, shown: bool) -> bool {
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
        let (a, b) = (unshown.follow(2), unshown.follow(2));
        assert!(!unshown.leave(a, true));
        assert!(!unshown.leave(a, false));
        assert!(!unshown.leave(b, false));
        assert!(unshown.leave(b, false));
    }
}
