//! The routes, one file for each resource. A handler parses, calls a service, and shapes the answer.
//!
//! Each file says which problems its operations answer with (`PROBLEMS`, by operation id); the OpenAPI document and the tests
//! hold it to that.
#![expect(
    unused_qualifications,
    reason = "the attribute that describes a route writes whole paths into the handler's code"
)]

pub(crate) mod artifacts;
pub(crate) mod audit;
pub(crate) mod health;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod records;
pub(crate) mod streams;
pub(crate) mod tables;
pub(crate) mod tenants;
pub(crate) mod tokens;

use utoipa_axum::router::OpenApiRouter;

use crate::problem::Code;
use crate::services::Shared;

/// The problems of one operation beyond those that every operation has.
pub(crate) type OperationProblems = (&'static str, &'static [Code]);

/// All routes.
pub(crate) fn all() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(health::routes())
        .merge(tenants::routes())
        .merge(tokens::routes())
        .merge(keys::routes())
        .merge(audit::routes())
        .merge(artifacts::routes())
        .merge(jobs::routes())
        .merge(streams::routes())
        .merge(records::routes())
        .merge(tables::routes())
}

/// What each operation answers with besides the common problems.
pub(crate) fn problems() -> impl Iterator<Item = &'static OperationProblems> {
    [
        health::PROBLEMS,
        tenants::PROBLEMS,
        tokens::PROBLEMS,
        keys::PROBLEMS,
        audit::PROBLEMS,
        artifacts::PROBLEMS,
        jobs::PROBLEMS,
        streams::PROBLEMS,
        records::PROBLEMS,
        tables::PROBLEMS,
    ]
    .into_iter()
    .flatten()
}
