//! JSON bodies: what cannot be read is a 400, what can be read and is not allowed is a 422.
//!
//! Invariant: a body is an object, and so is what is in it: fields are named, never counted. No message names our types.

use axum::extract::Request;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

use super::{content_type, plain, read_body};
use crate::problem::{Answer, Problem, codes, shown};
use crate::services::Shared;
use crate::settings::MAX_JSON_BYTES;

/// A JSON body, and its bytes (what tells requests with one idempotency key apart).
pub(crate) async fn read_json<T: DeserializeOwned>(api: &Shared, request: Request) -> Answer<(T, axum::body::Bytes)> {
    content_type(request.headers(), &["application/json"])?;
    let within = api.services.settings.body_timeout;
    let bytes = read_body(request.into_body(), MAX_JSON_BYTES, "the limit of JSON bodies", within).await?;
    let shape: Value = serde_json::from_slice(&bytes).map_err(|error| wrong(&error))?;
    // serde would take a list as an object's fields in their order.
    if let Some(found) = not_of_objects(&shape) {
        return Err(Problem::new(codes::INVALID_REQUEST, format!("the body: {found}; send a JSON object")));
    }
    let value = serde_json::from_slice(&bytes).map_err(|error| wrong(&error))?;
    Ok((value, bytes))
}

/// No body of ours has a list in it.
fn not_of_objects(body: &Value) -> Option<String> {
    match body {
        Value::Object(fields) => {
            let list = fields.iter().find(|(_, value)| value.is_array());
            list.map(|(name, _)| format!("a list at `{}`", shown(name)))
                .or_else(|| fields.values().filter(|value| value.is_object()).find_map(not_of_objects))
        }
        Value::Array(_) => Some("a list where an object is expected".into()),
        _ => Some("a single value where an object is expected".into()),
    }
}

fn wrong(error: &serde_json::Error) -> Problem {
    let line = u64::try_from(error.line()).ok().filter(|line| *line > 0);
    match error.classify() {
        Category::Data => {
            Problem::new(codes::INVALID_REQUEST, format!("the body: {}", plain(&error.to_string()))).at_line(line)
        }
        Category::Syntax | Category::Eof | Category::Io => {
            Problem::new(codes::BAD_REQUEST, format!("the body is no JSON: {error}")).at_line(line)
        }
    }
}
