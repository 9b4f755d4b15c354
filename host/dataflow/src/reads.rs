//! Brings a batch to the columns that a hook reads: each of the kind that it asked for.
//!
//! A dynamic column that happens to hold that kind is passed as it is. A value of another kind is a mismatch, and its
//! row is rejected where the hook would have seen it. An integer is a valid float.

use tidegate_types::batch::index32;
use tidegate_types::hooks::{HookRows, Reads};
use tidegate_types::{Batch, Column, ColumnBuilder, Field, FieldType, Kind, ValueRef};

/// The columns of a batch that a hook reads.
#[derive(Debug)]
pub(crate) struct ReadColumns {
    columns: Vec<Column>,
    times: bool,
    /// `(row, field, what it holds)`, ascending by row.
    mismatches: Vec<(u32, String)>,
}

impl ReadColumns {
    /// Looks the fields up and casts them. A field that the batch does not have is null.
    pub(crate) fn of(batch: &Batch, reads: &Reads) -> Self {
        let mut mismatches = Vec::new();
        let columns = reads.columns.iter().map(|field| cast(batch, field, &mut mismatches)).collect();
        mismatches.sort_unstable();
        mismatches.dedup_by_key(|(row, _)| *row);
        Self { columns, times: reads.times, mismatches }
    }

    /// Why the hook cannot be shown this row.
    pub(crate) fn mismatch(&self, row: u32) -> Option<&str> {
        let place = self.mismatches.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        Some(&self.mismatches[place].1)
    }

    /// The rows at `rows`, as a hook's input.
    pub(crate) fn take(&self, batch: &Batch, rows: &[u32]) -> HookRows {
        let whole = rows.len() == batch.len() && rows.windows(2).all(|pair| pair[0] < pair[1]);
        let columns =
            if whole { self.columns.clone() } else { self.columns.iter().map(|column| column.take(rows)).collect() };
        let times = match (self.times, whole) {
            (false, _) => Vec::new(),
            (true, true) => batch.times.to_vec(),
            (true, false) => rows.iter().map(|row| batch.times[tidegate_types::batch::index(*row)]).collect(),
        };
        HookRows { len: rows.len(), times, columns }
    }
}

fn cast(batch: &Batch, field: &Field, mismatches: &mut Vec<(u32, String)>) -> Column {
    let column = batch.column(&field.name).cloned().unwrap_or(Column::Null(batch.len()));
    let FieldType::Typed { kind, nullable } = field.field_type else {
        return column;
    };
    if column.kind() == Some(kind) && (nullable || !column.has_nulls()) {
        return column;
    }
    let mut builder = ColumnBuilder::of_kind(kind);
    for row in 0..column.len() {
        let value = column.value(row);
        match fitting(value, kind, nullable) {
            Some(value) => builder.push(value),
            None => {
                builder.push(ValueRef::Null);
                let found = kind_name(value);
                mismatches.push((index32(row), format!("field `{}` is {found}, the hook reads {kind}", field.name)));
            }
        }
    }
    builder.finish()
}

fn fitting(value: ValueRef<'_>, kind: Kind, nullable: bool) -> Option<ValueRef<'_>> {
    match (value, kind) {
        (ValueRef::Null, _) => nullable.then_some(value),
        (ValueRef::Bool(_), Kind::Bool)
        | (ValueRef::Int(_), Kind::Int)
        | (ValueRef::Float(_), Kind::Float)
        | (ValueRef::Text(_), Kind::Text)
        | (ValueRef::Bytes(_), Kind::Bytes) => Some(value),
        #[allow(clippy::cast_precision_loss, reason = "an integer literal is a valid float: the nearest one")]
        (ValueRef::Int(int), Kind::Float) => Some(ValueRef::Float(int as f64)),
        _ => None,
    }
}

/// What a value is, in words for a message.
pub(crate) fn kind_name(value: ValueRef<'_>) -> &'static str {
    match value {
        ValueRef::Null => "null or absent",
        ValueRef::Bool(_) => "a bool",
        ValueRef::Int(_) => "an int",
        ValueRef::Float(_) => "a float",
        ValueRef::Text(_) => "text",
        ValueRef::Bytes(_) => "bytes",
        ValueRef::Json(_) => "an array or object",
    }
}
