//! The schema of a window operator: its key, `dedup`, `window`, `trigger`, `accumulation` and `aggregate`.

use serde_json::{Value, json};

use super::{described, fields, hook_properties, object, reference, variant, words};
use crate::decode::aggregate::{FUNCTIONS, FunctionName, MAX_AGGREGATES};
use crate::decode::windowed;

const EVERY_PERIOD: &str = "every +0*[1-9][0-9]*(ms|s|m|h|d) +processing_time";
const EVERY_ELEMENTS: &str = "every +0*[1-9][0-9]* +elements";

/// The keys of a window operator.
pub(super) fn windowed() -> Value {
    json!({
        "key_by": key_by(),
        "dedup": reference("dedup"),
        "window": reference("window"),
        "trigger": reference("trigger"),
        "accumulation": {
            "description": "What a pane holds when its window fires more than once.",
            "enum": words(&windowed::ACCUMULATIONS),
            "default": "accumulating",
        },
        "aggregate": reference("aggregate"),
        "late_side_output": described(reference("name"), "The log for records that came too late."),
    })
}

pub(super) fn key_by() -> Value {
    described(fields(0), "The fields that make the key; [] is one key for all records.")
}

pub(super) fn dedup() -> Value {
    let properties = json!({
        "field": described(reference("field"), "The field that identifies a record within its key."),
        "horizon": described(reference("duration"), "How long in event time an identity is remembered."),
    });
    described(object(properties, &windowed::DEDUP), "Drops records whose identity was accepted before.")
}

/// How long after its end a window still takes records.
fn lateness() -> Value {
    described(reference("duration"), "How long after its end a window still takes records.")
}

fn length(what: &str) -> Value {
    described(reference("positive_duration"), what)
}

/// Tumbling and sliding windows. `lateness`: the schema of their `allowed_lateness`, where they have it.
pub(super) fn fixed_windows(lateness: Option<&Value>) -> Vec<Value> {
    let offset = || described(reference("duration"), "How far the grid of windows is moved from the epoch.");
    let size = || length("The length of a window.");
    let mut tumbling = json!({"size": size(), "offset": offset()});
    let slide = length("The distance between the starts of two windows, at most size.");
    let mut sliding = json!({"size": size(), "slide": slide, "offset": offset()});
    if let Some(lateness) = lateness {
        tumbling["allowed_lateness"] = lateness.clone();
        sliding["allowed_lateness"] = lateness.clone();
    }
    vec![variant("tumbling", tumbling, &["size"]), variant("sliding", sliding, &["size", "slide"])]
}

pub(super) fn window() -> Value {
    let mut custom = hook_properties();
    custom["allowed_lateness"] = lateness();
    let session = json!({
        "gap": length("The silence of a key that ends its session."),
        "max_duration": length("The longest a session may last, at least gap."),
        "allowed_lateness": lateness(),
    });
    let mut variants = fixed_windows(Some(&lateness()));
    variants.extend([
        variant("session", session, &["gap"]),
        variant("global", json!({}), &[]),
        variant("custom", custom, &["component"]),
    ]);
    json!({"description": "Which windows a record belongs to.", "oneOf": variants})
}

pub(super) fn trigger() -> Value {
    let early = format!("^ *(none|{EVERY_PERIOD}|{EVERY_ELEMENTS}) *$");
    let late = format!("^ *(none|every_element|{EVERY_PERIOD}) *$");
    let properties = json!({
        "early": {
            "description": "Before the window's end: every 10s processing_time, every 3 elements, or none.",
            "type": "string", "pattern": early, "default": "none",
        },
        "on_time": {"description": "At the window's end.", "const": "at_watermark", "default": "at_watermark"},
        "late": {
            "description": "After the window's end: every_element, every 10s processing_time, or none.",
            "type": "string", "pattern": late, "default": "every_element",
        },
    });
    described(object(properties, &[]), "When panes are emitted.")
}

pub(super) fn aggregate() -> Value {
    json!({
        "description": "What is computed per key and window.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": MAX_AGGREGATES,
        "additionalProperties": {"oneOf": [bare(), builtin(), top_k(), reference("hook")]},
    })
}

/// The functions that need nothing but a field.
fn plain() -> Vec<&'static str> {
    let plain = |(word, name): &(&'static str, FunctionName)| matches!(name, FunctionName::Plain(_)).then_some(*word);
    FUNCTIONS.iter().filter_map(plain).collect()
}

fn bare() -> Value {
    json!({"description": "That function of the field of this name.", "enum": plain()})
}

fn builtin() -> Value {
    object(builtin_properties(json!({"description": "The function.", "enum": plain()})), &["fn"])
}

fn top_k() -> Value {
    let mut properties = builtin_properties(json!({"description": "The most frequent values.", "const": "top_k"}));
    properties["k"] = json!({"description": "How many values.", "type": "integer", "minimum": 1, "maximum": u32::MAX});
    object(properties, &["fn", "k"])
}

fn builtin_properties(function: Value) -> Value {
    let condition = json!({
        "field": described(reference("field"), "The field that is looked at."),
        "equals": {
            "description": "The value it must have; type and value count. Nothing equals null.",
            "type": ["boolean", "number", "string", "array", "object", "null"],
        },
    });
    json!({
        "fn": function,
        "field": described(reference("field"), "The input field; the aggregate's name where absent (count: rows)."),
        "where": described(object(condition, &["field", "equals"]), "Which records are looked at."),
    })
}
