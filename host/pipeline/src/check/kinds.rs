//! Declared kinds that an aggregate or a condition can never take: legal, and surely not what was meant, so remarked on.
//!
//! A map hook may put other kinds into fields of the same name, so with one nothing is said here.

use tidegate_types::{FieldType, Kind, Value};

use super::Fault;
use crate::model::{Aggregate, Condition, Function, Pipeline};
use crate::path::{key, quoted};

/// The aggregates over a kind that they cannot take. Such a file is legal: each record with a value there is rejected.
pub(super) fn never_taken(pipeline: &Pipeline) -> Vec<Fault> {
    let mut faults = Vec::new();
    for aggregate in &pipeline.aggregates {
        let Aggregate::Builtin { name, function, field: Some(field), .. } = aggregate else { continue };
        let Some(kind) = declared(pipeline, field) else { continue };
        if let Some(takes) = refused(*function, kind) {
            let reason = format!(
                "{} is declared as {kind}, and this function takes {takes}: every record with a value there will be \
                 rejected; use another field or function, or correct `source.schema`",
                quoted(field)
            );
            faults.push(Fault::new(key("aggregate", name), "aggregate", reason));
        }
    }
    faults
}

/// The kind that a condition compares with and the declared one, where they can never be equal.
pub(super) fn never_equal(pipeline: &Pipeline, condition: &Condition) -> Option<(&'static str, Kind)> {
    let declared = declared(pipeline, &condition.field)?;
    let (given, possible) = match condition.equals {
        Value::Null => return None,
        Value::Bool(_) => ("bool", declared == Kind::Bool),
        Value::Int(_) => ("int", declared == Kind::Int),
        Value::Float(_) => ("float", declared == Kind::Float),
        Value::Text(_) => ("text", declared == Kind::Text),
        Value::Bytes(_) => ("bytes", declared == Kind::Bytes),
        Value::Json(_) => ("a list or an object", false),
    };
    if possible { None } else { Some((given, declared)) }
}

/// The declared kind of a field that no hook changes.
fn declared(pipeline: &Pipeline, name: &str) -> Option<Kind> {
    if pipeline.map.is_some() {
        return None;
    }
    match pipeline.source.schema.iter().find(|field| field.name == name)?.field_type {
        FieldType::Typed { kind, .. } => Some(kind),
        FieldType::Dynamic => None,
    }
}

/// What the function takes, where it does not take this kind.
fn refused(function: Function, kind: Kind) -> Option<&'static str> {
    match function {
        Function::Sum | Function::Avg if !matches!(kind, Kind::Int | Kind::Float) => Some("numbers"),
        Function::Min | Function::Max | Function::TopK { .. } if matches!(kind, Kind::Bool | Kind::Bytes) => {
            Some("numbers and text")
        }
        _ => None,
    }
}
