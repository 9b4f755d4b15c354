//! One column of a batch: an Arrow array of one kind, or a dynamic array of any values.
//!
//! A field that no schema declares is *dynamic*; its column is specialised to one kind whenever a batch happens to hold
//! one kind only. The variant may therefore differ from batch to batch, and means nothing by itself: two columns are the
//! same when their values are.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{Array, BinaryArray, BooleanArray, Float64Array, Int64Array, StringArray, UInt32Array};
use arrow_select::take::take;

use crate::batch::index;
use crate::schema::Kind;
use crate::value::{Value, ValueRef};

mod builder;
pub use builder::ColumnBuilder;

/// A column. Cloning shares the values.
#[derive(Debug, Clone)]
pub enum Column {
    /// Nulls only: so many.
    Null(usize),
    /// Booleans.
    Bool(BooleanArray),
    /// Integers.
    Int(Int64Array),
    /// Floats.
    Float(Float64Array),
    /// Texts.
    Text(StringArray),
    /// Bytes.
    Bytes(BinaryArray),
    /// Values of several kinds, or arrays and objects.
    Dynamic(DynamicArray),
}

/// Values of any kinds. Cloning shares them.
#[derive(Debug, Clone, Default)]
pub struct DynamicArray {
    values: Arc<[Value]>,
}

impl DynamicArray {
    /// An array of these values.
    #[must_use]
    pub fn new(values: Vec<Value>) -> Self {
        Self { values: values.into() }
    }

    /// The values.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

impl Column {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Null(len) => *len,
            Self::Bool(array) => array.len(),
            Self::Int(array) => array.len(),
            Self::Float(array) => array.len(),
            Self::Text(array) => array.len(),
            Self::Bytes(array) => array.len(),
            Self::Dynamic(array) => array.values.len(),
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kind of all values that are not null, if the column is of one kind.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Null(_) | Self::Dynamic(_) => None,
            Self::Bool(_) => Some(Kind::Bool),
            Self::Int(_) => Some(Kind::Int),
            Self::Float(_) => Some(Kind::Float),
            Self::Text(_) => Some(Kind::Text),
            Self::Bytes(_) => Some(Kind::Bytes),
        }
    }

    /// Whether the row is null.
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Null(_) => true,
            Self::Bool(array) => array.is_null(row),
            Self::Int(array) => array.is_null(row),
            Self::Float(array) => array.is_null(row),
            Self::Text(array) => array.is_null(row),
            Self::Bytes(array) => array.is_null(row),
            Self::Dynamic(array) => array.values[row].is_null(),
        }
    }

    /// Whether any row is null.
    #[must_use]
    pub fn has_nulls(&self) -> bool {
        match self {
            Self::Null(len) => *len > 0,
            Self::Bool(array) => array.null_count() > 0,
            Self::Int(array) => array.null_count() > 0,
            Self::Float(array) => array.null_count() > 0,
            Self::Text(array) => array.null_count() > 0,
            Self::Bytes(array) => array.null_count() > 0,
            Self::Dynamic(array) => array.values.iter().any(Value::is_null),
        }
    }

    /// The value of a row.
    #[must_use]
    pub fn value(&self, row: usize) -> ValueRef<'_> {
        if !matches!(self, Self::Dynamic(_)) && self.is_null(row) {
            return ValueRef::Null;
        }
        match self {
            Self::Null(_) => ValueRef::Null,
            Self::Bool(array) => ValueRef::Bool(array.value(row)),
            Self::Int(array) => ValueRef::Int(array.value(row)),
            Self::Float(array) => ValueRef::Float(array.value(row)),
            Self::Text(array) => ValueRef::Text(array.value(row)),
            Self::Bytes(array) => ValueRef::Bytes(array.value(row)),
            Self::Dynamic(array) => array.values[row].as_ref(),
        }
    }

    /// The rows at `indices`, in that order.
    #[must_use]
    pub fn take(&self, indices: &[u32]) -> Self {
        let places = UInt32Array::from_iter_values(indices.iter().copied());
        match self {
            Self::Null(_) => Self::Null(indices.len()),
            Self::Bool(array) => Self::Bool(taken(array, &places)),
            Self::Int(array) => Self::Int(taken(array, &places)),
            Self::Float(array) => Self::Float(taken(array, &places)),
            Self::Text(array) => Self::Text(taken(array, &places)),
            Self::Bytes(array) => Self::Bytes(taken(array, &places)),
            Self::Dynamic(array) => {
                Self::Dynamic(DynamicArray::new(indices.iter().map(|row| array.values[index(*row)].clone()).collect()))
            }
        }
    }

    /// A column of these values, specialised to one kind where it can be.
    pub fn of_values<'a>(values: impl IntoIterator<Item = ValueRef<'a>>) -> Self {
        let mut builder = ColumnBuilder::new();
        for value in values {
            builder.push(value);
        }
        builder.finish()
    }
}

fn taken<A: Array + Clone + 'static>(array: &A, places: &UInt32Array) -> A {
    let result = take(array, places, None).expect("indices are within the array");
    result.as_any().downcast_ref::<A>().expect("take keeps the array's type").clone()
}

#[cfg(test)]
mod tests;
