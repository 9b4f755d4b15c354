//! The list of a tenant's tables: their layouts, the jobs that write each, and how often rows were written.
//!
//! Invariant: a table exists exactly if it is in the list, and its columns are those of its layout: both change in one
//! transaction. Of each job that writes a table, the newest start that opened it is known, and no older one may write.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::database::FORMAT;
use crate::error::TableError;
use crate::layout::Layout;
use crate::migrate;
use crate::row::integer;
use crate::sink::Writer;

/// No table of a tenant has one of these names: a name begins with a letter or a digit.
const CREATE: &str = "CREATE TABLE IF NOT EXISTS _tables (name TEXT NOT NULL PRIMARY KEY COLLATE NOCASE, layout TEXT NOT NULL, \
                      changed INTEGER NOT NULL) WITHOUT ROWID;
                      CREATE TABLE IF NOT EXISTS _writers (id INTEGER PRIMARY KEY, table_name TEXT NOT NULL COLLATE NOCASE, \
                      job TEXT NOT NULL, restore_epoch INTEGER NOT NULL, UNIQUE (table_name, job));";

/// Opens a table for a start of a job; makes the table if it is not there. Gives the job's number among its writers.
pub(crate) fn open(connection: &mut Connection, layout: &Layout, writer: &Writer) -> Result<i64, TableError> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(TableError::Database)?;
    let existing =
        prepare(&transaction).and_then(|()| find(&transaction, &layout.table)).map_err(TableError::Database)?;
    if let Some((name, stored)) = &existing {
        refuse_other(layout, name, stored)?;
    }
    let stored = make(&transaction, layout, existing.is_some());
    let known = stored.and_then(|()| newest_start(&transaction, layout, writer)).map_err(TableError::Database)?;
    let epoch = integer(writer.stamping.restore_epoch);
    if let Some(newer) = known.filter(|newest| *newest > epoch) {
        return Err(TableError::Fenced {
            table: layout.table.clone(),
            job: writer.job.clone(),
            epoch: writer.stamping.restore_epoch,
            newer: u64::try_from(newer).unwrap_or(0),
        });
    }
    note_start(&transaction, layout, writer)
        .and_then(|id| transaction.commit().map(|()| id))
        .map_err(TableError::Database)
}

/// Makes the lists, or brings those of an older release up to date.
pub(crate) fn prepare(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    migrate::to_newest(transaction)?;
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
        Some(there) if there.is_like(layout) => Ok(()),
        there => {
            let has = there.map_or_else(|| "a layout of another release".to_owned(), |there| there.describe());
            Err(TableError::OtherLayout { table, has, wants: layout.describe() })
        }
    }
}

/// Makes the table, or notes what its rows say of themselves from now on.
fn make(transaction: &Transaction<'_>, layout: &Layout, exists: bool) -> rusqlite::Result<()> {
    let values = params![layout.table, layout.stored()];
    if exists {
        return transaction.execute("UPDATE _tables SET layout = ?2 WHERE name = ?1", values).map(drop);
    }
    transaction.execute_batch(&layout.create())?;
    transaction.execute("INSERT INTO _tables (name, layout, changed) VALUES (?, ?, 0)", values).map(drop)
}

fn newest_start(transaction: &Transaction<'_>, layout: &Layout, writer: &Writer) -> rusqlite::Result<Option<i64>> {
    let newest = "SELECT restore_epoch FROM _writers WHERE table_name = ? AND job = ?";
    transaction.query_row(newest, params![layout.table, writer.job], |row| row.get(0)).optional()
}

fn note_start(transaction: &Transaction<'_>, layout: &Layout, writer: &Writer) -> rusqlite::Result<i64> {
    let note = "INSERT INTO _writers (table_name, job, restore_epoch) VALUES (?1, ?2, ?3) \
                ON CONFLICT (table_name, job) DO UPDATE SET restore_epoch = ?3 RETURNING id";
    let epoch = integer(writer.stamping.restore_epoch);
    transaction.query_row(note, params![layout.table, writer.job, epoch], |row| row.get(0))
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

/// The number of the last change, and the newest start of the writer's job.
pub(crate) fn standing(connection: &Connection, table: &str, writer: i64) -> rusqlite::Result<(i64, i64)> {
    let both = "SELECT changed, restore_epoch FROM _tables, _writers WHERE name = ? AND id = ?";
    connection.query_row(both, params![table, writer], |row| Ok((row.get(0)?, row.get(1)?)))
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

/// Whether there is a list at all.
pub(crate) fn is_there(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name = '_tables'", [], |row| row.get::<_, i64>(0))
        .map(|count| count > 0)
}
