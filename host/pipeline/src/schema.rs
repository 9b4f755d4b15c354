//! The JSON Schema of the pipeline file, for editors: completion, documentation at the cursor, early errors.
//!
//! It says what one object allows; what several objects say together (`check`) is beyond it. Invariants, held by tests:
//! its keys and words are those of the decoders, it accepts every file that `parse` accepts, and docs/pipeline.schema.json
//! is its text.

mod computing;
mod graph;
mod reading;
mod writing;

use serde_json::{Map, Value, json};

use crate::decode::{self, DEFAULT_MAX_PARALLELISM, LIMIT_MAX_PARALLELISM};

/// The JSON Schema (draft 2020-12) of the pipeline file.
#[must_use]
pub fn json_schema() -> Value {
    let short = file(
        "The short form: one source, one window operator and one sink.",
        short_form(),
        &["source", "key_by", "window", "aggregate", "sink"],
    );
    let long = file(
        "The long form: named sources, operators and sinks.",
        graph::long_form(),
        &["sources", "operators", "sinks"],
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tidegate pipeline",
        "description": "What a job reads, computes per key and window, and writes. See docs/pipeline-file.md.",
        "type": "object",
        "oneOf": [short, long],
        "$defs": definitions(),
    })
}

/// A form of the file: its own keys and the common ones.
fn file(description: &str, own: Value, required: &[&str]) -> Value {
    let required: Vec<&str> = ["job", "version"].iter().chain(required).copied().collect();
    described(object(merged(own, common()), &required), description)
}

/// The keys of the short form.
fn short_form() -> Value {
    let own = json!({
        "source": reading::source(),
        "map": described(reference("hook"), "A hook that filters, changes and splits records before they are keyed."),
        "sink": writing::sink(&json!({}), &[]),
    });
    merged(own, computing::windowed())
}

/// The keys of both forms.
fn common() -> Value {
    json!({
        "job": described(reference("name"), "The job's name, unique in its tenant."),
        "version": {"description": "Grows with every submission.", "type": "integer", "minimum": 0},
        "precedence": {
            "description": "Whose rows win in a table that several jobs write: the greater's.",
            "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX, "default": 0,
        },
        "dead_letter_output": described(reference("name"), "The log for rejected records; kept by the platform where absent."),
        "checkpoint": reference("checkpoint"),
        "parallelism": {
            "description": "How many tasks share the work, at most max_parallelism.",
            "type": "integer", "minimum": 1, "maximum": LIMIT_MAX_PARALLELISM,
        },
        "max_parallelism": {
            "description": "The number of key groups, fixed for the life of the job's state.",
            "type": "integer", "minimum": 1, "maximum": LIMIT_MAX_PARALLELISM, "default": DEFAULT_MAX_PARALLELISM,
        },
    })
}

/// What several objects share.
fn definitions() -> Value {
    json!({
        "name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": 128},
        "field": {"type": "string", "minLength": 1},
        "duration": {
            "description": "An integer and ms, s, m, h or d, such as 30s.",
            "type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$",
        },
        "signed_duration": {
            "description": "An integer and ms, s, m, h or d, such as 30s or -10s.",
            "type": "string", "pattern": "^-?[0-9]+(ms|s|m|h|d)$",
        },
        "positive_duration": {
            "description": "An integer above zero and ms, s, m, h or d, such as 30s.",
            "type": "string", "pattern": "^0*[1-9][0-9]*(ms|s|m|h|d)$",
        },
        "component": {
            "description": "name@version, or name alone.",
            "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*(@[A-Za-z0-9._+-]+)?$",
        },
        "hook": object(hook_properties(), &["component"]),
        "watermark": reading::watermark(),
        "dedup": computing::dedup(),
        "window": computing::window(),
        "trigger": computing::trigger(),
        "aggregate": computing::aggregate(),
        "side": graph::side(),
        "checkpoint": checkpoint(),
    })
}

/// The keys of a hook.
fn hook_properties() -> Value {
    json!({
        "component": reference("component"),
        "uid": described(reference("name"), "The operator's stable id."),
        "config": {"description": "Given to the hook when it opens.", "type": "object"},
    })
}

fn checkpoint() -> Value {
    let properties = json!({
        "interval": described(reference("positive_duration"), "The processing time between two checkpoints."),
        "mode": {
            "description": "Whether inputs wait for each other's barrier.",
            "enum": words(&decode::CHECKPOINT_MODES),
            "default": "aligned",
        },
        "unaligned_after": described(reference("positive_duration"), "How long alignment may take before it is given up."),
        "tolerable_failures": {
            "description": "How many failed checkpoints in a row are borne before one more fails the run; any number where absent.",
            "type": "integer", "minimum": 0, "maximum": u32::MAX,
        },
    });
    described(object(properties, &["interval"]), "How often and how state is saved; every 10s, aligned, where absent.")
}

/// An object with these keys and no others.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
}

/// The keys of both objects.
fn merged(first: Value, second: Value) -> Value {
    let all = [first, second].into_iter().filter_map(|value| match value {
        Value::Object(map) => Some(map),
        _ => None,
    });
    Value::Object(all.flatten().collect::<Map<_, _>>())
}

/// An object whose `type` is this word.
fn variant(word: &str, properties: Value, required: &[&str]) -> Value {
    tagged("type", word, properties, required)
}

/// An object whose key `tag` is this word.
fn tagged(tag: &str, word: &str, properties: Value, required: &[&str]) -> Value {
    let mut all = Map::new();
    all.insert(tag.to_owned(), json!({"const": word}));
    if let Value::Object(properties) = properties {
        all.extend(properties);
    }
    let required: Vec<&str> = [tag].iter().chain(required).copied().collect();
    object(Value::Object(all), &required)
}

/// A list of different field names.
fn fields(min: usize) -> Value {
    json!({"type": "array", "items": reference("field"), "uniqueItems": true, "minItems": min})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

fn described(mut schema: Value, description: &str) -> Value {
    schema["description"] = description.into();
    schema
}

/// The words of a choice.
fn words<T>(known: &[(&str, T)]) -> Vec<String> {
    known.iter().map(|(word, _)| (*word).to_owned()).collect()
}

#[cfg(test)]
pub(crate) mod tests;
