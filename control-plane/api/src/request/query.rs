//! Query parameters: each known, each once, each in its bounds.

use axum::extract::FromRequestParts;
use axum::extract::rejection::QueryRejection;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::{Problem, codes};

/// The parameters as a struct. An unknown one is refused by its `deny_unknown_fields`, one that stands twice by serde.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let read = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        read.map(|query| Self(query.0)).map_err(|error: QueryRejection| {
            Problem::new(codes::BAD_REQUEST, crate::problem::shown_long(&error.body_text()))
        })
    }
}
