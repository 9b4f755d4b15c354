//! `avg`: the float nearest to the exact sum, divided by how many numbers there are.

use tidegate_types::batch::index;
use tidegate_types::column::ColumnBuilder;
use tidegate_types::stored::{Read, Stored, put_i64};
use tidegate_types::{Column, Kind, ValueRef};

use super::exact::round_int;
use super::numbers::{Numbers, Sum};
use super::store::{Rows, Store, bytes_of};

/// One sum and one count per slot.
#[derive(Debug)]
pub(super) struct Averages {
    numbers: Numbers,
    /// Numbers added less numbers taken back.
    counts: Vec<i64>,
}

impl Averages {
    /// `undoes`: whether rows may be taken back.
    pub(super) fn new(undoes: bool) -> Self {
        Self { numbers: Numbers::new(undoes), counts: Vec::new() }
    }
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

    fn undo(&mut self, rows: &Rows<'_>) {
        self.numbers.undo(rows);
        let counts = self.counts.as_mut_slice();
        rows.each(|_, slot| counts[slot] -= 1);
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
                Sum::Empty => None,
                Sum::Int(sum) => Some(round_int(i128::from(sum))),
                Sum::Exact(sum) => Some(sum.round()),
                Sum::Undoable(sum) => Some(sum.round()),
            };
            let count = self.counts[slot];
            let average = sum.filter(|_| count != 0).map(|sum| sum / round_int(i128::from(count)));
            column.push(average.map_or(ValueRef::Null, ValueRef::Float));
        }
        column.finish()
    }

    fn write(&self, slot: usize, out: &mut Vec<u8>) {
        self.numbers.write(slot, out);
        put_i64(out, self.counts[slot]);
    }

    fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()> {
        self.numbers.read(slot, stored)?;
        self.counts[slot] = stored.i64()?;
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.numbers.bytes() + bytes_of::<i64>(self.counts.len())
    }
}
