//! Keyed state as it is stored: the layout of its entries, the changes that a checkpoint adds, and the contract of what
//! keeps them.
//!
//! Operators keep their state in memory, in forms of their own. At a checkpoint they write what has changed as entries
//! ([`Changes`]); a [`StateBackend`] keeps all entries of one subtask, and gives them back when a job is restored, whole or by
//! ranges of key groups.

mod backend;
mod changes;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod folder;
mod layout;
mod memory;
mod parts;

pub use backend::{SnapshotPart, StateBackend, StateBackends, StateError, StateFile, Visit};
pub use changes::Changes;
pub use folder::empty_folder;
pub use layout::{GROUP_BYTES, Namespace, group_of, put_prefix, range_of};
pub use memory::MemoryBackends;
pub use parts::disjoint;
