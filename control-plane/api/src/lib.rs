//! The HTTP API: routes, requests, answers, problem details. No rules: a handler parses, calls a service, shapes the
//! answer.
//!
//! [`router`] is the whole face: it takes the services and gives an axum router. A request's way: the gate (an id, a place,
//! a task of its own), the caller (bearer token), the path, the query and the body (each bounded), the service, the answer or
//! a problem. Invariant: what is no success is a problem document, whatever failed.

mod answer;
mod document;
mod gate;
mod idempotency;
mod overload;
mod places;
pub mod problem;
mod request;
mod rounds;
mod routes;
mod services;
pub mod settings;
pub mod tables;

use axum::extract::State;
use axum::http::{Method, Uri};
use axum::middleware::from_fn_with_state;

pub use answer::NDJSON;
pub use document::openapi_json;
pub use gate::REQUEST_ID;
pub use services::Services;
pub use settings::ApiSettings;
pub use tables::{MAX_ROWS, RowOrder, RowPage, RowQuery, TableInfo, Tables, TablesError};

use problem::{Problem, codes};
use services::{Api, Shared};

/// The API over these services.
pub fn router(services: Services) -> axum::Router {
    let (routes, document) = document::routes_and_document();
    let api = Api::new(services, &document);
    routes
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(from_fn_with_state(api.clone(), gate::gate))
        .with_state(api)
}

async fn no_such_path(uri: Uri) -> Problem {
    Problem::not_found("path", uri.path())
}

async fn no_such_method(State(_): State<Shared>, method: Method, uri: Uri) -> Problem {
    let path = problem::shown(uri.path());
    Problem::new(codes::METHOD_NOT_ALLOWED, format!("{path} does not know {method}; see the header `Allow`"))
}
