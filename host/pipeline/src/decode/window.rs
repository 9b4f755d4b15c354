//! `window`: the shape of windows and how long they take late records.

use tidegate_types::Millis;

use super::component;
use crate::error::PipelineError;
use crate::model::{Window, WindowKind};
use crate::place::{Object, Place};

/// The keys of `window`.
pub(crate) const KEYS: [&str; 10] =
    ["type", "size", "slide", "gap", "max_duration", "offset", "component", "uid", "config", "allowed_lateness"];
/// The words of `window.type`.
pub(crate) const TYPES: [(&str, WindowType); 5] = [
    ("tumbling", WindowType::Tumbling),
    ("sliding", WindowType::Sliding),
    ("session", WindowType::Session),
    ("global", WindowType::Global),
    ("custom", WindowType::Custom),
];

/// A type without what belongs to it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WindowType {
    Tumbling,
    Sliding,
    Session,
    Global,
    Custom,
}

impl WindowType {
    /// The keys that belong to the type, besides `type`.
    pub(crate) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Tumbling => &["size", "offset", "allowed_lateness"],
            Self::Sliding => &["size", "slide", "offset", "allowed_lateness"],
            Self::Session => &["gap", "max_duration", "allowed_lateness"],
            Self::Global => &[],
            Self::Custom => &["component", "uid", "config", "allowed_lateness"],
        }
    }

    const fn plural(self) -> &'static str {
        match self {
            Self::Tumbling => "tumbling windows",
            Self::Sliding => "sliding windows",
            Self::Session => "session windows",
            Self::Global => "global windows",
            Self::Custom => "custom windows",
        }
    }
}

/// Decodes the object. `uid`: the id of custom windows whose hook has none of its own.
pub(crate) fn decode(place: &Place<'_>, uid: &str) -> Result<Window, PipelineError> {
    let object = place.object("`window`", &KEYS)?;
    let window_type =
        object.require("type", "choose one, such as `type: tumbling`")?.choice("a window type", &TYPES)?;
    if matches!(window_type, WindowType::Global) && object.get("allowed_lateness").is_some() {
        let reason = "a global window has no end, so no record is late for it; remove `allowed_lateness`";
        return Err(object.refuse_at("allowed_lateness", reason));
    }
    let keys: Vec<&str> = ["type"].iter().chain(window_type.keys()).copied().collect();
    object.only(&keys, window_type.plural(), belongs)?;
    let kind = match window_type {
        WindowType::Tumbling => WindowKind::Tumbling { size: length(&object, "size")?, offset: offset(&object)? },
        WindowType::Sliding => sliding(&object)?,
        WindowType::Session => session(&object)?,
        WindowType::Global => WindowKind::Global,
        WindowType::Custom => WindowKind::Custom { hook: component::from_object(&object, uid)? },
    };
    Ok(Window { kind, allowed_lateness: optional(&object, "allowed_lateness")? })
}

/// The types that a key belongs to.
fn belongs(key: &str) -> &'static str {
    match key {
        "size" | "offset" => "`type: tumbling` or `type: sliding`",
        "slide" => "`type: sliding`",
        "gap" | "max_duration" => "`type: session`",
        _ => "`type: custom`",
    }
}

fn sliding(object: &Object<'_>) -> Result<WindowKind, PipelineError> {
    let size = length(object, "size")?;
    let slide = length(object, "slide")?;
    if slide > size {
        let reason = format!(
            "the slide {slide} is longer than the size {size}, so records between two windows would belong to none; \
             use a slide of at most {size}"
        );
        return Err(object.refuse_at("slide", reason));
    }
    Ok(WindowKind::Sliding { size, slide, offset: offset(object)? })
}

fn session(object: &Object<'_>) -> Result<WindowKind, PipelineError> {
    let gap = length(object, "gap")?;
    let max_duration = object.get("max_duration").map(|place| place.positive_duration("`max_duration`")).transpose()?;
    match max_duration {
        Some(max) if max < gap => {
            let reason = format!(
                "a session of one record lasts the gap {gap}, which is longer than the {max} allowed; use at least {gap}"
            );
            Err(object.refuse_at("max_duration", reason))
        }
        _ => Ok(WindowKind::Session { gap, max_duration }),
    }
}

fn length(object: &Object<'_>, key: &str) -> Result<Millis, PipelineError> {
    let place = object.require(key, &format!("give a duration, such as `{key}: 1m`"))?;
    place.positive_duration(&format!("`{key}`"))
}

fn offset(object: &Object<'_>) -> Result<Millis, PipelineError> {
    optional(object, "offset")
}

/// A duration that is zero where the file says nothing.
fn optional(object: &Object<'_>, key: &str) -> Result<Millis, PipelineError> {
    Ok(object.get(key).map(|place| place.duration()).transpose()?.unwrap_or_default())
}
