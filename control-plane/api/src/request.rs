//! What a request brings: who asks, what the path, the query and the body say. Each is read by one function, in one way.
//!
//! Invariant: nothing of a request is read before its caller is known, and nothing is read beyond its bound in bytes and time.

mod auth;
mod body;
mod header;
mod json;
mod page;
mod plain;
mod query;
mod upload;

pub(crate) use auth::{By, Claimant, Presented, Scope};
pub(crate) use body::{expected_bytes, read_body};
pub(crate) use header::{content_type, one_header};
pub(crate) use json::read_json;
pub(crate) use page::{Page, page_length};
use plain::plain;
pub(crate) use query::Params;
pub(crate) use upload::{Upload, read_upload};

use tidegate_types::{Name, TenantId};

use crate::problem::Answer;

/// A thing's name in a path.
pub(crate) fn name_in_path(what: &'static str, text: &str) -> Answer<Name> {
    text.parse().map_err(crate::problem::no_such(what, text))
}

/// A tenant's name in a path.
pub(crate) fn tenant_in_path(text: &str) -> Answer<TenantId> {
    text.parse().map_err(crate::problem::no_such("tenant", text))
}
