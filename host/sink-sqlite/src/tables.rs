//! All tenants' tables: one file for each tenant below one folder.
//!
//! Invariant: a file's name is the tenant's, which is safe in a path, so no tenant's table is in another's file.

use std::path::PathBuf;

use tidegate_types::{ResultFields, TenantId};

use crate::error::TableError;
use crate::layout::Layout;
use crate::read::{ReadError, RowPage, RowQuery, TableInfo};
use crate::sink::{SqliteSink, Writer};
use crate::{catalog, database, read};

/// The tables below a folder. Every call blocks; none holds anything open but the sinks.
#[derive(Debug, Clone)]
pub struct SqliteTables {
    folder: PathBuf,
}

impl SqliteTables {
    /// The tables below `folder`, which is made if it is not there.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, TableError> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder).map_err(TableError::Folder)?;
        Ok(Self { folder })
    }

    /// Opens a table of a tenant for writing; all its tables together may have `limit` bytes. See [`SqliteSink::open`].
    ///
    /// # Errors
    /// As there.
    pub fn sink(
        &self,
        tenant: &TenantId,
        table: &str,
        key: &[String],
        fields: &ResultFields,
        writer: Writer,
        limit: u64,
    ) -> Result<SqliteSink, TableError> {
        SqliteSink::open(&self.file(tenant), table, key, fields, writer, limit)
    }

    /// Whether [`SqliteTables::sink`] would open the table for a job's newest start. Makes nothing.
    ///
    /// # Errors
    /// What it would refuse.
    pub fn check(
        &self,
        tenant: &TenantId,
        table: &str,
        key: &[String],
        fields: &ResultFields,
    ) -> Result<(), TableError> {
        let layout = Layout::new(table, key, fields)?;
        match database::open_to_read(&self.file(tenant))? {
            Some(connection) => catalog::check(&connection, &layout),
            None => Ok(()),
        }
    }

    /// A tenant's tables, by name.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn list(&self, tenant: &TenantId) -> Result<Vec<TableInfo>, ReadError> {
        read::list(&self.file(tenant))
    }

    /// One page of a table's rows.
    ///
    /// # Errors
    /// If there is no such table or column, `after` is no position, or the file cannot be read.
    pub fn rows(&self, tenant: &TenantId, table: &str, query: &RowQuery) -> Result<RowPage, ReadError> {
        read::rows(&self.file(tenant), table, query)
    }

    fn file(&self, tenant: &TenantId) -> PathBuf {
        self.folder.join(format!("{tenant}.db"))
    }
}
