//! State and timers as the host keeps them, in plain maps: what a process hook is tested with.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::super::check;
use crate::columns::{Column, Field, Found, Kind, Lists, Maps, Shape, StatePlan, Value, Values, VarBytes};
use crate::processor::KeyedState;

/// A value that is kept. Floats are kept as they order within one sign, which is enough to compare them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kept {
    Null,
    Bool(bool),
    Int(i64),
    Float(u64),
    Text(String),
    Bytes(Vec<u8>),
}

type Row = Vec<Kept>;

/// What all keys hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    values: BTreeMap<(u32, String), Row>,
    lists: BTreeMap<(u32, String), Vec<Row>>,
    maps: BTreeMap<(u32, String), BTreeMap<Kept, Row>>,
    /// By time, then key, then the timer's place in the plan.
    pub(super) timers: BTreeSet<(i64, String, u32)>,
}

impl Memory {
    /// Removes what a key holds under a state.
    pub(super) fn forget(&mut self, state: u32, key: &str) {
        let held = (state, key.to_owned());
        self.values.remove(&held);
        self.lists.remove(&held);
        self.maps.remove(&held);
    }
}

/// The state of one call.
pub(super) struct Store<'a> {
    pub(super) states: &'a [StatePlan],
    /// The keys of the call, by number.
    pub(super) keys: &'a [String],
    pub(super) memory: &'a RefCell<Memory>,
    /// The least time that a timer was set to.
    pub(super) least_set: RefCell<Option<i64>>,
}

impl Store<'_> {
    fn plan(&self, state: u32, due: &str) -> &StatePlan {
        let plan = self.states.get(place(state)).unwrap_or_else(|| panic!("there is no state {state}"));
        let shape = match plan.shape {
            Shape::Value => "value",
            Shape::List => "list",
            Shape::Map(_) => "map",
        };
        assert!(due.is_empty() || shape == due, "state `{}` is a {shape}, and this is for a {due}", plan.name);
        plan
    }

    fn held(&self, state: u32, key: u32) -> (u32, String) {
        (state, self.keys[place(key)].clone())
    }

    fn written(&self, state: u32, due: &str, keys: &[u32], columns: &[Column]) -> Vec<Row> {
        let plan = self.plan(state, due);
        check::columns("rows of a state", &plan.fields, columns, keys.len())
            .unwrap_or_else(|fault| panic!("{fault:?}"));
        (0..keys.len()).map(|row| columns.iter().map(|column| keep(column.value(row))).collect()).collect()
    }

    fn found(&self, plan: &StatePlan, rows: &[Option<Row>]) -> Found {
        Found {
            present: rows.iter().map(|row| u8::from(row.is_some())).collect(),
            columns: columns(&plan.fields, rows),
        }
    }

    fn change_timers(&self, timer: u32, key: u32, time: Option<i64>) {
        let key = &self.keys[place(key)];
        let timers = &mut self.memory.borrow_mut().timers;
        timers.retain(|(_, of, number)| (of, *number) != (key, timer));
        timers.extend(time.map(|time| (time, key.clone(), timer)));
    }
}

impl KeyedState for Store<'_> {
    fn get(&self, state: u32, keys: &[u32]) -> Found {
        let plan = self.plan(state, "value");
        let memory = self.memory.borrow();
        let rows: Vec<_> = keys.iter().map(|key| memory.values.get(&self.held(state, *key)).cloned()).collect();
        self.found(plan, &rows)
    }

    fn put(&self, state: u32, keys: &[u32], rows: &[Column]) {
        for (key, row) in keys.iter().zip(self.written(state, "value", keys, rows)) {
            self.memory.borrow_mut().values.insert(self.held(state, *key), row);
        }
    }

    fn clear(&self, state: u32, keys: &[u32]) {
        self.plan(state, "");
        keys.iter().for_each(|key| self.memory.borrow_mut().forget(state, &self.keys[place(*key)]));
    }

    fn append(&self, state: u32, keys: &[u32], rows: &[Column]) {
        for (key, row) in keys.iter().zip(self.written(state, "list", keys, rows)) {
            self.memory.borrow_mut().lists.entry(self.held(state, *key)).or_default().push(row);
        }
    }

    fn get_list(&self, state: u32, keys: &[u32]) -> Lists {
        let plan = self.plan(state, "list");
        let memory = self.memory.borrow();
        let (mut offsets, mut rows) = (vec![0], Vec::new());
        for key in keys {
            rows.extend(memory.lists.get(&self.held(state, *key)).into_iter().flatten().cloned().map(Some));
            offsets.push(u32::try_from(rows.len()).expect("a test's lists are short"));
        }
        Lists { offsets, columns: columns(&plan.fields, &rows) }
    }

    fn map_get(&self, state: u32, keys: &[u32], map_keys: &Column) -> Found {
        let plan = self.plan(state, "map");
        let memory = self.memory.borrow();
        let row = |(row, key): (usize, &u32)| {
            memory.maps.get(&self.held(state, *key))?.get(&keep(map_keys.value(row))).cloned()
        };
        let rows: Vec<_> = keys.iter().enumerate().map(row).collect();
        self.found(plan, &rows)
    }

    fn map_put(&self, state: u32, keys: &[u32], map_keys: &Column, rows: &[Column]) {
        for (place, row) in self.written(state, "map", keys, rows).into_iter().enumerate() {
            let held = self.held(state, keys[place]);
            self.memory.borrow_mut().maps.entry(held).or_default().insert(keep(map_keys.value(place)), row);
        }
    }

    fn map_remove(&self, state: u32, keys: &[u32], map_keys: &Column) {
        self.plan(state, "map");
        for (place, key) in keys.iter().enumerate() {
            let maps = &mut self.memory.borrow_mut().maps;
            let held = self.held(state, *key);
            let Some(map) = maps.get_mut(&held) else { continue };
            map.remove(&keep(map_keys.value(place)));
            if map.is_empty() {
                maps.remove(&held);
            }
        }
    }

    fn map_entries(&self, state: u32, keys: &[u32]) -> Maps {
        let plan = self.plan(state, "map");
        let Shape::Map(kind) = plan.shape else { unreachable!("the shape was checked") };
        let memory = self.memory.borrow();
        let (mut offsets, mut under, mut rows) = (vec![0], Vec::new(), Vec::new());
        for key in keys {
            for (map_key, row) in memory.maps.get(&self.held(state, *key)).into_iter().flatten() {
                under.push(Some(vec![map_key.clone()]));
                rows.push(Some(row.clone()));
            }
            offsets.push(u32::try_from(rows.len()).expect("a test's maps are small"));
        }
        let map_keys = column(kind, false, 0, &under);
        Maps { offsets, map_keys, columns: columns(&plan.fields, &rows) }
    }

    fn set_timer(&self, timer: u32, keys: &[u32], times: &[i64]) {
        for (key, time) in keys.iter().zip(times) {
            self.change_timers(timer, *key, Some(*time));
            let mut least = self.least_set.borrow_mut();
            *least = Some(least.map_or(*time, |least| least.min(*time)));
        }
    }

    fn clear_timer(&self, timer: u32, keys: &[u32]) {
        keys.iter().for_each(|key| self.change_timers(timer, *key, None));
    }
}

fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn keep(value: Value<'_>) -> Kept {
    match value {
        Value::Null => Kept::Null,
        Value::Bool(value) => Kept::Bool(value),
        Value::Int(value) => Kept::Int(value),
        Value::Float(value) => Kept::Float(value.to_bits()),
        Value::Text(value) => Kept::Text(value.to_owned()),
        Value::Bytes(value) => Kept::Bytes(value.to_vec()),
    }
}

fn columns(fields: &[Field], rows: &[Option<Row>]) -> Vec<Column> {
    fields.iter().enumerate().map(|(place, field)| column(field.kind, field.nullable, place, rows)).collect()
}

/// A field of rows as a column; of a row that is not there, some value.
fn column(kind: Kind, nullable: bool, field: usize, rows: &[Option<Row>]) -> Column {
    let values: Vec<&Kept> = rows.iter().map(|row| row.as_ref().map_or(&Kept::Null, |row| &row[field])).collect();
    let bytes = || -> VarBytes {
        let bytes = |value: &&Kept| match value {
            Kept::Text(text) => text.clone().into_bytes(),
            Kept::Bytes(bytes) => bytes.clone(),
            _ => Vec::new(),
        };
        values.iter().map(bytes).collect()
    };
    let int = |value: &&Kept| if let Kept::Int(value) = value { *value } else { 0 };
    let float = |value: &&Kept| if let Kept::Float(bits) = value { f64::from_bits(*bits) } else { 0.0 };
    let made = match kind {
        Kind::Bool => Values::Bools(values.iter().map(|value| u8::from(**value == Kept::Bool(true))).collect()),
        Kind::Int => Values::Ints(values.iter().map(int).collect()),
        Kind::Float => Values::Floats(values.iter().map(float).collect()),
        Kind::Text => Values::Texts(bytes()),
        Kind::Bytes => Values::Bytes(bytes()),
    };
    let present = nullable.then(|| values.iter().map(|value| u8::from(**value != Kept::Null)).collect());
    Column { values: made, present }
}
