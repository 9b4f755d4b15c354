//! Hooks: `{component: name@version, uid: …, config: {…}}`, and the same keys inside `window`.

use crate::error::PipelineError;
use crate::model::{ComponentRef, Hook};
use crate::node::Content;
use crate::path::quoted;
use crate::place::{Object, Place, name_fault};

/// The keys of a hook.
pub(crate) const KEYS: [&str; 3] = ["component", "uid", "config"];

/// Ids that operators without a `uid` have anyway, wherever they stand.
const TAKEN: [&str; 2] = ["source", "sink"];

/// A hook that is an object of its own.
pub(crate) fn hook(place: &Place<'_>, default_uid: &str) -> Result<Hook, PipelineError> {
    from_object(&place.object("a hook", &KEYS)?, default_uid)
}

/// A hook whose keys stand in an object that is already checked.
pub(crate) fn from_object(object: &Object<'_>, default_uid: &str) -> Result<Hook, PipelineError> {
    let component = component(&object.require("component", "name it with its version, such as `ad-decoder@1.2.0`")?)?;
    let uid = object.get("uid").map(|place| uid(&place)).transpose()?;
    let config = object.get("config").map(|place| config(&place)).transpose()?;
    Ok(Hook {
        uid: uid.unwrap_or_else(|| default_uid.to_owned()),
        component,
        config: config.unwrap_or_else(|| serde_json::Value::Object(serde_json::Map::new())),
    })
}

/// `name@version` or `name`.
fn component(place: &Place<'_>) -> Result<ComponentRef, PipelineError> {
    let text = place.text("a component")?;
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    if let Some(fault) = name_fault(name) {
        return Err(place.refuse(format!("the component's name {} {fault}; write `name@version`", quoted(name))));
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+');
    match version {
        Some(version) if version.is_empty() || version.len() > 128 || !version.bytes().all(allowed) => {
            let reason = format!("{} is no version; write `{name}@1.0.0`, or `{name}` alone", quoted(version));
            Err(place.refuse(reason))
        }
        _ => Ok(ComponentRef { name: name.to_owned(), version: version.map(str::to_owned) }),
    }
}

fn uid(place: &Place<'_>) -> Result<String, PipelineError> {
    let uid = place.name("an operator's id")?;
    if TAKEN.contains(&uid.as_str()) {
        return Err(place.refuse(format!("the id `{uid}` belongs to the {uid}; choose another")));
    }
    Ok(uid)
}

fn config(place: &Place<'_>) -> Result<serde_json::Value, PipelineError> {
    match &place.node.content {
        content @ Content::Map(_) => Ok(content.to_json()),
        _ => {
            Err(place.refuse(format!("a configuration is an object of keys and values, and this is {}", place.kind())))
        }
    }
}
