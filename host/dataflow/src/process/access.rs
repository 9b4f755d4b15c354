//! The store as the guest sees it during a call: by the call's key numbers, with every write noted for the way back.
//!
//! The store is lent for the call: it moves into a slot that the sandbox's side shares, and out of it afterwards. A guest
//! that asks at any other time is refused.

use std::sync::{Arc, Mutex, PoisonError};

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{
    StateAccess, StateError, StateLists, StateMaps, StateMisuse, StateResult, StateRows, StateShape, TimerClock,
};
use tidegate_types::key::{decode_value, encode_value};
use tidegate_types::{Column, ColumnBuilder, EventTime, NO_CLOCK};

use super::cell::{Cell, List, Map};
use super::rows::AnswerRows;
use super::store::{Store, Undo};

/// The most bytes that one key may hold under one state, as they lie in memory.
pub(super) const KEY_LIMIT: usize = 16 << 20;
/// The most bytes that one call may write: bounds what is kept for the way back.
pub(super) const CALL_LIMIT: usize = 64 << 20;
/// What a write costs besides its bytes.
const WRITE_COST: usize = 32;

/// The slot that the store is in during a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Lent {
    slot: Arc<Mutex<Option<Store>>>,
}

impl Lent {
    /// Makes a call with the store in the slot.
    pub(super) fn during<T>(&self, store: &mut Store, call: impl FnOnce(&mut Box<dyn StateAccess>) -> T) -> T {
        let mut access: Box<dyn StateAccess> = Box::new(self.clone());
        *self.lock() = Some(std::mem::take(store));
        let answer = call(&mut access);
        *store = self.lock().take().expect("nobody else takes the store out of its slot");
        answer
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Store>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Store) -> StateResult<T>) -> StateResult<T> {
        match &mut *self.lock() {
            Some(store) => work(store),
            None => Err(StateMisuse::NoCall.into()),
        }
    }
}

impl Store {
    /// The places of the keys' cells under a state.
    fn places(&self, state: u32, keys: &[u32]) -> impl Iterator<Item = usize> {
        keys.iter().map(move |key| self.cell_at(self.call_keys[index(*key)], index(state)))
    }

    fn place(&self, state: u32, key: u32) -> usize {
        self.cell_at(self.call_keys[index(key)], index(state))
    }

    /// Takes so many bytes off what the call may write.
    fn charge(&mut self, bytes: usize) -> StateResult<()> {
        self.written += bytes + WRITE_COST;
        if self.written > CALL_LIMIT {
            return Err(StateMisuse::TooMuchWritten { limit: CALL_LIMIT }.into());
        }
        Ok(())
    }

    /// Changes a cell by `change`, which returns the way back, and holds it to what a key may hold.
    fn change(&mut self, state: u32, at: usize, change: impl FnOnce(&mut Cell) -> Undo) -> StateResult<()> {
        let before = self.cells[at].weight();
        if !matches!(self.shape_at(at), StateShape::Map(_)) {
            self.before_cell(at);
        }
        let undo = change(&mut self.cells[at]);
        self.journal.push(undo);
        let after = self.cells[at].weight();
        self.weight.rows = self.weight.rows + after.rows - before.rows;
        self.weight.bytes = self.weight.bytes + after.bytes - before.bytes;
        if after.bytes > KEY_LIMIT && after.bytes > before.bytes {
            let state = self.states[index(state)].name.clone();
            return Err(StateMisuse::KeyTooLarge { state, limit: KEY_LIMIT }.into());
        }
        Ok(())
    }

    fn encoded(&self, state: u32, columns: &[Column], row: usize) -> Vec<u8> {
        let mut encoded = Vec::with_capacity(16);
        self.states[index(state)].rows.encode(columns, row, &mut encoded);
        encoded
    }

    fn put_row(&mut self, state: u32, key: u32, columns: &[Column], row: usize) -> StateResult<()> {
        let encoded = self.encoded(state, columns, row);
        self.charge(encoded.len())?;
        let at = self.place(state, key);
        self.change(state, at, |cell| Undo::Cell(at, std::mem::replace(cell, Cell::Value(encoded.into()))))
    }

    fn append_row(&mut self, state: u32, key: u32, columns: &[Column], row: usize) -> StateResult<()> {
        let encoded = self.encoded(state, columns, row);
        self.charge(encoded.len())?;
        let at = self.place(state, key);
        self.change(state, at, |cell| {
            if let Cell::List(list) = cell {
                let undo = Undo::List(at, list.data.len(), list.rows);
                list.append(&encoded);
                return undo;
            }
            Undo::Cell(at, std::mem::replace(cell, Cell::List(Box::new(List { data: encoded, rows: 1 }))))
        })
    }

    fn set_entry(&mut self, state: u32, key: u32, map_key: Box<[u8]>, row: Option<Box<[u8]>>) -> StateResult<()> {
        self.charge(map_key.len() + row.as_ref().map_or(0, |row| row.len()))?;
        let at = self.place(state, key);
        self.before_entry(at, &map_key);
        if !matches!(self.cells[at], Cell::Map(_)) {
            let before = std::mem::replace(&mut self.cells[at], Cell::Map(Box::<Map>::default()));
            self.journal.push(Undo::Cell(at, before));
        }
        self.change(state, at, |cell| {
            let Cell::Map(map) = cell else { unreachable!("it was made one") };
            let before = map.set(map_key.clone(), row);
            Undo::Entry(at, map_key, before)
        })
    }

    fn set_pending(&mut self, timer: u32, key: u32, time: Option<EventTime>) -> StateResult<()> {
        self.charge(0)?;
        let at = self.timer_at(self.call_keys[index(key)], index(timer));
        self.before_timer(at);
        let before = std::mem::replace(&mut self.pending[at], time);
        self.journal.push(Undo::Timer(at, before));
        let is_due = |reach: super::store::Reach| match (self.clocks[index(timer)], time) {
            (_, None) => false,
            (TimerClock::Event, Some(time)) => reach.watermark.reached(time),
            (TimerClock::Processing, Some(time)) => reach.clock != NO_CLOCK && time <= reach.clock,
        };
        if self.reach.is_some_and(is_due) {
            self.early[index(key)] = true;
        }
        Ok(())
    }
}

fn encoded_map_key(map_keys: &Column, row: usize) -> Box<[u8]> {
    let mut encoded = Vec::with_capacity(16);
    encode_value(&mut encoded, map_keys.value(row));
    encoded.into()
}

impl StateAccess for Lent {
    fn keys(&self) -> usize {
        self.lock().as_ref().map_or(0, |store| store.call_keys.len())
    }

    fn get(&mut self, state: u32, keys: &[u32], limit: usize) -> StateResult<StateRows> {
        self.with(|store| {
            let mut rows = AnswerRows::new(&store.states[index(state)].rows, limit);
            let mut present = Vec::with_capacity(keys.len());
            for at in store.places(state, keys) {
                let row = match &store.cells[at] {
                    Cell::Value(row) => Some(row.as_ref()),
                    _ => None,
                };
                present.push(row.is_some());
                rows.push(row)?;
            }
            Ok(StateRows { present, columns: rows.finish() })
        })
    }

    fn put(&mut self, state: u32, keys: &[u32], columns: &[Column]) -> StateResult<()> {
        self.with(|store| keys.iter().enumerate().try_for_each(|(row, key)| store.put_row(state, *key, columns, row)))
    }

    fn clear(&mut self, state: u32, keys: &[u32]) -> StateResult<()> {
        self.with(|store| {
            keys.iter().try_for_each(|key| {
                store.charge(0)?;
                let at = store.place(state, *key);
                store.before_cell(at);
                store.change(state, at, |cell| Undo::Cell(at, std::mem::take(cell)))
            })
        })
    }

    fn append(&mut self, state: u32, keys: &[u32], columns: &[Column]) -> StateResult<()> {
        self.with(|store| {
            keys.iter().enumerate().try_for_each(|(row, key)| store.append_row(state, *key, columns, row))
        })
    }

    fn lists(&mut self, state: u32, keys: &[u32], limit: usize) -> StateResult<StateLists> {
        self.with(|store| {
            let mut rows = AnswerRows::new(&store.states[index(state)].rows, limit);
            let mut offsets = vec![0];
            for at in store.places(state, keys) {
                if let Cell::List(list) = &store.cells[at] {
                    rows.push_all(&list.data, list.rows)?;
                }
                offsets.push(rows.len());
            }
            Ok(StateLists { offsets, columns: rows.finish() })
        })
    }

    fn map_get(&mut self, state: u32, keys: &[u32], map_keys: &Column, limit: usize) -> StateResult<StateRows> {
        self.with(|store| {
            let mut rows = AnswerRows::new(&store.states[index(state)].rows, limit);
            let mut present = Vec::with_capacity(keys.len());
            for (entry, at) in store.places(state, keys).enumerate() {
                let row = match &store.cells[at] {
                    Cell::Map(map) => map.get(&encoded_map_key(map_keys, entry)),
                    _ => None,
                };
                present.push(row.is_some());
                rows.push(row)?;
            }
            Ok(StateRows { present, columns: rows.finish() })
        })
    }

    fn map_put(&mut self, state: u32, keys: &[u32], map_keys: &Column, columns: &[Column]) -> StateResult<()> {
        self.with(|store| {
            keys.iter().enumerate().try_for_each(|(row, key)| {
                let encoded = store.encoded(state, columns, row);
                store.set_entry(state, *key, encoded_map_key(map_keys, row), Some(encoded.into()))
            })
        })
    }

    fn map_remove(&mut self, state: u32, keys: &[u32], map_keys: &Column) -> StateResult<()> {
        self.with(|store| {
            keys.iter()
                .enumerate()
                .try_for_each(|(row, key)| store.set_entry(state, *key, encoded_map_key(map_keys, row), None))
        })
    }

    fn map_entries(&mut self, state: u32, keys: &[u32], limit: usize) -> StateResult<StateMaps> {
        self.with(|store| {
            let spec = &store.states[index(state)];
            let StateShape::Map(kind) = spec.shape else {
                let detail = format!("state `{}` is no map", spec.name);
                return Err(StateError::Platform { detail });
            };
            let mut rows = AnswerRows::new(&spec.rows, limit);
            let mut map_keys = ColumnBuilder::of_kind(kind);
            let mut offsets = vec![0];
            for at in store.places(state, keys) {
                if let Cell::Map(map) = &store.cells[at] {
                    for (mut map_key, row) in map.iter() {
                        rows.charge(map_key.len())?;
                        rows.push(Some(row))?;
                        let map_key = decode_value(&mut map_key).expect("this store encoded the map key itself");
                        map_keys.push(map_key.as_ref());
                    }
                }
                offsets.push(index32(map_keys.len()));
            }
            Ok(StateMaps { offsets, map_keys: map_keys.finish(), columns: rows.finish() })
        })
    }

    fn set_timer(&mut self, timer: u32, keys: &[u32], times: &[EventTime]) -> StateResult<()> {
        self.with(|store| {
            keys.iter().zip(times).try_for_each(|(key, time)| store.set_pending(timer, *key, Some(*time)))
        })
    }

    fn clear_timer(&mut self, timer: u32, keys: &[u32]) -> StateResult<()> {
        self.with(|store| keys.iter().try_for_each(|key| store.set_pending(timer, *key, None)))
    }
}
