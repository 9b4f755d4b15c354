//! The HTTP API: routes, requests, answers, problem details. No rules: a handler parses, calls a service, shapes the
//! answer.

pub mod tables;

pub use tables::{MAX_ROWS, RowOrder, RowPage, RowQuery, TableInfo, Tables, TablesError};
