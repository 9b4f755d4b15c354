//! The schema of `source`.

use serde_json::{Value, json};

use super::{described, merged, object, reference, tagged, words};
use crate::decode::source::{FORMATS, KINDS};

/// The short form's source.
pub(super) fn source() -> Value {
    described(object(properties(), &["log", "watermark"]), "Where records come from and how they are decoded.")
}

/// An entry of `sources`.
pub(super) fn named_source() -> Value {
    let own = json!({
        "name": described(reference("name"), "The source's name, which is also its stable id."),
        "map": described(reference("hook"), "A hook that filters, changes and splits records."),
    });
    object(merged(own, properties()), &["name", "log", "watermark"])
}

/// The keys of a source.
fn properties() -> Value {
    let kinds: Vec<String> = KINDS.iter().flat_map(|kind| [kind.to_string(), format!("{kind}?")]).collect();
    json!({
        "log": described(reference("name"), "The log that is read."),
        "format": {"description": "The format of the records.", "enum": words(&FORMATS), "default": "json"},
        "timestamp_field": described(
            reference("field"),
            "The field that holds the event time: integer milliseconds, or RFC 3339 text with a zone.",
        ),
        "schema": {
            "description": "The kinds of fields; a kind with ? may be null or absent. Other fields may hold any value.",
            "type": "object",
            "additionalProperties": {"enum": kinds},
        },
        "watermark": reference("watermark"),
    })
}

pub(super) fn watermark() -> Value {
    let max_delay = described(reference("duration"), "The largest disorder in event time.");
    let field = described(reference("field"), "The field that claims: true (the record's time), or a time.");
    let variants = json!([
        strategy("bounded_out_of_orderness", "max_delay", Some(max_delay)),
        strategy("ascending", "", None),
        strategy("punctuated", "field", Some(field)),
        strategy("none", "", None),
    ]);
    json!({"description": "What a record claims about the records after it.", "oneOf": variants})
}

fn strategy(word: &str, key: &str, own: Option<Value>) -> Value {
    let mut properties = json!({
        "idle_partition_timeout": described(
            reference("positive_duration"),
            "Processing time without a record after which a partition no longer holds the watermark back.",
        ),
        "max_drift": described(
            reference("positive_duration"),
            "How far in event time a partition may be ahead of the slowest active one.",
        ),
    });
    let mut required = Vec::new();
    if let Some(own) = own {
        properties[key] = own;
        required.push(key);
    }
    tagged("strategy", word, properties, &required)
}
