//! The accumulators of a tenant's aggregate hook: columns of the kinds that its plan declares, indexed by slot.
//!
//! The host keeps them and shows them to the hook as columns (gather), which it answers with columns (scatter); between
//! two calls the guest keeps nothing that counts. Invariant: every column has one entry per slot.

use arrow_array::{BinaryArray, BooleanArray, Float64Array, Int64Array, StringArray};
use tidegate_types::batch::index;
use tidegate_types::hooks::AggregatePlan;
use tidegate_types::stored::{Malformed, Read, Stored, put_value};
use tidegate_types::{Column, Field, FieldType, Kind, Value, ValueRef};

use super::store::{bytes, bytes_of};

/// A hook's accumulators by slot.
#[derive(Debug)]
pub(crate) struct HookAccumulators {
    columns: Vec<Accumulator>,
    slots: usize,
}

/// One field of the accumulators.
#[derive(Debug)]
struct Accumulator {
    values: Values,
    /// What a fresh slot holds.
    initial: Value,
}

#[derive(Debug)]
enum Values {
    Bool(Vec<Option<bool>>),
    Int(Present<i64>),
    Float(Present<f64>),
    Text { values: Vec<Option<Box<str>>>, held: u64 },
    Bytes { values: Vec<Option<Box<[u8]>>>, held: u64 },
}

/// Numbers, and which of them are there.
#[derive(Debug, Default)]
struct Present<T> {
    values: Vec<T>,
    present: Vec<bool>,
}

impl HookAccumulators {
    /// Accumulators of the plan's fields. `plan.initial` has one row.
    pub(crate) fn new(plan: &AggregatePlan) -> Self {
        let columns = plan.accumulator.iter().zip(&plan.initial).map(|(field, initial)| Accumulator {
            values: Values::of(kind(field)),
            initial: initial.value(0).to_value(),
        });
        Self { columns: columns.collect(), slots: 0 }
    }

    /// Makes sure that the slots `0..slots` exist; new ones are fresh.
    pub(crate) fn reserve(&mut self, slots: usize) {
        for slot in self.slots..slots {
            self.columns.iter_mut().for_each(|column| column.values.push(column.initial.as_ref(), slot));
        }
        self.slots = self.slots.max(slots);
    }

    /// Makes a slot fresh again.
    pub(crate) fn reset(&mut self, slot: u32) {
        self.columns.iter_mut().for_each(|column| column.values.set(index(slot), column.initial.as_ref()));
    }

    /// The accumulators of these slots: a column of its declared kind for each field.
    pub(crate) fn gather(&self, slots: &[u32]) -> Vec<Column> {
        self.columns.iter().map(|column| column.values.gather(slots)).collect()
    }

    /// Row `i` of the columns becomes the accumulator of slot `slots[i]`.
    ///
    /// # Panics
    /// If the columns are not of the declared kinds, which the sandbox checks of every answer.
    pub(crate) fn scatter(&mut self, slots: &[u32], columns: &[Column]) {
        assert_eq!(columns.len(), self.columns.len(), "the sandbox checks the number of columns");
        for (accumulator, column) in self.columns.iter_mut().zip(columns) {
            for (row, slot) in slots.iter().enumerate() {
                accumulator.values.set(index(*slot), column.value(row));
            }
        }
    }

    /// Appends a slot's accumulator: a value of each field.
    pub(crate) fn write(&self, slot: u32, out: &mut Vec<u8>) {
        self.columns.iter().for_each(|column| put_value(out, column.values.get(index(slot))));
    }

    /// Makes a slot's accumulator the one that was written.
    ///
    /// # Errors
    /// If a value is not of its field's kind.
    pub(crate) fn read(&mut self, slot: u32, stored: &mut Stored<'_>) -> Read<()> {
        for column in &mut self.columns {
            let value = stored.value()?;
            if !column.values.takes(value.as_ref()) {
                return Err(Malformed::new("a value of the kind that a hook's plan declares"));
            }
            column.values.set(index(slot), value.as_ref());
        }
        Ok(())
    }

    /// Bytes that the accumulators hold.
    pub(crate) fn state_bytes(&self) -> u64 {
        self.columns.iter().map(|column| column.values.bytes()).sum()
    }
}

/// The kind of an accumulator's field. The WIT contract knows typed fields only.
fn kind(field: &Field) -> Kind {
    match field.field_type {
        FieldType::Typed { kind, .. } => kind,
        FieldType::Dynamic => unreachable!("the sandbox makes typed fields of a plan"),
    }
}

impl Values {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Bool => Self::Bool(Vec::new()),
            Kind::Int => Self::Int(Present::default()),
            Kind::Float => Self::Float(Present::default()),
            Kind::Text => Self::Text { values: Vec::new(), held: 0 },
            Kind::Bytes => Self::Bytes { values: Vec::new(), held: 0 },
        }
    }

    /// Adds the slot after the last one.
    fn push(&mut self, value: ValueRef<'_>, slot: usize) {
        match self {
            Self::Bool(values) => values.push(None),
            Self::Int(numbers) => numbers.push(),
            Self::Float(numbers) => numbers.push(),
            Self::Text { values, .. } => values.push(None),
            Self::Bytes { values, .. } => values.push(None),
        }
        self.set(slot, value);
    }

    fn set(&mut self, slot: usize, value: ValueRef<'_>) {
        match (self, value) {
            (Self::Bool(values), ValueRef::Bool(value)) => values[slot] = Some(value),
            (Self::Bool(values), ValueRef::Null) => values[slot] = None,
            (Self::Int(numbers), ValueRef::Int(value)) => numbers.set(slot, Some(value)),
            (Self::Int(numbers), ValueRef::Null) => numbers.set(slot, None),
            (Self::Float(numbers), ValueRef::Float(value)) => numbers.set(slot, Some(value)),
            (Self::Float(numbers), ValueRef::Null) => numbers.set(slot, None),
            (Self::Text { values, held }, ValueRef::Text(value)) => {
                replace(&mut values[slot], Some(value.into()), held, |text| text.len());
            }
            (Self::Text { values, held }, ValueRef::Null) => replace(&mut values[slot], None, held, |text| text.len()),
            (Self::Bytes { values, held }, ValueRef::Bytes(value)) => {
                replace(&mut values[slot], Some(value.into()), held, |value| value.len());
            }
            (Self::Bytes { values, held }, ValueRef::Null) => {
                replace(&mut values[slot], None, held, |value| value.len());
            }
            _ => unreachable!("the sandbox checks the kinds of every answer"),
        }
    }

    fn get(&self, slot: usize) -> ValueRef<'_> {
        let value = match self {
            Self::Bool(values) => values[slot].map(ValueRef::Bool),
            Self::Int(numbers) => numbers.get(slot).map(ValueRef::Int),
            Self::Float(numbers) => numbers.get(slot).map(ValueRef::Float),
            Self::Text { values, .. } => values[slot].as_deref().map(ValueRef::Text),
            Self::Bytes { values, .. } => values[slot].as_deref().map(ValueRef::Bytes),
        };
        value.unwrap_or(ValueRef::Null)
    }

    /// Whether the value is of this kind, or null.
    fn takes(&self, value: ValueRef<'_>) -> bool {
        matches!(
            (self, value),
            (_, ValueRef::Null)
                | (Self::Bool(_), ValueRef::Bool(_))
                | (Self::Int(_), ValueRef::Int(_))
                | (Self::Float(_), ValueRef::Float(_))
                | (Self::Text { .. }, ValueRef::Text(_))
                | (Self::Bytes { .. }, ValueRef::Bytes(_))
        )
    }

    fn gather(&self, slots: &[u32]) -> Column {
        let slots = slots.iter().map(|slot| index(*slot));
        match self {
            Self::Bool(values) => Column::Bool(slots.map(|slot| values[slot]).collect::<BooleanArray>()),
            Self::Int(numbers) => Column::Int(slots.map(|slot| numbers.get(slot)).collect::<Int64Array>()),
            Self::Float(numbers) => Column::Float(slots.map(|slot| numbers.get(slot)).collect::<Float64Array>()),
            Self::Text { values, .. } => {
                Column::Text(slots.map(|slot| values[slot].as_deref()).collect::<StringArray>())
            }
            Self::Bytes { values, .. } => {
                Column::Bytes(slots.map(|slot| values[slot].as_deref()).collect::<BinaryArray>())
            }
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::Bool(values) => bytes_of::<Option<bool>>(values.len()),
            Self::Int(numbers) => bytes_of::<(i64, bool)>(numbers.values.len()),
            Self::Float(numbers) => bytes_of::<(f64, bool)>(numbers.values.len()),
            Self::Text { values, held } => bytes_of::<Option<Box<str>>>(values.len()) + held,
            Self::Bytes { values, held } => bytes_of::<Option<Box<[u8]>>>(values.len()) + held,
        }
    }
}

impl<T: Copy + Default> Present<T> {
    fn push(&mut self) {
        self.values.push(T::default());
        self.present.push(false);
    }

    fn set(&mut self, slot: usize, value: Option<T>) {
        self.present[slot] = value.is_some();
        self.values[slot] = value.unwrap_or_default();
    }

    fn get(&self, slot: usize) -> Option<T> {
        self.present[slot].then(|| self.values[slot])
    }
}

/// Puts a value into an entry and keeps count of the bytes held.
fn replace<T>(entry: &mut Option<T>, value: Option<T>, held: &mut u64, len: impl Fn(&T) -> usize) {
    let size = |value: &Option<T>| value.as_ref().map_or(0, |value| bytes(len(value)));
    *held += size(&value);
    *held -= size(entry);
    *entry = value;
}

#[cfg(test)]
mod tests;
