//! `min` and `max`: numbers by exact value before strings by code point.

use std::cmp::Ordering;

use tidegate_types::batch::index;
use tidegate_types::stored::{Read, Stored};
use tidegate_types::value::canonical_float;
use tidegate_types::{Column, ValueRef};

use super::cells::Cells;
use super::store::{Rows, Store};

/// The least or the greatest value per slot.
#[derive(Debug)]
pub(super) struct Extremes {
    cells: Cells,
    /// How a value compares with the slot's to take its place.
    better: Ordering,
}

impl Extremes {
    pub(super) fn least() -> Self {
        Self { cells: Cells::default(), better: Ordering::Less }
    }

    pub(super) fn greatest() -> Self {
        Self { cells: Cells::default(), better: Ordering::Greater }
    }

    fn offer(&mut self, slot: usize, value: ValueRef<'_>) {
        if self.cells.is_null(slot) || value.compare(self.cells.get(slot)) == self.better {
            self.cells.set(slot, one_zero(value));
        }
    }

    #[inline]
    fn offer_int(&mut self, slot: usize, value: i64) {
        match self.cells.int(slot) {
            Some(kept) if value.cmp(&kept) == self.better => self.cells.set(slot, ValueRef::Int(value)),
            Some(_) => {}
            None => self.offer(slot, ValueRef::Int(value)),
        }
    }
}

impl Store for Extremes {
    fn reserve(&mut self, slots: usize) {
        self.cells.reserve(slots);
    }

    fn reset(&mut self, slot: usize) {
        self.cells.clear(slot);
    }

    fn add(&mut self, rows: &Rows<'_>) {
        if let Some(Column::Int(array)) = &rows.input.column {
            let values: &[i64] = array.values();
            rows.each(|row, slot| self.offer_int(slot, values[row]));
        } else {
            rows.each_value(|_, slot, value| self.offer(slot, value));
        }
    }

    fn merge(&mut self, into: usize, from: usize) {
        let value = self.cells.get(from).to_value();
        if !value.is_null() {
            self.offer(into, value.as_ref());
        }
    }

    fn finish(&mut self, slots: &[u32]) -> Column {
        Column::of_values(slots.iter().map(|slot| self.cells.get(index(*slot))))
    }

    fn write(&self, slot: usize, out: &mut Vec<u8>) {
        self.cells.write(slot, out);
    }

    fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()> {
        self.cells.read(slot, stored)
    }

    fn bytes(&self) -> u64 {
        self.cells.bytes()
    }
}

/// The zeros are equal: whichever came first, 0.0 is kept.
fn one_zero(value: ValueRef<'_>) -> ValueRef<'_> {
    match value {
        ValueRef::Float(value) => ValueRef::Float(canonical_float(value)),
        other => other,
    }
}
