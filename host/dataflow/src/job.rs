//! Puts a job's operators together: sources, operators and sinks of the pipeline's graph, and the routes between them.
//!
//! What a part puts out decides what the hooks behind it are opened with, so the graph is gone through in order (`assembly`):
//! each hook is opened once what it reads is known. `wiring` makes tasks and channels of a job.

use tidegate_connectors::SourcePosition;
use tidegate_pipeline::{Pipeline, PipelineError};
use tidegate_types::{EventTime, ResultFields, Value};

use crate::operator::Operator;
use crate::rounds::InputsHead;
use crate::route::{InputId, Route};
use crate::sources::Sources;
use crate::task::{RowsOf, Way};

mod assembly;
mod building;
mod fields;
mod hooks;
mod restoring;
mod steps;
mod wiring;

pub use hooks::{JobHooks, OpenHooks};
pub use restoring::{SubtaskState, position_of};
pub use steps::{Step, Steps};
pub use wiring::Tasks;

/// A pipeline that its hooks do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct JobError {
    /// The field of the pipeline file.
    pub path: String,
    /// What does not fit, and the way out.
    pub reason: String,
}

impl From<PipelineError> for JobError {
    fn from(error: PipelineError) -> Self {
        Self { path: error.path, reason: error.reason }
    }
}

/// Why a job cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum AssemblyError<E> {
    /// A hook does not open.
    #[error(transparent)]
    Hook(E),
    /// The pipeline and its hooks do not fit together.
    #[error(transparent)]
    Fit(#[from] JobError),
}

impl<E> From<PipelineError> for AssemblyError<E> {
    fn from(error: PipelineError) -> Self {
        Self::Fit(error.into())
    }
}

/// How a job runs.
#[derive(Debug, Clone)]
pub struct JobOptions {
    /// Subtasks of each operator.
    pub parallelism: u32,
    /// The most rows that a hook gets in one call.
    pub batch_rows: usize,
    /// The partitions that the reader reads, in its order.
    pub partitions: Vec<SourcePartition>,
    /// The field of the virtual clock.
    pub arrival_field: Option<String>,
    /// The wall clock's reading at the start; none under a virtual clock.
    pub wall_clock: Option<EventTime>,
}

/// A partition of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePartition {
    /// The source, by its place in the pipeline.
    pub source: usize,
    /// What to call the partition where it is shown.
    pub name: Value,
}

impl SourcePartition {
    /// The partitions of a job's only source.
    #[must_use]
    pub fn of_one_source(names: &[Value]) -> Vec<Self> {
        names.iter().map(|name| Self { source: 0, name: name.clone() }).collect()
    }
}

/// A job's operators, ready to be driven.
pub struct Job {
    pub(crate) sources: Sources,
    /// What leads out of each source.
    pub(crate) ways: Vec<Way>,
    /// The stateful operators, each after those that it reads.
    pub(crate) nodes: Vec<Node>,
    results: Vec<ResultFields>,
    /// The most rows of a source batch.
    pub batch_rows: usize,
    /// Whether the lines of too-late and duplicate rows say which operator found them.
    pub names_operators: bool,
    /// The key groups of its state.
    pub max_parallelism: u32,
    /// Where reading goes on, once state was restored.
    pub(crate) position: Option<SourcePosition>,
}

/// A stateful operator.
pub(crate) struct Node {
    /// Its place in the pipeline.
    pub(crate) operator: usize,
    /// The fields of each input's rows.
    pub(crate) inputs: Vec<std::sync::Arc<tidegate_types::Schema>>,
    pub(crate) subtasks: Vec<Subtask>,
}

/// A subtask of an operator, and what leads out of it.
pub(crate) struct Subtask {
    pub(crate) operator: Box<dyn Operator>,
    /// Where the inputs of the subtasks of an earlier run stood, whose state it has.
    pub(crate) heads: Vec<InputsHead>,
    pub(crate) sinks: Vec<usize>,
    pub(crate) rows: Option<RowsOf>,
    /// How far the watermark of what it emits trails its own, ms.
    pub(crate) holds_back: i64,
    pub(crate) routes: Vec<Route>,
}

impl Job {
    /// Opens the hooks and puts the operators together.
    ///
    /// # Errors
    /// If a hook does not open, or the pipeline and its hooks do not fit together.
    pub fn new<H: OpenHooks>(
        pipeline: &Pipeline,
        hooks: H,
        options: JobOptions,
    ) -> Result<Self, AssemblyError<H::Error>> {
        assembly::assemble(pipeline, hooks, options)
    }

    /// The names of the fields of each sink's records, in the order of the pipeline's sinks.
    #[must_use]
    pub fn results(&self) -> &[ResultFields] {
        &self.results
    }

    /// How many subtasks each operator has, at least one.
    #[must_use]
    pub fn parallelism(&self) -> usize {
        self.nodes.iter().map(|node| node.subtasks.len()).max().unwrap_or(1)
    }
}

/// The inputs that routes lead to, in order of their places.
pub(crate) fn targets<'a>(routes: impl IntoIterator<Item = &'a Route>) -> Vec<InputId> {
    let mut routes: Vec<_> = routes.into_iter().flat_map(Route::to_operators).collect();
    routes.sort_by_key(|route| route.place);
    routes.into_iter().map(|route| route.to).collect()
}
