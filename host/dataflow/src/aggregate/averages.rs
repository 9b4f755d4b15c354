//! `avg`: the float nearest to the exact sum, divided by how many numbers there are.

use tidegate_types::batch::index;
use tidegate_types::column::ColumnBuilder;
use tidegate_types::{Column, Kind, ValueRef};

use super::counts::count_to_int;
use super::exact::round_int;
use super::numbers::{Numbers, Sum};
use super::store::{Rows, Store, bytes_of};

/// One sum and one count per slot.
#[derive(Debug, Default)]
pub(super) struct Averages {
    numbers: Numbers,
    counts: Vec<u64>,
}

impl Store for Averages {
    fn reserve(&mut self, slots: usize) {
        self.numbers.reserve(slots);
        self.counts.resize(slots, 0);
    }

    fn reset(&mut self, slot: usize) {
        self.numbers.reset(slot);
        self.counts[slot] = 0;
    }

    fn add(&mut self, rows: &Rows<'_>) {
        self.numbers.add(rows);
        let counts = self.counts.as_mut_slice();
        rows.each(|_, slot| counts[slot] += 1);
    }

    fn merge(&mut self, into: usize, from: usize) {
        self.numbers.merge(into, from);
        self.counts[into] += self.counts[from];
    }

    fn finish(&mut self, slots: &[u32]) -> Column {
        let mut column = ColumnBuilder::of_kind(Kind::Float);
        for slot in slots {
            let slot = index(*slot);
            let sum = match self.numbers.get(slot) {
                Sum::Empty => {
                    column.push(ValueRef::Null);
                    continue;
                }
                Sum::Int(sum) => round_int(i128::from(sum)),
                Sum::Exact(sum) => sum.round(),
            };
            column.push(ValueRef::Float(sum / round_int(i128::from(count_to_int(self.counts[slot])))));
        }
        column.finish()
    }

    fn bytes(&self) -> u64 {
        self.numbers.bytes() + bytes_of::<u64>(self.counts.len())
    }
}
