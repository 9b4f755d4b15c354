//! Stable ids of operators: state belongs to an id, so it finds its operator again when the file changes around it.
//!
//! An id is the operator's `uid`, else a name that follows from its own place (`map`, `dedup`, `window`,
//! `aggregate.<name>`) and does not change when other operators come or go. No two operators share an id.

use std::collections::BTreeMap;

use crate::error::PipelineError;
use crate::model::{Aggregate, Pipeline, WindowKind};
use crate::node::Node;
use crate::path;

/// A kind of operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperatorKind {
    /// The map hook.
    Map,
    /// Deduplication.
    Dedup,
    /// The window operator.
    Window,
    /// One entry of `aggregate`.
    Aggregate,
}

/// An operator and its stable id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OperatorId {
    /// The id, unique in the pipeline.
    pub id: String,
    /// What the operator does.
    pub kind: OperatorKind,
    /// Its place in the file: `map`, `dedup`, `window` or `aggregate.<name>`.
    pub path: String,
}

/// The operators with their ids, in the order of a record's way.
#[must_use]
pub fn operator_ids(pipeline: &Pipeline) -> Vec<OperatorId> {
    let mut ids = Vec::new();
    let mut add = |id: &str, kind: OperatorKind, path: String| ids.push(OperatorId { id: id.to_owned(), kind, path });
    if let Some(hook) = &pipeline.map {
        add(&hook.uid, OperatorKind::Map, "map".into());
    }
    if pipeline.dedup.is_some() {
        add("dedup", OperatorKind::Dedup, "dedup".into());
    }
    match &pipeline.window.kind {
        WindowKind::Custom { hook } => add(&hook.uid, OperatorKind::Window, "window".into()),
        _ => add("window", OperatorKind::Window, "window".into()),
    }
    for aggregate in &pipeline.aggregates {
        let path = path::key("aggregate", aggregate.name());
        match aggregate {
            Aggregate::Builtin { name, .. } => add(&format!("aggregate.{name}"), OperatorKind::Aggregate, path),
            Aggregate::Hook { hook, .. } => add(&hook.uid, OperatorKind::Aggregate, path),
        }
    }
    ids
}

/// Refuses an id that two operators have, at the `uid` that takes it.
pub(crate) fn check(pipeline: &Pipeline, root: &Node) -> Result<(), PipelineError> {
    let ids = operator_ids(pipeline);
    let mut owners: BTreeMap<&str, &OperatorId> = BTreeMap::new();
    for operator in &ids {
        let Some(first) = owners.insert(&operator.id, operator) else { continue };
        let uid_of = |operator: &OperatorId| path::key(&operator.path, "uid");
        let (path, other) = match path::line_at(root, &uid_of(operator)) {
            Some(_) => (uid_of(operator), first),
            None => (uid_of(first), operator),
        };
        let line = path::line_at(root, &path);
        let reason =
            format!("the id {} belongs to `{}` already; choose another", path::quoted(&operator.id), other.path);
        return Err(PipelineError::invalid(path, line, reason));
    }
    Ok(())
}
