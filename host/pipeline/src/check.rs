//! What several objects of the file say together: contradictions, which refuse it, and remarks, which do not.
//!
//! The rules look at the finished `Pipeline` alone; lines are looked up afterwards, so each rule is a plain function.

mod contradictions;
mod kinds;
mod outputs;
mod remarks;

pub use outputs::check_outputs;

use crate::error::{PipelineError, Warning};
use crate::ids;
use crate::model::{Early, Pipeline, Sink};
use crate::node::Node;
use crate::path;

/// A rule that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The place that is blamed; it may be missing from the file.
    pub(crate) path: String,
    /// A place that is in the file and shows why, where `path` is missing.
    pub(crate) cause: &'static str,
    /// The reason and the way out.
    pub(crate) reason: String,
}

impl Fault {
    pub(crate) fn new(path: impl Into<String>, cause: &'static str, reason: impl Into<String>) -> Self {
        Self { path: path.into(), cause, reason: reason.into() }
    }

    fn line(&self, root: &Node) -> Option<usize> {
        path::line_at(root, &self.path).or_else(|| path::line_at(root, self.cause))
    }
}

/// Refuses contradictions, the first one found.
pub(crate) fn contradictions(pipeline: &Pipeline, root: &Node) -> Result<(), PipelineError> {
    let located = |fault: Fault| PipelineError::invalid(fault.path.clone(), fault.line(root), fault.reason);
    contradictions::check(pipeline).map_err(located)?;
    outputs::check(pipeline, &outputs::HookFields::new()).map_err(located)?;
    ids::check(pipeline, root)
}

/// What the author should know, in the order of the file's keys.
pub(crate) fn remarks(pipeline: &Pipeline, root: &Node) -> Vec<Warning> {
    let located = |fault: Fault| Warning { path: fault.path.clone(), line: fault.line(root), reason: fault.reason };
    remarks::all(pipeline).into_iter().map(located).collect()
}

/// Whether a window may emit more than one pane: it has an early trigger or takes late records.
fn fires_more_than_once(pipeline: &Pipeline) -> bool {
    pipeline.trigger.early != Early::None || pipeline.window.allowed_lateness.0 > 0
}

/// The key of an upsert sink.
fn upsert_key(pipeline: &Pipeline) -> Option<&[String]> {
    match &pipeline.sink {
        Sink::UpsertStore { key, .. } => Some(key),
        _ => None,
    }
}
