//! A state of rows under map keys.

use std::any::Any;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::call::{Cache, Key, number, place};
use super::value::{read, rows_of, unreadable};
use super::{KeyedState, Stored};
use crate::columns::{Column, range};
use crate::row::{ReadField, WriteField, to_columns};

/// A type that map keys may have: `i64`, `bool`, `String` or `Vec<u8>`.
pub trait MapKey: for<'a> ReadField<'a> + WriteField + Ord + Clone + 'static {}

impl MapKey for i64 {}
impl MapKey for bool {}
impl MapKey for String {}
impl MapKey for Vec<u8> {}

/// A state of rows under map keys. [`Setup::map`](super::Setup::map) makes it.
///
/// One entry is read and written without the others. [`entries`](Self::entries) reads all of them.
#[derive(Debug)]
pub struct MapState<K, R> {
    state: u32,
    entry: PhantomData<fn() -> (K, R)>,
}

impl<K: MapKey, R: Stored> MapState<K, R> {
    pub(super) fn new(state: u32) -> Self {
        Self { state, entry: PhantomData }
    }

    /// The row under a map key.
    pub fn get(&self, key: &Key<'_>, map_key: &K) -> Option<R> {
        self.with(key, |maps, store| maps.get(self.state, key.number, map_key, store))
    }

    /// Sets the row under a map key.
    pub fn put(&self, key: &Key<'_>, map_key: K, row: R) {
        self.with(key, |maps, _| maps.set(key.number, map_key, Some(row)));
    }

    /// Removes the row under a map key.
    pub fn remove(&self, key: &Key<'_>, map_key: &K) {
        self.with(key, |maps, _| maps.set(key.number, map_key.clone(), None));
    }

    /// All rows of the key, ascending by map key.
    pub fn entries(&self, key: &Key<'_>) -> Vec<(K, R)> {
        self.with(key, |maps, store| maps.entries(self.state, key.number, store))
    }

    /// Removes all rows of the key.
    pub fn clear(&self, key: &Key<'_>) {
        self.with(key, |maps, _| maps.clear(key.number));
    }

    fn with<T>(&self, key: &Key<'_>, work: impl FnOnce(&mut Maps<K, R>, &dyn KeyedState) -> T) -> T {
        key.call.with(self.state, Maps::new, work)
    }
}

/// What is known under one map key.
#[derive(Clone)]
struct Slot<R> {
    row: Option<R>,
    /// Whether the host has to be told.
    written: bool,
}

/// What is known of a key's map.
struct Map<K, R> {
    slots: BTreeMap<K, Slot<R>>,
    /// Whether there is nothing under any other map key.
    whole: bool,
    /// Whether what the host has is to be removed first.
    cleared: bool,
}

/// How a change of the row at hand is taken back.
enum Undo<K, R> {
    /// The slot is this one again; none: unknown.
    Set(u32, K, Option<Slot<R>>),
    /// The map is this one again.
    Clear(u32, Map<K, R>),
}

/// What is known of the maps of all keys of a call.
struct Maps<K, R> {
    maps: Vec<Map<K, R>>,
    undo: Vec<Undo<K, R>>,
}

impl<K: MapKey, R: Stored> Maps<K, R> {
    fn new(keys: usize) -> Self {
        let unknown = || Map { slots: BTreeMap::new(), whole: false, cleared: false };
        Self { maps: std::iter::repeat_with(unknown).take(keys).collect(), undo: Vec::new() }
    }

    fn get(&mut self, state: u32, key: u32, map_key: &K, store: &dyn KeyedState) -> Option<R> {
        let map = &mut self.maps[place(key)];
        if let Some(slot) = map.slots.get(map_key) {
            return slot.row.clone();
        }
        if map.whole {
            return None;
        }
        let row = rows_of(store.map_get(state, &[key], &column([map_key]))).pop().flatten();
        map.slots.insert(map_key.clone(), Slot { row: row.clone(), written: false });
        row
    }

    fn set(&mut self, key: u32, map_key: K, row: Option<R>) {
        let slot = Slot { row, written: true };
        let old = self.maps[place(key)].slots.insert(map_key.clone(), slot);
        self.undo.push(Undo::Set(key, map_key, old));
    }

    fn clear(&mut self, key: u32) {
        let empty = Map { slots: BTreeMap::new(), whole: true, cleared: true };
        let old = std::mem::replace(&mut self.maps[place(key)], empty);
        self.undo.push(Undo::Clear(key, old));
    }

    fn entries(&mut self, state: u32, key: u32, store: &dyn KeyedState) -> Vec<(K, R)> {
        let map = &mut self.maps[place(key)];
        if !std::mem::replace(&mut map.whole, true) {
            let held = store.map_entries(state, &[key]);
            let rows = read::<R>(&held.columns, range(&held.offsets, 0).len());
            let reader = K::reader(&held.map_keys).unwrap_or_else(|fault| unreadable(&fault));
            for (place, row) in rows.into_iter().enumerate() {
                // What this call wrote is newer.
                map.slots.entry(K::get(&reader, place)).or_insert(Slot { row: Some(row), written: false });
            }
        }
        map.slots.iter().filter_map(|(map_key, slot)| Some((map_key.clone(), slot.row.clone()?))).collect()
    }
}

impl<K: MapKey, R: Stored> Cache for Maps<K, R> {
    fn settle(&mut self) {
        self.undo.clear();
    }

    fn undo(&mut self) {
        for undo in self.undo.drain(..).rev() {
            match undo {
                Undo::Set(key, map_key, Some(slot)) => drop(self.maps[place(key)].slots.insert(map_key, slot)),
                Undo::Set(key, map_key, None) => {
                    let map = &mut self.maps[place(key)];
                    map.slots.remove(&map_key);
                    // If the map was read meanwhile, what the host has under this map key was not taken from it.
                    map.whole &= map.cleared;
                }
                Undo::Clear(key, map) => self.maps[place(key)] = map,
            }
        }
    }

    fn flush(&mut self, state: u32, store: &dyn KeyedState) {
        let mut cleared = Vec::new();
        let (mut gone, mut gone_under) = (Vec::new(), Vec::new());
        let (mut put, mut put_under, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (key, map) in self.maps.drain(..).enumerate() {
            if map.cleared {
                cleared.push(number(key));
            }
            for (map_key, slot) in map.slots.into_iter().filter(|(_, slot)| slot.written) {
                match slot.row {
                    Some(row) => {
                        put.push(number(key));
                        put_under.push(map_key);
                        rows.push(row);
                    }
                    None if map.cleared => {}
                    None => {
                        gone.push(number(key));
                        gone_under.push(map_key);
                    }
                }
            }
        }
        if !cleared.is_empty() {
            store.clear(state, &cleared);
        }
        if !gone.is_empty() {
            store.map_remove(state, &gone, &column(&gone_under));
        }
        if !put.is_empty() {
            store.map_put(state, &put, &column(&put_under), &to_columns(rows).columns);
        }
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// Map keys as a column.
fn column<'k, K: MapKey>(map_keys: impl IntoIterator<Item = &'k K>) -> Column {
    let map_keys = map_keys.into_iter();
    let mut writer = K::writer(map_keys.size_hint().0);
    map_keys.for_each(|map_key| map_key.clone().put(&mut writer));
    K::finish(writer)
}
