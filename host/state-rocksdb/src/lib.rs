//! Keyed state on RocksDB: one database for each subtask of an operator.
