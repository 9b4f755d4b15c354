//! The upsert sink: results are gathered and written in one transaction, with the flush or when they have become many or
//! large. Never more is gathered than the bound and one batch.
//!
//! A transaction is begun and ended within one call, so that jobs of a tenant that share a lane never wait for each other
//! with one half written. Several jobs may write one table: of each key the greatest version stays, whoever wrote it. A start
//! of a job writes nothing any more once a newer start of the same job has opened the table.

use std::io;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};
use tidegate_connectors::{ResultSink, SinkError};
use tidegate_types::{PaneBatch, ResultFields, RowBatch, Stamping};

use crate::error::{TableError, full};
use crate::layout::Layout;
use crate::results::Results;
use crate::row::integer;
use crate::write::TableWriter;
use crate::{catalog, database};

/// Results that are gathered before they are written without a flush.
const MOST_GATHERED: usize = 8_192;
/// Bytes of results that are gathered before they are written without a flush: enough that a transaction's sync costs little.
const MOST_GATHERED_BYTES: usize = 4 << 20;

/// Who writes a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// The job's name, unique among those that write the tenant's tables.
    pub job: String,
    /// What its rows bear, and how new they are.
    pub stamping: Stamping,
}

/// Writes one table.
pub struct SqliteSink {
    connection: Connection,
    layout: Layout,
    writer: Writer,
    /// The job's number among the table's writers.
    id: i64,
    gathered: Vec<Results>,
    rows: usize,
    bytes: usize,
    limit: u64,
}

impl SqliteSink {
    /// Opens a table in the file `path`, which may grow to `limit` bytes; makes both if they are not there. An older start of
    /// the same job is fenced: its next transaction fails.
    ///
    /// # Errors
    /// If the table is there with other columns or another key, or cannot be, or a newer start of the job has opened it, or
    /// the file has no room for it.
    pub fn open(
        path: &Path,
        table: &str,
        key: &[String],
        fields: &ResultFields,
        writer: Writer,
        limit: u64,
    ) -> Result<Self, TableError> {
        let layout = Layout::new(table, key, fields)?.stamped(writer.stamping.stamp);
        let mut connection = database::open_to_write(path)?;
        database::bound(&connection, limit).map_err(TableError::Database)?;
        let id = catalog::open(&mut connection, &layout, &writer).map_err(|error| match error {
            TableError::Database(error) if database::is_full(&error) => TableError::Full { limit },
            error => error,
        })?;
        Ok(Self { connection, layout, writer, id, gathered: Vec::new(), rows: 0, bytes: 0, limit })
    }

    fn gather(&mut self, results: Results) -> Result<(), SinkError> {
        self.rows += results.len();
        self.bytes += results.bytes();
        self.gathered.push(results);
        if self.rows >= MOST_GATHERED || self.bytes >= MOST_GATHERED_BYTES { self.flush() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), Failed> {
        let Self { connection, layout, writer, id, gathered, .. } = self;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (changed, newest) = catalog::standing(&transaction, &layout.table, *id)?;
        if newest > integer(writer.stamping.restore_epoch) {
            return Err(Failed::Fenced { newer: u64::try_from(newest).unwrap_or(0) });
        }
        // A full disk shows when the transaction is committed; what shows here is the file's own bound.
        let written = TableWriter::new(&transaction, layout, writer.stamping, *id, changed)
            .and_then(|table| table.write(gathered));
        let changed = written.map_err(|error| match database::is_full(&error) {
            true => Failed::Full,
            false => Failed::Database(error),
        })?;
        catalog::note_change(&transaction, &layout.table, changed)?;
        transaction.commit()?;
        Ok(())
    }

    fn failed(&self, error: Failed) -> SinkError {
        let output = format!("table `{}`", self.layout.table);
        match error {
            Failed::Fenced { newer } => {
                let (job, epoch) = (self.writer.job.clone(), self.writer.stamping.restore_epoch);
                SinkError::Fenced { output, job, epoch, newer }
            }
            Failed::Full => SinkError::Full { output, reason: full(self.limit) },
            Failed::Database(error) => SinkError::Write { output, source: io::Error::other(error) },
        }
    }
}

/// Why nothing was written.
enum Failed {
    Fenced { newer: u64 },
    Full,
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl ResultSink for SqliteSink {
    fn write_panes(&mut self, panes: &PaneBatch) -> Result<(), SinkError> {
        self.gather(Results::Panes(panes.clone()))
    }

    fn write_rows(&mut self, rows: &RowBatch) -> Result<(), SinkError> {
        self.gather(Results::Rows(rows.clone()))
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        if self.rows > 0 {
            self.commit().map_err(|error| self.failed(error))?;
        }
        self.gathered.clear();
        self.rows = 0;
        self.bytes = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
