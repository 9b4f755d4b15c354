//! Stable ids of operators: state belongs to an id, so it finds its operator again when the file changes around it.
//!
//! An id is the operator's `uid`, else a name that follows from its own place and does not change when other operators come
//! or go: in the short form `map`, `dedup`, `window`, `aggregate.<name>`; in the long form the operator's name and what
//! begins with it. No two operators share an id.

use std::collections::BTreeMap;

use crate::error::PipelineError;
use crate::model::{Aggregate, Form, Hook, JoinOutput, Operator, OperatorSpec, Pipeline, Windowed};
use crate::node::{Content, Node};
use crate::path;

/// A kind of operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperatorKind {
    /// A map hook: behind a source, over a join's pairs, or an operator of its own.
    Map,
    /// Deduplication.
    Dedup,
    /// A window operator.
    Window,
    /// One entry of `aggregate`.
    Aggregate,
    /// A join.
    Join,
    /// A process hook.
    Process,
}

impl OperatorKind {
    /// The kind in one word, as the file calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Dedup => "dedup",
            Self::Window => "window",
            Self::Aggregate => "aggregate",
            Self::Join => "join",
            Self::Process => "process",
        }
    }
}

/// An operator and its stable id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OperatorId {
    /// The id, unique in the pipeline.
    pub id: String,
    /// What the operator does.
    pub kind: OperatorKind,
    /// Its place in the file: `map`, `dedup`, `window` or `aggregate.<name>`, in the long form below `operators[i]` (of a
    /// source's map hook `sources[i].map`).
    pub path: String,
}

/// The id of an aggregate. `operator`: the name of its operator; none in the short form.
pub(crate) fn aggregate(operator: Option<&str>, name: &str) -> String {
    within(operator, &format!("aggregate.{name}"))
}

/// The id of a part of an operator.
fn within(operator: Option<&str>, part: &str) -> String {
    operator.map_or_else(|| part.to_owned(), |operator| format!("{operator}.{part}"))
}

/// The operators with their ids, in the order of a record's way: the map hooks of sources first, then each operator, a
/// window's with its deduplication before and its aggregates after it.
#[must_use]
pub fn operator_ids(pipeline: &Pipeline) -> Vec<OperatorId> {
    let mut ids = Vec::new();
    for (place, source) in pipeline.sources.iter().enumerate() {
        if let Some(hook) = &source.map {
            ids.push(hook_id(hook, OperatorKind::Map, pipeline.source_map_path(place)));
        }
    }
    for (place, operator) in pipeline.operators.iter().enumerate() {
        let path = |key: &str| pipeline.operator_path(place, key);
        let own = |kind: OperatorKind| OperatorId { id: operator.id().to_owned(), kind, path: path(kind.name()) };
        match &operator.kind {
            OperatorSpec::Map(_) => ids.push(own(OperatorKind::Map)),
            OperatorSpec::Process(_) => ids.push(own(OperatorKind::Process)),
            OperatorSpec::Join(join) => {
                ids.push(own(OperatorKind::Join));
                if let JoinOutput::Hook(hook) = &join.output {
                    ids.push(hook_id(hook, OperatorKind::Map, path("join")));
                }
            }
            OperatorSpec::Window(windowed) => {
                let name = name_of(pipeline, operator);
                if windowed.dedup.is_some() {
                    let id = within(name, "dedup");
                    ids.push(OperatorId { id, kind: OperatorKind::Dedup, path: path("dedup") });
                }
                ids.push(own(OperatorKind::Window));
                ids.extend(aggregates(windowed, name, &path("aggregate")));
            }
        }
    }
    ids
}

/// The name that the ids of an operator's parts begin with.
fn name_of<'a>(pipeline: &Pipeline, operator: &'a Operator) -> Option<&'a str> {
    match pipeline.form {
        Form::Short => None,
        Form::Long => Some(&operator.name),
    }
}

fn hook_id(hook: &Hook, kind: OperatorKind, path: String) -> OperatorId {
    OperatorId { id: hook.uid.clone(), kind, path }
}

fn aggregates(windowed: &Windowed, operator: Option<&str>, base: &str) -> Vec<OperatorId> {
    let id = |of: &Aggregate| match of {
        Aggregate::Builtin { name, .. } => aggregate(operator, name),
        Aggregate::Hook { hook, .. } => hook.uid.clone(),
    };
    let kind = OperatorKind::Aggregate;
    let one = |of: &Aggregate| OperatorId { id: id(of), kind, path: path::key(base, of.name()) };
    windowed.aggregates.iter().map(one).collect()
}

/// Refuses an id that two operators have, at the `uid` that takes it; in the long form sources' names are ids too.
pub(crate) fn check(pipeline: &Pipeline, root: &Node) -> Result<(), PipelineError> {
    let sources = pipeline.sources.iter().enumerate().filter(|_| pipeline.form == Form::Long);
    let sources = sources.map(|(place, source)| (source.name.clone(), pipeline.source_path(place)));
    let operators = operator_ids(pipeline).into_iter().map(|operator| (operator.id, operator.path));
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    for (id, owner) in sources.chain(operators) {
        let Some(first) = owners.insert(id.clone(), owner.clone()) else { continue };
        let (path, other) = match (uid_of(&id, &owner, root), uid_of(&id, &first, root)) {
            (Some(path), _) => (path, first),
            (None, Some(path)) => (path, owner),
            (None, None) => (name_of_entry(&owner), first),
        };
        let line = path::line_at(root, &path);
        let reason = format!("the id {} belongs to `{other}` already; choose another", path::quoted(&id));
        return Err(PipelineError::invalid(path, line, reason));
    }
    Ok(())
}

/// Where the name stands from which the id of a part of an entry follows: `operators[1].window` has `operators[1].name`.
fn name_of_entry(part: &str) -> String {
    match part.split_once("].") {
        Some((entry, _)) => format!("{entry}].name"),
        None => part.to_owned(),
    }
}

/// Where the file gives its id to the operator at `owner`, if it does.
fn uid_of(id: &str, owner: &str, root: &Node) -> Option<String> {
    let path = path::key(owner, "uid");
    let node = path::node_at(root, &path)?;
    matches!(&node.content, Content::Text(uid) if uid == id).then_some(path)
}
