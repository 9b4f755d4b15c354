//! One row of what a hook reads: null where it may be, otherwise the plainest value of the kind.

use arrow_array::{BinaryArray, BooleanArray, Float64Array, Int64Array, StringArray};
use tidegate_types::hooks::{HookRows, Reads};
use tidegate_types::{Column, Field, FieldType, Kind};

/// The row.
pub(super) fn of(reads: &Reads) -> HookRows {
    HookRows {
        len: 1,
        times: if reads.times { vec![0] } else { Vec::new() },
        columns: reads.columns.iter().map(column).collect(),
    }
}

fn column(field: &Field) -> Column {
    match field.field_type {
        FieldType::Dynamic | FieldType::Typed { nullable: true, .. } => Column::Null(1),
        FieldType::Typed { kind, nullable: false } => match kind {
            Kind::Bool => Column::Bool(BooleanArray::from(vec![false])),
            Kind::Int => Column::Int(Int64Array::from(vec![0])),
            Kind::Float => Column::Float(Float64Array::from(vec![0.0])),
            Kind::Text => Column::Text(StringArray::from(vec![""])),
            Kind::Bytes => Column::Bytes(BinaryArray::from(vec![&b""[..]])),
        },
    }
}
