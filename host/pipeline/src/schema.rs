//! The JSON Schema of the pipeline file, for editors: completion, documentation at the cursor, early errors.
//!
//! It says what one object allows; what several objects say together (`check`) is beyond it. Invariants, held by tests:
//! its keys and words are those of the decoders, it accepts every file that `parse` accepts, and docs/pipeline.schema.json
//! is its text.

mod computing;
mod reading;

use serde_json::{Map, Value, json};

use crate::decode::{self, DEFAULT_MAX_PARALLELISM, LIMIT_MAX_PARALLELISM};

/// The JSON Schema (draft 2020-12) of the pipeline file.
#[must_use]
pub fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tidegate pipeline",
        "description": "What a job reads, computes per key and window, and writes. See docs/pipeline-file.md.",
        "type": "object",
        "additionalProperties": false,
        "required": ["job", "version", "source", "key_by", "window", "aggregate", "sink"],
        "properties": properties(),
        "$defs": definitions(),
    })
}

/// The keys of the file.
fn properties() -> Value {
    json!({
        "job": described(reference("name"), "The job's name, unique in its tenant."),
        "version": {"description": "Grows with every submission.", "type": "integer", "minimum": 0},
        "source": reading::source(),
        "map": described(reference("hook"), "A hook that filters, changes and splits records before they are keyed."),
        "key_by": described(fields(0), "The fields that make the key; [] is one key for all records."),
        "dedup": dedup(),
        "window": computing::window(),
        "trigger": computing::trigger(),
        "accumulation": {
            "description": "What a pane holds when its window fires more than once.",
            "enum": words(&decode::windowed::ACCUMULATIONS),
            "default": "accumulating",
        },
        "aggregate": computing::aggregate(),
        "late_side_output": described(reference("name"), "The log for records that came too late."),
        "dead_letter_output": described(reference("name"), "The log for rejected records; kept by the platform where absent."),
        "sink": sink(),
        "checkpoint": checkpoint(),
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
        "positive_duration": {
            "description": "An integer above zero and ms, s, m, h or d, such as 30s.",
            "type": "string", "pattern": "^0*[1-9][0-9]*(ms|s|m|h|d)$",
        },
        "component": {
            "description": "name@version, or name alone.",
            "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*(@[A-Za-z0-9._+-]+)?$",
        },
        "hook": object(hook_properties(), &["component"]),
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

fn dedup() -> Value {
    let properties = json!({
        "field": described(reference("field"), "The field that identifies a record within its key."),
        "horizon": described(reference("duration"), "How long in event time an identity is remembered."),
    });
    described(object(properties, &decode::windowed::DEDUP), "Drops records whose identity was accepted before.")
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
    });
    described(object(properties, &["interval"]), "How often and how state is saved.")
}

fn sink() -> Value {
    let table = || described(reference("name"), "The table.");
    let log = || json!({"log": described(reference("name"), "The log that is written.")});
    let key = described(fields(1), "The output fields that identify a row.");
    let variants = json!([
        variant("upsert_store", json!({"table": table(), "key": key}), &["table", "key"]),
        variant("transactional_log", log(), &["log"]),
        variant("log", log(), &["log"]),
        variant("outbox", json!({"table": table()}), &[]),
        variant("parquet", json!({"table": table()}), &[]),
    ]);
    json!({"description": "Where panes go.", "oneOf": variants})
}

/// An object with these keys and no others.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
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
