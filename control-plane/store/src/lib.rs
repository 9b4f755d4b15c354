//! The metadata store: documents under compare-and-set, and trails that keep their newest entries.
//!
//! The control plane keeps tenants, keys, artifacts and jobs here. It needs little of a database: read one document, list a
//! folder, and change several documents at once under conditions. That little is a trait, so that the rules above it are
//! tested in memory and run on SQL. Invariant: `contract` is the whole meaning of the trait, and every store passes it.

mod change;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod error;
mod memory;
mod rules;
mod store;

pub use change::{Change, Document, Entry, Expect};
pub use error::StoreError;
pub use memory::MemoryStore;
pub use rules::{
    MAX_BODY_BYTES, MAX_CHANGES, MAX_ENTRIES, MAX_KIND_BYTES, MAX_LIST, MAX_PATH_BYTES, check_changes, check_entries,
    check_list, check_name,
};
pub use store::MetaStore;
