//! Tasks: chains of operators as step machines. A lane steps them; they await nothing and read no clock.
//!
//! A step takes at most one element from the inputs, and only if there is credit for what may come of it.

use std::sync::Arc;

use tidegate_connectors::{SinkError, SourceError};
use tidegate_types::{EventTime, PaneBatch, RowBatch, Value, Watermark};

use crate::OperatorError;
use crate::account::Account;
use crate::report::{OperatorReport, OperatorStanding, SourceReport};
use crate::side::Side;

mod operator;
mod source;

pub use operator::OperatorTask;
pub(crate) use operator::{RowsOf, Ways, read_head};
pub use source::SourceTask;
pub(crate) use source::{Way, read_state};

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It did something; step again.
    Worked,
    /// Nothing to do until a queue changes or the wall clock reaches `until`.
    Waiting {
        /// When something falls due by itself.
        until: Option<EventTime>,
    },
    /// There is nothing more to do, ever.
    Finished,
}

/// Why a task stopped.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The source cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// An operator cannot go on.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// A sink cannot take more.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

/// A step machine.
///
/// 1. `step` never blocks, and works on one element at most.
/// 2. `now` is the wall clock's reading, none under a virtual clock.
/// 3. After `Finished` or an error it MUST NOT be stepped again; dropping it ends its outputs.
pub trait Task: Send {
    /// One step.
    ///
    /// # Errors
    /// If the task cannot go on; the job has failed.
    fn step(&mut self, now: Option<EventTime>) -> Result<Progress, TaskError>;
}

/// What a sink takes.
#[derive(Debug, Clone)]
pub enum Results {
    /// Panes.
    Panes(PaneBatch),
    /// Rows that are no panes.
    Rows(RowBatch),
}

/// What tasks send to the sinks.
#[derive(Debug, Default)]
pub struct Emission {
    /// Results, in order, each with the place of its sink in the pipeline.
    pub results: Vec<(usize, Results)>,
    /// Side records, in order.
    pub sides: Vec<Side>,
    /// What became of records since the last emission.
    pub account: Account,
    /// How far the source is; none from other tasks.
    pub source: Option<SourceStatus>,
    /// How far an operator's subtask is, if it has moved; none from other tasks.
    pub operator: Option<OperatorStatus>,
    /// What the task shows of itself; in its last emission.
    pub report: Option<TaskReport>,
    /// The barrier of a checkpoint: everything before it was emitted. Then nothing else is in the emission.
    pub barrier: Option<u64>,
}

impl Emission {
    /// Whether nobody need see it.
    fn is_empty(&self) -> bool {
        self.results.is_empty()
            && self.sides.is_empty()
            && self.account == Account::default()
            && self.source.is_none()
            && self.operator.is_none()
            && self.report.is_none()
    }
}

/// What a task shows of itself.
#[derive(Debug)]
pub enum TaskReport {
    /// The source task: of each source.
    Sources(Vec<SourceReport>),
    /// A task of an operator.
    Operator(OperatorReport),
}

/// How far a source is.
#[derive(Debug, Clone)]
pub struct SourceStatus {
    /// Its watermark: the least of all sources'.
    pub watermark: Watermark,
    /// Its clock, or [`tidegate_types::NO_CLOCK`].
    pub clock: EventTime,
    /// The partition that holds the watermark back, and that partition's own.
    pub slowest: Option<(Value, Watermark)>,
    /// Bytes of records read since the last status.
    pub bytes: u64,
}

/// How far a subtask of an operator is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorStatus {
    /// The operator's id.
    pub operator: Arc<str>,
    /// Which of its subtasks, from 0.
    pub subtask: u32,
    /// Where it stands.
    pub standing: OperatorStanding,
    /// Bytes of the state that it keeps.
    pub state_bytes: u64,
}

/// What leads out of a task to one input of an operator: a sender for each of its subtasks.
pub(crate) type Senders = Vec<crate::channel::Sender<crate::rounds::Piece>>;

#[cfg(test)]
mod tests;
