//! Opens a tenant's file: one that is read while it is written, and whose commits outlast the machine.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::catalog;
use crate::error::TableError;

/// The format of the file. A file of a higher one is refused.
pub(crate) const FORMAT: i64 = 2;

/// How long a writer waits for another of the tenant's jobs to commit. A commit takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Opens the file for writing; makes it if it is not there.
pub(crate) fn open_to_write(path: &Path) -> Result<Connection, TableError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open(path, flags).map_err(TableError::Database)?;
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(TableError::Database)?;
    if found > FORMAT {
        return Err(TableError::NewerFormat { found, known: FORMAT });
    }
    // A commit is in the write-ahead log, on the disk, before it is answered; readers are not held up by it.
    connection
        .query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
        .and_then(|()| connection.execute_batch("PRAGMA synchronous = FULL;"))
        .map_err(TableError::Database)?;
    Ok(connection)
}

/// Bounds the file: a transaction that needs more pages fails with [`is_full`]. A file that is larger already stays, and
/// grows no more. The bound is this connection's, and each that writes sets it.
pub(crate) fn bound(connection: &Connection, bytes: u64) -> rusqlite::Result<()> {
    let page: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
    // SQLite's own bound is 2^32 - 2 pages; it takes a smaller value as it is.
    let pages = pages.clamp(1, i64::from(u32::MAX) - 1);
    connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
}

/// Whether a statement failed because the file may have no page more.
pub(crate) fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
}

/// Opens the file for reading; one of an older format is brought up to date first. None: there is none, so there is no table.
pub(crate) fn open_to_read(path: &Path) -> Result<Option<Connection>, TableError> {
    if !path.exists() {
        return Ok(None);
    }
    let connection = open_to_query(path).map_err(TableError::Database)?;
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(TableError::Database)?;
    if found > FORMAT {
        return Err(TableError::NewerFormat { found, known: FORMAT });
    }
    // A file without a format is one that is being made: it has no table yet.
    if (1..FORMAT).contains(&found) {
        let mut writer = open_to_write(path)?;
        writer
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|transaction| catalog::prepare(&transaction).and_then(|()| transaction.commit()))
            .map_err(TableError::Database)?;
    }
    Ok(Some(connection))
}

fn open_to_query(path: &Path) -> rusqlite::Result<Connection> {
    // A reader of a write-ahead log takes part in it, so it may write to the log's index; `query_only` keeps it from more.
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.execute_batch("PRAGMA query_only = ON;")?;
    Ok(connection)
}

fn open(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // Text in double quotes is never taken for a value, and the schema calls no functions.
    connection.execute_batch("PRAGMA trusted_schema = OFF;")?;
    Ok(connection)
}
