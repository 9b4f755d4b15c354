//! The API's seam to the result tables, over the files that the jobs' sinks write.

use bytes::Bytes;
use tidegate_api::{RowOrder, RowPage, RowQuery, TableInfo, Tables, TablesError};
use tidegate_sink_sqlite::{ReadError, SqliteTables};
use tidegate_types::{Name, TenantId};

use crate::failure::describe;

/// The tables of all tenants.
pub(super) struct TenantTables(pub(super) SqliteTables);

impl Tables for TenantTables {
    fn list(&self, tenant: &TenantId) -> Result<Vec<TableInfo>, TablesError> {
        let tables = self.0.list(tenant).map_err(failed)?;
        let shown = |table: tidegate_sink_sqlite::TableInfo| {
            let tidegate_sink_sqlite::TableInfo { name, columns, key, rows } = table;
            TableInfo { name, columns, key, rows }
        };
        Ok(tables.into_iter().map(shown).collect())
    }

    fn rows(&self, tenant: &TenantId, table: &Name, query: &RowQuery) -> Result<RowPage, TablesError> {
        let RowQuery { filter, order, after, limit, with } = query.clone();
        let order = match order {
            RowOrder::Key => tidegate_sink_sqlite::RowOrder::Key,
            RowOrder::Changed => tidegate_sink_sqlite::RowOrder::Changed,
        };
        let query = tidegate_sink_sqlite::RowQuery { filter, order, after, limit, with };
        let page = self.0.rows(tenant, table.as_str(), &query).map_err(failed)?;
        Ok(RowPage { rows: page.rows.into_iter().map(Bytes::from).collect(), next: page.next })
    }
}

fn failed(error: ReadError) -> TablesError {
    match error {
        ReadError::NoTable { .. } => TablesError::NotFound,
        ReadError::NoColumn { column, .. } => TablesError::UnknownColumn { column },
        ReadError::BadPosition => TablesError::BadPosition,
        ReadError::Database(_) | ReadError::File(_) => TablesError::Unavailable(describe(&error)),
    }
}
