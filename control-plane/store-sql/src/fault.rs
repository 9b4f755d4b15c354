//! What SQLite's errors mean for whoever runs the platform.

use sqlx::Error;
use tidegate_store::StoreError;

/// A failed statement as the store's error.
pub(crate) fn store_error(error: &Error) -> StoreError {
    let reason = reason(error);
    if matches!(code(error), Some(CORRUPT | NOT_A_DATABASE)) || matches!(error, Error::ColumnDecode { .. }) {
        return StoreError::Corrupt { reason };
    }
    StoreError::Unavailable { reason }
}

// SQLite's primary result codes (sqlite.org/rescode.html).
const BUSY: i64 = 5;
const LOCKED: i64 = 6;
const READ_ONLY: i64 = 8;
const IO: i64 = 10;
const CORRUPT: i64 = 11;
const FULL: i64 = 13;
const CANNOT_OPEN: i64 = 14;
const NOT_A_DATABASE: i64 = 26;

/// Whether somebody else holds the file's lock.
pub(crate) fn is_busy(error: &Error) -> bool {
    matches!(code(error), Some(BUSY | LOCKED))
}

/// What failed and what mends it.
pub(crate) fn reason(error: &Error) -> String {
    let mend = match code(error) {
        Some(BUSY | LOCKED) => "another program holds its lock: end that program",
        Some(READ_ONLY) => "the file or its folder may not be written: give this user the right to",
        Some(IO) => "the disk failed: look at the system's log",
        Some(CORRUPT) => "the file is damaged: restore a copy",
        Some(FULL) => "the disk is full: make room",
        Some(CANNOT_OPEN) => "the file can not be opened: see that its folder exists and may be written",
        Some(NOT_A_DATABASE) => "the file is no database: name another file",
        _ if matches!(error, Error::PoolTimedOut) => "all connections are busy: the disk may be too slow",
        _ if matches!(error, Error::PoolClosed) => "the store was closed",
        _ => return error.to_string(),
    };
    format!("{mend} ({error})")
}

/// The primary code in an extended one: its low eight bits.
fn code(error: &Error) -> Option<i64> {
    let code = error.as_database_error()?.code()?;
    code.parse::<i64>().ok().map(|code| code & 0xff)
}
