//! The embedded log: the only user of rocksdb.
