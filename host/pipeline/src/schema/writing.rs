//! The schema of a sink.

use serde_json::{Value, json};

use super::{described, fields, merged, reference, variant, words};
use crate::checkpointing::DEFAULT_TRANSACTION_TIMEOUT;
use crate::decode::sink::STAMPS;

/// A sink. `more`: the keys that belong to every type besides; `required`: those of them that must be there.
pub(super) fn sink(more: &Value, required: &[&str]) -> Value {
    let table = || described(reference("name"), "The table.");
    let log = || json!({"log": described(reference("name"), "The log that is written.")});
    let key = described(fields(1), "The output fields that identify a row.");
    let one = |word: &str, own: Value, needs: &[&str]| {
        let needs: Vec<&str> = required.iter().chain(needs).copied().collect();
        variant(word, merged(merged(own, stamp()), more.clone()), &needs)
    };
    let variants = json!([
        one("upsert_store", json!({"table": table(), "key": key}), &["table", "key"]),
        one("transactional_log", merged(log(), transaction()), &["log"]),
        one("log", log(), &["log"]),
        one("outbox", json!({"table": table()}), &[]),
        one("parquet", json!({"table": table()}), &[]),
    ]);
    json!({"description": "Where results go.", "oneOf": variants})
}

fn transaction() -> Value {
    json!({"transaction_timeout": {
        "description": "How long a transaction may stay open: more than interval, unaligned_after and the longest recovery together.",
        "$ref": "#/$defs/positive_duration", "default": DEFAULT_TRANSACTION_TIMEOUT.to_string(),
    }})
}

fn stamp() -> Value {
    let items = json!({"enum": words(&STAMPS)});
    json!({"stamp": {
        "description": "What records say besides their fields, window and watermark.",
        "type": "array", "items": items, "uniqueItems": true,
    }})
}
