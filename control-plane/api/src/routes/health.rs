//! Whether the API answers. The one resource that needs no token, besides the API's own document.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::OperationProblems;
use crate::answer::{json, json_text};
use crate::problem::Answer;
use crate::services::Shared;

pub(super) const PROBLEMS: &[OperationProblems] = &[("health", &[]), ("openapi", &[])];

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(health)).routes(routes!(openapi))
}

/// The process answers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// The version of the program.
    version: &'static str,
}

/// Whether the API answers
///
/// Says that the process serves requests. It asks nothing of the log or the store.
#[utoipa::path(get, path = "/v1/health", tag = "health", security(()), responses(
    (status = 200, description = "It answers", body = Health),
))]
async fn health() -> Answer {
    json(&Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// This document
///
/// The OpenAPI document of the API that answers.
#[utoipa::path(get, path = "/v1/openapi.json", tag = "health", security(()), responses(
    (status = 200, description = "The OpenAPI document", body = serde_json::Value, content_type = "application/json"),
))]
async fn openapi(State(api): State<Shared>) -> Response {
    json_text(api.document.clone())
}
