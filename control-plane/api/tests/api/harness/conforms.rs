//! Whether an answer is one that the OpenAPI document has: its status, its problem's code, and its body's form.

use axum::http::Method;
use serde_json::Value;

use super::Reply;

/// Fails the test if the document does not have this answer. A path that the document has not is answered 404 or 405.
#[track_caller]
pub(crate) fn check(document: &Value, method: &Method, path: &str, reply: &Reply) {
    let place = format!("{method} {path} -> {}: {}", reply.status, reply.text());
    assert!(reply.header("tidegate-request-id").is_some(), "without an id: {place}");
    let Some(operation) = operation(document, method, path) else {
        assert!(["not-found", "method-not-allowed"].contains(&reply.code().as_str()), "{place}");
        return problem(document, reply, &place);
    };
    let status = reply.status.as_u16().to_string();
    let response = &operation["responses"][&status];
    assert!(response.is_object(), "the document has no such status for {place}");
    if reply.status.is_success() {
        return success(document, response, reply, &place);
    }
    problem(document, reply, &place);
    let named = format!("`{}`", reply.code());
    assert!(response["description"].as_str().unwrap().contains(&named), "{named} is not in the document for {place}");
    assert_eq!(reply.header("retry-after").is_some(), waits(&reply.code()), "{place}");
}

fn waits(code: &str) -> bool {
    tidegate_api::problem::codes::ALL.iter().any(|known| known.name == code && known.asks_to_wait())
}

/// The operation of a request, by the template that its path fits.
pub(crate) fn operation<'a>(document: &'a Value, method: &Method, path: &str) -> Option<&'a Value> {
    let paths = document["paths"].as_object().unwrap();
    let (_, item) = paths.iter().find(|(template, _)| fits(template, path))?;
    item.get(method.as_str().to_ascii_lowercase())
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len()
        && template.iter().zip(path).all(|(part, given)| part == &given || (part.starts_with('{') && !given.is_empty()))
}

fn problem(document: &Value, reply: &Reply, place: &str) {
    assert_eq!(reply.header("content-type"), Some("application/problem+json"), "{place}");
    let body = reply.body();
    conforms(document, &document["components"]["schemas"]["Problem"], &body, place);
    assert_eq!(body["status"], reply.status.as_u16(), "{place}");
    let known = tidegate_api::problem::codes::ALL.iter().find(|known| known.name == reply.code());
    let known = known.unwrap_or_else(|| panic!("no code of the table: {place}"));
    assert_eq!((known.status, known.title), (reply.status.as_u16(), body["title"].as_str().unwrap()), "{place}");
    let id = format!("urn:tidegate:request:{}", reply.header("tidegate-request-id").unwrap());
    assert_eq!(body["instance"], id, "{place}");
    assert!(!body["mend"].as_str().unwrap_or_default().is_empty(), "no way out: {place}");
}

fn success(document: &Value, response: &Value, reply: &Reply, place: &str) {
    let Some(content) = response["content"].as_object() else {
        assert!(reply.bytes.is_empty(), "the document has no body for {place}");
        return;
    };
    let kind = reply.header("content-type").unwrap_or_default();
    let content = content.get(kind).unwrap_or_else(|| panic!("the document has no {kind} for {place}"));
    let bodies = if kind == "application/x-ndjson" { reply.lines() } else { vec![reply.body()] };
    for body in bodies {
        conforms(document, &content["schema"], &body, place);
    }
}

/// Whether a value is of a schema, of the part of JSON Schema that the document uses. A member that the schema does not have
/// fails too.
#[track_caller]
fn conforms(document: &Value, schema: &Value, value: &Value, place: &str) {
    if let Err(why) = fit(document, schema, value) {
        panic!("{why}, in {place}");
    }
}

fn fit(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        return fit(document, document.pointer(&name[1..]).ok_or_else(|| format!("no {name}"))?, value);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = choices.iter().any(|choice| fit(document, choice, value).is_ok());
        return if fits { Ok(()) } else { Err(format!("{value} is none of {schema}")) };
    }
    if schema["allOf"].is_array() {
        return fit(document, &merged(document, schema), value);
    }
    if let Some(allowed) = schema["enum"].as_array() {
        return if allowed.contains(value) { Ok(()) } else { Err(format!("{value} is none of {schema}")) };
    }
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    if !kinds.iter().any(|kind| is_of(kind, value)) {
        return Err(format!("{value} is no {kinds:?}"));
    }
    match value {
        Value::Object(members) => object(document, schema, members),
        Value::Array(items) => items.iter().try_for_each(|item| fit(document, &schema["items"], item)),
        _ => Ok(()),
    }
}

/// The parts of `allOf` as one object.
fn merged(document: &Value, schema: &Value) -> Value {
    let mut whole = serde_json::json!({ "type": "object", "properties": {}, "required": [] });
    for part in schema["allOf"].as_array().unwrap() {
        let part = part["$ref"].as_str().and_then(|name| document.pointer(&name[1..])).unwrap_or(part);
        for (name, property) in part["properties"].as_object().unwrap() {
            whole["properties"][name] = property.clone();
        }
        let required = part["required"].as_array().cloned().unwrap_or_default();
        whole["required"].as_array_mut().unwrap().extend(required);
    }
    whole
}

fn object(document: &Value, schema: &Value, members: &serde_json::Map<String, Value>) -> Result<(), String> {
    let Some(properties) = schema["properties"].as_object() else { return Ok(()) };
    for (name, member) in members {
        let property = properties.get(name).ok_or_else(|| format!("the schema has no {name}"))?;
        fit(document, property, member).map_err(|why| format!("{name}: {why}"))?;
    }
    let required = schema["required"].as_array().into_iter().flatten();
    match required.filter_map(Value::as_str).find(|name| !members.contains_key(*name)) {
        Some(absent) => Err(format!("{absent} is absent")),
        None => Ok(()),
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => false,
    }
}
