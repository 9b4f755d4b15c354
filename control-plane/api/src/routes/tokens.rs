//! A tenant's tokens. A platform admin issues them for any tenant, a tenant admin for its own.

use std::time::Duration;

use axum::extract::{Path, Request, State};
use serde::{Deserialize, Serialize};
use tidegate_tenancy::{Permission, Role, TokenRecord};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::OperationProblems;
use crate::answer::{Created, json, nothing};
use crate::idempotency::Repeatable;
use crate::problem::{Answer, codes};
use crate::request::{By, read_json, tenant_in_path};
use crate::services::Shared;

pub(super) const PROBLEMS: &[OperationProblems] = &[
    (
        "issue_token",
        &[
            codes::NOT_FOUND,
            codes::CONFLICT,
            codes::BODY_TOO_LARGE,
            codes::UNSUPPORTED_MEDIA_TYPE,
            codes::INVALID_REQUEST,
            codes::REQUEST_TIMEOUT,
            codes::QUOTA_EXCEEDED,
            codes::REQUEST_IN_PROGRESS,
            codes::ANSWER_NOT_KEPT,
            codes::IDEMPOTENCY_KEY_REUSED,
        ],
    ),
    ("list_tokens", &[codes::NOT_FOUND]),
    ("revoke_token", &[codes::NOT_FOUND, codes::CONFLICT]),
];

/// How long a token counts unless told, ms: a week.
const DEFAULT_TTL_MS: u64 = 7 * 24 * 60 * 60 * 1000;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(issue_token, list_tokens)).routes(routes!(revoke_token))
}

/// A role: what a token makes of its bearer.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = Role)]
pub(crate) enum RoleName {
    /// Governs the platform: tenants, their limits, and tokens.
    PlatformAdmin,
    /// Governs one tenant.
    TenantAdmin,
    /// Uploads artifacts, runs jobs, and writes to streams.
    Developer,
    /// Reads everything of one tenant but its tokens.
    Viewer,
}

/// What is kept of a token.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Token)]
pub(crate) struct TokenDocument {
    /// Its id.
    id: String,
    /// For whom: a person or a machine.
    subject: String,
    /// What it may.
    #[schema(value_type = RoleName)]
    role: Role,
    /// Of which tenant.
    tenant: Option<String>,
    /// Who issued it.
    issued_by: String,
    /// When, ms since the epoch.
    issued_at: i64,
    /// Until when it counts, ms since the epoch.
    expires_at: i64,
    /// When it was revoked, ms since the epoch.
    revoked_at: Option<i64>,
}

impl From<TokenRecord> for TokenDocument {
    fn from(record: TokenRecord) -> Self {
        let TokenRecord { id, subject, role, tenant, issued_by, issued_at, expires_at, revoked_at } = record;
        Self { id, subject, role, tenant, issued_by, issued_at, expires_at, revoked_at }
    }
}

/// A token that was just issued.
// Without Debug, so that its text comes into no log.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssuedToken {
    /// The text for `Authorization: Bearer`. It is shown here once and kept nowhere.
    token: String,
    #[serde(flatten)]
    record: TokenDocument,
}

/// A token to issue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// What it may.
    #[schema(value_type = RoleName)]
    role: Role,
    /// For whom: a person or a machine.
    #[schema(min_length = 1, max_length = 128)]
    subject: String,
    /// How long it counts, ms: at most 90 days, a week unless told.
    #[schema(minimum = 1, maximum = 7_776_000_000_u64)]
    ttl_ms: Option<u64>,
}

/// List of tokens.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenList {
    tokens: Vec<TokenDocument>,
}

/// Issue a token
///
/// Its text is in the answer only. An answer with a secret is not kept: a repeat with the same idempotency key is answered
/// `answer-not-kept`, which says that the token was issued.
#[utoipa::path(post, path = "/v1/tenants/{tenant}/tokens", tag = "tokens", request_body = NewToken,
    params(
        ("tenant" = String, Path, description = "The tenant's name"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes sure that one token is issued", max_length = 255),
    ),
    responses((status = 201, description = "The token", body = IssuedToken, headers(("Location" = String, description = "Its path")))),
)]
async fn issue_token(
    by: By,
    State(api): State<Shared>,
    Path(tenant): Path<String>,
    again: Repeatable,
    request: Request,
) -> Answer {
    let tenant = tenant_in_path(&tenant)?;
    by.caller.may(Permission::IssueToken, &tenant)?;
    let (new, content): (NewToken, _) = read_json(&api, request).await?;
    let ttl = Duration::from_millis(new.ttl_ms.unwrap_or(DEFAULT_TTL_MS));
    let work = async {
        let tenancy = &api.services.tenancy;
        let issued = tenancy.issue_token(&by.caller, Some(&tenant), new.role, &new.subject, ttl).await?;
        let location = format!("/v1/tenants/{tenant}/tokens/{}", issued.record.id);
        let answer = IssuedToken { token: issued.token, record: issued.record.into() };
        Ok(Created::new(&answer, location)?.secret())
    };
    again.once(&api, &by.caller, &[&content], work).await
}

/// List tokens
///
/// Never their text. Revoked ones are listed until they would have expired.
#[utoipa::path(get, path = "/v1/tenants/{tenant}/tokens", tag = "tokens",
    params(("tenant" = String, Path, description = "The tenant's name")),
    responses((status = 200, description = "The tenant's tokens", body = TokenList)),
)]
async fn list_tokens(by: By, State(api): State<Shared>, Path(tenant): Path<String>) -> Answer {
    let tenant = tenant_in_path(&tenant)?;
    let tokens = api.services.tenancy.tokens(&by.caller, Some(&tenant)).await?;
    json(&TokenList { tokens: tokens.into_iter().map(TokenDocument::from).collect() })
}

/// Revoke a token
///
/// It counts no more from the next request on. Revoking again is no error.
#[utoipa::path(delete, path = "/v1/tenants/{tenant}/tokens/{id}", tag = "tokens",
    params(("tenant" = String, Path, description = "The tenant's name"), ("id" = String, Path, description = "The token's id")),
    responses((status = 204, description = "It is revoked")),
)]
async fn revoke_token(by: By, State(api): State<Shared>, Path((tenant, id)): Path<(String, String)>) -> Answer {
    let tenant = tenant_in_path(&tenant)?;
    api.services.tenancy.revoke_token(&by.caller, Some(&tenant), &id).await?;
    Ok(nothing())
}
