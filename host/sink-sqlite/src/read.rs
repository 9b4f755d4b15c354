//! Reads a tenant's tables: what there is, and rows page by page.
//!
//! Each call is one statement on one snapshot, so that a row is either its old or its new value.

use std::path::Path;

use rusqlite::{Connection, Rows, params};

use crate::layout::Layout;
use crate::row::{Stored, filter_text};
use crate::{catalog, database};

/// The most rows of one page.
pub const MAX_ROWS: usize = 10_000;

/// What a table is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// All columns, in the order of a pane's members.
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
    /// Each row as the JSON of its pane, without a line feed.
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
    let after = match &query.after {
        Some(position) => from_hex(position).ok_or(ReadError::BadPosition)?,
        None => Vec::new(),
    };
    let mut statement = connection.prepare(&format!("{} WHERE _key > ? ORDER BY _key", layout.select()))?;
    let mut page = Page::new(layout, query);
    page.fill(statement.query(params![after])?)?;
    let next = page.more.then(|| to_hex(&page.last_key));
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
    rows: Vec<Vec<u8>>,
    last_key: Vec<u8>,
    last_change: i64,
    /// Whether a row follows.
    more: bool,
}

impl<'a> Page<'a> {
    fn new(layout: &'a Layout, query: &'a RowQuery) -> Self {
        Self { layout, query, rows: Vec::new(), last_key: Vec::new(), last_change: 0, more: false }
    }

    fn fill(&mut self, mut rows: Rows<'_>) -> rusqlite::Result<()> {
        let limit = self.query.limit.min(MAX_ROWS);
        while let Some(row) = rows.next()? {
            let stored = Stored::new(self.layout, row)?;
            if !self.matches(&stored)? {
                continue;
            }
            if self.rows.len() == limit {
                self.more = true;
                return Ok(());
            }
            self.rows.push(stored.json()?);
            self.last_key = stored.key()?.to_vec();
            self.last_change = stored.changed()?;
        }
        Ok(())
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

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(2) || !bytes.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    (0..bytes.len()).step_by(2).map(|place| u8::from_str_radix(&text[place..place + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests;
