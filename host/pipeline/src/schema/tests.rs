//! The schema against the decoders: the same keys and words, every accepted file, the committed copy.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

use super::json_schema;
use crate::decode::{self, aggregate, component, join, long, operator, short, sink, source, trigger, window, windowed};
use crate::parsed::tests::{BASE, GRAPH, SPECIFICATION};
use crate::reader;

/// Where `cargo test` finds the committed copy, from this crate.
const COPY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pipeline.schema.json");

/// The schema, made once: random tests ask it thousands of times.
static SCHEMA: LazyLock<Value> = LazyLock::new(json_schema);

/// The faults of `value` under `schema`, for the words of JSON Schema that the pipeline's schema uses.
fn faults(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let Some(schema) = schema.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    for (word, rule) in schema {
        let holds = match word.as_str() {
            "$schema" | "title" | "description" | "default" | "$defs" | "additionalProperties" => true,
            "$ref" => {
                let name = rule.as_str().and_then(|path| path.strip_prefix("#/$defs/")).expect("a local reference");
                found.extend(faults(&SCHEMA["$defs"][name], value, at));
                true
            }
            "type" => types(rule).iter().any(|name| is(name, value)),
            "const" => rule == value,
            "enum" => rule.as_array().expect("a list").contains(value),
            "pattern" => value.as_str().is_none_or(|text| matches(rule, text)),
            "minLength" => value.as_str().is_none_or(|text| Some(text.chars().count() as u64) >= rule.as_u64()),
            "maxLength" => value.as_str().is_none_or(|text| Some(text.chars().count() as u64) <= rule.as_u64()),
            "minimum" => value.as_f64() >= rule.as_f64(),
            "maximum" => value.as_f64() <= rule.as_f64(),
            "minItems" => value.as_array().is_none_or(|items| Some(items.len() as u64) >= rule.as_u64()),
            "maxItems" => value.as_array().is_none_or(|items| Some(items.len() as u64) <= rule.as_u64()),
            "uniqueItems" => {
                value.as_array().is_none_or(|items| (1..items.len()).all(|n| !items[..n].contains(&items[n])))
            }
            "minProperties" => value.as_object().is_none_or(|map| Some(map.len() as u64) >= rule.as_u64()),
            "maxProperties" => value.as_object().is_none_or(|map| Some(map.len() as u64) <= rule.as_u64()),
            "required" => {
                rule.as_array().expect("a list").iter().all(|key| value.get(key.as_str().expect("a key")).is_some())
            }
            "items" => {
                let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
                found.extend(items.iter().flat_map(|item| faults(rule, item, &format!("{at}[]"))));
                true
            }
            "oneOf" => {
                rule.as_array().expect("a list").iter().filter(|rule| faults(rule, value, at).is_empty()).count() == 1
            }
            "properties" => {
                found.extend(properties(schema, value, at));
                true
            }
            other => panic!("the test knows no {other}"),
        };
        if !holds {
            found.push(format!("{at}: {word} {rule}"));
        }
    }
    if !schema.contains_key("properties") {
        found.extend(properties(schema, value, at));
    }
    found
}

/// The faults of an object's keys.
fn properties(schema: &serde_json::Map<String, Value>, value: &Value, at: &str) -> Vec<String> {
    let Some(map) = value.as_object() else { return Vec::new() };
    let check = |(key, value): (&String, &Value)| {
        let at = format!("{at}.{key}");
        match schema.get("properties").and_then(|known| known.get(key)).or_else(|| schema.get("additionalProperties")) {
            Some(Value::Bool(false)) => vec![format!("{at}: unknown key")],
            Some(rule) => faults(rule, value, &at),
            None => Vec::new(),
        }
    };
    map.iter().flat_map(check).collect()
}

fn types(rule: &Value) -> Vec<&str> {
    match rule {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect(),
    }
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("the test knows no {other}"),
    }
}

fn matches(pattern: &Value, text: &str) -> bool {
    let pattern = pattern.as_str().expect("a pattern is text");
    regex_lite::Regex::new(pattern).expect("a pattern of the schema").is_match(text)
}

/// A file as editors hand it to the schema.
fn json_of(text: &str) -> Value {
    reader::read(text).expect("well-formed").content.to_json()
}

fn accepts(text: &str) -> bool {
    faults_of(text).is_empty()
}

/// What the schema says against a well-formed file.
pub(crate) fn faults_of(text: &str) -> Vec<String> {
    faults(&SCHEMA, &json_of(text), "")
}

/// All keys that an object of the schema knows, over its variants.
fn keys(schema: &Value) -> BTreeSet<String> {
    let own = schema["properties"].as_object().into_iter().flat_map(|map| map.keys().cloned());
    let variants = schema["oneOf"].as_array().into_iter().flatten().flat_map(keys);
    own.chain(variants).collect()
}

/// The schema of a form of the file.
fn form(place: usize) -> Value {
    json_schema()["oneOf"][place].clone()
}

/// The schema of the entries of a list of the long form.
fn entry(list: &str) -> Value {
    form(1)["properties"][list]["items"].clone()
}

fn together(lists: &[&[&str]]) -> BTreeSet<String> {
    set(&lists.concat())
}

fn set(keys: &[&str]) -> BTreeSet<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

#[test]
fn accepts_the_specification_and_the_base_files() {
    assert_eq!(faults_of(SPECIFICATION), Vec::<String>::new());
    assert_eq!(faults_of(BASE), Vec::<String>::new());
    assert_eq!(faults_of(GRAPH), Vec::<String>::new());
}

#[test]
fn knows_the_keys_of_the_decoders() {
    let schema = json_schema();
    let shared = &schema["$defs"];
    assert_eq!(keys(&form(0)), together(&[&decode::COMMON, &short::KEYS]));
    assert_eq!(keys(&form(0)["properties"]["source"]), set(&source::KEYS));
    assert_eq!(keys(&form(0)["properties"]["sink"]), together(&[&sink::KEYS, &sink::COMMON]));
    assert_eq!(keys(&shared["checkpoint"]), set(&decode::CHECKPOINT));
    assert_eq!(keys(&shared["watermark"]), set(&source::WATERMARK));
    assert_eq!(keys(&shared["dedup"]), set(&windowed::DEDUP));
    assert_eq!(keys(&shared["window"]), set(&window::KEYS));
    assert_eq!(keys(&shared["trigger"]), set(&trigger::KEYS));
    assert_eq!(keys(&shared["hook"]), set(&component::KEYS));
    let aggregate = &shared["aggregate"]["additionalProperties"];
    assert_eq!(keys(aggregate), set(&aggregate::BUILTIN));
    for variant in aggregate["oneOf"].as_array().expect("variants") {
        if variant["properties"]["where"].is_object() {
            assert_eq!(keys(&variant["properties"]["where"]), set(&aggregate::WHERE));
        }
    }
}

#[test]
fn knows_the_keys_of_the_long_form() {
    assert_eq!(keys(&form(1)), together(&[&decode::COMMON, &long::KEYS]));
    assert_eq!(keys(&entry("sources")), together(&[&source::ENTRY, &source::KEYS]));
    assert_eq!(keys(&entry("sinks")), together(&[&sink::ENTRY, &sink::KEYS, &sink::COMMON]));
    assert_eq!(keys(&entry("operators")), set(&operator::KEYS));
    let operators = entry("operators");
    for variant in operators["oneOf"].as_array().expect("variants") {
        let has = |key: &str| variant["properties"][key].is_object();
        let (_, kind) = operator::KINDS.iter().find(|(key, _)| has(key)).expect("a kind of operator");
        assert_eq!(keys(variant), together(&[&["name"], &kind.keys()]));
    }
    let joins = &operators["oneOf"][1]["properties"]["join"];
    assert_eq!(keys(joins), set(&join::KEYS));
    assert_eq!(keys(&SCHEMA["$defs"]["side"]), set(&join::SIDE));
    let words: BTreeSet<&str> = joins["oneOf"]
        .as_array()
        .expect("joins")
        .iter()
        .filter_map(|join| join["properties"]["type"]["const"].as_str())
        .collect();
    assert_eq!(words, join::TYPES.map(|(word, _)| word).into());
}

#[test]
fn knows_the_types_of_windows_sinks_and_strategies_with_their_keys() {
    let schema = json_schema();
    let variants = |at: &Value, tag: &str| -> Vec<(String, BTreeSet<String>)> {
        let word = |variant: &Value| variant["properties"][tag]["const"].as_str().expect("a word").to_owned();
        at["oneOf"].as_array().expect("variants").iter().map(|variant| (word(variant), keys(variant))).collect()
    };
    let with_type = |own: &[&str]| set(&[&["type"], own].concat());
    let windows: Vec<_> =
        window::TYPES.iter().map(|(word, kind)| ((*word).to_owned(), with_type(kind.keys()))).collect();
    assert_eq!(variants(&schema["$defs"]["window"], "type"), windows);
    let sinks = |more: &[&str]| -> Vec<_> {
        let keys = |kind: &sink::SinkType| with_type(&[kind.keys(), &sink::COMMON, more].concat());
        sink::TYPES.iter().map(|(word, kind)| ((*word).to_owned(), keys(kind))).collect()
    };
    assert_eq!(variants(&form(0)["properties"]["sink"], "type"), sinks(&[]));
    assert_eq!(variants(&entry("sinks"), "type"), sinks(&sink::ENTRY));
    let strategies = variants(&schema["$defs"]["watermark"], "strategy");
    let words: Vec<&str> = strategies.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(words, source::STRATEGIES.map(|(word, _)| word));
}

#[test]
fn accepts_what_is_accepted_and_refuses_bad_shapes() {
    let edit = |old: &str, new: &str| accepts(&BASE.replace(old, new));
    for (old, new) in [
        ("price: sum", "price: {fn: top_k, k: 3}"),
        ("price: sum", "price: {fn: sum, field: x, where: {field: kind, equals: click}}"),
        ("price: sum", "price: {component: sketch@1.0.0, uid: s, config: {a: [1]}}"),
        ("type: tumbling", "type: sliding\n  slide: 10s"),
        ("version: 1", "version: 1\ntrigger: {early: every 3 elements, late: every 10s processing_time}"),
        ("  log: events", "  log: events\n  schema: {a: int, b: text?}"),
        ("key_by: [shop, country]", "key_by: []"),
    ] {
        assert!(edit(old, new), "{new}");
    }
    for (old, new) in [
        ("price: sum", "price: summ"),
        ("price: sum", "price: {fn: top_k}"),
        ("price: sum", "price: {fn: sum, k: 3}"),
        ("size: 1m", "size: 60000"),
        ("size: 1m", "size: 0s"),
        ("size: 1m", "size: 1m\n  slide: 10s"),
        ("version: 1", "version: 1\ntrigger: {early: every 10s}"),
        ("  log: events", "  log: events\n  schema: {a: string}"),
        ("version: 1", "version: '1'"),
        ("job: clicks", "jobs: clicks"),
        ("[shop, country, window_start]", "[]"),
    ] {
        assert!(!edit(old, new), "{new}");
    }
}

#[test]
fn equals_the_committed_copy() {
    let text = format!("{}\n", serde_json::to_string_pretty(&json_schema()).expect("a schema is JSON"));
    let copy = std::fs::read_to_string(COPY).unwrap_or_default();
    assert!(copy == text, "write it anew: `tidegate schema > docs/pipeline.schema.json`");
}
