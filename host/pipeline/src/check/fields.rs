//! Fields that operators name: behind operators whose output the file tells, they must exist.
//!
//! Records may have any fields, and what a hook puts out is known only once it is open, so behind those nothing is said here.

use std::collections::BTreeSet;

use tidegate_types::{FieldType, Kind};

use super::Fault;
use crate::model::{
    Aggregate, Join, JoinOutput, JoinSide, Operator, OperatorSpec, Pipeline, Upstream, WindowKind, Windowed,
};
use crate::nearest::{nearest, suggestion};
use crate::path::{item, key, quoted};

/// The most fields that a message lists.
const LISTED: usize = 20;
/// The fields that say a pane's window.
const BOUNDS: [&str; 2] = ["window_start", "window_end"];

/// The first field that an operator names and its input does not have.
pub(super) fn check(pipeline: &Pipeline) -> Result<(), Fault> {
    for (place, operator) in pipeline.operators.iter().enumerate() {
        let fields = |input: &Upstream| Some(fields_of(pipeline, *input)?.into_iter().collect());
        let known: Vec<Option<BTreeSet<&str>>> = operator.inputs.iter().map(fields).collect();
        let unknown = |named: &Named<'_>| {
            let fields = known.get(named.input).and_then(Option::as_ref);
            fields.is_some_and(|fields| !fields.contains(named.field))
        };
        if let Some(named) = named(pipeline, place).iter().find(|named| unknown(named)) {
            return Err(missing(pipeline, place, named));
        }
    }
    Ok(())
}

/// The refusal of a field that an input does not have.
fn missing(pipeline: &Pipeline, place: usize, named: &Named<'_>) -> Fault {
    let input = pipeline.operators[place].inputs[named.input];
    let known = fields_of(pipeline, input).unwrap_or_default();
    let (owner, field) = (quoted(&name_of(pipeline, input)), quoted(named.field));
    let reason = format!("{owner} puts out no field {field}; {}", help(named.field, &known));
    Fault::new(named.path.clone(), pipeline.operator_base(place), reason)
}

/// What to write in place of a field that is not there.
pub(super) fn help(written: &str, known: &[&str]) -> String {
    if known.len() <= LISTED {
        return suggestion(written, known);
    }
    match nearest(written, known) {
        Some(field) => format!("did you mean {}?", quoted(field)),
        None => format!("name one of its {} fields", known.len()),
    }
}

/// The fields of an operator's or a source's rows, where the file alone tells them all.
pub(super) fn fields_of(pipeline: &Pipeline, upstream: Upstream) -> Option<Vec<&str>> {
    let Upstream::Operator(place) = upstream else { return None };
    match &pipeline.operators.get(place)?.kind {
        OperatorSpec::Map(_) | OperatorSpec::Process(_) => None,
        OperatorSpec::Join(Join { output: JoinOutput::Hook(_), .. }) => None,
        OperatorSpec::Join(Join { output: JoinOutput::Select(selected), .. }) => {
            Some(selected.iter().map(|selected| selected.name.as_str()).collect())
        }
        OperatorSpec::Window(Windowed { window, key_by, aggregates, .. }) => {
            let hooked = |aggregate: &Aggregate| matches!(aggregate, Aggregate::Hook { .. });
            if matches!(window.kind, WindowKind::Custom { .. }) || aggregates.iter().any(hooked) {
                return None;
            }
            let keys = key_by.iter().map(String::as_str);
            Some(keys.chain(aggregates.iter().map(Aggregate::name)).chain(BOUNDS).collect())
        }
    }
}

/// The kind that a source declares for a field of rows that reach `upstream`'s readers, and the path of its `schema`; `None`
/// where a hook or an aggregate makes the field, or nothing is declared.
pub(super) fn declared(pipeline: &Pipeline, upstream: Upstream, name: &str) -> Option<(String, Kind)> {
    match upstream {
        Upstream::Source(place) => {
            let source = pipeline.sources.get(place).filter(|source| source.map.is_none())?;
            let field = source.schema.iter().find(|field| field.name == name)?;
            let FieldType::Typed { kind, .. } = field.field_type else { return None };
            Some((key(&pipeline.source_path(place), "schema"), kind))
        }
        Upstream::Operator(place) => {
            let operator = pipeline.operators.get(place)?;
            let (input, name) = origin(operator, name)?;
            declared(pipeline, *operator.inputs.get(input)?, name)
        }
    }
}

/// The input and its field that an operator passes on under this name.
fn origin<'a>(operator: &'a Operator, name: &'a str) -> Option<(usize, &'a str)> {
    match &operator.kind {
        OperatorSpec::Window(windowed) => windowed.key_by.iter().any(|field| field == name).then_some((0, name)),
        OperatorSpec::Join(Join { output: JoinOutput::Select(selected), .. }) => {
            let selected = selected.iter().find(|selected| selected.name == name)?;
            Some((usize::from(selected.side == JoinSide::Right), &selected.field))
        }
        OperatorSpec::Join(_) | OperatorSpec::Map(_) | OperatorSpec::Process(_) => None,
    }
}

/// A field that an operator names.
struct Named<'a> {
    /// Which of its inputs must have it.
    input: usize,
    field: &'a str,
    path: String,
}

/// The fields that an operator names, hooks' own aside.
fn named(pipeline: &Pipeline, place: usize) -> Vec<Named<'_>> {
    let operator = &pipeline.operators[place];
    let mut named = Vec::new();
    for input in 0..operator.inputs.len() {
        let base = pipeline.key_path(place, input);
        let keys = operator.key_of_input(input).iter().enumerate();
        named.extend(keys.map(|(at, field)| Named { input, field, path: item(&base, at) }));
    }
    match &operator.kind {
        OperatorSpec::Window(windowed) => named.extend(of_a_window(pipeline, place, windowed)),
        OperatorSpec::Join(Join { output: JoinOutput::Select(selected), .. }) => {
            let base = key(&pipeline.operator_path(place, "join"), "select");
            named.extend(selected.iter().map(|selected| Named {
                input: usize::from(selected.side == JoinSide::Right),
                field: &selected.field,
                path: key(&base, &selected.name),
            }));
        }
        OperatorSpec::Join(_) | OperatorSpec::Map(_) | OperatorSpec::Process(_) => {}
    }
    named
}

/// The fields that a window operator names besides its key.
fn of_a_window<'a>(pipeline: &Pipeline, place: usize, windowed: &'a Windowed) -> Vec<Named<'a>> {
    let mut named = Vec::new();
    let mut add = |field: &'a str, path: String| named.push(Named { input: 0, field, path });
    if let Some(dedup) = &windowed.dedup {
        add(&dedup.field, key(&pipeline.operator_path(place, "dedup"), "field"));
    }
    let base = pipeline.operator_path(place, "aggregate");
    for aggregate in &windowed.aggregates {
        let Aggregate::Builtin { name, field, condition, .. } = aggregate else { continue };
        let path = key(&base, name);
        if let Some(condition) = condition {
            add(&condition.field, key(&key(&path, "where"), "field"));
        }
        if let Some(field) = field {
            add(field, path);
        }
    }
    named
}

/// The name of a source or an operator.
fn name_of(pipeline: &Pipeline, upstream: Upstream) -> String {
    let name = match upstream {
        Upstream::Source(place) => pipeline.sources.get(place).map(|source| &source.name),
        Upstream::Operator(place) => pipeline.operators.get(place).map(|operator| &operator.name),
    };
    name.cloned().unwrap_or_default()
}
