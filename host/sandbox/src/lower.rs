//! Columns on their way to a guest: borrowed where the layout is the contract's already, otherwise written into buffers
//! that are kept from call to call.
//!
//! Integers, text and bytes are not copied here at all; offsets, booleans and presence are rewritten. Invariant: what goes
//! out has one entry per row, offsets from 0, presence only where a row is null, and one NaN.

use tidegate_types::hooks::HookError;
use tidegate_types::{Column, Field};

use crate::bindings::tidegate::job::types::{ColumnParam, ValuesParam, VarBytesParam};
use crate::fields::{Wire, wire};

mod owned;
mod prepare;
pub(crate) use owned::owned;
use prepare::Prepared;

/// Buffers for the columns of one argument.
#[derive(Debug, Default)]
pub(crate) struct Lowering {
    columns: Vec<Prepared>,
}

/// The columns of one argument, ready to be lowered.
pub(crate) struct Lowered<'a> {
    pub(crate) columns: Vec<ColumnParam<'a>>,
    /// What they measure in the guest, bytes.
    pub(crate) bytes: usize,
}

impl Lowering {
    /// Borrows `columns` (of `fields`, all of `rows` rows) for one call.
    ///
    /// # Errors
    /// If they do not fit the fields: then the host, not the guest, is wrong.
    pub(crate) fn lower<'a>(
        &'a mut self,
        columns: &'a [Column],
        fields: &[Field],
        rows: usize,
    ) -> Result<Lowered<'a>, HookError> {
        if columns.len() != fields.len() {
            return Err(wrong(format!("{} columns for {} fields", columns.len(), fields.len())));
        }
        self.columns.resize_with(columns.len(), Prepared::default);
        for ((prepared, column), field) in self.columns.iter_mut().zip(columns).zip(fields) {
            let wire = wire(field);
            fits(column, field, wire, rows)?;
            prepared.fill(column, wire);
        }
        let params: Vec<ColumnParam<'a>> = self
            .columns
            .iter()
            .zip(columns)
            .zip(fields)
            .map(|((prepared, column), field)| prepared.param(column, wire(field)))
            .collect();
        let bytes = params.iter().map(size).sum();
        Ok(Lowered { columns: params, bytes })
    }
}

fn fits(column: &Column, field: &Field, wire: Wire, rows: usize) -> Result<(), HookError> {
    let name = &field.name;
    if column.len() != rows {
        return Err(wrong(format!("field `{name}` has {} rows of {rows}", column.len())));
    }
    let kind = column.kind();
    if !wire.json && !matches!(column, Column::Null(_)) && kind != Some(wire.kind) {
        let is = kind.map_or("dynamic", tidegate_types::Kind::name);
        return Err(wrong(format!("field `{name}` is {is}, not {}", wire.kind)));
    }
    if !wire.nullable && column.has_nulls() {
        return Err(wrong(format!("field `{name}` has nulls and is not nullable")));
    }
    Ok(())
}

fn wrong(what: String) -> HookError {
    HookError::Platform { detail: format!("a hook was given wrong columns: {what}") }
}

fn size(column: &ColumnParam<'_>) -> usize {
    let values = match &column.values {
        ValuesParam::Bools(values) => values.len(),
        ValuesParam::Ints(values) => size_of_val(*values),
        ValuesParam::Floats(values) => size_of_val(*values),
        ValuesParam::Texts(VarBytesParam { offsets, data }) | ValuesParam::Bytes(VarBytesParam { offsets, data }) => {
            size_of_val(*offsets) + data.len()
        }
    };
    values + column.present.map_or(0, <[u8]>::len)
}
