//! Sums whose numbers can be taken back: what `sum` and `avg` keep where rows may be retracted.
//!
//! All of a ledger is of a kind that subtraction undoes: integers in 128 bits, finite doubles exactly, infinities and NaNs
//! as counts. How many floats there are is kept too, so that a sum is an integer again once its last float is gone.
//! Invariant: a ledger is a function of the numbers that were added less those that were taken back. The latter may never
//! have been added (a window that discards has shown and forgotten them): then it is the difference.

use tidegate_types::stored::{Malformed, Read, Stored, put_bool, put_i64, put_i128};
use tidegate_types::{Column, Value, ValueRef};

use super::exact::{FloatSum, round_int};
use super::store::{Change, Rows, bytes_of};

/// One ledger per slot.
#[derive(Debug, Default)]
pub(super) struct Ledgers {
    slots: Vec<Ledger>,
    heap_bytes: u64,
}

/// A sum, and how many numbers it is of.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    ints: i128,
    /// Numbers added less numbers taken back.
    count: i64,
    /// None: no float is left.
    floats: Option<Box<Floats>>,
}

/// The floats of a sum. Counts are of those added less those taken back.
#[derive(Debug, Clone, Default)]
struct Floats {
    count: i64,
    finite: FloatSum,
    nans: i64,
    /// Positive infinities.
    above: i64,
    /// Negative infinities.
    below: i64,
}

impl Ledgers {
    pub(super) fn reserve(&mut self, slots: usize) {
        self.slots.resize_with(slots, Ledger::default);
    }

    pub(super) fn reset(&mut self, slot: usize) {
        self.update(slot, |ledger| *ledger = Ledger::default());
    }

    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn get(&self, slot: usize) -> &Ledger {
        &self.slots[slot]
    }

    /// Adds the rows' numbers or takes them back. Returns how far the integers among them can have moved a sum, saturating.
    pub(super) fn apply(&mut self, rows: &Rows<'_>, change: Change) -> u64 {
        let mut magnitude: u64 = 0;
        match &rows.input.column {
            Some(Column::Int(array)) => {
                let values: &[i64] = array.values();
                rows.each(|row, slot| {
                    magnitude = magnitude.saturating_add(values[row].unsigned_abs());
                    self.slots[slot].int(values[row], change);
                });
            }
            Some(Column::Float(array)) => {
                let values: &[f64] = array.values();
                rows.each(|row, slot| self.update(slot, |ledger| ledger.float(values[row], change)));
            }
            Some(Column::Dynamic(array)) => rows.each(|row, slot| match array.values()[row] {
                Value::Int(value) => {
                    magnitude = magnitude.saturating_add(value.unsigned_abs());
                    self.slots[slot].int(value, change);
                }
                Value::Float(value) => self.update(slot, |ledger| ledger.float(value, change)),
                _ => {}
            }),
            _ => {}
        }
        magnitude
    }

    pub(super) fn merge(&mut self, into: usize, from: usize) {
        let from = self.slots[from].clone();
        self.update(into, |ledger| ledger.merge(&from));
    }

    /// Makes a fresh slot's sum this one.
    pub(super) fn put(&mut self, slot: usize, sum: Ledger) {
        self.update(slot, |ledger| *ledger = sum);
    }

    /// The sum of all slots' distances from zero, saturating. Those with floats count too: their floats may go.
    pub(super) fn magnitude(&self) -> u64 {
        let distance = |ledger: &Ledger| u64::try_from(ledger.ints.unsigned_abs()).unwrap_or(u64::MAX);
        self.slots.iter().fold(0, |total: u64, ledger| total.saturating_add(distance(ledger)))
    }

    pub(super) fn bytes(&self) -> u64 {
        bytes_of::<Ledger>(self.slots.len()) + self.heap_bytes
    }

    fn update(&mut self, slot: usize, change: impl FnOnce(&mut Ledger)) {
        let ledger = &mut self.slots[slot];
        self.heap_bytes -= ledger.heap_bytes();
        change(ledger);
        self.heap_bytes += ledger.heap_bytes();
    }
}

impl Ledger {
    /// The integers' part.
    pub(super) fn ints(&self) -> i128 {
        self.ints
    }

    /// How many floats it is of.
    pub(super) fn floats(&self) -> i64 {
        self.floats.as_ref().map_or(0, |floats| floats.count)
    }

    /// Whether nothing is left: neither a number nor a difference of numbers.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.ints == 0 && self.floats.is_none()
    }

    /// What a pane shows: null, an integer if no float is left, else the float nearest to the sum.
    pub(super) fn shown(&self) -> ValueRef<'static> {
        if self.is_empty() {
            return ValueRef::Null;
        }
        let int = if self.floats.is_some() { None } else { i64::try_from(self.ints).ok() };
        int.map_or_else(|| ValueRef::Float(self.round()), ValueRef::Int)
    }

    /// The double nearest to the sum; an infinity or NaN among the numbers makes it what IEEE 754 says.
    pub(super) fn round(&self) -> f64 {
        let Some(floats) = &self.floats else { return round_int(self.ints) };
        match (floats.nans > 0, floats.above > 0, floats.below > 0) {
            (true, _, _) | (_, true, true) => f64::NAN,
            (false, true, false) => f64::INFINITY,
            (false, false, true) => f64::NEG_INFINITY,
            (false, false, false) => floats.finite.round(self.ints),
        }
    }

    /// Appends the sum.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_i128(out, self.ints);
        put_i64(out, self.count);
        put_bool(out, self.floats.is_some());
        if let Some(floats) = &self.floats {
            [floats.count, floats.nans, floats.above, floats.below].iter().for_each(|count| put_i64(out, *count));
            floats.finite.write(out);
        }
    }

    /// The sum that was written.
    pub(super) fn read(stored: &mut Stored<'_>) -> Read<Self> {
        let (ints, count) = (stored.i128()?, stored.i64()?);
        let mut ledger = Self { ints, count, floats: None };
        if stored.bool()? {
            let [count, nans, above, below] = [stored.i64()?, stored.i64()?, stored.i64()?, stored.i64()?];
            let finite = FloatSum::read(stored)?;
            ledger.floats = Some(Box::new(Floats { count, finite, nans, above, below }));
            ledger.drop_floats();
            if ledger.floats.is_none() {
                return Err(Malformed::new("the floats of a sum"));
            }
        }
        Ok(ledger)
    }

    fn int(&mut self, value: i64, change: Change) {
        self.count += change.sign();
        self.ints += i128::from(value) * i128::from(change.sign());
    }

    fn float(&mut self, value: f64, change: Change) {
        self.count += change.sign();
        let floats = self.floats.get_or_insert_default();
        floats.count += change.sign();
        if value.is_nan() {
            floats.nans += change.sign();
        } else if value == f64::INFINITY {
            floats.above += change.sign();
        } else if value == f64::NEG_INFINITY {
            floats.below += change.sign();
        } else {
            floats.finite.add(if change == Change::Undo { -value } else { value });
        }
        self.drop_floats();
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.ints += other.ints;
        if let Some(more) = &other.floats {
            let floats = self.floats.get_or_insert_default();
            floats.count += more.count;
            floats.finite.merge(&more.finite);
            floats.nans += more.nans;
            floats.above += more.above;
            floats.below += more.below;
            self.drop_floats();
        }
    }

    /// Forgets the floats if none is left.
    fn drop_floats(&mut self) {
        let left = |floats: &Floats| {
            (floats.count, floats.nans, floats.above, floats.below) != (0, 0, 0, 0) || !floats.finite.is_zero()
        };
        if !self.floats.as_deref().is_some_and(left) {
            self.floats = None;
        }
    }

    fn heap_bytes(&self) -> u64 {
        self.floats.as_ref().map_or(0, |floats| bytes_of::<Floats>(1) + floats.finite.heap_bytes())
    }
}
