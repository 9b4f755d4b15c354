//! `sum`: an integer while it has met integers only, else the float nearest to the exact sum.
//!
//! Only an integer sum can refuse a record, be it added or taken back. A running bound tells, for whole batches, that none
//! can: `bound` is at least the distance from zero of every sum that could come of the slots by adding up different ones
//! of them.

use std::ops::Range;

use tidegate_types::batch::{index, index32};
use tidegate_types::column::ColumnBuilder;
use tidegate_types::stored::{Read, Stored};
use tidegate_types::{Column, ValueRef};

use super::numbers::{Numbers, Sum};
use super::prepared::Input;
use super::store::{Change, Rows, Store};

/// One sum per slot.
#[derive(Debug)]
pub(super) struct Sums {
    numbers: Numbers,
    /// The bound, saturating.
    bound: u64,
    /// Pairs added or taken back since the bound was last taken from the slots.
    pairs: usize,
}

const LARGEST: u64 = i64::MAX.unsigned_abs();

/// The integers of a sum, and whether there are floats besides: 0 if not, else how many or 1.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    ints: i128,
    floats: i64,
}

impl Part {
    fn change(&mut self, other: Self, sign: i64) {
        self.ints += other.ints * i128::from(sign);
        self.floats += other.floats * sign;
    }
}

impl Sums {
    /// `undoes`: whether rows may be taken back.
    pub(super) fn new(undoes: bool) -> Self {
        Self { numbers: Numbers::new(undoes), bound: 0, pairs: 0 }
    }

    /// Whether some integer sum could leave 64 bits when integers of this magnitude are added or taken back.
    pub(super) fn may_overflow(&self, magnitude: u64) -> bool {
        self.bound.saturating_add(magnitude) > LARGEST
    }

    /// Takes the bound from the slots again if it is too high for this magnitude and enough pairs have been added since
    /// the last time to pay for the look at every slot.
    pub(super) fn make_room(&mut self, magnitude: u64) {
        if self.may_overflow(magnitude) && self.pairs >= self.numbers.slots() {
            self.bound = self.numbers.magnitude();
            self.pairs = 0;
        }
    }

    /// Whether the slots of one of the ranges with the row, added or taken back, are an integer sum outside 64 bits. The
    /// bounds of the ranges ascend, so that each slot is looked at twice, however many ranges hold it.
    pub(super) fn would_overflow(
        &self,
        input: &Input,
        row: usize,
        change: Change,
        slots: &[u32],
        ranges: &[Range<usize>],
    ) -> bool {
        let own = match input.selected_value(row) {
            Some(ValueRef::Int(value)) => Part { ints: i128::from(value), floats: 0 },
            Some(ValueRef::Float(_)) => Part { ints: 0, floats: 1 },
            _ => Part::default(),
        };
        let mut total = Part::default();
        total.change(own, change.sign());
        let mut held = 0..0;
        for range in ranges {
            slots[held.end..range.end].iter().for_each(|slot| total.change(self.part(*slot), 1));
            slots[held.start..range.start].iter().for_each(|slot| total.change(self.part(*slot), -1));
            held = range.clone();
            if total.floats == 0 && i64::try_from(total.ints).is_err() {
                return true;
            }
        }
        false
    }

    fn part(&self, slot: u32) -> Part {
        match self.numbers.get(index(slot)) {
            Sum::Empty => Part::default(),
            Sum::Int(sum) => Part { ints: i128::from(sum), floats: 0 },
            Sum::Exact(sum) => Part { ints: sum.ints(), floats: i64::from(sum.met_float()) },
            Sum::Undoable(sum) => Part { ints: sum.ints(), floats: sum.floats() },
        }
    }

    fn note(&mut self, magnitude: u64, rows: &Rows<'_>) {
        self.bound = self.bound.saturating_add(magnitude);
        self.pairs = self.pairs.saturating_add(rows.additions.rows.len());
    }
}

impl Store for Sums {
    fn reserve(&mut self, slots: usize) {
        self.numbers.reserve(slots);
    }

    fn reset(&mut self, slot: usize) {
        self.numbers.reset(slot);
    }

    fn add(&mut self, rows: &Rows<'_>) {
        let magnitude = self.numbers.add(rows);
        self.note(magnitude, rows);
    }

    fn undo(&mut self, rows: &Rows<'_>) {
        let magnitude = self.numbers.undo(rows);
        self.note(magnitude, rows);
    }

    fn merge(&mut self, into: usize, from: usize) {
        self.numbers.merge(into, from);
    }

    fn finish(&mut self, slots: &[u32]) -> Column {
        let mut column = ColumnBuilder::new();
        for slot in slots {
            column.push(match self.numbers.get(index(*slot)) {
                Sum::Empty => ValueRef::Null,
                Sum::Int(sum) => ValueRef::Int(sum),
                // A sum of integers beyond 64 bits has no integer; the operator rejects the records that would lead there.
                Sum::Exact(sum) => sum.as_int().map_or_else(|| ValueRef::Float(sum.round()), ValueRef::Int),
                Sum::Undoable(sum) => sum.shown(),
            });
        }
        column.finish()
    }

    fn write(&self, slot: usize, out: &mut Vec<u8>) {
        self.numbers.write(slot, out);
    }

    fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()> {
        self.numbers.read(slot, stored)?;
        // The bound is the sum of the distances of all slots, whose order does not matter.
        let distance = self.part(index32(slot)).ints.unsigned_abs();
        self.bound = self.bound.saturating_add(u64::try_from(distance).unwrap_or(u64::MAX));
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.numbers.bytes()
    }
}
