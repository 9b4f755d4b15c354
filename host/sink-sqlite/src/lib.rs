//! Result tables in SQLite: a newer pane replaces the row of the same key. The only user of rusqlite.
//!
//! A tenant has one file for all its tables, so nothing of another tenant's can be reached through it. [`SqliteSink`] writes
//! one table in whole transactions; [`SqliteTables`] lists tables and reads their rows, as the JSON of their panes, byte for
//! byte. docs/tables.md describes the file for whoever reads it with other tools.

mod catalog;
mod database;
mod error;
mod layout;
mod read;
mod row;
mod sink;
mod tables;

pub use error::TableError;
pub use layout::Layout;
pub use read::{MAX_LOOKED_AT, MAX_PAGE_BYTES, MAX_ROWS, ReadError, RowOrder, RowPage, RowQuery, TableInfo};
pub use sink::SqliteSink;
pub use tables::SqliteTables;
