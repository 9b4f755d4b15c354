//! Sums by slot: what `sum` and `avg` share.
//!
//! Where rows may be taken back these are [`Ledgers`], which do more and take more room. Else a slot that has met only integers is a 64-bit number in place. One that meets a float (or, for `avg` and between
//! merges, integers beyond 64 bits) gets an [`ExactSum`] beside, and the number says where.

use tidegate_types::stored::{Malformed, Read, Stored, put_i64};
use tidegate_types::{Column, Value};

use super::arena::Arena;
use super::exact::ExactSum;
use super::ledger::{Ledger, Ledgers};
use super::store::{Change, Rows, bytes_of};

/// One sum per slot.
#[derive(Debug)]
pub(super) enum Numbers {
    Plain(PlainNumbers),
    Undoable(Ledgers),
}

/// One sum per slot, to which numbers are only added.
#[derive(Debug, Default)]
pub(super) struct PlainNumbers {
    states: Vec<State>,
    /// The sum, or the place of the exact sum.
    sums: Vec<i64>,
    exact: Arena<ExactSum>,
    exact_heap_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// No number was added, and the sum is 0.
    #[default]
    Empty,
    Int,
    Exact,
}

/// What a stored sum begins with.
const EMPTY: u8 = 0;
const INT: u8 = 1;
const EXACT: u8 = 2;
const LEDGER: u8 = 3;

/// A slot's sum.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sum<'a> {
    Empty,
    Int(i64),
    Exact(&'a ExactSum),
    Undoable(&'a Ledger),
}

impl Numbers {
    /// `undoes`: whether rows may be taken back.
    pub(super) fn new(undoes: bool) -> Self {
        if undoes { Self::Undoable(Ledgers::default()) } else { Self::Plain(PlainNumbers::default()) }
    }

    pub(super) fn reserve(&mut self, slots: usize) {
        match self {
            Self::Plain(plain) => plain.reserve(slots),
            Self::Undoable(ledgers) => ledgers.reserve(slots),
        }
    }

    pub(super) fn reset(&mut self, slot: usize) {
        match self {
            Self::Plain(plain) => plain.reset(slot),
            Self::Undoable(ledgers) => ledgers.reset(slot),
        }
    }

    pub(super) fn slots(&self) -> usize {
        match self {
            Self::Plain(plain) => plain.states.len(),
            Self::Undoable(ledgers) => ledgers.slots(),
        }
    }

    pub(super) fn get(&self, slot: usize) -> Sum<'_> {
        match self {
            Self::Plain(plain) => plain.get(slot),
            Self::Undoable(ledgers) => Sum::Undoable(ledgers.get(slot)),
        }
    }

    /// Adds the rows' numbers. Returns how far the integers among them can have moved a sum, saturating.
    pub(super) fn add(&mut self, rows: &Rows<'_>) -> u64 {
        match self {
            Self::Plain(plain) => plain.add(rows),
            Self::Undoable(ledgers) => ledgers.apply(rows, Change::Add),
        }
    }

    /// Takes the rows' numbers back, as [`Self::add`].
    pub(super) fn undo(&mut self, rows: &Rows<'_>) -> u64 {
        match self {
            Self::Plain(_) => unreachable!("rows are taken back only where `undoes` was said"),
            Self::Undoable(ledgers) => ledgers.apply(rows, Change::Undo),
        }
    }

    pub(super) fn merge(&mut self, into: usize, from: usize) {
        match self {
            Self::Plain(plain) => plain.merge(into, from),
            Self::Undoable(ledgers) => ledgers.merge(into, from),
        }
    }

    /// At least the sum of the distances from zero of all slots' integer sums, saturating.
    pub(super) fn magnitude(&self) -> u64 {
        match self {
            Self::Plain(plain) => plain.magnitude(),
            Self::Undoable(ledgers) => ledgers.magnitude(),
        }
    }

    /// Appends a slot's sum.
    pub(super) fn write(&self, slot: usize, out: &mut Vec<u8>) {
        match self.get(slot) {
            Sum::Empty => out.push(EMPTY),
            Sum::Int(sum) => {
                out.push(INT);
                put_i64(out, sum);
            }
            Sum::Exact(sum) => {
                out.push(EXACT);
                sum.write(out);
            }
            Sum::Undoable(ledger) => {
                out.push(LEDGER);
                ledger.write(out);
            }
        }
    }

    /// Makes a fresh slot hold the sum that was written.
    pub(super) fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()> {
        match (self, stored.byte()?) {
            (Self::Plain(_), EMPTY) => Ok(()),
            (Self::Plain(plain), INT) => {
                plain.add_int(slot, stored.i64()?);
                Ok(())
            }
            (Self::Plain(plain), EXACT) => {
                let sum = ExactSum::read(stored)?;
                plain.change_exact(slot, |held| *held = sum);
                Ok(())
            }
            (Self::Undoable(ledgers), LEDGER) => {
                ledgers.put(slot, Ledger::read(stored)?);
                Ok(())
            }
            _ => Err(Malformed::new("a sum")),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Plain(plain) => plain.bytes(),
            Self::Undoable(ledgers) => ledgers.bytes(),
        }
    }
}

impl PlainNumbers {
    fn reserve(&mut self, slots: usize) {
        self.states.resize(slots, State::Empty);
        self.sums.resize(slots, 0);
    }

    fn reset(&mut self, slot: usize) {
        if self.states[slot] == State::Exact {
            let sum = self.exact.remove(place(self.sums[slot]));
            self.exact_heap_bytes -= sum.heap_bytes();
        }
        self.states[slot] = State::Empty;
        self.sums[slot] = 0;
    }

    fn get(&self, slot: usize) -> Sum<'_> {
        match self.states[slot] {
            State::Empty => Sum::Empty,
            State::Int => Sum::Int(self.sums[slot]),
            State::Exact => Sum::Exact(self.exact.get(place(self.sums[slot]))),
        }
    }

    fn add(&mut self, rows: &Rows<'_>) -> u64 {
        let mut magnitude: u64 = 0;
        match &rows.input.column {
            Some(Column::Int(array)) => {
                let values: &[i64] = array.values();
                rows.each(|row, slot| {
                    magnitude = magnitude.saturating_add(values[row].unsigned_abs());
                    self.add_int(slot, values[row]);
                });
            }
            Some(Column::Float(array)) => {
                let values: &[f64] = array.values();
                rows.each(|row, slot| self.change_exact(slot, |sum| sum.add_float(values[row])));
            }
            Some(Column::Dynamic(array)) => rows.each(|row, slot| match array.values()[row] {
                Value::Int(value) => {
                    magnitude = magnitude.saturating_add(value.unsigned_abs());
                    self.add_int(slot, value);
                }
                Value::Float(value) => self.change_exact(slot, |sum| sum.add_float(value)),
                _ => {}
            }),
            _ => {}
        }
        magnitude
    }

    fn merge(&mut self, into: usize, from: usize) {
        match self.states[from] {
            State::Empty => {}
            State::Int => self.add_int(into, self.sums[from]),
            State::Exact => {
                let from = self.exact.get(place(self.sums[from])).clone();
                self.change_exact(into, |sum| sum.merge(&from));
            }
        }
    }

    /// The sum of all slots' distances from zero, saturating; slots that have met a float are left out.
    fn magnitude(&self) -> u64 {
        (0..self.states.len()).fold(0, |total: u64, slot| match self.get(slot) {
            Sum::Int(sum) => total.saturating_add(sum.unsigned_abs()),
            // Between the merges of several slots a sum may pass through numbers beyond 64 bits.
            Sum::Exact(sum) if !sum.met_float() => {
                total.saturating_add(u64::try_from(sum.ints().unsigned_abs()).unwrap_or(u64::MAX))
            }
            Sum::Empty | Sum::Exact(_) | Sum::Undoable(_) => total,
        })
    }

    fn bytes(&self) -> u64 {
        bytes_of::<State>(self.states.len())
            + bytes_of::<i64>(self.sums.len())
            + bytes_of::<ExactSum>(self.exact.places())
            + self.exact_heap_bytes
    }

    #[inline]
    fn add_int(&mut self, slot: usize, value: i64) {
        if self.states[slot] != State::Exact
            && let Some(sum) = self.sums[slot].checked_add(value)
        {
            self.sums[slot] = sum;
            self.states[slot] = State::Int;
        } else {
            self.change_exact(slot, |sum| sum.add_int(value));
        }
    }

    /// Changes a slot's exact sum, making one of what it holds if need be.
    fn change_exact(&mut self, slot: usize, change: impl FnOnce(&mut ExactSum)) {
        if self.states[slot] != State::Exact {
            let sum = self.exact.insert(ExactSum::of_int(self.sums[slot]));
            self.sums[slot] = i64::try_from(sum).expect("places are below 2^32");
            self.states[slot] = State::Exact;
        }
        let sum = self.exact.get_mut(place(self.sums[slot]));
        let before = sum.heap_bytes();
        change(sum);
        self.exact_heap_bytes += sum.heap_bytes() - before;
    }
}

fn place(number: i64) -> u64 {
    u64::try_from(number).expect("a place is never negative")
}
