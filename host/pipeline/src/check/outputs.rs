//! The fields of a pane: every name stands once, and the upsert key names fields that exist.

use std::collections::BTreeMap;

use super::{Fault, Scene};
use crate::error::PipelineError;
use crate::model::{Aggregate, Pipeline, Stamp};
use crate::nearest::suggestion;
use crate::path::{item, key, quoted};

/// The fields that the platform puts into every pane.
const PLATFORM: [&str; 5] = ["window_start", "window_end", "pane", "watermark", "op"];
/// Those of them that are the same for all panes of a window.
const BOUNDS: [&str; 2] = ["window_start", "window_end"];

/// The output fields of aggregate hooks, by the name of their entry in `aggregate`.
type HookFields = BTreeMap<String, Vec<String>>;

/// Checks the names of a pane's fields once the output fields of the aggregate hooks are known. Operators without windows
/// have no panes, and nothing is checked.
///
/// `operator`: its place in [`Pipeline::operators`]. `hook_fields`: the output fields of each of its aggregate hooks, by the
/// name of its entry in `aggregate`.
///
/// # Errors
/// `invalid-pipeline` where a name would stand twice in a pane or belongs to the platform (at `aggregate.<name>`) or to a
/// stamp (at `sink.stamp`), where the upsert key names a field that no pane has (at `sink.key[<place>]`), or where it lacks a
/// field of the key (at `sink.key`). Lines are not known here.
pub fn check_outputs(
    pipeline: &Pipeline,
    operator: usize,
    hook_fields: &BTreeMap<String, Vec<String>>,
) -> Result<(), PipelineError> {
    let Some(scene) = Scene::of(pipeline, operator) else { return Ok(()) };
    panes(scene, hook_fields).map_err(|fault| PipelineError::invalid(fault.path, None, fault.reason))
}

/// The same for all operators, as far as the file alone tells.
pub(super) fn check(pipeline: &Pipeline) -> Result<(), Fault> {
    Scene::all(pipeline).try_for_each(|scene| panes(scene, &HookFields::new()))
}

/// The first name that stands twice or does not exist. Hooks that `hook_fields` does not name may put out anything.
fn panes(scene: Scene<'_>, hook_fields: &HookFields) -> Result<(), Fault> {
    let mut taken: BTreeMap<&str, String> = PLATFORM.iter().map(|name| (*name, "the platform".to_owned())).collect();
    let base = scene.path("aggregate");
    for (index, name) in scene.windowed.key_by.iter().enumerate() {
        let fault = take(&mut taken, name, "the key");
        fault.map_err(|reason| Fault::new(item(&scene.path("key_by"), index), base.clone(), reason))?;
    }
    let mut open = false;
    for aggregate in &scene.windowed.aggregates {
        let fault = |reason| Fault::new(key(&base, aggregate.name()), base.clone(), reason);
        match aggregate {
            Aggregate::Builtin { name, .. } => take(&mut taken, name, "another aggregate").map_err(fault)?,
            Aggregate::Hook { name, .. } => match hook_fields.get(name) {
                Some(fields) => {
                    let owner = format!("the hook {}", quoted(name));
                    fields.iter().try_for_each(|field| take(&mut taken, field, &owner)).map_err(fault)?;
                }
                None => open = true,
            },
        }
    }
    stamps_are_free(scene, &taken)?;
    if !open {
        upsert_key_exists(scene, &taken)?;
    }
    upsert_key_has_the_key(scene)
}

/// Gives `name` to `owner`, unless it has one; the error is the reason.
fn take<'a>(taken: &mut BTreeMap<&'a str, String>, name: &'a str, owner: &str) -> Result<(), String> {
    match taken.insert(name, owner.to_owned()) {
        None => Ok(()),
        Some(first) => {
            let mend = if owner == "the key" {
                "key by a field of another name"
            } else {
                "give the aggregate another name and, where needed, say `field`"
            };
            Err(format!("the output field {} belongs to {first} already; {mend}", quoted(name)))
        }
    }
}

fn upsert_key_exists(scene: Scene<'_>, taken: &BTreeMap<&str, String>) -> Result<(), Fault> {
    for (sink, fields) in scene.upserts() {
        let base = key(&sink, "key");
        for (index, name) in fields.iter().enumerate() {
            let fault = |reason| Fault::new(item(&base, index), base.clone(), reason);
            if !taken.contains_key(name.as_str()) {
                let known: Vec<&str> = scene.windowed.key_by.iter().map(String::as_str).chain(BOUNDS).collect();
                return Err(fault(format!("panes have no field {}; {}", quoted(name), suggestion(name, &known))));
            }
            if PLATFORM.contains(&name.as_str()) && !BOUNDS.contains(&name.as_str()) {
                return Err(fault(format!(
                    "{} differs from pane to pane and identifies no row; remove it",
                    quoted(name)
                )));
            }
        }
    }
    Ok(())
}

/// Without a field of the key, rows of different keys would replace each other.
fn upsert_key_has_the_key(scene: Scene<'_>) -> Result<(), Fault> {
    for (sink, fields) in scene.upserts() {
        if let Some(missing) = scene.windowed.key_by.iter().find(|name| !fields.contains(name)) {
            let reason = format!("without {} rows of different keys overwrite each other; add it", quoted(missing));
            return Err(Fault::new(key(&sink, "key"), sink, reason));
        }
    }
    Ok(())
}

/// What a sink stamps on records must not have the name of one of their fields.
fn stamps_are_free(scene: Scene<'_>, taken: &BTreeMap<&str, String>) -> Result<(), Fault> {
    for (place, sink) in scene.pipeline.sinks_of(scene.place) {
        let Stamp { version, completeness, generated_at } = sink.stamp;
        let stamps = [("version", version), ("completeness", completeness), ("generated_at", generated_at)];
        let clash = stamps.iter().find(|(name, given)| *given && taken.contains_key(name));
        if let Some((name, _)) = clash {
            let reason = format!(
                "{} is a field of the result already, and a record has it once; rename that one, or leave the stamp out",
                quoted(name)
            );
            let path = scene.pipeline.sink_path(place);
            return Err(Fault::new(key(&path, "stamp"), path, reason));
        }
    }
    Ok(())
}
