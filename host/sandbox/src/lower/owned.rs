//! Columns that a guest's own call is answered with: they outlive the host's, so they are copied.

use tidegate_types::hooks::HookError;
use tidegate_types::{Column, Field};

use super::{Prepared, fits};
use crate::bindings::tidegate::job::types::{ColumnResult, ValuesParam, ValuesResult, VarBytesParam, VarBytesResult};
use crate::fields::{Wire, wire};

/// Copies `columns` (of `fields`, all of `rows` rows). A field that is not nullable may have nulls here, in rows that stand for
/// nothing; some value of its kind goes out for them.
///
/// # Errors
/// If they do not fit the fields.
pub(crate) fn owned(columns: &[Column], fields: &[Field], rows: usize) -> Result<Vec<ColumnResult>, HookError> {
    if columns.len() != fields.len() {
        return Err(super::wrong(format!("{} columns for {} fields", columns.len(), fields.len())));
    }
    let mut prepared = Prepared::default();
    let mut copies = Vec::with_capacity(columns.len());
    for (column, field) in columns.iter().zip(fields) {
        let wire = wire(field);
        fits(column, field, Wire { nullable: true, ..wire }, rows)?;
        prepared.fill(column, wire);
        let param = prepared.param(column, wire);
        let values = match param.values {
            ValuesParam::Bools(values) => ValuesResult::Bools(values.to_vec()),
            ValuesParam::Ints(values) => ValuesResult::Ints(values.to_vec()),
            ValuesParam::Floats(values) => ValuesResult::Floats(values.to_vec()),
            ValuesParam::Texts(texts) => ValuesResult::Texts(copy(&texts)),
            ValuesParam::Bytes(bytes) => ValuesResult::Bytes(copy(&bytes)),
        };
        copies.push(ColumnResult { values, present: param.present.filter(|_| wire.nullable).map(<[u8]>::to_vec) });
    }
    Ok(copies)
}

fn copy(bytes: &VarBytesParam<'_>) -> VarBytesResult {
    VarBytesResult { offsets: bytes.offsets.to_vec(), data: bytes.data.to_vec() }
}
