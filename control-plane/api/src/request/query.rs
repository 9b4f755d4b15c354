//! Query parameters: each known, each once, each in its bounds.

use axum::extract::FromRequestParts;
use axum::extract::rejection::QueryRejection;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::plain;
use crate::problem::{Problem, codes};

/// How the web framework begins what it says.
const FRAMEWORKS: &str = "Failed to deserialize query string: ";

/// The parameters as a struct. An unknown one is refused by its `deny_unknown_fields`, one that stands twice by serde.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let read = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        read.map(|query| Self(query.0)).map_err(|error: QueryRejection| {
            let text = error.body_text();
            let text = plain(text.strip_prefix(FRAMEWORKS).unwrap_or(&text));
            Problem::new(codes::BAD_REQUEST, crate::problem::shown_long(&format!("the query: {text}")))
        })
    }
}
