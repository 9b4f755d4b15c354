//! A processor's state as it is stored.
//!
//! A stored format. Every key begins with the prefix of its namespace and the key's group, and the encoded key after its length.
//! Then come: of a value the state's number; of a list's piece the state's number and the piece's, big-endian; of a map's entry
//! the state's number and the encoded map key; of a timer its number; of a head nothing. Numbers are those of the plan. Values
//! begin with a version. Heads are stored where a state has a time to live only.

use tidegate_state::{Changes, Namespace, group_of, put_prefix};
use tidegate_types::batch::index;
use tidegate_types::hooks::StateShape;
use tidegate_types::key::decode_value;
use tidegate_types::stored::{Malformed, Read, Stored, put_bool, put_bytes, put_i64, put_len, put_u64};
use tidegate_types::{EventTime, Kind, Value, key_group, key_hash};

use super::cell::Cell;
use super::keys::{KeyId, KeyTable};
use super::store::Store;
use super::tracking::Saved;
use crate::changed::Mark;

const HEADS: Namespace = Namespace(1);
const VALUES: Namespace = Namespace(2);
const LISTS: Namespace = Namespace(3);
const MAPS: Namespace = Namespace(4);
const TIMERS: Namespace = Namespace(5);
const VERSION: u8 = 1;

fn put_key(keys: &KeyTable, groups: u32, namespace: Namespace, key: KeyId, out: &mut Vec<u8>) {
    put_prefix(out, namespace, key_group(keys.hash(key), groups));
    put_bytes(out, keys.encoded(key));
}

/// Writes what is kept of a key besides its state.
pub(super) fn put_head(keys: &KeyTable, groups: u32, key: KeyId, changes: &mut Changes) {
    let head = keys.head(key);
    let value = |out: &mut Vec<u8>| {
        out.push(VERSION);
        for time in [head.latest, head.expiry] {
            put_bool(out, time.is_some());
            if let Some(time) = time {
                put_i64(out, time);
            }
        }
    };
    changes.put(|out| put_key(keys, groups, HEADS, key, out), value);
}

impl Store {
    pub(super) fn delete_head(&self, key: KeyId, changes: &mut Changes) {
        changes.delete(|out| put_key(&self.keys, self.max_parallelism, HEADS, key, out));
    }

    fn cell_key(&self, namespace: Namespace, at: usize, out: &mut Vec<u8>) {
        let key = tidegate_types::batch::index32(at / self.states.len());
        put_key(&self.keys, self.max_parallelism, namespace, key, out);
        put_len(out, at % self.states.len());
    }

    /// Writes a timer, or deletes it if it is not set and was `stored`.
    pub(super) fn put_timer(&self, at: usize, stored: bool, changes: &mut Changes) {
        let (key, timer) = self.timer_of(at);
        let put_key = |out: &mut Vec<u8>| {
            put_key(&self.keys, self.max_parallelism, TIMERS, key, out);
            put_u64(out, timer.into());
        };
        match self.pending[at] {
            Some(time) => changes.put(put_key, |out| {
                out.push(VERSION);
                put_i64(out, time);
            }),
            None if stored => changes.delete(put_key),
            None => {}
        }
    }

    /// The row under a map key.
    pub(super) fn map_row(&self, at: usize, map_key: &[u8]) -> Option<&[u8]> {
        match &self.cells[at] {
            Cell::Map(map) => map.get(map_key),
            _ => None,
        }
    }

    /// Writes an entry of a map, or deletes it if it is not there and was `stored`.
    pub(super) fn put_map_entry(&self, at: usize, map_key: &[u8], stored: bool, changes: &mut Changes) {
        let key = |out: &mut Vec<u8>| {
            self.cell_key(MAPS, at, out);
            out.extend_from_slice(map_key);
        };
        match self.map_row(at, map_key) {
            Some(row) => changes.put(key, |out| put_row(out, row)),
            None if stored => changes.delete(key),
            None => {}
        }
    }

    /// Writes a value, or deletes it if it is not there and was `stored`; or writes and deletes pieces of a list.
    pub(super) fn put_cell(
        &self,
        at: usize,
        stored: bool,
        lists: &mut hashbrown::HashMap<usize, Saved>,
        changes: &mut Changes,
    ) {
        match &self.cells[at] {
            Cell::Value(row) => changes.put(|out| self.cell_key(VALUES, at, out), |out| put_row(out, row)),
            Cell::List(list) => self.put_list(at, &list.data, list.rows, lists.entry(at).or_default(), changes),
            _ if self.shape_at(at) == StateShape::List => {
                if let Some(mut saved) = lists.remove(&at) {
                    saved = Saved { pieces: saved.pieces, ..Saved::default() };
                    self.put_list(at, &[], 0, &mut saved, changes);
                }
            }
            _ if stored => changes.delete(|out| self.cell_key(VALUES, at, out)),
            _ => {}
        }
    }

    fn put_list(&self, at: usize, data: &[u8], rows: u32, saved: &mut Saved, changes: &mut Changes) {
        let key = |piece: u32, out: &mut Vec<u8>| {
            self.cell_key(LISTS, at, out);
            out.extend_from_slice(&piece.to_be_bytes());
        };
        let (stored, last) = (saved.pieces, saved.whole);
        if rows > saved.rows {
            changes.put(
                |out| key(last, out),
                |out| {
                    out.push(VERSION);
                    put_u64(out, (rows - saved.rows).into());
                    out.extend_from_slice(&data[saved.bytes..]);
                },
            );
            saved.add(data.len(), rows);
        } else {
            saved.pieces = last;
        }
        for piece in saved.pieces..stored {
            changes.delete(|out| key(piece, out));
        }
    }

    /// An entry. `fields`: of a key.
    pub(super) fn restore(&mut self, key: &[u8], value: &[u8], fields: usize) -> Read<()> {
        let (namespace, _, rest) = group_of(key)?;
        let (mut rest, mut value) = (Stored::new(rest), Stored::new(value));
        let encoded = rest.bytes()?;
        let mut values = encoded;
        for _ in 0..fields {
            decode_value(&mut values).map_err(|_| Malformed::new("a processor's key"))?;
        }
        if !values.is_empty() || value.byte()? != VERSION {
            return Err(Malformed::new("an entry of a processor of version 1"));
        }
        let key = self.find_or_add(key_hash(encoded), encoded);
        match namespace {
            HEADS => self.restore_head(key, rest, value),
            TIMERS => self.restore_timer(key, rest, value),
            VALUES | LISTS | MAPS => {
                let state = rest.u64()?;
                let state = usize::try_from(state).ok().filter(|state| *state < self.states.len());
                let at = self.cell_at(key, state.ok_or(Malformed::new("a state of the plan"))?);
                let before = self.cells[at].weight();
                match (namespace, self.shape_at(at)) {
                    (VALUES, StateShape::Value) => self.restore_value(at, rest, value)?,
                    (LISTS, StateShape::List) => self.restore_piece(at, rest, value)?,
                    (MAPS, StateShape::Map(kind)) => self.restore_entry(at, kind, rest.rest(), value)?,
                    _ => return Err(Malformed::new("a state of this shape")),
                }
                let after = self.cells[at].weight();
                self.weight.rows = self.weight.rows + after.rows - before.rows;
                self.weight.bytes = self.weight.bytes + after.bytes - before.bytes;
                if let Some(mark) = self.tracking.cells.get_mut(at) {
                    *mark = Mark::STORED;
                }
                Ok(())
            }
            _ => Err(Malformed::new("a namespace of a processor")),
        }
    }

    fn restore_head(&mut self, key: KeyId, rest: Stored<'_>, mut value: Stored<'_>) -> Read<()> {
        let mut time = || -> Read<Option<EventTime>> { if value.bool()? { value.i64().map(Some) } else { Ok(None) } };
        let (latest, expiry) = (time()?, time()?);
        rest.end()?;
        value.end()?;
        let head = self.keys.head_mut(key);
        if self.ttls.is_none() || head.latest.is_some() || head.expiry.is_some() {
            return Err(Malformed::new("one head of a key"));
        }
        (head.latest, head.expiry) = (latest, expiry);
        if let Some(expiry) = expiry {
            self.expiries.insert((expiry, key));
        }
        if let Some(mark) = self.tracking.heads.get_mut(index(key)) {
            *mark = Mark::STORED;
        }
        Ok(())
    }

    fn restore_timer(&mut self, key: KeyId, mut rest: Stored<'_>, mut value: Stored<'_>) -> Read<()> {
        let timer = rest.u32()?;
        let time = value.i64()?;
        rest.end()?;
        value.end()?;
        if index(timer) >= self.clocks.len() {
            return Err(Malformed::new("a timer of the plan"));
        }
        let at = self.timer_at(key, index(timer));
        if self.pending[at].replace(time).is_some() {
            return Err(Malformed::new("a timer that is set once"));
        }
        self.queue(timer).insert((time, key, timer));
        if let Some(mark) = self.tracking.timers.get_mut(at) {
            *mark = Mark::STORED;
        }
        Ok(())
    }

    fn restore_value(&mut self, at: usize, rest: Stored<'_>, value: Stored<'_>) -> Read<()> {
        rest.end()?;
        self.check_rows(at, value.rest(), 1)?;
        match std::mem::replace(&mut self.cells[at], Cell::Value(value.rest().into())) {
            Cell::Empty => Ok(()),
            _ => Err(Malformed::new("a value that is there once")),
        }
    }

    fn restore_piece(&mut self, at: usize, mut rest: Stored<'_>, mut value: Stored<'_>) -> Read<()> {
        let piece = rest.take(4)?.try_into().map_err(|_| Malformed::new("4 bytes"))?;
        rest.end()?;
        let rows = value.u32()?;
        self.check_rows(at, value.rest(), rows)?;
        let saved = self.tracking.lists.entry(at).or_default();
        if u32::from_be_bytes(piece) != saved.pieces || saved.pieces > saved.whole || rows == 0 {
            return Err(Malformed::new("the next piece of a list"));
        }
        if let Cell::Empty = self.cells[at] {
            self.cells[at] = Cell::List(Box::default());
        }
        let Cell::List(list) = &mut self.cells[at] else { return Err(Malformed::new("a list")) };
        list.rows = list.rows.checked_add(rows).ok_or(Malformed::new("a number of rows"))?;
        list.data.reserve_exact(value.rest().len());
        list.data.extend_from_slice(value.rest());
        saved.add(list.data.len(), list.rows);
        Ok(())
    }

    fn restore_entry(&mut self, at: usize, kind: Kind, map_key: &[u8], value: Stored<'_>) -> Read<()> {
        let mut rest = map_key;
        let decoded = decode_value(&mut rest).map_err(|_| Malformed::new("a map key"))?;
        let fits = match decoded {
            Value::Bool(_) => kind == Kind::Bool,
            Value::Int(_) => kind == Kind::Int,
            Value::Float(_) => kind == Kind::Float,
            Value::Text(_) => kind == Kind::Text,
            Value::Bytes(_) => kind == Kind::Bytes,
            Value::Null | Value::Json(_) => false,
        };
        if !fits || !rest.is_empty() {
            return Err(Malformed::new("a map key of the state's kind"));
        }
        self.check_rows(at, value.rest(), 1)?;
        if let Cell::Empty = self.cells[at] {
            self.cells[at] = Cell::Map(Box::default());
        }
        let Cell::Map(map) = &mut self.cells[at] else { return Err(Malformed::new("a map")) };
        match map.set(map_key.into(), Some(value.rest().into())) {
            None => Ok(()),
            Some(_) => Err(Malformed::new("an entry that is there once")),
        }
    }

    fn check_rows(&self, at: usize, rows: &[u8], count: u32) -> Read<()> {
        self.states[at % self.states.len()].rows.check(rows, count)
    }

    /// All entries are there.
    pub(super) fn restored(&mut self) -> Read<()> {
        if !self.tracking.changed.is_kept() {
            self.tracking.lists.clear();
        }
        let is_left = |key: &KeyId| self.is_bare(*key) && self.keys.head(*key).expiry.is_none();
        match self.keys.ids().find(is_left) {
            None => Ok(()),
            Some(_) => Err(Malformed::new("the state of a key")),
        }
    }
}

fn put_row(out: &mut Vec<u8>, row: &[u8]) {
    out.push(VERSION);
    out.extend_from_slice(row);
}
