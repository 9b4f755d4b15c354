//! Tenants and their limits. For platform admins; a tenant's own token reads its own record.

mod limits;

use axum::extract::{Path, Request, State};
use axum::http::HeaderMap;
use axum::http::header::{ETAG, IF_MATCH};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tidegate_tenancy::{LimitsChange, Permission, TenancyError, Tenant, TenantLimits};
use tidegate_types::TenantId;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::OperationProblems;
use crate::answer::{Created, json, nothing, set};
use crate::idempotency::Repeatable;
use crate::problem::{Answer, Problem, codes};
use crate::request::{By, Params, one_header, page_length, read_json, tenant_in_path};
use crate::services::Shared;
use limits::{Limits, SomeLimits};

pub(super) const PROBLEMS: &[OperationProblems] = &[
    (
        "create_tenant",
        &[
            codes::ALREADY_EXISTS,
            codes::BODY_TOO_LARGE,
            codes::UNSUPPORTED_MEDIA_TYPE,
            codes::INVALID_REQUEST,
            codes::REQUEST_TIMEOUT,
            codes::REQUEST_IN_PROGRESS,
            codes::IDEMPOTENCY_KEY_REUSED,
        ],
    ),
    ("list_tenants", &[codes::INVALID_REQUEST]),
    ("get_tenant", &[codes::NOT_FOUND]),
    (
        "set_limits",
        &[
            codes::NOT_FOUND,
            codes::CONFLICT,
            codes::PRECONDITION_FAILED,
            codes::BODY_TOO_LARGE,
            codes::UNSUPPORTED_MEDIA_TYPE,
            codes::INVALID_REQUEST,
            codes::REQUEST_TIMEOUT,
        ],
    ),
    ("delete_tenant", &[codes::NOT_FOUND, codes::CONFLICT, codes::PRECONDITION_FAILED]),
];

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(create_tenant, list_tenants)).routes(routes!(
        get_tenant,
        set_limits,
        delete_tenant
    ))
}

/// A tenant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tenant)]
pub(crate) struct TenantDocument {
    /// Its name.
    name: String,
    /// What it may use.
    #[schema(value_type = Limits)]
    limits: TenantLimits,
    /// When it was made, ms since the epoch.
    created_at: i64,
    /// The version of the record, as in the header `ETag`.
    version: u64,
}

impl From<Tenant> for TenantDocument {
    fn from(tenant: Tenant) -> Self {
        let Tenant { id, limits, created_at, version } = tenant;
        Self { name: id.to_string(), limits, created_at, version }
    }
}

/// A tenant to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTenant {
    /// Its name: 1 to 63 small letters, digits and `-`, first a letter or digit. A name is used once for ever.
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,62}$")]
    name: String,
    /// Its limits; what is left out has its default.
    #[serde(default)]
    #[schema(value_type = Option<Limits>)]
    limits: TenantLimits,
}

/// Make a tenant
///
/// Needs a platform admin's token.
#[utoipa::path(post, path = "/v1/tenants", tag = "tenants", request_body = NewTenant,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat for 24 hours", max_length = 255)),
    responses((status = 201, description = "The tenant", body = TenantDocument, headers(
        ("Location" = String, description = "Its path"), ("ETag" = String, description = "Its version"),
    ))),
)]
async fn create_tenant(by: By, State(api): State<Shared>, again: Repeatable, request: Request) -> Answer {
    by.caller.may_on_platform(Permission::CreateTenant)?;
    let (new, content): (NewTenant, _) = read_json(&api, request).await?;
    let id: TenantId =
        new.name.parse().map_err(|error: tidegate_types::NameError| Problem::invalid("name", error.to_string()))?;
    let work = async {
        let tenant = api.services.tenancy.create_tenant(&by.caller, &id, new.limits).await?;
        let (location, etag) = (format!("/v1/tenants/{id}"), etag(tenant.version));
        Ok(Created::new(&TenantDocument::from(tenant), location)?.versioned(etag))
    };
    again.once(&api, &by.caller, &[&content], work).await
}

/// Which tenants.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TenantPage {
    /// Tenants behind this name: `next` of the page before.
    after: Option<String>,
    /// So many names are looked at: 1 to 1000, 100 unless told.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// Tenants by name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TenantList {
    tenants: Vec<TenantDocument>,
    /// What to give as `after` for the next page; null: this was the last.
    next: Option<String>,
}

/// List tenants
///
/// Needs a platform admin's token.
#[utoipa::path(get, path = "/v1/tenants", tag = "tenants", params(TenantPage),
    responses((status = 200, description = "Tenants, ascending by name", body = TenantList)),
)]
async fn list_tenants(by: By, State(api): State<Shared>, Params(page): Params<TenantPage>) -> Answer {
    let limit = page_length(page.limit)?;
    let after = page.after.as_deref().map(str::parse::<TenantId>).transpose();
    let after = after.map_err(|error| Problem::invalid("after", error.to_string()))?;
    let (tenants, next) = api.services.tenancy.tenants(&by.caller, after.as_ref().map(TenantId::as_str), limit).await?;
    json(&TenantList { tenants: tenants.into_iter().map(TenantDocument::from).collect(), next })
}

/// Read a tenant
///
/// For platform admins, and for every token of the tenant itself.
#[utoipa::path(get, path = "/v1/tenants/{tenant}", tag = "tenants",
    params(("tenant" = String, Path, description = "The tenant's name")),
    responses((status = 200, description = "The tenant", body = TenantDocument, headers(
        ("ETag" = String, description = "The version of the record"),
    ))),
)]
async fn get_tenant(by: By, State(api): State<Shared>, Path(tenant): Path<String>) -> Answer {
    let id = tenant_in_path(&tenant)?;
    with_etag(api.services.tenancy.tenant(&by.caller, &id).await?)
}

/// A change of limits.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TenantChange {
    /// The limits to change; what is left out stays.
    #[schema(value_type = SomeLimits)]
    limits: LimitsChange,
}

/// Set a tenant's limits
///
/// Needs a platform admin's token. With `If-Match` the limits change only if the record still has that version. They count
/// for new streams, uploads and appends at once, and for jobs when they start.
#[utoipa::path(patch, path = "/v1/tenants/{tenant}", tag = "tenants", request_body = TenantChange,
    params(
        ("tenant" = String, Path, description = "The tenant's name"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` that was read, or `*`"),
    ),
    responses((status = 200, description = "The tenant", body = TenantDocument, headers(
        ("ETag" = String, description = "The new version of the record"),
    ))),
)]
async fn set_limits(by: By, State(api): State<Shared>, Path(tenant): Path<String>, request: Request) -> Answer {
    let id = tenant_in_path(&tenant)?;
    by.caller.may(Permission::SetLimits, &id)?;
    let expected = expected_version(request.headers())?;
    let (change, _): (TenantChange, _) = read_json(&api, request).await?;
    let before = api.services.tenancy.tenant(&by.caller, &id).await?;
    let version = expected.unwrap_or(before.version);
    if version != before.version {
        return Err(stale(version));
    }
    let limits = change.limits.apply(&before.limits);
    match api.services.tenancy.set_limits(&by.caller, &id, version, limits).await {
        Ok(tenant) => with_etag(tenant),
        Err(TenancyError::Conflict { .. }) if expected.is_some() => Err(stale(version)),
        Err(error) => Err(error.into()),
    }
}

/// Delete a tenant
///
/// Needs a platform admin's token. Its tokens and keys count no more, and its name is never given again. What it stored in
/// streams, tables and artifacts is not removed. While a job of it runs it is not deleted (`conflict`). With `If-Match` only
/// if the record still has that version.
#[utoipa::path(delete, path = "/v1/tenants/{tenant}", tag = "tenants",
    params(
        ("tenant" = String, Path, description = "The tenant's name"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` that was read, or `*`"),
    ),
    responses((status = 204, description = "It is deleted")),
)]
async fn delete_tenant(by: By, State(api): State<Shared>, Path(tenant): Path<String>, headers: HeaderMap) -> Answer {
    let id = tenant_in_path(&tenant)?;
    by.caller.may(Permission::DeleteTenant, &id)?;
    let expected = expected_version(&headers)?;
    let before = api.services.tenancy.tenant(&by.caller, &id).await?;
    let version = expected.unwrap_or(before.version);
    if version != before.version {
        return Err(stale(version));
    }
    // No job is accepted until it is deleted, and none after that.
    let _held = api.services.coordinator.hold_tenant(&id).await?;
    match api.services.tenancy.delete_tenant(&by.caller, &id, version).await {
        Ok(()) => Ok(nothing()),
        Err(TenancyError::Conflict { .. }) if expected.is_some() => Err(stale(version)),
        Err(error) => Err(error.into()),
    }
}

fn stale(version: u64) -> Problem {
    Problem::new(codes::PRECONDITION_FAILED, format!("the tenant's version is not {version} any more"))
}

/// The version that the request is for; none: any.
fn expected_version(headers: &HeaderMap) -> Answer<Option<u64>> {
    Ok(one_header(headers, IF_MATCH.as_str())?.map(version_of).transpose()?.flatten())
}

fn with_etag(tenant: Tenant) -> Answer<Response> {
    let tag = etag(tenant.version);
    let mut response = json(&TenantDocument::from(tenant))?;
    set(&mut response, ETAG, &tag);
    Ok(response)
}

fn etag(version: u64) -> String {
    format!("\"{version}\"")
}

/// The version that `If-Match` names; none for `*`.
fn version_of(tag: &str) -> Answer<Option<u64>> {
    if tag == "*" {
        return Ok(None);
    }
    let version = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).and_then(|tag| tag.parse().ok());
    let wrong = || {
        Problem::new(codes::PRECONDITION_FAILED, "`If-Match` names no version of a tenant; send the `ETag` as it was")
    };
    Ok(Some(version.ok_or_else(wrong)?))
}
