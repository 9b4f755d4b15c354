//! The seam to the result tables: what the API asks of whoever keeps them.
//!
//! The API knows no database. The composition root implements this trait over the sink's own reader. Calls block: the
//! API makes them on threads that may. Invariant: a page never has a row of another tenant, and never more than `limit`.

use bytes::Bytes;
use tidegate_types::{Name, Stamp, TenantId};

/// Reads the result tables of tenants.
///
/// 1. Both calls MUST see whole transactions of the sink only: a row is either its old or its new value.
/// 2. A tenant without tables has an empty list; that is no error.
/// 3. `rows` MUST be repeatable: the same query on an unchanged table gives the same page.
pub trait Tables: Send + Sync + 'static {
    /// All tables of a tenant, ascending by name.
    ///
    /// # Errors
    /// [`TablesError::Unavailable`] if they cannot be read now.
    fn list(&self, tenant: &TenantId) -> Result<Vec<TableInfo>, TablesError>;

    /// One page of a table's rows.
    ///
    /// # Errors
    /// No such table, an unknown column in the filter, a position that is none, or the table cannot be read now.
    fn rows(&self, tenant: &TenantId, table: &Name, query: &RowQuery) -> Result<RowPage, TablesError>;
}

/// What a table is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name, unique within the tenant.
    pub name: String,
    /// All columns, in the order in which a row has them.
    pub columns: Vec<String>,
    /// The columns that identify a row.
    pub key: Vec<String>,
    /// How many rows it has now.
    pub rows: u64,
}

/// Which rows, in which order, from where on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowQuery {
    /// Rows whose columns equal all of these. A value is compared as text (`18240`, `VN`, `true`).
    pub filter: Vec<(String, String)>,
    /// The order of the rows.
    pub order: RowOrder,
    /// The position after which the page starts: [`RowPage::next`] of an earlier page. `None`: at the beginning.
    pub after: Option<String>,
    /// The most rows of the page: 1 to [`MAX_ROWS`].
    pub limit: usize,
    /// What rows say of themselves besides what their job stamps them with.
    pub with: Stamp,
}

/// The most rows of one page.
pub const MAX_ROWS: usize = 10_000;

/// The order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowOrder {
    /// Ascending by the key's columns.
    #[default]
    Key,
    /// Ascending by the time of the last change: a row moves to the end when it is written again. Whoever asks again
    /// from [`RowPage::next`] sees each change after it (the row's newest value, once). A deleted row just leaves.
    Changed,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPage {
    /// Each row as one JSON object with the members of its result (semantics of the output), without a line's end.
    pub rows: Vec<Bytes>,
    /// Where the next page starts. With [`RowOrder::Key`]: `None` when no row follows. With [`RowOrder::Changed`]:
    /// always there, so that it can be asked for later changes (an unchanged position if the page is empty).
    pub next: Option<String>,
}

/// Why rows cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TablesError {
    /// The tenant has no such table.
    #[error("no table has this name: a job makes its table when it starts; list the tables to see their names")]
    NotFound,
    /// The filter names a column that the table has not.
    #[error("the table has no column {column:?}: list the tables to see their columns")]
    UnknownColumn {
        /// The column named.
        column: String,
    },
    /// The position to start after was not given by an earlier page of this order.
    #[error("the position in `after` is none of this table: use the one that the page before gave")]
    BadPosition,
    /// The tables cannot be read now. The text is for the operator's log only.
    #[error("the tables cannot be read now: {0}")]
    Unavailable(String),
}
