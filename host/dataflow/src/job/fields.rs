//! What each part of a graph puts out, and what those behind it read.

use tidegate_pipeline::{Aggregate, Format, JoinOutput, JoinSide, Operator, OperatorSpec, Pipeline, Source};
use tidegate_types::hooks::MapPlan;
use tidegate_types::{Field, FieldType, Kind};

use super::JobError;

/// The field that stands for a record's own bytes.
pub(super) const RAW: &str = "raw";

/// The fields of the rows that come out of a source or an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutFields {
    pub(super) fields: Vec<Field>,
    /// What has no other field, in words; none: rows may have any field besides.
    pub(super) only: Option<String>,
}

/// The field of this name as declared, otherwise dynamic.
pub(super) fn declared(fields: &[Field], name: &str) -> Field {
    fields.iter().find(|field| field.name == name).cloned().unwrap_or_else(|| Field::dynamic(name))
}

/// Adds a field, unless it is there.
pub(super) fn add(fields: &mut Vec<Field>, field: Field) {
    if !fields.iter().any(|other| other.name == field.name) {
        fields.push(field);
    }
}

/// The fields that a source's map hook is opened with: the declared ones, and the record itself under the format `raw`.
pub(super) fn map_input(source: &Source) -> Vec<Field> {
    match source.format {
        Format::Raw => vec![Field::typed(RAW, Kind::Bytes, false)],
        Format::Json | Format::Avro => source.schema.clone(),
    }
}

/// The fields behind a map hook: what it puts out, then what it keeps.
pub(super) fn behind_map(plan: &MapPlan, input: &[Field]) -> Vec<Field> {
    plan.output.iter().cloned().chain(plan.keep.iter().map(|name| declared(input, name))).collect()
}

/// A field of a source: as declared; the record itself for an undeclared bytes field `raw`; otherwise dynamic.
pub(super) fn source_field(source: &Source, name: &str, read: Option<&Field>) -> Field {
    let bytes = |field: &Field| matches!(field.field_type, FieldType::Typed { kind: Kind::Bytes, .. });
    let field = declared(&source.schema, name);
    let is_raw = name == RAW && field.field_type == FieldType::Dynamic && read.is_some_and(bytes);
    if is_raw { Field::typed(RAW, Kind::Bytes, false) } else { field }
}

/// The fields that an operator names of an input's rows, with the paths in the file that name them.
pub(super) fn named_fields(pipeline: &Pipeline, operator: usize, input: usize) -> Vec<(String, String)> {
    let of = &pipeline.operators[operator];
    match &of.kind {
        OperatorSpec::Map(_) => Vec::new(),
        OperatorSpec::Process(_) => keys(&pipeline.operator_path(operator, "key_by"), of, input),
        OperatorSpec::Window(windowed) => {
            let path = |name: &str| pipeline.operator_path(operator, name);
            let mut named = keys(&path("key_by"), of, input);
            named.extend(windowed.dedup.iter().map(|dedup| (path("dedup") + ".field", dedup.field.clone())));
            for aggregate in &windowed.aggregates {
                if let Aggregate::Builtin { name, field, condition, .. } = aggregate {
                    let base = format!("{}.{name}", path("aggregate"));
                    named.extend(field.iter().map(|field| (base.clone(), field.clone())));
                    let condition = condition.iter();
                    named.extend(condition.map(|where_| (format!("{base}.where.field"), where_.field.clone())));
                }
            }
            named
        }
        OperatorSpec::Join(join) => {
            let base = pipeline.operator_path(operator, "join");
            let (side, name) = if input == 0 { (JoinSide::Left, "left") } else { (JoinSide::Right, "right") };
            let mut named = keys(&format!("{base}.{name}.key_by"), of, input);
            if let JoinOutput::Select(selected) = &join.output {
                let of_side = selected.iter().filter(|selected| selected.side == side);
                named.extend(of_side.map(|one| (format!("{base}.select.{}", one.name), one.field.clone())));
            }
            named
        }
    }
}

fn keys(path: &str, operator: &Operator, input: usize) -> Vec<(String, String)> {
    let keys = operator.key_of_input(input).iter().enumerate();
    keys.map(|(at, name)| (format!("{path}[{at}]"), name.clone())).collect()
}

/// Refuses names that an input's rows have not.
pub(super) fn check(named: &[(String, String)], out: &OutFields) -> Result<(), JobError> {
    let Some(only) = &out.only else { return Ok(()) };
    for (path, name) in named {
        if !out.fields.iter().any(|field| field.name == *name) {
            let reason = format!("{only} `{name}`; name one of its fields");
            return Err(JobError { path: path.clone(), reason });
        }
    }
    Ok(())
}
