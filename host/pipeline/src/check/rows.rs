//! Rows without a window that go to sinks: their names, and the upsert keys that name them.

use super::fields::{fields_of, help};
use super::{Fault, upserts_of};
use crate::error::PipelineError;
use crate::model::{JoinOutput, OperatorSpec, Pipeline, Upstream};
use crate::path::{item, key, quoted};

/// The names that records of such rows have for the platform, or that only panes have.
const RESERVED: [&str; 9] =
    ["time", "watermark", "op", "pane", "window_start", "window_end", "version", "completeness", "generated_at"];

/// Checks the rows of an operator without windows (map, join, process) once its fields are known. Where it feeds no sink, there
/// is nothing to check.
///
/// `operator`: its place in [`Pipeline::operators`]. `fields`: the names of its rows' fields.
///
/// # Errors
/// `invalid-pipeline` where a field has a name that the platform gives to records (at the operator's hook, or at the field of
/// a join's projection), or where an upsert key names a field that the rows do not have (at `sink.key[<place>]`). Lines are
/// not known here.
pub fn check_row_outputs(pipeline: &Pipeline, operator: usize, fields: &[String]) -> Result<(), PipelineError> {
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let checked =
        names_are_free(pipeline, operator, &fields).and_then(|()| keys_exist(pipeline, operator, Some(&fields)));
    checked.map_err(|fault| PipelineError::invalid(fault.path, None, fault.reason))
}

/// The same for all operators, as far as the file alone tells.
pub(super) fn check(pipeline: &Pipeline) -> Result<(), Fault> {
    let without_windows = |place: &usize| pipeline.operators[*place].windowed().is_none();
    (0..pipeline.operators.len()).filter(without_windows).try_for_each(|place| {
        let fields = fields_of(pipeline, Upstream::Operator(place));
        names_are_free(pipeline, place, fields.as_deref().unwrap_or_default())?;
        keys_exist(pipeline, place, fields.as_deref())
    })
}

fn names_are_free(pipeline: &Pipeline, operator: usize, fields: &[&str]) -> Result<(), Fault> {
    let taken = fields.iter().find(|field| RESERVED.contains(field));
    let (Some(name), Some(_)) = (taken, pipeline.sinks_of(operator).next()) else { return Ok(()) };
    let (path, mend) = match pipeline.operators.get(operator).map(|operator| &operator.kind) {
        Some(OperatorSpec::Join(join)) => match join.output {
            JoinOutput::Select(_) => {
                (key(&key(&pipeline.operator_path(operator, "join"), "select"), name), "rename it")
            }
            JoinOutput::Hook(_) => (pipeline.operator_path(operator, "join"), "let the hook call it otherwise"),
        },
        Some(OperatorSpec::Process(_)) => {
            (pipeline.operator_path(operator, "process"), "let the hook call it otherwise")
        }
        _ => (pipeline.operator_path(operator, "map"), "let the hook call it otherwise"),
    };
    let reason = format!("the output field {} belongs to the platform already; {mend}", quoted(name));
    Err(Fault::new(path, pipeline.operator_base(operator), reason))
}

/// `fields`: those of the rows; none where a hook may put out anything.
fn keys_exist(pipeline: &Pipeline, operator: usize, fields: Option<&[&str]>) -> Result<(), Fault> {
    for (sink, named) in upserts_of(pipeline, operator) {
        let base = key(&sink, "key");
        for (at, name) in named.iter().enumerate() {
            let reason = if RESERVED.contains(&name.as_str()) {
                format!(
                    "rows of {} have no window and no field {}, and what the platform adds identifies no row; remove it",
                    quoted(&pipeline.operators[operator].name),
                    quoted(name)
                )
            } else {
                match fields {
                    Some(fields) if !fields.contains(&name.as_str()) => {
                        format!("rows have no field {}; {}", quoted(name), help(name, fields))
                    }
                    _ => continue,
                }
            };
            return Err(Fault::new(item(&base, at), base, reason));
        }
    }
    Ok(())
}
