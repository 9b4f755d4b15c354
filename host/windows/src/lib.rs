//! Event-time rules, pure and synchronous: watermarks of partitions, window assignment, session merging, firing instants.
//!
//! Nothing here holds accumulators, reads a clock or does I/O: callers hand in times and act on the answers.
//! docs/semantics.md fixes every rule; each module names its section.

mod assign;
#[cfg(test)]
mod chance;
mod instants;
mod lateness;
mod sessions;
mod watermarks;

pub use assign::{WindowSpan, covering_windows, is_gone, tumbling_start};
pub use instants::{next_instant, ticks_within};
pub use lateness::{LatenessBucket, LatenessHistogram, LatenessSummary};
pub use sessions::{SessionMerge, merge_session};
pub use watermarks::{
    ClockStart, DriftChange, HeldBy, PartitionReport, PartitionState, SourceReport, SourceWatermarks, Standing,
};
