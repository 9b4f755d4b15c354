//! What a guest answered, checked to the last byte before anyone else sees it.
//!
//! Each check says which function's what is wrong and where, in the words of the contract. Integers, floats and data keep
//! the memory they were lifted into; nothing is copied twice.

use arrow_array::types::{BinaryType, ByteArrayType, Utf8Type};
use arrow_array::{BooleanArray, Float64Array, GenericByteArray, Int64Array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use tidegate_types::{Column, Field, Kind};

use crate::bindings::tidegate::job::types::{ColumnResult, ValuesResult, VarBytesResult};
use crate::fields::wire;

pub(crate) mod rows;

/// Checks columns against the fields that the plan declares for them.
///
/// `what` names the list in messages (`output`, `accumulators`).
pub(crate) fn columns(
    what: &str,
    columns: Vec<ColumnResult>,
    fields: &[Field],
    rows: usize,
) -> Result<Vec<Column>, String> {
    if columns.len() != fields.len() {
        return Err(format!("{what} has {} columns, the plan declares {}", columns.len(), fields.len()));
    }
    let checked = |(column, field): (ColumnResult, &Field)| {
        self::column(column, field, rows).map_err(|wrong| format!("{what}, field `{}`: {wrong}", field.name))
    };
    columns.into_iter().zip(fields).map(checked).collect()
}

fn column(column: ColumnResult, field: &Field, rows: usize) -> Result<Column, String> {
    let wire = wire(field);
    let nulls = nulls(column.present, rows)?;
    if nulls.is_some() && !wire.nullable {
        return Err("it has nulls and is not nullable".into());
    }
    match (column.values, wire.kind) {
        (ValuesResult::Bools(values), Kind::Bool) => Ok(Column::Bool(bools(&values, nulls, rows)?)),
        (ValuesResult::Ints(values), Kind::Int) => {
            counted(values.len(), rows)?;
            Ok(Column::Int(Int64Array::new(ScalarBuffer::from(values), nulls)))
        }
        (ValuesResult::Floats(values), Kind::Float) => Ok(Column::Float(floats(values, nulls, rows)?)),
        (ValuesResult::Texts(texts), Kind::Text) => Ok(Column::Text(var_bytes::<Utf8Type>(texts, nulls, rows)?)),
        (ValuesResult::Bytes(bytes), Kind::Bytes) => Ok(Column::Bytes(var_bytes::<BinaryType>(bytes, nulls, rows)?)),
        (values, kind) => Err(format!("it holds {}, the plan declares {kind}", kind_of(&values))),
    }
}

fn kind_of(values: &ValuesResult) -> &'static str {
    match values {
        ValuesResult::Bools(_) => "bools",
        ValuesResult::Ints(_) => "ints",
        ValuesResult::Floats(_) => "floats",
        ValuesResult::Texts(_) => "texts",
        ValuesResult::Bytes(_) => "bytes",
    }
}

fn counted(found: usize, rows: usize) -> Result<(), String> {
    if found == rows { Ok(()) } else { Err(format!("it has {found} rows, {rows} are due")) }
}

/// Presence bytes; none where no row is null.
fn nulls(present: Option<Vec<u8>>, rows: usize) -> Result<Option<NullBuffer>, String> {
    let Some(present) = present else {
        return Ok(None);
    };
    if present.len() != rows {
        return Err(format!("`present` has {} entries, {rows} are due", present.len()));
    }
    let bits = bits("`present`", &present)?;
    Ok(Some(NullBuffer::new(bits)).filter(|nulls| nulls.null_count() > 0))
}

fn bools(values: &[u8], nulls: Option<NullBuffer>, rows: usize) -> Result<BooleanArray, String> {
    counted(values.len(), rows)?;
    Ok(BooleanArray::new(bits("it", values)?, nulls))
}

fn bits(what: &str, bytes: &[u8]) -> Result<BooleanBuffer, String> {
    if bytes.iter().fold(0, |all, byte| all | byte) > 1 {
        let (row, byte) = bytes.iter().enumerate().find(|(_, byte)| **byte > 1).expect("one of them is above 1");
        return Err(format!("{what} is {byte} at row {row}, neither 0 nor 1"));
    }
    Ok(BooleanBuffer::collect_bool(bytes.len(), |row| bytes[row] == 1))
}

/// NaNs become the one NaN.
fn floats(mut values: Vec<f64>, nulls: Option<NullBuffer>, rows: usize) -> Result<Float64Array, String> {
    counted(values.len(), rows)?;
    for value in &mut values {
        *value = if value.is_nan() { f64::NAN } else { *value };
    }
    Ok(Float64Array::new(ScalarBuffer::from(values), nulls))
}

fn var_bytes<T: ByteArrayType<Offset = i32>>(
    values: VarBytesResult,
    nulls: Option<NullBuffer>,
    rows: usize,
) -> Result<GenericByteArray<T>, String> {
    let VarBytesResult { offsets, data } = values;
    self::offsets(&offsets, rows, data.len())?;
    let offsets: Vec<i32> = offsets.into_iter().map(u32::cast_signed).collect();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let data = Buffer::from_vec(data);
    // Arrow checks that each text is UTF-8 by itself; what is wrong is looked up only if something is.
    GenericByteArray::try_new(offsets.clone(), data.clone(), nulls).map_err(|_| not_utf8(&offsets, &data))
}

/// Where texts are not UTF-8 row by row.
fn not_utf8(offsets: &[i32], data: &[u8]) -> String {
    let place = |offset: i32| usize::try_from(offset).expect("offsets were checked");
    let at = match std::str::from_utf8(data) {
        Err(error) => error.valid_up_to(),
        Ok(text) => {
            let within = offsets.iter().map(|offset| place(*offset)).find(|at| !text.is_char_boundary(*at));
            within.expect("the texts as a whole are UTF-8, so one of them begins within a character")
        }
    };
    let row = offsets.partition_point(|offset| place(*offset) <= at).saturating_sub(1);
    format!("it is not UTF-8 at row {row} (byte {at} of its data)")
}

/// Checks offsets: one more than rows, from 0, never falling, to `end`.
pub(crate) fn offsets(offsets: &[u32], rows: usize, end: usize) -> Result<(), String> {
    let signed = |offset: u32| i32::try_from(offset).is_ok();
    if offsets.len() != rows + 1 {
        return Err(format!("`offsets` has {} entries for {rows} rows, {} are due", offsets.len(), rows + 1));
    }
    if offsets[0] != 0 {
        return Err(format!("`offsets` starts at {}, not 0", offsets[0]));
    }
    // Without a branch per entry; the place is looked up only if there is one.
    if offsets.windows(2).fold(false, |falls, pair| falls | (pair[1] < pair[0])) {
        let row = offsets.windows(2).position(|pair| pair[1] < pair[0]).expect("one of them falls");
        return Err(format!("`offsets` falls from {} to {} after row {row}", offsets[row], offsets[row + 1]));
    }
    let last = offsets[rows];
    if usize::try_from(last) != Ok(end) || !signed(last) {
        return Err(format!("`offsets` ends at {last}, what it divides has {end} entries"));
    }
    Ok(())
}
