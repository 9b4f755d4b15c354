//! The list of a tenant's tables: their layouts, who writes each, and how often rows were written.
//!
//! Invariant: a table exists exactly if it is in the list, and its columns are those of its layout: both change in one
//! transaction. Each opening of a table for writing is a run with a number of its own, and only the newest may write.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::database::FORMAT;
use crate::error::TableError;
use crate::layout::Layout;

/// No table of a tenant has this name: a name begins with a letter or a digit.
const CREATE: &str = "CREATE TABLE IF NOT EXISTS _tables (name TEXT NOT NULL PRIMARY KEY COLLATE NOCASE, layout TEXT NOT NULL, \
                      run INTEGER NOT NULL, changed INTEGER NOT NULL) WITHOUT ROWID";

/// Opens a table for a new run, which is the only one that may write from now on; makes the table if it is not there.
pub(crate) fn open(connection: &mut Connection, layout: &Layout) -> Result<i64, TableError> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(TableError::Database)?;
    let existing =
        prepare(&transaction).and_then(|()| find(&transaction, &layout.table)).map_err(TableError::Database)?;
    if let Some((name, stored)) = &existing {
        refuse_other(layout, name, stored)?;
    }
    begin_run(&transaction, layout, existing.is_some())
        .and_then(|run| transaction.commit().map(|()| run))
        .map_err(TableError::Database)
}

fn prepare(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(CREATE)?;
    transaction.pragma_update(None, "user_version", FORMAT)
}

fn find(connection: &Connection, table: &str) -> rusqlite::Result<Option<(String, String)>> {
    let mut statement = connection.prepare("SELECT name, layout FROM _tables WHERE name = ?")?;
    statement.query_row([table], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

fn refuse_other(layout: &Layout, name: &str, stored: &str) -> Result<(), TableError> {
    let table = layout.table.clone();
    if name != table {
        return Err(TableError::OtherCase { table, other: name.to_owned() });
    }
    match Layout::read(name, stored) {
        Some(there) if there == *layout => Ok(()),
        there => {
            let has = there.map_or_else(|| "a layout of another release".to_owned(), |there| there.describe());
            Err(TableError::OtherLayout { table, has, wants: layout.describe() })
        }
    }
}

fn begin_run(transaction: &Transaction<'_>, layout: &Layout, exists: bool) -> rusqlite::Result<i64> {
    if !exists {
        transaction.execute_batch(&layout.create())?;
        transaction.execute(
            "INSERT INTO _tables (name, layout, run, changed) VALUES (?, ?, 0, 0)",
            params![layout.table, layout.stored()],
        )?;
    }
    transaction
        .query_row("UPDATE _tables SET run = run + 1 WHERE name = ? RETURNING run", [&layout.table], |row| row.get(0))
}

/// Whether the table could be opened for writing: it is not there, or has this layout.
pub(crate) fn check(connection: &Connection, layout: &Layout) -> Result<(), TableError> {
    if !is_there(connection).map_err(TableError::Database)? {
        return Ok(());
    }
    match find(connection, &layout.table).map_err(TableError::Database)? {
        Some((name, stored)) => refuse_other(layout, &name, &stored),
        None => Ok(()),
    }
}

/// The number of the last change, if this run may write.
pub(crate) fn last_change(connection: &Connection, table: &str, run: i64) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare("SELECT changed FROM _tables WHERE name = ? AND run = ?")?;
    statement.query_row(params![table, run], |row| row.get(0)).optional()
}

/// Notes the number of the last change.
pub(crate) fn note_change(connection: &Connection, table: &str, changed: i64) -> rusqlite::Result<()> {
    connection.execute("UPDATE _tables SET changed = ? WHERE name = ?", params![changed, table]).map(drop)
}

/// The layouts of all tables, by name.
pub(crate) fn list(connection: &Connection) -> rusqlite::Result<Vec<Layout>> {
    if !is_there(connection)? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare("SELECT name, layout FROM _tables ORDER BY name COLLATE BINARY")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    // A layout of a newer release is not shown rather than shown wrongly.
    rows.filter_map(|row| row.map(|(name, stored)| Layout::read(&name, &stored)).transpose()).collect()
}

/// A table's layout.
pub(crate) fn layout(connection: &Connection, table: &str) -> rusqlite::Result<Option<Layout>> {
    if !is_there(connection)? {
        return Ok(None);
    }
    Ok(find(connection, table)?
        .filter(|(name, _)| name == table)
        .and_then(|(name, stored)| Layout::read(&name, &stored)))
}

fn is_there(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name = '_tables'", [], |row| row.get::<_, i64>(0))
        .map(|count| count > 0)
}
