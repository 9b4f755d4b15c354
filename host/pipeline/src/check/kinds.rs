//! Declared kinds that an aggregate or a condition can never take: legal, and surely not what was meant, so remarked on.
//!
//! A map hook may put other kinds into fields of the same name, so with one nothing is said here.

use tidegate_types::{Kind, Value};

use super::{Fault, Scene, fields};
use crate::model::{Aggregate, Condition, Function};
use crate::path::quoted;

/// The aggregates over a kind that they cannot take. Such a file is legal: each record with a value there is rejected.
pub(super) fn never_taken(scene: Scene<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for aggregate in &scene.windowed.aggregates {
        let Aggregate::Builtin { name, function, field: Some(field), .. } = aggregate else { continue };
        let Some((schema, kind)) = declared(scene, field) else { continue };
        if let Some(takes) = refused(*function, kind) {
            let reason = format!(
                "{} is declared as {kind}, and this function takes {takes}: every record with a value there will be \
                 rejected; use another field or function, or correct `{}`",
                quoted(field),
                schema
            );
            faults.push(Fault::new(scene.below("aggregate", name), scene.path("aggregate"), reason));
        }
    }
    faults
}

/// The kind that a condition compares with and the declared one, where they can never be equal.
pub(super) fn never_equal(scene: Scene<'_>, condition: &Condition) -> Option<(&'static str, Kind)> {
    let (_, declared) = declared(scene, &condition.field)?;
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

/// The declared kind of a field that no hook changes, and the path of the `schema` that declares it.
fn declared(scene: Scene<'_>, name: &str) -> Option<(String, Kind)> {
    fields::declared(scene.pipeline, *scene.operator.inputs.first()?, name)
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
