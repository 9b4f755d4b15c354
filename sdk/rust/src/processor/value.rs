//! A state of one row, or none.

use std::any::Any;
use std::marker::PhantomData;

use super::call::{Cache, Key, number, place};
use super::{KeyedState, Stored};
use crate::columns::{Column, Fault, Found};
use crate::row::{ColumnSource, from_columns, to_columns};

/// A state of one row, or none. [`Setup::value`](super::Setup::value) makes it.
#[derive(Debug)]
pub struct ValueState<R> {
    state: u32,
    row: PhantomData<fn() -> R>,
}

impl<R: Stored> ValueState<R> {
    pub(super) fn new(state: u32) -> Self {
        Self { state, row: PhantomData }
    }

    /// What the key holds.
    pub fn get(&self, key: &Key<'_>) -> Option<R> {
        self.with(key, |values, store| values.load(self.state, store)[place(key.number)].row.clone())
    }

    /// Sets it.
    pub fn put(&self, key: &Key<'_>, row: R) {
        self.set(key, Some(row));
    }

    /// Removes it.
    pub fn clear(&self, key: &Key<'_>) {
        self.set(key, None);
    }

    fn set(&self, key: &Key<'_>, row: Option<R>) {
        self.with(key, |values, _| values.set(key.number, Cell { row, written: true, known: true }));
    }

    fn with<T>(&self, key: &Key<'_>, work: impl FnOnce(&mut Values<R>, &dyn KeyedState) -> T) -> T {
        key.call.with(self.state, Values::new, work)
    }
}

/// What one key holds.
#[derive(Clone)]
struct Cell<R> {
    row: Option<R>,
    /// Whether the host has to be told.
    written: bool,
    /// Whether `row` is what the key holds; else the host has to be asked.
    known: bool,
}

/// What all keys of a call hold.
struct Values<R> {
    cells: Vec<Cell<R>>,
    loaded: bool,
    /// What the row at hand replaced.
    replaced: Vec<(u32, Cell<R>)>,
}

impl<R: Stored> Values<R> {
    fn new(keys: usize) -> Self {
        let unknown = || Cell { row: None, written: false, known: false };
        Self { cells: std::iter::repeat_with(unknown).take(keys).collect(), loaded: false, replaced: Vec::new() }
    }

    /// The cells, all of them known: the first one that is read asks for all.
    fn load(&mut self, state: u32, store: &dyn KeyedState) -> &[Cell<R>] {
        if !std::mem::replace(&mut self.loaded, true) {
            let unknown = |(_, cell): &(usize, &Cell<R>)| !cell.known;
            let keys: Vec<u32> = self.cells.iter().enumerate().filter(unknown).map(|(key, _)| number(key)).collect();
            let rows = rows_of(store.get(state, &keys));
            for (key, row) in keys.into_iter().zip(rows) {
                self.cells[place(key)] = Cell { row, written: false, known: true };
            }
        }
        &self.cells
    }

    fn set(&mut self, key: u32, cell: Cell<R>) {
        let old = std::mem::replace(&mut self.cells[place(key)], cell);
        self.replaced.push((key, old));
    }
}

impl<R: Stored> Cache for Values<R> {
    fn settle(&mut self) {
        self.replaced.clear();
    }

    fn undo(&mut self) {
        for (key, cell) in self.replaced.drain(..).rev() {
            // What was written before it was read is asked for when it is read.
            self.loaded &= cell.known;
            self.cells[place(key)] = cell;
        }
    }

    fn flush(&mut self, state: u32, store: &dyn KeyedState) {
        let (mut put, mut rows, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for (key, cell) in self.cells.drain(..).enumerate().filter(|(_, cell)| cell.written) {
            match cell.row {
                Some(row) => {
                    put.push(number(key));
                    rows.push(row);
                }
                None => gone.push(number(key)),
            }
        }
        if !gone.is_empty() {
            store.clear(state, &gone);
        }
        if !put.is_empty() {
            store.put(state, &put, &to_columns(rows).columns);
        }
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// The rows of an answer.
///
/// # Panics
/// Where the host keeps rows that the struct does not read.
pub(super) fn rows_of<R: Stored>(found: Found) -> Vec<Option<R>> {
    let Found { present, mut columns } = found;
    if present.contains(&0) {
        // What stands in a row that is not there is not looked at.
        columns.iter_mut().for_each(|column| column.present = column.present.take().or_else(|| Some(present.clone())));
    }
    let reader = R::reader(&mut ColumnSource::in_order(&[], &columns)).unwrap_or_else(|fault| unreadable(&fault));
    present.iter().enumerate().map(|(row, byte)| (*byte == 1).then(|| R::read(&reader, row))).collect()
}

/// Rows that are all there.
///
/// # Panics
/// As [`rows_of`].
pub(super) fn read<R: Stored>(columns: &[Column], rows: usize) -> Vec<R> {
    from_columns(columns, &[], rows).unwrap_or_else(|fault| unreadable(&fault))
}

#[cold]
pub(super) fn unreadable(fault: &Fault) -> ! {
    panic!("the state does not have the fields of its struct: {}", fault.message)
}
