//! Builds a column value by value, keeping to one kind for as long as the values do.

use super::{BinaryBuilder, BooleanBuilder, Column, DynamicArray, Float64Builder, Int64Builder, StringBuilder};
use crate::schema::Kind;
use crate::value::{Value, ValueRef};

/// Builds a [`Column`].
#[derive(Debug, Default)]
pub struct ColumnBuilder {
    state: State,
}

#[derive(Debug)]
enum State {
    Null(usize),
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Float(Float64Builder),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Dynamic(Vec<Value>),
}

impl Default for State {
    fn default() -> Self {
        Self::Null(0)
    }
}

impl ColumnBuilder {
    /// A builder of a column without rows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A builder whose column is of this kind even if all its values are null.
    #[must_use]
    pub fn of_kind(kind: Kind) -> Self {
        Self { state: State::typed(kind, 0) }
    }

    /// The number of rows so far.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.state {
            State::Null(len) => *len,
            State::Bool(builder) => arrow_array::builder::ArrayBuilder::len(builder),
            State::Int(builder) => arrow_array::builder::ArrayBuilder::len(builder),
            State::Float(builder) => arrow_array::builder::ArrayBuilder::len(builder),
            State::Text(builder) => arrow_array::builder::ArrayBuilder::len(builder),
            State::Bytes(builder) => arrow_array::builder::ArrayBuilder::len(builder),
            State::Dynamic(values) => values.len(),
        }
    }

    /// Whether there is no row yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a row.
    pub fn push(&mut self, value: ValueRef<'_>) {
        match (&mut self.state, value) {
            (State::Null(len), ValueRef::Null) => *len += 1,
            (State::Bool(builder), ValueRef::Bool(value)) => builder.append_value(value),
            (State::Int(builder), ValueRef::Int(value)) => builder.append_value(value),
            (State::Float(builder), ValueRef::Float(value)) => builder.append_value(value),
            (State::Text(builder), ValueRef::Text(value)) => builder.append_value(value),
            (State::Bytes(builder), ValueRef::Bytes(value)) => builder.append_value(value),
            (State::Dynamic(values), value) => values.push(value.to_value()),
            (State::Bool(builder), ValueRef::Null) => builder.append_null(),
            (State::Int(builder), ValueRef::Null) => builder.append_null(),
            (State::Float(builder), ValueRef::Null) => builder.append_null(),
            (State::Text(builder), ValueRef::Null) => builder.append_null(),
            (State::Bytes(builder), ValueRef::Null) => builder.append_null(),
            (_, value) => self.push_other_kind(value),
        }
    }

    /// Adds a row that holds an integer; the same as `push`, but cheaper where the column is one of integers.
    #[inline]
    pub fn push_int(&mut self, value: i64) {
        match &mut self.state {
            State::Int(builder) => builder.append_value(value),
            _ => self.push(ValueRef::Int(value)),
        }
    }

    /// Adds a row that holds a float; the same as `push`, but cheaper where the column is one of floats.
    #[inline]
    pub fn push_float(&mut self, value: f64) {
        match &mut self.state {
            State::Float(builder) => builder.append_value(value),
            _ => self.push(ValueRef::Float(value)),
        }
    }

    /// Adds a row that holds a text; the same as `push`, but cheaper where the column is one of texts.
    #[inline]
    pub fn push_text(&mut self, value: &str) {
        match &mut self.state {
            State::Text(builder) => builder.append_value(value),
            _ => self.push(ValueRef::Text(value)),
        }
    }

    /// The first value that is not null fixes the kind; a second kind makes the column dynamic.
    #[cold]
    fn push_other_kind(&mut self, value: ValueRef<'_>) {
        let kind = match value {
            ValueRef::Bool(_) => Some(Kind::Bool),
            ValueRef::Int(_) => Some(Kind::Int),
            ValueRef::Float(_) => Some(Kind::Float),
            ValueRef::Text(_) => Some(Kind::Text),
            ValueRef::Bytes(_) => Some(Kind::Bytes),
            ValueRef::Null | ValueRef::Json(_) => None,
        };
        self.state = match (std::mem::take(&mut self.state), kind) {
            (State::Null(nulls), Some(kind)) => State::typed(kind, nulls),
            (state, _) => State::Dynamic(state.into_values()),
        };
        self.push(value);
    }

    /// Adds all rows of a column.
    pub fn append(&mut self, column: &Column) {
        if let State::Null(0) = self.state {
            self.state = match column {
                Column::Null(_) | Column::Dynamic(_) => State::Null(0),
                column => column.kind().map_or(State::Null(0), |kind| State::typed(kind, 0)),
            };
        }
        match (&mut self.state, column) {
            (State::Int(builder), Column::Int(array)) => builder.append_array(array),
            (State::Float(builder), Column::Float(array)) => builder.append_array(array),
            (State::Bool(builder), Column::Bool(array)) => builder.append_array(array),
            _ => (0..column.len()).for_each(|row| self.push(column.value(row))),
        }
    }

    /// The column, leaving the builder empty.
    pub fn finish(&mut self) -> Column {
        std::mem::take(&mut self.state).finish()
    }
}

impl State {
    /// An empty builder of a kind, after so many nulls.
    fn typed(kind: Kind, nulls: usize) -> Self {
        match kind {
            Kind::Bool => {
                let mut builder = BooleanBuilder::new();
                builder.append_nulls(nulls);
                Self::Bool(builder)
            }
            Kind::Int => {
                let mut builder = Int64Builder::new();
                builder.append_nulls(nulls);
                Self::Int(builder)
            }
            Kind::Float => {
                let mut builder = Float64Builder::new();
                builder.append_nulls(nulls);
                Self::Float(builder)
            }
            Kind::Text => {
                let mut builder = StringBuilder::new();
                (0..nulls).for_each(|_| builder.append_null());
                Self::Text(builder)
            }
            Kind::Bytes => {
                let mut builder = BinaryBuilder::new();
                (0..nulls).for_each(|_| builder.append_null());
                Self::Bytes(builder)
            }
        }
    }

    fn finish(self) -> Column {
        match self {
            Self::Null(len) => Column::Null(len),
            Self::Bool(mut builder) => Column::Bool(builder.finish()),
            Self::Int(mut builder) => Column::Int(builder.finish()),
            Self::Float(mut builder) => Column::Float(builder.finish()),
            Self::Text(mut builder) => Column::Text(builder.finish()),
            Self::Bytes(mut builder) => Column::Bytes(builder.finish()),
            Self::Dynamic(values) => Column::Dynamic(DynamicArray::new(values)),
        }
    }

    fn into_values(self) -> Vec<Value> {
        let column = self.finish();
        (0..column.len()).map(|row| column.value(row).to_value()).collect()
    }
}
