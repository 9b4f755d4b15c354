//! The partitioned log: where a tenant's records wait for its jobs, and where jobs leave what they found.
//!
//! [`Log`] is the contract, [`MemoryLog`] the log that forgets, and `contract` (behind the feature of that name) the suite
//! that every implementation passes. Everything here is synchronous: what waits blocks its thread, and says so.

pub mod append;
#[cfg(any(test, feature = "contract"))]
#[doc(hidden)]
pub mod contract;
pub mod error;
pub mod log;
pub mod memory;
pub mod read;
pub mod sequence;
pub mod stream;
pub mod transaction;
pub mod watch;

pub use append::{AppendBatch, Appended, MAX_BATCH_BYTES, MAX_BATCH_RECORDS, OffsetRange, Producer};
pub use error::{ErrorKind, LogError};
pub use log::{Created, Log, Retained};
pub use memory::MemoryLog;
pub use read::{Chunk, Stored};
pub use stream::{MAX_PARTITIONS, MAX_RECORD_BYTES, PartitionInfo, Retention, StreamId, StreamInfo, StreamSpec};
pub use transaction::{Begin, StagedTransaction, TransactionId};
pub use watch::Watch;
