//! Operators and the tasks that chain them: from decoded records to panes.
//!
//! A record's way: `source` (decode, watermark) → `map` (the tenant's map hook) → `keyed` (key and key group) →
//! `exchange` (to the subtask that owns the key group) → `window` (late? duplicate? assign, accumulate, fire) → a sink.
//! Operators are plain structs: they await nothing, spawn nothing and read no clock. `job` puts a job's operators together.

mod account;
mod aggregate;
mod chain;
mod changed;
pub mod channel;
pub mod checkpoint;
mod exchange;
mod job;
mod join;
mod keyed;
mod map;
mod operator;
mod pacer;
mod process;
mod reads;
mod report;
mod rounds;
mod route;
mod side;
mod source;
mod sources;
pub mod task;
mod verdict;
mod window;

pub use account::Account;
pub use job::{
    AssemblyError, Job, JobError, JobHooks, JobOptions, OpenHooks, SourcePartition, Step, Steps, SubtaskState, Tasks,
    position_of,
};
pub use operator::{Operator, OperatorOutput, Work};
pub use report::{OperatorReport, OperatorStanding, SourceReport, StateSize};
pub use side::{FailedTimer, Side, SideKind};
pub use sources::{Round, Sources};

/// Why an operator cannot go on. The task stops; no record is condemned.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// A hook was stopped by the wall clock again and again.
    #[error(
        "the {operator} hook was stopped {stops} times by the wall-clock backstop on the same records: the job is paused. Make the hook's calls shorter, or ask for a higher backstop"
    )]
    Paused {
        /// The operator's id.
        operator: String,
        /// How often.
        stops: u32,
    },
    /// The host failed a call.
    #[error("operator {operator}: {detail}")]
    Platform {
        /// The operator's id.
        operator: String,
        /// What failed.
        detail: String,
    },
}
