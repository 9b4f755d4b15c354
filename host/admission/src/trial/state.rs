//! State and timers of some keys, in plain maps: what a processor is tried with.
//!
//! Nothing is kept beyond it and nothing ever falls due. It is written for its meaning, not for speed.

use std::collections::BTreeMap;

use tidegate_types::hooks::{
    ProcessPlan, StateAccess, StateLists, StateMaps, StateMisuse, StateResult, StateRows, StateShape,
};
use tidegate_types::{Column, ColumnBuilder, EventTime, FieldType, Kind, Value, ValueRef};

type Row = Vec<Value>;

/// The state of some keys.
#[derive(Debug)]
pub struct TrialState {
    keys: usize,
    /// The kinds of each state's fields.
    fields: Vec<Vec<Kind>>,
    /// The kind of each state's map keys; none where it is no map.
    map_keys: Vec<Option<Kind>>,
    values: BTreeMap<(u32, u32), Row>,
    lists: BTreeMap<(u32, u32), Vec<Row>>,
    maps: BTreeMap<(u32, u32), BTreeMap<Value, Row>>,
    timers: BTreeMap<(u32, u32), EventTime>,
}

impl TrialState {
    /// So many keys that hold nothing.
    #[must_use]
    pub fn new(plan: &ProcessPlan, keys: usize) -> Self {
        let kinds = |fields: &[tidegate_types::Field]| fields.iter().map(kind).collect();
        let map_kind = |shape: StateShape| if let StateShape::Map(kind) = shape { Some(kind) } else { None };
        Self {
            keys,
            fields: plan.states.iter().map(|state| kinds(&state.fields)).collect(),
            map_keys: plan.states.iter().map(|state| map_kind(state.shape)).collect(),
            values: BTreeMap::new(),
            lists: BTreeMap::new(),
            maps: BTreeMap::new(),
            timers: BTreeMap::new(),
        }
    }

    /// What is pending: the time of each timer and key.
    #[must_use]
    pub fn pending(&self) -> &BTreeMap<(u32, u32), EventTime> {
        &self.timers
    }

    fn kinds(&self, state: u32) -> &[Kind] {
        &self.fields[place(state)]
    }

    /// One row for each, null where there is none.
    fn rows(&self, state: u32, found: &[Option<&Row>], limit: usize) -> StateResult<StateRows> {
        if found.iter().flatten().map(|row| size(row)).sum::<usize>() > limit {
            return Err(StateMisuse::AnswerTooLarge { limit }.into());
        }
        let columns = columns(self.kinds(state), found);
        Ok(StateRows { present: found.iter().map(Option::is_some).collect(), columns })
    }
}

impl StateAccess for TrialState {
    fn keys(&self) -> usize {
        self.keys
    }

    fn get(&mut self, state: u32, keys: &[u32], limit: usize) -> StateResult<StateRows> {
        let found: Vec<_> = keys.iter().map(|key| self.values.get(&(state, *key))).collect();
        self.rows(state, &found, limit)
    }

    fn put(&mut self, state: u32, keys: &[u32], columns: &[Column]) -> StateResult<()> {
        for (row, key) in keys.iter().enumerate() {
            self.values.insert((state, *key), row_of(columns, row));
        }
        Ok(())
    }

    fn clear(&mut self, state: u32, keys: &[u32]) -> StateResult<()> {
        for key in keys {
            let held = (state, *key);
            self.values.remove(&held);
            self.lists.remove(&held);
            self.maps.remove(&held);
        }
        Ok(())
    }

    fn append(&mut self, state: u32, keys: &[u32], columns: &[Column]) -> StateResult<()> {
        for (row, key) in keys.iter().enumerate() {
            self.lists.entry((state, *key)).or_default().push(row_of(columns, row));
        }
        Ok(())
    }

    fn lists(&mut self, state: u32, keys: &[u32], limit: usize) -> StateResult<StateLists> {
        let lists = keys.iter().map(|key| self.lists.get(&(state, *key)).map_or(&[][..], Vec::as_slice));
        let (offsets, rows) = laid_out(lists.map(|list| list.iter().collect()), limit)?;
        Ok(StateLists { offsets, columns: columns(self.kinds(state), &rows) })
    }

    fn map_get(&mut self, state: u32, keys: &[u32], map_keys: &Column, limit: usize) -> StateResult<StateRows> {
        let row = |(row, key): (usize, &u32)| self.maps.get(&(state, *key))?.get(&map_keys.value(row).to_value());
        let found: Vec<_> = keys.iter().enumerate().map(row).collect();
        self.rows(state, &found, limit)
    }

    fn map_put(&mut self, state: u32, keys: &[u32], map_keys: &Column, columns: &[Column]) -> StateResult<()> {
        for (row, key) in keys.iter().enumerate() {
            let map = self.maps.entry((state, *key)).or_default();
            map.insert(map_keys.value(row).to_value(), row_of(columns, row));
        }
        Ok(())
    }

    fn map_remove(&mut self, state: u32, keys: &[u32], map_keys: &Column) -> StateResult<()> {
        for (row, key) in keys.iter().enumerate() {
            if let Some(map) = self.maps.get_mut(&(state, *key)) {
                map.remove(&map_keys.value(row).to_value());
            }
        }
        Ok(())
    }

    fn map_entries(&mut self, state: u32, keys: &[u32], limit: usize) -> StateResult<StateMaps> {
        let maps = || keys.iter().map(|key| self.maps.get(&(state, *key)));
        let rows = maps().map(|map| map.into_iter().flat_map(BTreeMap::values).collect());
        let (offsets, rows) = laid_out(rows, limit)?;
        let mut map_keys = ColumnBuilder::of_kind(self.map_keys[place(state)].unwrap_or(Kind::Bytes));
        maps().flatten().flat_map(BTreeMap::keys).for_each(|key| map_keys.push(key.as_ref()));
        Ok(StateMaps { offsets, map_keys: map_keys.finish(), columns: columns(self.kinds(state), &rows) })
    }

    fn set_timer(&mut self, timer: u32, keys: &[u32], times: &[EventTime]) -> StateResult<()> {
        self.timers.extend(keys.iter().zip(times).map(|(key, time)| ((timer, *key), *time)));
        Ok(())
    }

    fn clear_timer(&mut self, timer: u32, keys: &[u32]) -> StateResult<()> {
        for key in keys {
            self.timers.remove(&(timer, *key));
        }
        Ok(())
    }
}

fn place(number: u32) -> usize {
    usize::try_from(number).expect("numbers of states are within the plan")
}

fn kind(field: &tidegate_types::Field) -> Kind {
    match field.field_type {
        FieldType::Typed { kind, .. } => kind,
        FieldType::Dynamic => unreachable!("a plan's state has fields of one kind each"),
    }
}

fn row_of(columns: &[Column], row: usize) -> Row {
    columns.iter().map(|column| column.value(row).to_value()).collect()
}

fn columns(kinds: &[Kind], rows: &[Option<&Row>]) -> Vec<Column> {
    let column = |(field, kind): (usize, &Kind)| {
        let mut builder = ColumnBuilder::of_kind(*kind);
        rows.iter().for_each(|row| builder.push(row.map_or(ValueRef::Null, |row| row[field].as_ref())));
        builder.finish()
    };
    kinds.iter().enumerate().map(column).collect()
}

/// Rows one list after the other, and where each list begins.
fn laid_out<'a>(
    lists: impl Iterator<Item = Vec<&'a Row>>,
    limit: usize,
) -> StateResult<(Vec<u32>, Vec<Option<&'a Row>>)> {
    let (mut offsets, mut rows, mut left) = (vec![0], Vec::new(), limit);
    for list in lists {
        // Before the next list, so that what is held stays near the limit.
        let bytes = list.iter().map(|row| size(row)).sum();
        left = left.checked_sub(bytes).ok_or(StateMisuse::AnswerTooLarge { limit })?;
        rows.extend(list);
        offsets.push(u32::try_from(rows.len()).expect("an answer's rows are limited far below 2^32"));
    }
    Ok((offsets, rows.into_iter().map(Some).collect()))
}

/// What a row measures.
fn size(row: &Row) -> usize {
    let value = |value: &Value| match value {
        Value::Text(text) | Value::Json(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => 8,
    };
    8 + row.iter().map(value).sum::<usize>()
}
