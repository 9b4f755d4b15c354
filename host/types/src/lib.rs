//! Plain data that every part of the host speaks: times, values, columns, batches, keys, and the traits of tenants' hooks.
//!
//! Nothing here does I/O, reads a clock or knows a runtime. Everything is a value that can be compared and printed.

pub mod batch;
pub mod column;
pub mod hooks;
pub mod key;
pub mod name;
pub mod pane;
pub mod progress;
pub mod results;
pub mod schema;
pub mod stamp;
pub mod stored;
pub mod time;
pub mod value;

pub use batch::{Arrivals, Batch, MadeRecords, Origin, PartitionId, ReadRecords};
pub use column::{Column, ColumnBuilder, DynamicArray};
pub use key::{KeyGroup, Keys, groups_of, key_group, key_hash, subtask_of};
pub use name::{Name, NameError, TenantId};
pub use pane::{Emitted, PaneBatch, PaneFields, PaneInfo, PaneOp, RowBatch, Timing};
pub use progress::{NO_CLOCK, Progress, ProgressEntry};
pub use results::ResultFields;
pub use schema::{Field, FieldType, Kind, Schema};
pub use stamp::{Stamp, Stamping, Version};
pub use time::{Clock, EventTime, Millis, Watermark};
pub use value::{Value, ValueRef};
