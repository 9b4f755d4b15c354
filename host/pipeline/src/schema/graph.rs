//! The schema of the long form: `sources`, `operators` and `sinks`.

use serde_json::{Value, json};

use super::{computing, described, hook_properties, merged, object, reading, reference, tagged, words, writing};
use crate::decode::join::{MATCHINGS, MAX_SELECTED};
use crate::decode::long::{MAX_PARTS, MAX_SINKS};

/// The keys of the long form.
pub(super) fn long_form() -> Value {
    let list = |description: &str, items: Value, most: usize| json!({"description": description, "type": "array", "items": items, "minItems": 1, "maxItems": most});
    let sink = json!({
        "name": described(reference("name"), "The sink's name; its input's where absent."),
        "input": described(reference("name"), "The operator whose results it takes."),
    });
    json!({
        "sources": list("Where records come from.", reading::named_source(), MAX_PARTS),
        "operators": list("What is done with them.", operator(), MAX_PARTS),
        "sinks": list("Where results go.", writing::sink(&sink, &["input"]), MAX_SINKS),
    })
}

fn operator() -> Value {
    let name = || json!({"name": described(reference("name"), "The operator's name, which is also its stable id.")});
    let input = || json!({"input": described(reference("name"), "The source or the operator that it reads.")});
    let reads_one = |own: Value| merged(merged(name(), input()), own);
    let hook = |what: &str| described(reference("hook"), what);
    let process = json!({"key_by": computing::key_by(), "process": hook("A keyed function with state and timers.")});
    let map = json!({"map": hook("A hook that filters, changes and splits rows.")});
    let join = json!({"join": {"description": "Joins two inputs by key.", "oneOf": joins()}});
    json!({"oneOf": [
        object(reads_one(computing::windowed()), &["name", "input", "key_by", "window", "aggregate"]),
        object(merged(name(), join), &["name", "join"]),
        object(reads_one(process), &["name", "input", "key_by", "process"]),
        object(reads_one(map), &["name", "input", "map"]),
    ]})
}

/// A join of each type, with a projection or a hook.
fn joins() -> Value {
    let selected = json!({"type": "string", "pattern": r"^(left|right)\.(.|\n)+$"});
    let select = json!({"select": {
        "description": "The fields of a pair: a new name, and left. or right. with a field's name.",
        "type": "object", "minProperties": 1, "maxProperties": MAX_SELECTED, "additionalProperties": selected,
    }});
    let bound = |what: &str| described(reference("signed_duration"), what);
    let interval = json!({
        "lower": bound("The least distance from left's time to right's; may be negative."),
        "upper": bound("The greatest distance from left's time to right's; may be negative."),
        "matching": matching(&words(&MATCHINGS)),
    });
    let windows = json!({
        "window": {"description": "The windows in which rows meet.", "oneOf": computing::fixed_windows(None)},
        "matching": matching(&["inner".to_owned()]),
    });
    let join = |word: &str, own: &Value, needs: &[&str], output: &Value, output_key: &str| {
        let needs: Vec<&str> = ["left", "right", output_key].iter().chain(needs).copied().collect();
        tagged("type", word, merged(merged(sides(), own.clone()), output.clone()), &needs)
    };
    let hook = hook_properties();
    json!([
        join("interval", &interval, &["lower", "upper"], &select, "select"),
        join("interval", &interval, &["lower", "upper"], &hook, "component"),
        join("window", &windows, &["window"], &select, "select"),
        join("window", &windows, &["window"], &hook, "component"),
    ])
}

fn matching(words: &[String]) -> Value {
    json!({"description": "What becomes of rows without a partner.", "enum": words, "default": "inner"})
}

/// The keys of every join.
fn sides() -> Value {
    json!({
        "left": reference("side"),
        "right": reference("side"),
        "allowed_lateness": described(reference("duration"), "How long late rows are still taken."),
        "late_side_output": described(reference("name"), "The log for rows that came too late."),
    })
}

/// An input of a join.
pub(super) fn side() -> Value {
    let properties = json!({
        "input": described(reference("name"), "The source or the operator that is joined."),
        "key_by": {"description": "The fields that make its key.", "type": "array", "items": reference("field")},
    });
    object(properties, &["input", "key_by"])
}
