//! `count`: how many rows, or how many present values.

use arrow_array::Int64Array;
use tidegate_types::Column;
use tidegate_types::batch::index;
use tidegate_types::stored::{Read, Stored, put_i64};

use super::store::{Rows, Store, bytes_of};

/// One count per slot.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Rows added less rows taken back.
    counts: Vec<i64>,
}

impl Store for Counts {
    fn reserve(&mut self, slots: usize) {
        self.counts.resize(slots, 0);
    }

    fn reset(&mut self, slot: usize) {
        self.counts[slot] = 0;
    }

    fn add(&mut self, rows: &Rows<'_>) {
        let counts = self.counts.as_mut_slice();
        rows.each(|_, slot| counts[slot] += 1);
    }

    fn undo(&mut self, rows: &Rows<'_>) {
        let counts = self.counts.as_mut_slice();
        rows.each(|_, slot| counts[slot] -= 1);
    }

    fn merge(&mut self, into: usize, from: usize) {
        self.counts[into] += self.counts[from];
    }

    fn finish(&mut self, slots: &[u32]) -> Column {
        counts_column(slots.iter().map(|slot| self.counts[index(*slot)]))
    }

    fn write(&self, slot: usize, out: &mut Vec<u8>) {
        put_i64(out, self.counts[slot]);
    }

    fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()> {
        self.counts[slot] = stored.i64()?;
        Ok(())
    }

    fn bytes(&self) -> u64 {
        bytes_of::<i64>(self.counts.len())
    }
}

/// A column of counts.
pub(super) fn counts_column(counts: impl Iterator<Item = i64>) -> Column {
    Column::Int(Int64Array::from_iter_values(counts))
}

/// A count as an integer of a record.
pub(super) fn count_to_int(count: u64) -> i64 {
    i64::try_from(count).expect("nobody counts to 2^63")
}
