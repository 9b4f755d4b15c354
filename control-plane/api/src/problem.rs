//! Problem details (RFC 9457): the one shape of every answer that is no success.
//!
//! Invariant: what a problem says is meant for the client. Internal text (paths, other tenants' names, errors of
//! libraries) goes to the operator's log with the request's id, and the client gets the id.

pub mod codes;
mod convert;

pub(crate) use convert::no_such;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

pub use codes::Code;

/// Every problem's `type` begins so.
pub const TYPE_BASE: &str = "https://tidegate.example/problems/";

/// The media type of problems.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// Why a request was not done. Small, since every step of a request may give it back.
#[derive(Debug, Clone)]
pub struct Problem(Box<Particulars>);

#[derive(Debug, Clone)]
struct Particulars {
    code: Code,
    detail: String,
    rule: Option<String>,
    place: Option<String>,
    mend: Option<String>,
    path: Option<String>,
    line: Option<u64>,
    retry_after_s: Option<u32>,
    /// For the operator only.
    internal: Option<String>,
}

/// What a handler gives back.
pub type Answer<T = Response> = Result<T, Problem>;

impl Problem {
    /// A problem of a kind, with what is particular to this occurrence.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self(Box::new(Particulars {
            code,
            detail: detail.into(),
            rule: None,
            place: None,
            mend: None,
            path: None,
            line: None,
            retry_after_s: code.asks_to_wait().then_some(1),
            internal: None,
        }))
    }

    /// A fault of the platform: the text is for the operator's log, the client gets the request's id.
    pub fn internal(text: impl Into<String>) -> Self {
        let mut problem = Self::new(codes::INTERNAL, "the platform failed at this request; its cause is logged");
        problem.0.internal = Some(text.into());
        problem
    }

    /// A part of the platform does not answer: the text is for the operator's log.
    pub fn unavailable(what: &str, text: impl Into<String>) -> Self {
        let mut problem = Self::new(codes::UNAVAILABLE, format!("{what} cannot serve now"));
        problem.0.internal = Some(text.into());
        problem
    }

    /// A thing that is not there, or not this tenant's.
    pub fn not_found(what: &str, name: &str) -> Self {
        Self::new(codes::NOT_FOUND, format!("there is no {what} `{}`", shown(name)))
    }

    /// A value that is not allowed, with the field's path.
    pub fn invalid(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(codes::INVALID_REQUEST, detail).at_path(path)
    }

    /// Names the field.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.0.path = Some(path.into()).filter(|path| !path.is_empty());
        self
    }

    /// Names the line, from 1.
    #[must_use]
    pub fn at_line(mut self, line: Option<u64>) -> Self {
        self.0.line = line;
        self
    }

    /// Names the rule that was broken, where, and the way out.
    #[must_use]
    pub fn of_rule(mut self, rule: &str, place: &str, mend: &str) -> Self {
        (self.0.rule, self.0.place, self.0.mend) = (Some(rule.into()), Some(place.into()), Some(mend.into()));
        self
    }

    /// Its kind.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.0.code
    }

    /// What is particular to this occurrence.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    fn body(&self) -> ProblemBody {
        ProblemBody {
            kind: format!("{TYPE_BASE}{}", self.0.code.name),
            title: self.0.code.title.into(),
            status: self.0.code.status,
            detail: self.0.detail.clone(),
            instance: None,
            rule: self.0.rule.clone(),
            place: self.0.place.clone(),
            mend: Some(self.0.mend.clone().unwrap_or_else(|| self.0.code.mend.into())),
            path: self.0.path.clone(),
            line: self.0.line,
        }
    }
}

/// What is sent. The gate adds `instance`, because it knows the request's id.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// The kind of problem: `https://tidegate.example/problems/` and a code of the table in docs/api.md.
    #[serde(rename = "type")]
    #[schema(format = "uri")]
    pub kind: String,
    /// A few words, the same for every problem of this kind.
    pub title: String,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// What is particular to this occurrence.
    pub detail: String,
    /// The request's id, as in the header `Tidegate-Request-Id`: `urn:tidegate:request:` and the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The rule of admission that was broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where the rule was broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
    /// The field that is wrong, as a path in the request or in the pipeline file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line that is wrong, from 1, of the pipeline file or of the appended records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.code.status).expect("the table has HTTP statuses only");
        let mut response = (status, self.body().to_json()).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        if let Some(seconds) = self.0.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tidegate\""));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl Problem {
    /// The body with the request's id in it, and what only the operator may read.
    pub(crate) fn with_instance(&self, request_id: &str) -> (String, Option<&str>) {
        let mut body = self.body();
        body.instance = Some(format!("urn:tidegate:request:{request_id}"));
        (body.to_json(), self.0.internal.as_deref())
    }
}

impl ProblemBody {
    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a problem has texts and numbers only")
    }
}

/// A client's text as it may stand in a message: short, and without control characters.
pub(crate) fn shown(text: &str) -> String {
    cut(text, 80)
}

/// The same for a library's message about a client's text.
pub(crate) fn shown_long(text: &str) -> String {
    cut(text, 400)
}

fn cut(text: &str, most_chars: usize) -> String {
    let mut out: String = text.chars().take(most_chars).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().count() > most_chars {
        out.push('…');
    }
    out
}
