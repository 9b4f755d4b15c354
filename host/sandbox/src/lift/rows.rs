//! Row numbers, times and refusals that a guest answered with.

use tidegate_types::hooks::Rejection;
use tidegate_types::{Column, EventTime, Field};

use crate::bindings::tidegate::job::types::{Rejection as WireRejection, Rows};
use crate::config::{CODE_BYTES, MESSAGE_BYTES};
use crate::text;

/// Rows that a hook made of `inputs` rows.
pub(crate) struct Made {
    pub(crate) columns: Vec<Column>,
    pub(crate) len: usize,
    pub(crate) times: Option<Vec<EventTime>>,
    pub(crate) sources: Option<Vec<u32>>,
}

/// Checks rows made of `inputs` rows. `what` names them in messages.
pub(crate) fn made(what: &str, rows: Rows, fields: &[Field], inputs: usize) -> Result<Made, String> {
    let len = match &rows.sources {
        Some(sources) => {
            self::sources(what, sources, inputs)?;
            sources.len()
        }
        None => inputs,
    };
    let columns = super::columns(what, rows.columns, fields, len)?;
    if let Some(times) = &rows.times
        && times.len() != len
    {
        return Err(format!("{what} has {} times for {len} rows", times.len()));
    }
    Ok(Made { columns, len, times: rows.times, sources: rows.sources })
}

fn sources(what: &str, sources: &[u32], inputs: usize) -> Result<(), String> {
    if let Some(row) = sources.windows(2).position(|pair| pair[1] < pair[0]) {
        let (from, to) = (sources[row], sources[row + 1]);
        return Err(format!("{what} has sources that fall from {from} to {to} after row {row}"));
    }
    match sources.last() {
        Some(last) if !within(*last, inputs) => {
            Err(format!("{what} has a row from input row {last}, there are {inputs}"))
        }
        _ => Ok(()),
    }
}

fn within(row: u32, rows: usize) -> bool {
    usize::try_from(row).is_ok_and(|row| row < rows)
}

/// Checks refusals of some of `inputs` rows: ascending, each row once, and none the source of a row that was made.
///
/// `sources`: the rows made; none: one of each input row.
pub(crate) fn rejected(
    rejections: Vec<WireRejection>,
    inputs: usize,
    sources: Option<&[u32]>,
) -> Result<Vec<Rejection>, String> {
    if let Some(pair) = rejections.windows(2).find(|pair| pair[1].row <= pair[0].row) {
        let (first, second) = (pair[0].row, pair[1].row);
        return Err(format!("`rejected` names row {second} after row {first}; rows ascend and come once"));
    }
    if let Some(last) = rejections.last().filter(|last| !within(last.row, inputs)) {
        return Err(format!("`rejected` names row {}, there are {inputs}", last.row));
    }
    let made = |row: u32| sources.is_none_or(|sources| sources.binary_search(&row).is_ok());
    if let Some(rejection) = rejections.iter().find(|rejection| made(rejection.row)) {
        return Err(format!(
            "row {} is both rejected and the source of an output row (without `sources` every row is)",
            rejection.row
        ));
    }
    Ok(rejections.into_iter().map(bounded).collect())
}

/// Checks refusals where no rows are made.
pub(crate) fn refused(rejections: Vec<WireRejection>, inputs: usize) -> Result<Vec<Rejection>, String> {
    rejected(rejections, inputs, Some(&[]))
}

fn bounded(rejection: WireRejection) -> Rejection {
    let WireRejection { row, code, message } = rejection;
    Rejection { row, code: text::line(&code, CODE_BYTES), message: text::lines(&message, MESSAGE_BYTES) }
}
