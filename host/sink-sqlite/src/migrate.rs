//! Brings a file of an older release up to date, in the transaction of whoever opens it first.
//!
//! Format 1 knew no versions: its rows get the lowest of the default precedence, so that every job's next start replaces
//! them, and no writer. Invariant: a row that is there stays as readers see it.

use rusqlite::Transaction;

use crate::catalog;
use crate::layout::{Layout, quoted};

/// Brings the file to the newest format, unless it is.
pub(crate) fn to_newest(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found != 1 || !catalog::is_there(transaction)? {
        return Ok(());
    }
    // What this release cannot read is left alone; it is not listed either.
    for layout in catalog::list(transaction)? {
        transaction.execute_batch(&with_versions(&layout))?;
    }
    transaction.execute_batch("ALTER TABLE _tables DROP COLUMN run")
}

fn with_versions(layout: &Layout) -> String {
    let table = quoted(&layout.table);
    format!(
        "ALTER TABLE {table} ADD COLUMN _precedence INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE {table} ADD COLUMN _restore_epoch INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE {table} ADD COLUMN _generated_at TEXT;
         ALTER TABLE {table} ADD COLUMN _writer INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE {table} DROP COLUMN _run;
         {}",
        layout.create_gone()
    )
}

#[cfg(test)]
mod tests;
