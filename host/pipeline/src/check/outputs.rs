//! The fields of a pane: every name stands once, and the upsert key names fields that exist.

use std::collections::BTreeMap;

use super::{Fault, upsert_key};
use crate::error::PipelineError;
use crate::model::{Aggregate, Pipeline};
use crate::nearest::suggestion;
use crate::path::{item, key, quoted};

/// The fields that the platform puts into every pane.
const PLATFORM: [&str; 5] = ["window_start", "window_end", "pane", "watermark", "op"];
/// Those of them that are the same for all panes of a window.
const BOUNDS: [&str; 2] = ["window_start", "window_end"];

/// The output fields of aggregate hooks, by the name of their entry in `aggregate`.
pub(super) type HookFields = BTreeMap<String, Vec<String>>;

/// Checks the names of a pane's fields once the output fields of the aggregate hooks are known.
///
/// `hook_fields`: the output fields of each aggregate hook, by the name of its entry in `aggregate`.
///
/// # Errors
/// `invalid-pipeline` where a name would stand twice in a pane or belongs to the platform (at `aggregate.<name>`), or
/// where the upsert key names a field that no pane has (at `sink.key[<place>]`). Lines are not known here.
pub fn check_outputs(pipeline: &Pipeline, hook_fields: &BTreeMap<String, Vec<String>>) -> Result<(), PipelineError> {
    check(pipeline, hook_fields).map_err(|fault| PipelineError::invalid(fault.path, None, fault.reason))
}

/// The first name that stands twice or does not exist. Hooks that `hook_fields` does not name may put out anything.
pub(super) fn check(pipeline: &Pipeline, hook_fields: &HookFields) -> Result<(), Fault> {
    let mut taken: BTreeMap<&str, String> = PLATFORM.iter().map(|name| (*name, "the platform".to_owned())).collect();
    for (index, name) in pipeline.key_by.iter().enumerate() {
        take(&mut taken, name, item("key_by", index), "the key")?;
    }
    let mut open = false;
    for aggregate in &pipeline.aggregates {
        let path = key("aggregate", aggregate.name());
        match aggregate {
            Aggregate::Builtin { name, .. } => take(&mut taken, name, path, "another aggregate")?,
            Aggregate::Hook { name, .. } => match hook_fields.get(name) {
                Some(fields) => {
                    let owner = format!("the hook {}", quoted(name));
                    fields.iter().try_for_each(|field| take(&mut taken, field, path.clone(), &owner))?;
                }
                None => open = true,
            },
        }
    }
    if open { Ok(()) } else { upsert_key_exists(pipeline, &taken) }
}

/// Gives `name` to `owner`, unless it has one.
fn take<'a>(taken: &mut BTreeMap<&'a str, String>, name: &'a str, path: String, owner: &str) -> Result<(), Fault> {
    match taken.insert(name, owner.to_owned()) {
        None => Ok(()),
        Some(first) => {
            let mend = if owner == "the key" {
                "key by a field of another name"
            } else {
                "give the aggregate another name and, where needed, say `field`"
            };
            let reason = format!("the output field {} belongs to {first} already; {mend}", quoted(name));
            Err(Fault::new(path, "aggregate", reason))
        }
    }
}

fn upsert_key_exists(pipeline: &Pipeline, taken: &BTreeMap<&str, String>) -> Result<(), Fault> {
    for (index, name) in upsert_key(pipeline).unwrap_or_default().iter().enumerate() {
        let path = item("sink.key", index);
        if !taken.contains_key(name.as_str()) {
            let known: Vec<&str> = pipeline.key_by.iter().map(String::as_str).chain(BOUNDS).collect();
            let reason = format!("panes have no field {}; {}", quoted(name), suggestion(name, &known));
            return Err(Fault::new(path, "sink.key", reason));
        }
        if PLATFORM.contains(&name.as_str()) && !BOUNDS.contains(&name.as_str()) {
            let reason = format!("{} differs from pane to pane and identifies no row; remove it", quoted(name));
            return Err(Fault::new(path, "sink.key", reason));
        }
    }
    Ok(())
}
