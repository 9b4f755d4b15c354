//! `count_distinct`: how many different values there are, exactly, by type and value.

use tidegate_types::Column;
use tidegate_types::batch::index;
use tidegate_types::stored::{Read, Stored, put_i64};

use super::counts::{count_to_int, counts_column};
use super::store::{Change, Rows, Store, bytes, bytes_of};
use super::tally::{Tallies, Tally};

/// A set of values per slot.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    sets: Tallies<()>,
}

impl Store for Distinct {
    fn reserve(&mut self, slots: usize) {
        self.sets.reserve(slots);
    }

    fn reset(&mut self, slot: usize) {
        self.sets.reset(slot);
    }

    fn add(&mut self, rows: &Rows<'_>) {
        rows.each_value(|_, slot, value| self.sets.change(slot, value, |()| {}));
    }

    fn merge(&mut self, into: usize, from: usize) {
        self.sets.merge(into, from, |(), ()| {});
    }

    fn finish(&mut self, slots: &[u32]) -> Column {
        counts_column(slots.iter().map(|slot| self.sets.get(index(*slot)).map_or(0, len)))
    }

    fn write(&self, slot: usize, out: &mut Vec<u8>) {
        self.sets.write(slot, out, |_, ()| {});
    }

    fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()> {
        self.sets.read(slot, stored, |_| Ok(()))
    }

    fn bytes(&self) -> u64 {
        self.sets.bytes()
    }
}

/// How often each value is there, per slot, where rows may be taken back.
#[derive(Debug)]
pub(super) struct UndoableDistinct {
    counts: Tallies<i64>,
    /// By slot: the values that were taken back more often than added (under discarding). They are not there.
    missing: Vec<i64>,
}

impl UndoableDistinct {
    pub(super) fn new() -> Self {
        Self { counts: Tallies::dropping(), missing: Vec::new() }
    }

    fn apply(&mut self, rows: &Rows<'_>, change: Change) {
        let (counts, missing) = (&mut self.counts, &mut self.missing);
        rows.each_value(|_, slot, value| {
            counts.change(slot, value, |count| move_count(count, change.sign(), &mut missing[slot]));
        });
    }
}

impl Store for UndoableDistinct {
    fn reserve(&mut self, slots: usize) {
        self.counts.reserve(slots);
        self.missing.resize(slots, 0);
    }

    fn reset(&mut self, slot: usize) {
        self.counts.reset(slot);
        self.missing[slot] = 0;
    }

    fn add(&mut self, rows: &Rows<'_>) {
        self.apply(rows, Change::Add);
    }

    fn undo(&mut self, rows: &Rows<'_>) {
        self.apply(rows, Change::Undo);
    }

    fn merge(&mut self, into: usize, from: usize) {
        let missing = &mut self.missing[into];
        self.counts.merge(into, from, |count, more| move_count(count, more, missing));
    }

    fn finish(&mut self, slots: &[u32]) -> Column {
        counts_column(slots.iter().map(|slot| {
            let slot = index(*slot);
            self.counts.get(slot).map_or(0, len) - self.missing[slot]
        }))
    }

    fn write(&self, slot: usize, out: &mut Vec<u8>) {
        self.counts.write(slot, out, put_i64);
    }

    fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()> {
        let mut missing = 0;
        self.counts.read(slot, stored, |stored| {
            let count = stored.i64()?;
            missing += i64::from(count < 0);
            Ok(count)
        })?;
        self.missing[slot] = missing;
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.counts.bytes() + bytes_of::<i64>(self.missing.len())
    }
}

fn move_count(count: &mut i64, by: i64, missing: &mut i64) {
    *missing -= i64::from(*count < 0);
    *count += by;
    *missing += i64::from(*count < 0);
}

fn len<T>(tally: &Tally<T>) -> i64 {
    count_to_int(bytes(tally.len()))
}
