//! Columns, as they cross the border: the types of the contract, and views that borrow from them.
//!
//! The row-wise traits hide all of this. A hook that works on whole columns ([`ColumnMapper`](crate::ColumnMapper),
//! [`ColumnAggregator`](crate::ColumnAggregator), [`ColumnWindower`](crate::ColumnWindower),
//! [`ColumnProcessor`](crate::ColumnProcessor)) takes them as they are and may hand them on without a copy.

use std::ops::Range;

use crate::utf8;

pub use crate::bindings::aggregator::exports::tidegate::job::aggregator::{Accumulated, Cells, Plan as AggregatorPlan};
pub use crate::bindings::mapper::exports::tidegate::job::mapper::{Mapped, Plan as MapperPlan};
pub use crate::bindings::mapper::tidegate::job::types::{
    Batch, Column, Fault, Field, Kind, Reads, Rejection, Rows, Values, VarBytes,
};
pub use crate::bindings::processor::exports::tidegate::job::processor::{
    Clock, Due, Plan as ProcessorPlan, Processed, Shape, State as StatePlan, Timer as TimerPlan,
};
pub use crate::bindings::processor::tidegate::job::keyed_state::{Found, Lists, Maps};
pub use crate::bindings::windower::exports::tidegate::job::windower::{
    Assignments, Decision, Panes, Plan as WindowerPlan, Timing,
};

impl Field {
    /// A field that has a value in every row.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, nullable: false, logical: None }
    }

    /// A field that may be null.
    pub fn nullable(name: impl Into<String>, kind: Kind) -> Self {
        Self { nullable: true, ..Self::new(name, kind) }
    }
}

impl Values {
    /// The kind of these values.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bools(_) => Kind::Bool,
            Self::Ints(_) => Kind::Int,
            Self::Floats(_) => Kind::Float,
            Self::Texts(_) => Kind::Text,
            Self::Bytes(_) => Kind::Bytes,
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match self {
            Self::Bools(values) => values.len(),
            Self::Ints(values) => values.len(),
            Self::Floats(values) => values.len(),
            Self::Texts(values) | Self::Bytes(values) => values.rows(),
        }
    }
}

impl VarBytes {
    /// No rows yet, with room for `rows` short rows.
    pub fn with_capacity(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { offsets, data: Vec::with_capacity(rows * SHORT_ROW) }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Adds a row.
    ///
    /// # Panics
    /// Where the column's data would pass 4 GiB, the end of a guest's memory.
    #[inline]
    pub fn push(&mut self, row: &[u8]) {
        self.data.extend_from_slice(row);
        self.offsets.push(u32::try_from(self.data.len()).expect("a column's data stays under 4 GiB"));
    }

    /// The bytes of one row.
    ///
    /// # Panics
    /// Where there is no such row.
    #[inline]
    pub fn get(&self, row: usize) -> &[u8] {
        &self.data[range(&self.offsets, row)]
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.rows()).map(|row| self.get(row))
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for VarBytes {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Self {
        let rows = rows.into_iter();
        let mut made = Self::with_capacity(rows.size_hint().0);
        rows.for_each(|row| made.push(row.as_ref()));
        made
    }
}

/// What is reserved for a row before its length is known.
const SHORT_ROW: usize = 16;

/// A text column, checked once and borrowed row by row.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    offsets: &'a [u32],
    data: &'a str,
}

impl<'a> Texts<'a> {
    /// Checks the whole column's UTF-8 at once.
    pub fn new(column: &'a VarBytes) -> Result<Self, Fault> {
        let data = utf8::check(&column.data).map_err(|error| Fault::new(format!("a text column: {error}")))?;
        Ok(Self { offsets: &column.offsets, data })
    }

    /// One row's text.
    ///
    /// # Panics
    /// Where there is no such row.
    #[inline]
    pub fn get(&self, row: usize) -> &'a str {
        &self.data[range(self.offsets, row)]
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a str> {
        let view = *self;
        (0..self.offsets.len().saturating_sub(1)).map(move |row| view.get(row))
    }
}

/// An offset fits `usize` wherever a guest runs; on a host of 16 bits the row would not exist.
#[inline]
pub(crate) fn range(offsets: &[u32], row: usize) -> Range<usize> {
    let place = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX);
    place(offsets[row])..place(offsets[row + 1])
}

impl Column {
    /// A column without nulls.
    pub fn new(values: Values) -> Self {
        Self { values, present: None }
    }

    /// A bool column without nulls.
    pub fn from_bools(values: impl IntoIterator<Item = bool>) -> Self {
        Self::new(Values::Bools(values.into_iter().map(u8::from).collect()))
    }

    /// An int column without nulls.
    pub fn from_ints(values: Vec<i64>) -> Self {
        Self::new(Values::Ints(values))
    }

    /// A float column without nulls.
    pub fn from_floats(values: Vec<f64>) -> Self {
        Self::new(Values::Floats(values))
    }

    /// A text column without nulls.
    pub fn from_texts<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Self {
        let mut texts = VarBytes::with_capacity(0);
        values.into_iter().for_each(|text| texts.push(text.as_ref().as_bytes()));
        Self::new(Values::Texts(texts))
    }

    /// A bytes column without nulls.
    pub fn from_bytes<T: AsRef<[u8]>>(values: impl IntoIterator<Item = T>) -> Self {
        Self::new(Values::Bytes(values.into_iter().collect()))
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.values.rows()
    }

    /// Whether a row has a value.
    #[inline]
    pub fn is_present(&self, row: usize) -> bool {
        self.present.as_ref().is_none_or(|present| present[row] != 0)
    }

    /// The column's bools, 0 or 1 each. A column of another kind is a fault.
    pub fn as_bools(&self) -> Result<&[u8], Fault> {
        match &self.values {
            Values::Bools(values) => Ok(values),
            other => Err(wrong_kind(Kind::Bool, other)),
        }
    }

    /// The column's ints. A column of another kind is a fault.
    pub fn as_ints(&self) -> Result<&[i64], Fault> {
        match &self.values {
            Values::Ints(values) => Ok(values),
            other => Err(wrong_kind(Kind::Int, other)),
        }
    }

    /// The column's floats. A column of another kind is a fault.
    pub fn as_floats(&self) -> Result<&[f64], Fault> {
        match &self.values {
            Values::Floats(values) => Ok(values),
            other => Err(wrong_kind(Kind::Float, other)),
        }
    }

    /// The column's texts. A column of another kind is a fault.
    pub fn as_texts(&self) -> Result<Texts<'_>, Fault> {
        match &self.values {
            Values::Texts(values) => Texts::new(values),
            other => Err(wrong_kind(Kind::Text, other)),
        }
    }

    /// The column's bytes. A column of another kind is a fault.
    pub fn as_bytes(&self) -> Result<&VarBytes, Fault> {
        match &self.values {
            Values::Bytes(values) => Ok(values),
            other => Err(wrong_kind(Kind::Bytes, other)),
        }
    }

    /// One row's value, whatever its kind. Slower than a typed view: for keys, tests and messages.
    ///
    /// # Panics
    /// Where there is no such row, or a text is not UTF-8 (the host checks that it is).
    pub fn value(&self, row: usize) -> Value<'_> {
        if !self.is_present(row) {
            return Value::Null;
        }
        match &self.values {
            Values::Bools(values) => Value::Bool(values[row] != 0),
            Values::Ints(values) => Value::Int(values[row]),
            Values::Floats(values) => Value::Float(values[row]),
            Values::Texts(values) => Value::Text(std::str::from_utf8(values.get(row)).expect("texts are UTF-8")),
            Values::Bytes(values) => Value::Bytes(values.get(row)),
        }
    }
}

/// One value of any kind, borrowed from its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A 64-bit float.
    Float(f64),
    /// UTF-8.
    Text(&'a str),
    /// Any bytes.
    Bytes(&'a [u8]),
}

fn wrong_kind(wanted: Kind, got: &Values) -> Fault {
    Fault::new(format!("expected a column of {wanted:?}, got one of {:?}", got.kind()))
}
