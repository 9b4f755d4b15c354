//! Requests and replies, short to write and to read.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::http::request::Builder;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use serde_json::Value;

/// A request in the making.
pub(crate) struct Call {
    method: Method,
    target: String,
    builder: Builder,
    body: Body,
}

pub(crate) fn get(target: &str) -> Call {
    Call::new(Method::GET, target)
}

pub(crate) fn post(target: &str) -> Call {
    Call::new(Method::POST, target)
}

pub(crate) fn patch(target: &str) -> Call {
    Call::new(Method::PATCH, target)
}

pub(crate) fn delete(target: &str) -> Call {
    Call::new(Method::DELETE, target)
}

impl Call {
    pub(crate) fn new(method: Method, target: &str) -> Self {
        let builder = Request::builder().method(method.clone()).uri(target);
        Self { method, target: target.to_owned(), builder, body: Body::empty() }
    }

    /// With a bearer token.
    pub(crate) fn by(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.builder = self.builder.header(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        self
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.typed("application/json", body.to_string())
    }

    /// Lines of records.
    pub(crate) fn lines(self, body: impl Into<Body>) -> Self {
        self.typed("application/x-ndjson", body)
    }

    pub(crate) fn yaml(self, body: impl Into<Body>) -> Self {
        self.typed("application/yaml", body)
    }

    pub(crate) fn typed(self, kind: &str, body: impl Into<Body>) -> Self {
        self.header("content-type", kind).body(body)
    }

    pub(crate) fn body(mut self, body: impl Into<Body>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) const fn method(&self) -> &Method {
        &self.method
    }

    /// The path without the query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub(crate) fn into_request(self) -> Request<Body> {
        self.builder.body(self.body).unwrap()
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
}

impl Reply {
    pub(crate) async fn read(response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        Self { status: parts.status, headers: parts.headers, bytes: to_bytes(body, usize::MAX).await.unwrap() }
    }

    #[track_caller]
    pub(crate) fn has_status(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        self
    }

    /// The answer is this problem.
    #[track_caller]
    pub(crate) fn has_problem(self, code: &str) -> Self {
        assert_eq!(self.code(), code, "{}", self.text());
        self
    }

    /// The problem's code; empty if it is none.
    pub(crate) fn code(&self) -> String {
        let kind =
            serde_json::from_slice::<Value>(&self.bytes).ok().and_then(|body| body["type"].as_str().map(str::to_owned));
        kind.and_then(|kind| kind.rsplit('/').next().map(str::to_owned)).unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn body(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Lines of JSON.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// A body of which some bytes come, and then nothing more; or which breaks off.
pub(crate) struct TrickleBody {
    pub(crate) first: Option<Bytes>,
    pub(crate) breaks: bool,
}

impl HttpBody for TrickleBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(http_body::Frame::data(first)))),
            None if self.breaks => Poll::Ready(Some(Err(std::io::Error::other("the line went dead")))),
            // Nobody wakes the reader: only its own timeout does.
            None => Poll::Pending,
        }
    }
}
