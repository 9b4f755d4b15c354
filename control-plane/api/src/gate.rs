//! The gate: what every request passes on its way in and every answer on its way out.
//!
//! A request gets an id and a place, and runs as a task of its own. Invariants: a POST, PATCH or DELETE that was begun ends,
//! even if its client goes away or its answer takes too long; a panic is a 500 that says nothing but the request's id;
//! every answer that is no success is a problem document.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;
use tracing::Instrument;

use crate::problem::{PROBLEM_JSON, Problem, codes, shown};
use crate::request::Presented;
use crate::services::Shared;

/// The header that names the request in every answer.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("tidegate-request-id");

pub(crate) async fn gate(State(api): State<Shared>, request: Request, next: Next) -> Response {
    let id = api.next_request_id();
    let (method, path) = (request.method().clone(), shown(request.uri().path()));
    let span = tracing::info_span!("request", id, %method, path);
    let response = span.in_scope(|| begin(&api, request, next));
    let response = async {
        let response = match response {
            Ok(work) => end(work, &api).await,
            Err(problem) => problem.into_response(),
        };
        finish(response, &api, &id, &method)
    };
    response.instrument(span).await
}

/// Starts the request's task. It has its place until it ends.
fn begin(api: &Shared, mut request: Request, next: Next) -> Result<Work, Problem> {
    // By the signature alone: whoever floods the platform must not take the places in which others are told apart.
    let presented = Presented::by(request.headers(), &api.services.tenancy);
    let place = api.places.enter(&presented.claimant())?;
    request.extensions_mut().insert(presented);
    let abort = request.method().is_safe();
    let work = async move {
        let _place = place;
        next.run(request).await
    };
    Ok(Work { handle: tokio::spawn(work.in_current_span()), abort })
}

async fn end(work: Work, api: &Shared) -> Response {
    match timeout(api.services.settings.answer_timeout, work).await {
        Ok(Ok(response)) => response,
        Ok(Err(failed)) => Problem::internal(format!("a handler ended early: {}", reason(failed))).into_response(),
        Err(_) => {
            let limit = api.services.settings.answer_timeout.as_secs();
            Problem::new(codes::TOOK_TOO_LONG, format!("no answer within {limit} s")).into_response()
        }
    }
}

/// A panic's text, for the operator's log.
fn reason(failed: JoinError) -> String {
    match failed.try_into_panic() {
        Ok(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
            format!("panic: {text}")
        }
        Err(failed) => failed.to_string(),
    }
}

/// A request's task. A read that nobody waits for is stopped; a change is not.
struct Work {
    handle: JoinHandle<Response>,
    abort: bool,
}

impl Future for Work {
    type Output = Result<Response, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.handle).poll(context)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if self.abort {
            self.handle.abort();
        }
    }
}

fn finish(response: Response, api: &Shared, id: &str, method: &Method) -> Response {
    let mut response = as_problem(response);
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let (body, internal) = problem.with_instance(id);
        let code = problem.code();
        if code == codes::OVERLOADED {
            if let Some(requests) = api.overload.refused(api.services.clock.now()) {
                let detail = problem.detail();
                tracing::warn!(code = code.name, detail, requests, "requests were refused since the last such line");
            }
        } else if code.status >= 500 {
            tracing::error!(code = code.name, detail = problem.detail(), internal, "a request failed");
        } else {
            tracing::info!(code = code.name, detail = problem.detail(), internal, "a request was refused");
        }
        let headers = response.headers_mut();
        headers.remove(CONTENT_LENGTH);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        *response.body_mut() = if method == Method::HEAD { Body::empty() } else { Body::from(body) };
    }
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, HeaderValue::from_str(id).expect("an id has digits and a dash only"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// What the web framework itself refused becomes a problem of the same status.
fn as_problem(mut response: Response) -> Response {
    let status = response.status();
    let refused = status.is_client_error() || status.is_server_error();
    if !refused || response.extensions().get::<Problem>().is_some() {
        return response;
    }
    let (code, detail) = match status {
        StatusCode::NOT_FOUND => (codes::NOT_FOUND, "there is no such path"),
        StatusCode::METHOD_NOT_ALLOWED => (codes::METHOD_NOT_ALLOWED, "the path does not know this method"),
        StatusCode::REQUEST_TIMEOUT => (codes::REQUEST_TIMEOUT, "the body came too slowly"),
        StatusCode::PAYLOAD_TOO_LARGE => (codes::BODY_TOO_LARGE, "the body is too large"),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => (codes::UNSUPPORTED_MEDIA_TYPE, "the body's type is not understood"),
        StatusCode::UNPROCESSABLE_ENTITY => (codes::INVALID_REQUEST, "a value is not allowed"),
        status if status.is_client_error() => (codes::BAD_REQUEST, "the request cannot be read"),
        _ => (codes::INTERNAL, "the platform failed at this request; its cause is logged"),
    };
    let problem = Problem::new(code, detail);
    *response.status_mut() = StatusCode::from_u16(code.status).expect("the table has HTTP statuses only");
    response.extensions_mut().insert(problem);
    response
}
