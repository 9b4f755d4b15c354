//! What several objects of the file say together: contradictions, which refuse it, and remarks, which do not.
//!
//! The rules look at the finished `Pipeline` alone; lines are looked up afterwards, so each rule is a plain function.

mod chains;
mod contradictions;
mod fields;
mod joins;
mod kinds;
mod outputs;
mod remarks;
mod rows;

pub use chains::check_custom_chain;
pub use outputs::check_outputs;
pub use rows::check_row_outputs;

use crate::error::{PipelineError, Warning};
use crate::model::{Early, Operator, Pipeline, Sink, SinkSpec, WindowKind, Windowed};
use crate::node::Node;
use crate::path::{self, key};
use crate::{checkpointing, ids};

/// A rule that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The place that is blamed; it may be missing from the file.
    pub(crate) path: String,
    /// A place that is in the file and shows why, where `path` is missing.
    pub(crate) cause: String,
    /// The reason and the way out.
    pub(crate) reason: String,
}

impl Fault {
    pub(crate) fn new(path: impl Into<String>, cause: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), cause: cause.into(), reason: reason.into() }
    }

    fn line(&self, root: &Node) -> Option<usize> {
        path::line_at(root, &self.path).or_else(|| path::line_at(root, &self.cause))
    }
}

/// A window operator and where it stands: what the rules about one look at.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    /// The whole pipeline.
    pub(crate) pipeline: &'a Pipeline,
    /// The operator's place in [`Pipeline::operators`].
    pub(crate) place: usize,
    /// The operator.
    pub(crate) operator: &'a Operator,
    /// What it does.
    pub(crate) windowed: &'a Windowed,
}

impl<'a> Scene<'a> {
    /// The window operators of a pipeline.
    pub(crate) fn all(pipeline: &'a Pipeline) -> impl Iterator<Item = Self> {
        (0..pipeline.operators.len()).filter_map(|place| Self::of(pipeline, place))
    }

    /// An operator, if it is a window operator.
    pub(crate) fn of(pipeline: &'a Pipeline, place: usize) -> Option<Self> {
        let operator = pipeline.operators.get(place)?;
        Some(Self { pipeline, place, operator, windowed: operator.windowed()? })
    }

    /// The path of one of its keys.
    pub(crate) fn path(&self, name: &str) -> String {
        self.pipeline.operator_path(self.place, name)
    }

    /// The path of a key of one of its objects.
    pub(crate) fn below(&self, object: &str, name: &str) -> String {
        key(&self.path(object), name)
    }

    /// The upsert sinks that it feeds, each with its path and its key.
    pub(crate) fn upserts(&self) -> impl Iterator<Item = (String, &'a [String])> {
        upserts_of(self.pipeline, self.place)
    }

    /// Whether a window may emit more than one pane: it has an early trigger or takes late records.
    pub(crate) fn fires_more_than_once(&self) -> bool {
        self.windowed.trigger.early != Early::None || self.windowed.window.allowed_lateness.0 > 0
    }

    /// Whether its windows are sessions.
    pub(crate) fn is_session(&self) -> bool {
        matches!(self.windowed.window.kind, WindowKind::Session { .. })
    }
}

/// The upsert sinks that an operator feeds, each with its path and its key.
pub(crate) fn upserts_of(pipeline: &Pipeline, operator: usize) -> impl Iterator<Item = (String, &[String])> {
    pipeline.sinks_of(operator).filter_map(|(place, sink)| Some((pipeline.sink_path(place), upsert_key(sink)?)))
}

/// The key of an upsert sink.
fn upsert_key(sink: &SinkSpec) -> Option<&[String]> {
    match &sink.sink {
        Sink::UpsertStore { key, .. } => Some(key),
        _ => None,
    }
}

/// Refuses contradictions, the first one found.
pub(crate) fn contradictions(pipeline: &Pipeline, root: &Node) -> Result<(), PipelineError> {
    let located = |fault: Fault| PipelineError::invalid(fault.path.clone(), fault.line(root), fault.reason);
    contradictions::check(pipeline).map_err(located)?;
    joins::check(pipeline).map_err(located)?;
    chains::check(pipeline).map_err(located)?;
    fields::check(pipeline).map_err(located)?;
    outputs::check(pipeline).map_err(located)?;
    rows::check(pipeline).map_err(located)?;
    checkpointing::check(pipeline).map_err(located)?;
    ids::check(pipeline, root)
}

/// What the author should know, in the order of the file's keys.
pub(crate) fn remarks(pipeline: &Pipeline, root: &Node) -> Vec<Warning> {
    let located = |fault: Fault| Warning { path: fault.path.clone(), line: fault.line(root), reason: fault.reason };
    remarks::all(pipeline).into_iter().map(located).collect()
}
