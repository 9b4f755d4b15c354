//! Result tables in SQLite: a newer result replaces the row of the same key, an older one never does. The only user of rusqlite.
//!
//! A tenant has one file for all its tables, so nothing of another tenant's can be reached through it. [`SqliteSink`] writes
//! one table in whole transactions; [`SqliteTables`] lists tables and reads their rows, as the JSON of their results, byte for
//! byte. docs/tables.md describes the file for whoever reads it with other tools.

mod catalog;
mod database;
mod error;
mod layout;
mod migrate;
mod read;
mod results;
mod row;
mod sink;
mod tables;
mod version;
mod write;

pub use error::TableError;
pub use layout::Layout;
pub use read::{MAX_LOOKED_AT, MAX_PAGE_BYTES, MAX_ROWS, ReadError, RowOrder, RowPage, RowQuery, TableInfo};
pub use sink::{SqliteSink, Writer};
pub use tables::SqliteTables;
