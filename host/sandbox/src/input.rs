//! The parts of arguments that are not columns.

use tidegate_types::EventTime;
use tidegate_types::hooks::{HookError, HookRows};

/// The times that the hook asked for: one per row, or none.
pub(crate) fn times(rows: &HookRows, wanted: bool) -> Result<&[EventTime], HookError> {
    let due = if wanted { rows.len } else { 0 };
    length("times", rows.times.len(), due)?;
    Ok(&rows.times)
}

/// Checks a list that the host made.
pub(crate) fn length(what: &str, found: usize, due: usize) -> Result<(), HookError> {
    if found == due {
        return Ok(());
    }
    Err(HookError::Platform { detail: format!("a hook was given {found} {what}, {due} are due") })
}
