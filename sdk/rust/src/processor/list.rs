//! A state of rows in the order in which they were added.

use std::any::Any;
use std::marker::PhantomData;

use super::call::{Cache, Key, number, place};
use super::value::read;
use super::{KeyedState, Stored};
use crate::columns::range;
use crate::row::to_columns;

/// A state of rows in the order in which they were added. [`Setup::list`](super::Setup::list) makes it.
///
/// A list is read as a whole. Where old rows have to go one by one, a [`MapState`](super::MapState) by time is cheaper.
#[derive(Debug)]
pub struct ListState<R> {
    state: u32,
    row: PhantomData<fn() -> R>,
}

impl<R: Stored> ListState<R> {
    pub(super) fn new(state: u32) -> Self {
        Self { state, row: PhantomData }
    }

    /// Adds a row at the end. The list is not read for it.
    pub fn append(&self, key: &Key<'_>, row: R) {
        self.with(key, |lists, _| lists.append(key.number, row));
    }

    /// The key's rows.
    pub fn get(&self, key: &Key<'_>) -> Vec<R> {
        self.with(key, |lists, store| lists.get(self.state, key.number, store))
    }

    /// Puts these rows in place of the key's.
    pub fn replace(&self, key: &Key<'_>, rows: Vec<R>) {
        self.with(key, |lists, _| lists.replace(key.number, rows));
    }

    /// Removes the key's rows.
    pub fn clear(&self, key: &Key<'_>) {
        self.replace(key, Vec::new());
    }

    fn with<T>(&self, key: &Key<'_>, work: impl FnOnce(&mut Lists<R>, &dyn KeyedState) -> T) -> T {
        key.call.with(self.state, Lists::new, work)
    }
}

/// What a key holds: what the host has, and what this call adds.
struct List<R> {
    /// What the host has, once it was read.
    held: Option<Vec<R>>,
    /// Whether what the host has is to be removed.
    cleared: bool,
    added: Vec<R>,
}

/// How a change of the row at hand is taken back.
enum Undo<R> {
    /// The last row that was added goes.
    Append(u32),
    /// The list is this one again.
    Replace(u32, List<R>),
}

/// What all keys of a call hold.
struct Lists<R> {
    lists: Vec<List<R>>,
    undo: Vec<Undo<R>>,
}

impl<R: Stored> Lists<R> {
    fn new(keys: usize) -> Self {
        let empty = || List { held: None, cleared: false, added: Vec::new() };
        Self { lists: std::iter::repeat_with(empty).take(keys).collect(), undo: Vec::new() }
    }

    fn append(&mut self, key: u32, row: R) {
        self.lists[place(key)].added.push(row);
        self.undo.push(Undo::Append(key));
    }

    fn replace(&mut self, key: u32, rows: Vec<R>) {
        let list = List { held: Some(Vec::new()), cleared: true, added: rows };
        let old = std::mem::replace(&mut self.lists[place(key)], list);
        self.undo.push(Undo::Replace(key, old));
    }

    fn get(&mut self, state: u32, key: u32, store: &dyn KeyedState) -> Vec<R> {
        let list = &mut self.lists[place(key)];
        let held = list.held.get_or_insert_with(|| {
            let lists = store.get_list(state, &[key]);
            read(&lists.columns, range(&lists.offsets, 0).len())
        });
        held.iter().chain(&list.added).cloned().collect()
    }
}

impl<R: Stored> Cache for Lists<R> {
    fn settle(&mut self) {
        self.undo.clear();
    }

    fn undo(&mut self) {
        for undo in self.undo.drain(..).rev() {
            match undo {
                Undo::Append(key) => drop(self.lists[place(key)].added.pop()),
                Undo::Replace(key, list) => self.lists[place(key)] = list,
            }
        }
    }

    fn flush(&mut self, state: u32, store: &dyn KeyedState) {
        let (mut cleared, mut keys, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (key, list) in self.lists.drain(..).enumerate() {
            if list.cleared {
                cleared.push(number(key));
            }
            keys.extend(std::iter::repeat_n(number(key), list.added.len()));
            rows.extend(list.added);
        }
        if !cleared.is_empty() {
            store.clear(state, &cleared);
        }
        if !keys.is_empty() {
            store.append(state, &keys, &to_columns(rows).columns);
        }
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}
