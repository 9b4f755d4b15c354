//! Write Tidegate hooks in Rust: plain functions over typed rows or columns.

mod aggregator;
#[doc(hidden)]
pub mod bindings;
pub mod columns;
mod config;
mod error;
#[doc(hidden)]
pub mod export;
pub mod log;
mod mapper;
pub mod row;
#[doc(hidden)]
pub mod windower;

pub use aggregator::{Aggregator, Cell, ColumnAggregator};
pub use columns::{Fault, Field, Kind};
pub use error::Reject;
pub use mapper::{ColumnMapper, Mapper};
pub use row::Row;
pub use windower::{ColumnWindower, Window, Windower};
