//! The upsert sink: panes are gathered and written in one transaction, with the flush or when they have become many or
//! large. Never more is gathered than the bound and one batch.
//!
//! A transaction is begun and ended within one call, so that jobs of a tenant that share a lane never wait for each other
//! with one half written. A retraction deletes the row that it speaks of: the one of its key, if this run wrote it last, for
//! the same window and with the same index. A row that was replaced since, or that an earlier run left, stays.

use std::io;
use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior, params, params_from_iter};
use tidegate_connectors::{PaneSink, SinkError};
use tidegate_types::{PaneBatch, PaneFields, PaneInfo, PaneOp, ValueRef};

use crate::error::{TableError, full};
use crate::layout::Layout;
use crate::{catalog, database, row};

/// Panes that are gathered before they are written without a flush.
const MOST_GATHERED: usize = 8_192;
/// Bytes of panes that are gathered before they are written without a flush: enough that a transaction's sync costs little.
const MOST_GATHERED_BYTES: usize = 4 << 20;

/// Writes one table.
pub struct SqliteSink {
    connection: Connection,
    layout: Layout,
    run: i64,
    gathered: Vec<PaneBatch>,
    rows: usize,
    bytes: usize,
    limit: u64,
}

impl SqliteSink {
    /// Opens a table in the file `path`, which may grow to `limit` bytes; makes both if they are not there. Whoever wrote the
    /// table before is fenced: its next transaction fails.
    ///
    /// # Errors
    /// If the table is there with other columns or another key, or cannot be, or the file has no room for it.
    pub fn open(path: &Path, table: &str, key: &[String], fields: &PaneFields, limit: u64) -> Result<Self, TableError> {
        let layout = Layout::new(table, key, fields)?;
        let mut connection = database::open_to_write(path)?;
        database::bound(&connection, limit).map_err(TableError::Database)?;
        let run = catalog::open(&mut connection, &layout).map_err(|error| match error {
            TableError::Database(error) if database::is_full(&error) => TableError::Full { limit },
            error => error,
        })?;
        Ok(Self { connection, layout, run, gathered: Vec::new(), rows: 0, bytes: 0, limit })
    }

    fn commit(&mut self) -> Result<(), Failed> {
        let Self { connection, layout, run, gathered, .. } = self;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let changed = catalog::last_change(&transaction, &layout.table, *run)?.ok_or(Failed::Fenced)?;
        // A full disk shows when the transaction is committed; what shows here is the file's own bound.
        let written = write(&transaction, layout, *run, changed, gathered);
        let changed = written.map_err(|error| match database::is_full(&error) {
            true => Failed::Full,
            false => Failed::Database(error),
        })?;
        catalog::note_change(&transaction, &layout.table, changed)?;
        transaction.commit()?;
        Ok(())
    }
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("another run writes this table now")]
    Fenced,
    #[error("the tenant's tables are as large as they may be")]
    Full,
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
}

/// Writes panes, and gives the number of the last change.
fn write(
    transaction: &Transaction<'_>,
    layout: &Layout,
    run: i64,
    mut changed: i64,
    batches: &[PaneBatch],
) -> rusqlite::Result<i64> {
    let mut upsert = transaction.prepare(&layout.upsert())?;
    let mut retract = transaction.prepare(&layout.retract())?;
    for panes in batches {
        for (place, info) in panes.infos.iter().enumerate() {
            let key = row::key(layout, panes, place);
            match info.op {
                PaneOp::Insert => {
                    changed += 1;
                    let values = row::values(panes, place, key, changed, run);
                    upsert.execute(params_from_iter(row::bound(&values)))?;
                }
                PaneOp::Retract => {
                    let (start, end) = row::window(info);
                    retract.execute(params![key, run, row::index(info), start, end])?;
                }
            }
        }
    }
    Ok(changed)
}

/// The bytes that panes hold, counting each value's own.
fn bytes(panes: &PaneBatch) -> usize {
    let value = |value: ValueRef<'_>| match value {
        ValueRef::Text(text) | ValueRef::Json(text) => text.len(),
        ValueRef::Bytes(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Bool(_) | ValueRef::Int(_) | ValueRef::Float(_) => 0,
    };
    let columns = panes.keys.iter().chain(&panes.values);
    let values: usize =
        columns.map(|column| (0..column.len()).map(|row| value(column.value(row))).sum::<usize>()).sum();
    let each = size_of::<PaneInfo>() + size_of::<ValueRef<'_>>() * (panes.keys.len() + panes.values.len());
    values + panes.infos.len() * each
}

impl PaneSink for SqliteSink {
    fn write(&mut self, panes: &PaneBatch) -> Result<(), SinkError> {
        self.rows += panes.infos.len();
        self.bytes += bytes(panes);
        self.gathered.push(panes.clone());
        if self.rows >= MOST_GATHERED || self.bytes >= MOST_GATHERED_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        if self.rows > 0 {
            let output = format!("table `{}`", self.layout.table);
            let limit = self.limit;
            self.commit().map_err(|error| match error {
                Failed::Full => SinkError::Full { output, reason: full(limit) },
                error => SinkError::Write { output, source: io::Error::other(error) },
            })?;
        }
        self.gathered.clear();
        self.rows = 0;
        self.bytes = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
