//! JSON bodies: what cannot be read is a 400, what can be read and is not allowed is a 422.

use axum::extract::Request;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::{content_type, read_body};
use crate::problem::{Answer, Problem, codes};
use crate::services::Shared;
use crate::settings::MAX_JSON_BYTES;

/// A JSON body, and its bytes (what tells requests with one idempotency key apart).
pub(crate) async fn read_json<T: DeserializeOwned>(api: &Shared, request: Request) -> Answer<(T, axum::body::Bytes)> {
    content_type(request.headers(), &["application/json"])?;
    let within = api.services.settings.body_timeout;
    let bytes = read_body(request.into_body(), MAX_JSON_BYTES, "the limit of JSON bodies", within).await?;
    let value = serde_json::from_slice(&bytes).map_err(|error| wrong(&error))?;
    Ok((value, bytes))
}

fn wrong(error: &serde_json::Error) -> Problem {
    let line = u64::try_from(error.line()).ok().filter(|line| *line > 0);
    match error.classify() {
        Category::Data => Problem::new(codes::INVALID_REQUEST, format!("the body: {error}")).at_line(line),
        Category::Syntax | Category::Eof | Category::Io => {
            Problem::new(codes::BAD_REQUEST, format!("the body is no JSON: {error}")).at_line(line)
        }
    }
}
