//! `sum`: an integer while it has met integers only, else the float nearest to the exact sum.
//!
//! Only an integer sum can refuse a record. A running bound tells, for whole batches, that none can: `bound` is at least
//! the distance from zero of every sum that could come of the slots by adding up different ones of them.

use std::ops::Range;

use tidegate_types::batch::index;
use tidegate_types::column::ColumnBuilder;
use tidegate_types::{Column, ValueRef};

use super::numbers::{Numbers, Sum};
use super::prepared::Input;
use super::store::{Rows, Store};

/// One sum per slot.
#[derive(Debug, Default)]
pub(super) struct Sums {
    numbers: Numbers,
    /// The bound, saturating.
    bound: u64,
    /// Pairs added since the bound was last taken from the slots.
    pairs: usize,
}

const LARGEST: u64 = i64::MAX.unsigned_abs();

impl Sums {
    /// Whether some integer sum could leave 64 bits when integers of this magnitude are added.
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

    /// Whether the row and the slots of one of the ranges together are an integer sum outside 64 bits. The bounds of the
    /// ranges ascend, so that each slot is looked at twice, however many ranges hold it.
    pub(super) fn would_overflow(&self, input: &Input, row: usize, slots: &[u32], ranges: &[Range<usize>]) -> bool {
        let own = match input.selected_value(row) {
            Some(ValueRef::Int(value)) => i128::from(value),
            Some(ValueRef::Float(_)) => return false,
            _ => 0,
        };
        let mut held = 0..0;
        let (mut ints, mut floats) = (0_i128, 0_usize);
        for range in ranges {
            for slot in &slots[held.end..range.end] {
                match self.integers(*slot) {
                    Some(sum) => ints += sum,
                    None => floats += 1,
                }
            }
            for slot in &slots[held.start..range.start] {
                match self.integers(*slot) {
                    Some(sum) => ints -= sum,
                    None => floats -= 1,
                }
            }
            held = range.clone();
            if floats == 0 && i64::try_from(ints + own).is_err() {
                return true;
            }
        }
        false
    }

    /// A slot's sum; none if it has met a float.
    fn integers(&self, slot: u32) -> Option<i128> {
        match self.numbers.get(index(slot)) {
            Sum::Empty => Some(0),
            Sum::Int(sum) => Some(i128::from(sum)),
            Sum::Exact(sum) => (!sum.met_float()).then(|| sum.ints()),
        }
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
        self.bound = self.bound.saturating_add(magnitude);
        self.pairs = self.pairs.saturating_add(rows.additions.rows.len());
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
            });
        }
        column.finish()
    }

    fn bytes(&self) -> u64 {
        self.numbers.bytes()
    }
}
