//! What a request brings: who asks, what the path, the query and the body say. Each is read by one function, in one way.
//!
//! Invariant: nothing of a request is read before its caller is known, and nothing is read beyond its bound in bytes and time.

mod auth;
mod body;
mod header;
mod json;
mod query;
mod upload;

pub(crate) use auth::{By, Scope};
pub(crate) use body::read_body;
pub(crate) use header::{content_type, one_header};
pub(crate) use json::read_json;
pub(crate) use query::Params;
pub(crate) use upload::{Upload, read_upload};

use axum::http::Uri;
use tidegate_types::{Name, TenantId};

use crate::problem::{Answer, Problem};

/// A thing's name in a path.
pub(crate) fn name_in_path(what: &'static str, text: &str) -> Answer<Name> {
    text.parse().map_err(crate::problem::no_such(what, text))
}

/// A tenant's name in a path.
pub(crate) fn tenant_in_path(text: &str) -> Answer<TenantId> {
    text.parse().map_err(crate::problem::no_such("tenant", text))
}

/// A request without parameters must have none: a misspelt one is never silently ignored.
pub(crate) fn no_query(uri: &Uri) -> Answer<()> {
    match uri.query() {
        None | Some("") => Ok(()),
        Some(_) => {
            Err(Problem::new(crate::problem::codes::BAD_REQUEST, "this path takes no query parameters; leave them out"))
        }
    }
}
