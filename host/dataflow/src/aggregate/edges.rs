//! `first` and `last`: the value of the earliest and of the latest record by event time.
//!
//! Of equal times `first` takes the first to arrive and `last` the last; rows of one record (a hook may make several)
//! arrived in their order.

use tidegate_types::batch::index;
use tidegate_types::stored::{Read, Stored, put_i64, put_u64};
use tidegate_types::{Column, EventTime};

use super::cells::Cells;
use super::store::{Rows, Store, bytes_of};

/// A value per slot, and when it was.
#[derive(Debug)]
pub(super) struct Edges {
    cells: Cells,
    /// Event time and arrival number of each value; of no meaning where there is none.
    moments: Vec<Moment>,
    last: bool,
}

/// Ordered by event time, then arrival number.
type Moment = (EventTime, u64);

impl Edges {
    pub(super) fn first() -> Self {
        Self { cells: Cells::default(), moments: Vec::new(), last: false }
    }

    pub(super) fn last() -> Self {
        Self { last: true, ..Self::first() }
    }

    /// Whether a value of this moment, met after the slot's, takes its place.
    #[inline]
    fn replaces(&self, slot: usize, moment: Moment) -> bool {
        let kept = self.moments[slot];
        self.cells.is_null(slot) || if self.last { moment >= kept } else { moment < kept }
    }
}

impl Store for Edges {
    fn reserve(&mut self, slots: usize) {
        self.cells.reserve(slots);
        self.moments.resize(slots, (0, 0));
    }

    fn reset(&mut self, slot: usize) {
        self.cells.clear(slot);
    }

    fn add(&mut self, rows: &Rows<'_>) {
        let batch = rows.batch;
        rows.each_value(|row, slot, value| {
            let moment = (batch.times[row], batch.arrival(row));
            if self.replaces(slot, moment) {
                self.cells.set(slot, value);
                self.moments[slot] = moment;
            }
        });
    }

    fn merge(&mut self, into: usize, from: usize) {
        let value = self.cells.get(from).to_value();
        if !value.is_null() && self.replaces(into, self.moments[from]) {
            self.cells.set(into, value.as_ref());
            self.moments[into] = self.moments[from];
        }
    }

    fn finish(&mut self, slots: &[u32]) -> Column {
        Column::of_values(slots.iter().map(|slot| self.cells.get(index(*slot))))
    }

    fn write(&self, slot: usize, out: &mut Vec<u8>) {
        self.cells.write(slot, out);
        if !self.cells.is_null(slot) {
            let (time, arrival) = self.moments[slot];
            put_i64(out, time);
            put_u64(out, arrival);
        }
    }

    fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()> {
        self.cells.read(slot, stored)?;
        if !self.cells.is_null(slot) {
            self.moments[slot] = (stored.i64()?, stored.u64()?);
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.cells.bytes() + bytes_of::<Moment>(self.moments.len())
    }
}
