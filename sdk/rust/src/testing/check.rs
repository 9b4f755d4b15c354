//! The contract's rules on results, as the host checks them.

use crate::columns::{Column, Fault, Field, Rejection, Rows, Values, VarBytes};

/// Columns against the fields that describe them.
pub(super) fn columns(what: &str, fields: &[Field], columns: &[Column], rows: usize) -> Result<(), Fault> {
    if fields.len() != columns.len() {
        return Err(Fault::new(format!("{what}: {} columns for {} fields", columns.len(), fields.len())));
    }
    for (field, column) in fields.iter().zip(columns) {
        one_column(field, column, rows)
            .map_err(|rule| Fault::new(format!("{what}, column `{}`: {rule}", field.name)))?;
    }
    Ok(())
}

fn one_column(field: &Field, column: &Column, rows: usize) -> Result<(), String> {
    if column.values.kind() != field.kind {
        return Err(format!("the plan says {:?}, the values are {:?}", field.kind, column.values.kind()));
    }
    if column.rows() != rows {
        return Err(format!("{} rows where there are {rows}", column.rows()));
    }
    if let Some(present) = &column.present {
        if present.len() != rows {
            return Err(format!("{} presence bytes for {rows} rows", present.len()));
        }
        if let Some(row) = present.iter().position(|&byte| byte == 0).filter(|_| !field.nullable) {
            return Err(format!("row {row} is null, and the field is not nullable"));
        }
    }
    match &column.values {
        Values::Bools(values) if values.iter().any(|value| *value > 1) => Err("a bool is 0 or 1".to_owned()),
        Values::Texts(values) => {
            offsets(values)?;
            let bad = values.iter().position(|text| std::str::from_utf8(text).is_err());
            bad.map_or(Ok(()), |row| Err(format!("row {row} is not UTF-8")))
        }
        Values::Bytes(values) => offsets(values),
        _ => Ok(()),
    }
}

fn offsets(values: &VarBytes) -> Result<(), String> {
    let ends = usize::try_from(*values.offsets.last().ok_or("no offsets")?).unwrap_or(usize::MAX);
    if values.offsets[0] != 0 || ends != values.data.len() || !values.offsets.is_sorted() {
        return Err("offsets start at 0, never fall, and end at the data's length".to_owned());
    }
    Ok(())
}

/// Rejections: ascending, each row once, of rows that exist.
pub(super) fn rejections(rejected: &[Rejection], rows: usize) -> Result<(), Fault> {
    let ascending = rejected.windows(2).all(|pair| pair[0].row < pair[1].row);
    let exist = rejected.iter().all(|rejection| place(rejection.row) < rows);
    if ascending && exist { Ok(()) } else { Err(Fault::new("rejections are ascending by row, each row at most once")) }
}

/// Rows that a hook made of `rows` input rows; returns the source of each.
pub(super) fn made(fields: &[Field], output: &Rows, rows: usize, rejected: &[Rejection]) -> Result<Vec<u32>, Fault> {
    let sources = match &output.sources {
        Some(sources) => sources.clone(),
        None if rejected.is_empty() => (0..rows).map(|row| u32::try_from(row).unwrap_or(u32::MAX)).collect(),
        None => {
            return Err(Fault::new("rows were rejected, and `sources` does not say which rows the others came from"));
        }
    };
    if !sources.is_sorted() || sources.last().is_some_and(|last| place(*last) >= rows) {
        return Err(Fault::new("sources are ascending numbers of input rows"));
    }
    if rejected.iter().any(|rejection| sources.binary_search(&rejection.row).is_ok()) {
        return Err(Fault::new("a rejected row was put out all the same"));
    }
    columns("output", fields, &output.columns, sources.len())?;
    match &output.times {
        Some(times) if times.len() != sources.len() => Err(Fault::new("one time per output row")),
        _ => Ok(sources),
    }
}

fn place(row: u32) -> usize {
    usize::try_from(row).unwrap_or(usize::MAX)
}

/// Columns row by row, in a form that compares: whatever stands in a null row does not count, and NaN equals itself.
pub(super) fn comparable(columns: &[Column], rows: usize) -> Vec<Vec<String>> {
    (0..rows).map(|row| columns.iter().map(|column| format!("{:?}", column.value(row))).collect()).collect()
}
