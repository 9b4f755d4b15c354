//! The metadata store on SQLite: the only user of sqlx.
//!
//! One file, one table of documents and one of trails. Invariant: a commit is one SQL transaction that takes the write lock
//! before it reads, so its checks and its changes are one step between all connections and processes; and it is on the disk
//! (WAL, synchronous=FULL) before it is answered.

mod fault;
mod open;
mod schema;
mod store;

pub use open::OpenError;
pub use store::SqlStore;
