//! `count_distinct`: how many different values there are, exactly, by type and value.

use tidegate_types::Column;
use tidegate_types::batch::index;

use super::counts::counts_column;
use super::store::{Rows, Store, bytes};
use super::tally::Tallies;

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
        counts_column(slots.iter().map(|slot| self.sets.get(index(*slot)).map_or(0, |set| bytes(set.len()))))
    }

    fn bytes(&self) -> u64 {
        self.sets.bytes()
    }
}
