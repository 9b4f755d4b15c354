//! Reads a tenant's tables: what there is, and rows page by page.
//!
//! Each call reads one snapshot, so that a row is either its old or its new value. Invariant: what a page holds and what is
//! looked at for it are bounded, whatever a tenant's rows measure; whoever wants the rest asks for the next page.

use std::path::Path;

use rusqlite::{Connection, Rows, params};
use tidegate_types::Stamp;

use crate::error::TableError;
use crate::layout::{Layout, STAMPS};
use crate::row::{Stored, filter_text};
use crate::{catalog, database};

mod position;

use position::Position;

/// The most rows of one page.
pub const MAX_ROWS: usize = 10_000;

/// The most bytes of one page, its first row excepted: as much as a read of a stream gives.
pub const MAX_PAGE_BYTES: usize = 1 << 20;

/// The most rows that are looked at for one page: a filter may match few of them.
pub const MAX_LOOKED_AT: usize = 100_000;

/// What a table is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// All columns, in the order of a result's members.
    pub columns: Vec<String>,
    /// The columns that identify a row.
    pub key: Vec<String>,
    /// How many rows it has now.
    pub rows: u64,
}

/// Which rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowQuery {
    /// Rows whose columns equal all of these: text as it is, anything else as its JSON (`18240`, `true`, `null`).
    pub filter: Vec<(String, String)>,
    /// The order of the rows.
    pub order: RowOrder,
    /// [`RowPage::next`] of an earlier page: rows after it. None: from the first.
    pub after: Option<String>,
    /// The most rows of the page, at most [`MAX_ROWS`].
    pub limit: usize,
    /// What rows are to say of themselves besides what their job stamps them with.
    pub with: Stamp,
}

/// The order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowOrder {
    /// By the key's columns, ascending.
    #[default]
    Key,
    /// By the last change, ascending.
    Changed,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowPage {
    /// Each row as the JSON of its result, without a line feed. With a filter there may be none although `next` is there.
    pub rows: Vec<Vec<u8>>,
    /// Where the next page starts. In the order of the key: none if no row follows. In the order of changes: always there.
    pub next: Option<String>,
}

/// Why rows cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such table.
    #[error("there is no table `{table}`; list the tables to see what there is")]
    NoTable {
        /// The table.
        table: String,
    },
    /// The filter names a column that the table does not have.
    #[error("the table has no column `{column}`; its columns are {known}")]
    NoColumn {
        /// The column.
        column: String,
        /// What there is.
        known: String,
    },
    /// `after` was not given by a page of this order.
    #[error("`after` is no position of this order of rows; give the one of the page before")]
    BadPosition,
    /// The file cannot be read.
    #[error("the tenant's tables cannot be read now")]
    Database(#[from] rusqlite::Error),
    /// The file cannot be opened.
    #[error("the tenant's tables cannot be opened to be read")]
    File(#[from] TableError),
}

/// The tables of the file `path`, by name. No file: no table.
pub(crate) fn list(path: &Path) -> Result<Vec<TableInfo>, ReadError> {
    let Some(mut connection) = database::open_to_read(path)? else { return Ok(Vec::new()) };
    let snapshot = connection.transaction()?;
    let mut tables = Vec::new();
    for layout in catalog::list(&snapshot)? {
        let count = format!("SELECT count(*) FROM {}", crate::layout::quoted(&layout.table));
        let rows: i64 = snapshot.query_row(&count, [], |row| row.get(0))?;
        let columns = layout.columns();
        let Layout { table: name, key, .. } = layout;
        tables.push(TableInfo { name, columns, key, rows: u64::try_from(rows).unwrap_or(0) });
    }
    Ok(tables)
}

/// One page of a table's rows.
pub(crate) fn rows(path: &Path, table: &str, query: &RowQuery) -> Result<RowPage, ReadError> {
    let none = || ReadError::NoTable { table: table.to_owned() };
    let mut connection = database::open_to_read(path)?.ok_or_else(none)?;
    let snapshot = connection.transaction()?;
    let layout = catalog::layout(&snapshot, table)?.ok_or_else(none)?;
    let columns = layout.columns();
    if let Some((column, _)) = query.filter.iter().find(|(column, _)| !columns.contains(column)) {
        return Err(ReadError::NoColumn { column: column.clone(), known: columns.join(", ") });
    }
    match query.order {
        RowOrder::Key => by_key(&snapshot, &layout, query),
        RowOrder::Changed => by_change(&snapshot, &layout, query),
    }
}

fn by_key(connection: &Connection, layout: &Layout, query: &RowQuery) -> Result<RowPage, ReadError> {
    let start = match &query.after {
        Some(position) => Position::parse(position).ok_or(ReadError::BadPosition)?,
        None => Position::first(),
    };
    let (after, inclusive) = start.find(connection, layout)?;
    let compared = if inclusive { ">=" } else { ">" };
    let mut statement = connection.prepare(&format!("{} WHERE _key {compared} ? ORDER BY _key", layout.select()))?;
    let mut page = Page::new(layout, query);
    page.fill(statement.query(params![after])?)?;
    let next = page.more.then(|| Position::of(&page.last_key, page.last_change).to_string());
    Ok(RowPage { rows: page.rows, next })
}

fn by_change(connection: &Connection, layout: &Layout, query: &RowQuery) -> Result<RowPage, ReadError> {
    let after: i64 = match &query.after {
        Some(position) => position.parse().map_err(|_| ReadError::BadPosition)?,
        None => 0,
    };
    let mut statement = connection.prepare(&format!("{} WHERE changed > ? ORDER BY changed", layout.select()))?;
    let mut page = Page::new(layout, query);
    page.last_change = after;
    page.fill(statement.query(params![after])?)?;
    Ok(RowPage { rows: page.rows, next: Some(page.last_change.to_string()) })
}

/// A page as it fills.
struct Page<'a> {
    layout: &'a Layout,
    query: &'a RowQuery,
    stamp: Stamp,
    rows: Vec<Vec<u8>>,
    bytes: usize,
    /// Of the last row that the page is done with.
    last_key: Vec<u8>,
    last_change: i64,
    /// Whether a row follows.
    more: bool,
}

impl<'a> Page<'a> {
    fn new(layout: &'a Layout, query: &'a RowQuery) -> Self {
        let stamp = stamp(layout, query.with);
        Self { layout, query, stamp, rows: Vec::new(), bytes: 0, last_key: Vec::new(), last_change: 0, more: false }
    }

    fn fill(&mut self, mut rows: Rows<'_>) -> rusqlite::Result<()> {
        let mut looked_at = 0;
        while let Some(row) = rows.next()? {
            let stored = Stored::new(self.layout, row)?;
            if looked_at == MAX_LOOKED_AT || (self.matches(&stored)? && !self.take(&stored)?) {
                self.more = true;
                return Ok(());
            }
            looked_at += 1;
            self.last_key.clear();
            self.last_key.extend_from_slice(stored.key()?);
            self.last_change = stored.changed()?;
        }
        Ok(())
    }

    /// Takes a row, if the page has room for it.
    fn take(&mut self, stored: &Stored<'_>) -> rusqlite::Result<bool> {
        if self.rows.len() >= self.query.limit.min(MAX_ROWS) {
            return Ok(false);
        }
        let row = stored.json(self.stamp)?;
        self.bytes = self.bytes.saturating_add(row.len());
        let fits = self.rows.is_empty() || self.bytes <= MAX_PAGE_BYTES;
        if fits {
            self.rows.push(row);
        }
        Ok(fits)
    }

    fn matches(&self, stored: &Stored<'_>) -> rusqlite::Result<bool> {
        for (column, wanted) in &self.query.filter {
            let value = stored.column(column)?;
            if value.is_none_or(|value| filter_text(value) != *wanted) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What rows say of themselves: what their job stamps them with and what is asked for. A field of the table of such a name is
/// that field, so the stamp is left out.
fn stamp(layout: &Layout, with: Stamp) -> Stamp {
    let [version, completeness, generated_at] = STAMPS.map(|name| layout.result_fields().all(|field| field != name));
    let own = layout.stamp;
    Stamp {
        version: version && (own.version || with.version),
        completeness: completeness && (own.completeness || with.completeness),
        generated_at: generated_at && (own.generated_at || with.generated_at),
    }
}

#[cfg(test)]
mod tests;
