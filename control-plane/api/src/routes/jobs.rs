//! Jobs: submitted as pipeline files, watched, cancelled.

mod checkpoints;
mod view;

use axum::extract::{Path, Request, State};
use serde::Serialize;
use tidegate_tenancy::Permission;
use tidegate_types::Name;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::OperationProblems;
use crate::answer::{Created, json};
use crate::idempotency::Repeatable;
use crate::problem::{Answer, Problem, codes};
use crate::request::{Page, Params, Scope, content_type, page_length, read_body};
use crate::services::Shared;
use crate::settings::MAX_PIPELINE_BYTES;
use view::JobDocument;

pub(super) const PROBLEMS: &[OperationProblems] = &[
    (
        "submit_job",
        &[
            codes::CONFLICT,
            codes::VERSION_NOT_NEWER,
            codes::BODY_TOO_LARGE,
            codes::UNSUPPORTED_MEDIA_TYPE,
            codes::INVALID_PIPELINE,
            codes::UNKNOWN_COMPONENT,
            codes::REQUEST_TIMEOUT,
            codes::QUOTA_EXCEEDED,
            codes::REQUEST_IN_PROGRESS,
            codes::IDEMPOTENCY_KEY_REUSED,
        ],
    ),
    ("list_jobs", &[codes::INVALID_REQUEST]),
    ("get_job", &[codes::NOT_FOUND]),
    ("cancel_job", &[codes::NOT_FOUND]),
];

/// The media types of pipeline files. YAML has one (RFC 9512) and older names.
const PIPELINE_TYPES: &[&str] = &["application/yaml", "application/json", "application/x-yaml", "text/yaml"];

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(submit_job, list_jobs)).routes(routes!(get_job, cancel_job))
}

/// Jobs by name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JobList {
    jobs: Vec<JobDocument>,
    /// What to give as `after` for the next page; null: this was the last.
    next: Option<String>,
}

/// Submit a job
///
/// The body is a pipeline file (docs/pipeline-file.md) whose components are artifacts of the tenant. The job is named by the
/// file's `job`, and the file's `version` must be higher than any before it; the same text again gives the same job. A new
/// version begins at the oldest records that are kept; after a failure it goes on from its newest checkpoint.
#[utoipa::path(post, path = "/v1/jobs", tag = "jobs",
    request_body(description = "A pipeline file", content(
        (String = "application/yaml"), (serde_json::Value = "application/json"),
    )),
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat for 24 hours", max_length = 255)),
    responses((status = 201, description = "The job", body = JobDocument, headers(("Location" = String, description = "Its path")))),
)]
async fn submit_job(scope: Scope, State(api): State<Shared>, again: Repeatable, request: Request) -> Answer {
    scope.may(Permission::SubmitJob)?;
    content_type(request.headers(), PIPELINE_TYPES)?;
    let within = api.services.settings.body_timeout;
    let body = read_body(request.into_body(), MAX_PIPELINE_BYTES, "the limit of pipeline files", within).await?;
    let text = std::str::from_utf8(&body).map_err(|error| not_text(&body, error.valid_up_to()))?;
    let work = async {
        let job = api.services.coordinator.submit(&scope.caller, &scope.tenant, text).await?;
        let location = format!("/v1/jobs/{}", job.name);
        Created::new(&JobDocument::from(job), location)
    };
    again.once(&api, &scope.caller, &[&body], work).await
}

fn not_text(body: &[u8], at: usize) -> Problem {
    let line = 1 + body[..at].iter().filter(|byte| **byte == b'\n').count();
    let line = u64::try_from(line).ok();
    Problem::new(codes::INVALID_PIPELINE, "the file is no UTF-8 text; save it as UTF-8").at_line(line)
}

/// List jobs
///
/// Those that ended too.
#[utoipa::path(get, path = "/v1/jobs", tag = "jobs", params(Page),
    responses((status = 200, description = "The tenant's jobs, ascending by name", body = JobList)),
)]
async fn list_jobs(scope: Scope, State(api): State<Shared>, Params(page): Params<Page>) -> Answer {
    let limit = page_length(page.limit)?;
    let after = page.after.as_deref().map(str::parse::<Name>).transpose();
    let after = after.map_err(|error| Problem::invalid("after", error.to_string()))?;
    let after = after.as_ref().map(Name::as_str);
    let jobs = api.services.coordinator.list(&scope.caller, &scope.tenant, after, limit).await?;
    let next = jobs.last().filter(|_| jobs.len() == limit).map(|last| last.name.clone());
    json(&JobList { jobs: jobs.into_iter().map(JobDocument::from).collect(), next })
}

/// Read a job's status
///
/// What is not known is null: what a job that never ran has no figures for, and `last_checkpoint` before the first one is complete.
#[utoipa::path(get, path = "/v1/jobs/{name}", tag = "jobs",
    params(("name" = String, Path, description = "The job's name")),
    responses((status = 200, description = "The job", body = JobDocument)),
)]
async fn get_job(scope: Scope, State(api): State<Shared>, Path(name): Path<String>) -> Answer {
    let job = api.services.coordinator.get(&scope.caller, &scope.tenant, &name).await?;
    json(&JobDocument::from(job))
}

/// Cancel a job
///
/// That it shall end is on disk before anything waits, so it ends also if the process does. The answer comes once its sinks
/// are flushed. A job that has ended stays as it is.
#[utoipa::path(delete, path = "/v1/jobs/{name}", tag = "jobs",
    params(("name" = String, Path, description = "The job's name")),
    responses((status = 200, description = "The job, ended", body = JobDocument)),
)]
async fn cancel_job(scope: Scope, State(api): State<Shared>, Path(name): Path<String>) -> Answer {
    let job = api.services.coordinator.cancel(&scope.caller, &scope.tenant, &name).await?;
    json(&JobDocument::from(job))
}
