//! The embedded log: streams on RocksDB, in one folder.
//!
//! A caller's thread checks and encodes a batch, one writer thread gives offsets and writes what has gathered in one piece
//! (group commit), and readers go to the database themselves. docs/log.md is the contract for users, docs/adr/0008 the
//! reasons.

mod catalog;
mod error;
mod format;
mod options;
mod prepare;
mod queue;
mod read;
mod retain;
mod rocks;
mod staging;
mod store;
mod writer;

pub use error::OpenError;
pub use options::RocksOptions;
pub use rocks::RocksLog;
