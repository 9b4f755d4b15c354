//! Keyed state on RocksDB: one database for each subtask of an operator, written at checkpoints.
//!
//! There is no write-ahead log: what makes state durable is a snapshot, hard links to files that never change. All databases
//! of a process share one cache, one bound on what waits in memory to be written, and the threads that write and merge.
//!
//! Invariant: nothing of a snapshot is used before its list of files has been checked, and no block of a file before its
//! checksum.

mod backend;
mod backends;
mod error;
mod fill;
mod listing;
mod options;

pub use backends::RocksBackends;
pub use options::RocksOptions;
