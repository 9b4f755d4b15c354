//! Answers that are no problems: JSON documents, and lines of JSON.

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, ETAG, LOCATION};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::problem::{Answer, Problem};

/// The media type of lines of JSON.
pub const NDJSON: &str = "application/x-ndjson";

/// The answer of a POST that makes something: it can be kept and given again.
#[derive(Debug, Clone)]
pub(crate) struct Created {
    pub(crate) status: StatusCode,
    /// The JSON text.
    pub(crate) body: String,
    /// The path of what was made.
    pub(crate) location: Option<String>,
    /// The version of what was made.
    pub(crate) etag: Option<String>,
    /// The body has a secret: it is never stored.
    pub(crate) secret: bool,
}

impl Created {
    /// 201 with the thing and its path.
    pub(crate) fn new(thing: &impl Serialize, location: String) -> Answer<Self> {
        let body = to_json(thing)?;
        Ok(Self { status: StatusCode::CREATED, body, location: Some(location), etag: None, secret: false })
    }

    /// 200: the thing was there, equal to the one asked for.
    pub(crate) fn existing(mut self) -> Self {
        self.status = StatusCode::OK;
        self
    }

    /// With the version of the thing.
    pub(crate) fn versioned(mut self, etag: String) -> Self {
        self.etag = Some(etag);
        self
    }

    /// The body is not to be stored.
    pub(crate) fn secret(mut self) -> Self {
        self.secret = true;
        self
    }
}

impl IntoResponse for Created {
    fn into_response(self) -> Response {
        let mut response = with_type(self.status, "application/json", self.body);
        for (name, text) in [(LOCATION, self.location), (ETAG, self.etag)] {
            if let Some(text) = text {
                set(&mut response, name, &text);
            }
        }
        response
    }
}

/// 200 with a JSON document.
pub(crate) fn json(thing: &impl Serialize) -> Answer {
    Ok(with_type(StatusCode::OK, "application/json", to_json(thing)?))
}

/// 200 with a JSON document that was written before.
pub(crate) fn json_text(text: Bytes) -> Response {
    with_type(StatusCode::OK, "application/json", text)
}

/// 200 with lines of JSON.
pub(crate) fn lines(body: Vec<u8>) -> Response {
    with_type(StatusCode::OK, NDJSON, body)
}

/// 204: done, and there is nothing to say.
pub(crate) fn nothing() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// Sets a header to a text of ours. A text that no header can hold is left out.
pub(crate) fn set(response: &mut Response, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        response.headers_mut().insert(name, value);
    }
}

fn with_type(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn to_json(thing: &impl Serialize) -> Answer<String> {
    serde_json::to_string(thing).map_err(|error| Problem::internal(format!("an answer cannot be written: {error}")))
}
